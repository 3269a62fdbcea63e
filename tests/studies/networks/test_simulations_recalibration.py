"""The study of recalibration: what it splits, ranks and averages, and its pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from simulation_files import study_file

import calibstat as cs

recalibration = study_file("recalibration")
BEFORE, REPLACED = recalibration.BEFORE, recalibration.REPLACED
FEW = ("temperature", "isotonic", "histogram", REPLACED)
FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=2)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(recalibration, "RECALIBRATIONS", {name: recalibration.RECALIBRATIONS[name] for name in FEW})
    monkeypatch.setattr(recalibration, "RANKED", FEW[:3])


@pytest.fixture
def file(tmp_path):
    y, p = FAMILY.sample(400, rng=1)
    np.savez(tmp_path / "some.npz", prob=p.astype(np.float32), y=y.astype(np.int8))
    return tmp_path / "some.npz"


def test_all_rows_but_those_fitted_to_are_judged(monkeypatch, few):
    y, p = FAMILY.sample(100, rng=2)
    p = p + np.arange(100)[:, None] * 1e-9  # every row is known by its sum
    seen = {}

    def stop(makes, y, p, others, seed, clip):
        seen.update(fitted=p.sum(axis=1), judged=others.sum(axis=1))
        raise StopIteration

    monkeypatch.setattr(recalibration, "recalibrated", stop)
    with pytest.raises(StopIteration):
        recalibration.one_split(y, p, np.random.SeedSequence(1), 19)
    assert seen["fitted"].size == 20
    assert sorted([*seen["fitted"], *seen["judged"]]) == sorted(p.sum(axis=1))


def test_the_table_and_its_pictures(few, file):
    table = recalibration.table(quick=True, data=[file])
    assert set(table["n"]) == {320}
    assert set(table["splits"]) == {2}
    found = table[table["question"] == "summary"].set_index(["model", "measure"])["mean"]
    assert found[REPLACED, "accuracy"] == found[BEFORE, "accuracy"]  # what cannot be seen of it
    assert found[REPLACED, "ece"] < found[BEFORE, "ece"]
    assert found[REPLACED, "log_loss"] > found["temperature", "log_loss"]
    assert table[table["question"] == "gce"].groupby("measure")["rank"].mean().tolist() == pytest.approx([2] * 32)
    figures = recalibration.figures(table)
    assert set(figures) == {"", "ranks", "agreement"}
    drawn = figures[""].axes[1].lines
    assert np.concatenate([line.get_xdata() for line in drawn]) == pytest.approx(
        [found[name, "ece"] for name in (BEFORE, *FEW)]
    )
    for figure in figures.values():
        figure.draw_without_rendering()


def test_one_file_is_taken(file):
    with pytest.raises(ValueError, match=r"expected one file, found 2; the installed study tables takes several"):
        recalibration.table(quick=True, data=[file, file])


def test_predictions_of_digits_are_over_confident():
    y, p = recalibration.DIGITS.sample(recalibration.HELD_OUT, recalibration.SEED)
    assert p.min() > 0
    assert p.max(axis=1).mean() > np.mean(p.argmax(axis=1) == y) + 0.02


def test_every_ranked_recalibration_is_known():
    assert set(recalibration.RANKED) < set(recalibration.RECALIBRATIONS)
    assert len(recalibration.RANKED) == 8
