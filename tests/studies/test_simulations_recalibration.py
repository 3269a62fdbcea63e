"""The study of recalibration: what it splits, ranks and averages, and its pictures."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulation_files import study_file

import calibstat as cs
from calibstat.recalibration import MeanReplacement, TemperatureScaling

recalibration = study_file("recalibration")
AGREEMENTS, BEFORE = recalibration.AGREEMENTS, recalibration.BEFORE
PROPERTIES, REPLACED = recalibration.PROPERTIES, recalibration.REPLACED
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


def test_a_file_is_read(file, tmp_path):
    y, p = recalibration.read(file)
    expected = FAMILY.sample(400, rng=1)
    assert np.array_equal(y, expected[0])
    assert p == pytest.approx(expected[1], abs=1e-6)
    assert p.sum(axis=1) == pytest.approx(1, abs=1e-15)
    np.savez(tmp_path / "other.npz", prob=p, labels=y)
    with pytest.raises(ValueError, match=r"expected arrays prob and y in .*other\.npz, found prob, labels"):
        recalibration.read(tmp_path / "other.npz")


def test_all_rows_but_those_fitted_to_are_judged(monkeypatch, few):
    y, p = FAMILY.sample(100, rng=2)
    p = p + np.arange(100)[:, None] * 1e-9  # every row is known by its sum
    seen = {}

    def stop(y, p, others, seed, clip):
        seen.update(fitted=p.sum(axis=1), judged=others.sum(axis=1))
        raise StopIteration

    monkeypatch.setattr(recalibration, "recalibrated", stop)
    with pytest.raises(StopIteration):
        recalibration.one_split(y, p, np.random.SeedSequence(1), 19)
    assert seen["fitted"].size == 20
    assert sorted([*seen["fitted"], *seen["judged"]]) == sorted(p.sum(axis=1))


def test_fits_that_do_not_converge_are_counted(monkeypatch):
    made = {"temperature": lambda seed, clip: TemperatureScaling(), REPLACED: lambda seed, clip: MeanReplacement()}
    monkeypatch.setattr(recalibration, "RECALIBRATIONS", made)
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models, converged = recalibration.recalibrated(np.array([0, 0, 1]), p, p, 0)  # the colder the better
    assert converged == {"temperature": False, REPLACED: True}
    assert np.array_equal(models[BEFORE], p)
    assert models[REPLACED].tolist() == [[1, 0], [1, 0], [0, 1]]


def test_differences_are_those_of_the_scores():
    y, p = FAMILY.sample(300, rng=3)
    models = {BEFORE: p, "sure": np.eye(4)[p.argmax(axis=1)], REPLACED: MeanReplacement().fit(p, y).predict_proba(p)}
    found = pd.DataFrame(recalibration.difference_rows(y, models, 39, 1)).set_index(["measure", "model"])
    brier = {name: ((np.eye(4)[y] - each) ** 2).sum(axis=1).mean() for name, each in models.items()}
    for name in (BEFORE, "sure"):
        row = found.loc["brier", name]
        assert row["value"] == pytest.approx(brier[name] - brier[REPLACED], abs=1e-12)
        assert row["low"] < row["value"] < row["high"]
    rows = np.arange(300)
    log_loss = -np.log(p[rows, y]).mean() + np.log(models[REPLACED][rows, y]).mean()
    assert found.loc[("log_loss", BEFORE), "value"] == pytest.approx(log_loss, abs=1e-12)
    assert found.loc[("log_loss", "sure"), "value"] == np.inf
    assert found.loc[("log_loss", "sure"), "low"] == np.inf
    assert found.loc[("ece", BEFORE), "value"] == pytest.approx(
        cs.estimate(y, p, lens="top_label") - cs.estimate(y, models[REPLACED], lens="top_label"), abs=1e-12
    )


def families(seed):
    """Of four temperatures of one sample."""
    y, p = FAMILY.sample(300, rng=seed)
    return {str(t): cs.gce_family(y, p**t / (p**t).sum(axis=1, keepdims=True)) for t in (0.5, 0.8, 1.0, 1.4)}


def test_rank_correlations_are_those_of_scipy():
    one, two = families(1), families(2)
    found = recalibration.correlation(recalibration.ranks(one), recalibration.ranks(two))
    values = [np.array([family.value for family in each.values()]) for each in (one, two)]
    assert found.shape == (32, 32)
    for i, j in ((0, 0), (4, 9), (31, 2)):
        assert found[i, j] == pytest.approx(stats.spearmanr(values[0][:, i], values[1][:, j]).statistic)


def test_agreements_by_hand():
    one, two, three = families(1), families(2), families(3)
    found = pd.DataFrame(recalibration.agreement_rows(one, two, three)).set_index(["measure", "against"])["value"]
    assert set(found.index) == {(name, against) for name in PROPERTIES for against in AGREEMENTS}
    family = next(iter(one.values()))
    own = [k for k in range(32) if family.norm[k] == "l2"]
    assert np.flatnonzero(PROPERTIES["L2"](family)).tolist() == own

    def spearman(first, i, second, j):
        return stats.spearmanr([f.value[i] for f in first.values()], [f.value[j] for f in second.values()]).statistic

    # of the most likely class (the index has no 8) a threshold (2) changes nothing
    pairs = [(i, j) for i in own for j in own if i < j and not (j == i + 2 and not i & 8 and not i & 2)]
    assert found["L2", AGREEMENTS[0]] == pytest.approx(np.mean([spearman(one, i, one, j) for i, j in pairs]))
    assert found["L2", AGREEMENTS[1]] == pytest.approx(np.mean([spearman(two, i, two, j) for i, j in pairs]))
    assert found["L2", AGREEMENTS[2]] == pytest.approx(np.mean([spearman(two, k, three, k) for k in own]))
    both = [*pairs, *((j, i) for i, j in pairs)]
    assert found["L2", AGREEMENTS[3]] == pytest.approx(np.mean([spearman(two, i, three, j) for i, j in both]))


def test_means_and_counts_by_hand():
    shared = {"question": "difference", "model": "m", "measure": "ece", "against": REPLACED, "rank": np.nan}
    made = [{**shared, "value": v, "low": v - 0.1, "high": v + 0.1} for v in (0.2, 0.3, -0.05, -0.15)]
    made.append({"question": "summary", "model": "m", "measure": "log_loss", "value": np.inf})
    difference, summary = recalibration.averaged(pd.DataFrame(made)).to_dict("records")
    assert difference["mean"] == pytest.approx(0.075)
    assert difference["sd"] == pytest.approx(np.std([0.2, 0.3, -0.05, -0.15], ddof=1))
    assert (difference["low"], difference["high"]) == pytest.approx((-0.025, 0.175))
    assert (difference["splits"], difference["below"], difference["above"]) == (4, 1, 2)
    assert summary["mean"] == np.inf
    assert np.isnan([summary["sd"], summary["below"], summary["rank"]]).all()


def test_the_table_and_its_pictures(few, file):
    table = recalibration.table(quick=True, data=file)
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


def test_predictions_of_digits_are_over_confident():
    y, p = recalibration.DIGITS.sample(recalibration.HELD_OUT, recalibration.SEED)
    assert p.min() > 0
    assert p.max(axis=1).mean() > np.mean(p.argmax(axis=1) == y) + 0.02


def test_every_ranked_recalibration_is_known():
    assert set(recalibration.RANKED) < set(recalibration.RECALIBRATIONS)
    assert len(recalibration.RANKED) == 8
