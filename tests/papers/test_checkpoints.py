"""The study of a user's checkpoints: what it asks of each, how files are read, and its picture."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.papers import checkpoints
from calibstat.study import load_study
from calibstat.study.study_options import chosen


@pytest.fixture
def save(tmp_path):
    """Save a checkpoint of this temperature, probabilities or logits, and return its path."""

    def save_rows(name, temperature, logits=False):
        sets = zip(("train", "test"), (200, 300), (1.0, temperature), strict=True)
        arrays = {}
        for part, n, t in sets:
            y, p = cs.generators.dirichlet((0.5,) * 4, temperature=t).sample(n, rng=n)
            arrays |= {f"{part}_y": y, f"{part}_{'logits' if logits else 'prob'}": np.log(p) if logits else p}
        np.savez(tmp_path / f"{name}.npz", **arrays)
        return tmp_path / f"{name}.npz"

    return save_rows


def table_of(*paths, store=None):
    options = chosen(checkpoints.OPTIONS, {"resamples": 99}, "checkpoints")
    return checkpoints.table(quick=False, data=paths, store=store, options=options)


def test_each_checkpoint_is_asked_on_both_sets(save):
    table = table_of(save("a", 3.0), save("b", 1.0, logits=True))
    found = table.set_index(["file", "measure"])
    assert table["number"].unique().tolist() == [1, 2]
    for name, temperature in (("a", 3.0), ("b", 1.0)):
        train = cs.generators.dirichlet((0.5,) * 4).sample(200, rng=200)
        y, p = cs.generators.dirichlet((0.5,) * 4, temperature=temperature).sample(300, rng=300)
        gap = cs.generalization_gap(train, (y, p), n_resamples=99, rng=1)
        expected = {
            "log loss": -np.log(p[np.arange(300), y]).mean(),
            "accuracy": np.mean(p.argmax(axis=1) == y),
            "ECE": gap.test.estimate,
            "ECE, train": gap.train.estimate,
            "gap": gap.gap,
            "gap of the error": gap.error_gap,
            "error, train": gap.error_train,
            "error, test": gap.error_test,
            "within": float(abs(gap.gap) <= abs(gap.error_gap)),
        }
        for measure, value in expected.items():
            assert found.loc[(name, measure), "value"] == pytest.approx(value, abs=1e-9), measure
        assert found.loc[(name, "gap"), "low"] == pytest.approx(gap.gap_low, abs=1e-9)
    assert found.loc[("a", "p by ECE"), "value"] == 0.01  # 1 / 100: no draw is as large
    assert found.loc[("b", "p by ECE"), "value"] > 0.05
    assert not found.loc[("a", "log loss"), "least"]
    assert found.loc[("b", "log loss"), "least"]


def test_files_without_both_sets_are_refused(tmp_path):
    y, p = cs.generators.dirichlet((0.5,) * 4).sample(20, rng=1)
    np.savez(tmp_path / "half.npz", train_y=y, train_prob=p, test_y=y)
    with pytest.raises(ValueError, match=r"expected arrays test_y and test_prob or test_logits in .*, found train_y, "):
        table_of(tmp_path / "half.npz")


def test_a_folder_is_its_checkpoints_by_their_numbers(save, tmp_path):
    for name in ("epoch10", "epoch2", "epoch1", "_half", "last"):
        save(name, 1.0)
    (tmp_path / "notes.txt").write_text("no checkpoint")
    names = [path.stem for path in checkpoints.files_of(tmp_path)]
    assert names == ["epoch1", "epoch2", "epoch10", "last"]
    deeper = [tmp_path / "runs" / f"run {k}" / "rows.npz" for k in (10, 9)]
    for path in deeper:
        path.parent.mkdir(parents=True)
        path.write_bytes((tmp_path / "last.npz").read_bytes())
    assert checkpoints.files_of(tmp_path / "runs") == deeper[::-1]
    table = table_of(tmp_path / "runs", tmp_path / "last.npz")
    files = table.groupby("number")["file"].first().tolist()
    assert files == [str(deeper[1]), str(deeper[0]), "last"]


def bad_checkpoint(name):
    """Arrays of a checkpoint that cannot be used."""
    y, p = cs.generators.dirichlet((0.5,) * 4).sample(20, rng=1)
    good = {"train_y": y, "train_prob": p, "test_y": y, "test_prob": p}
    return (
        good
        | {
            "not a number": {"test_prob": np.where(p == p.max(), np.nan, p)},
            "another length": {"test_y": y[:-1]},
            "another number of classes": {"test_prob": p[:, :3] / p[:, :3].sum(axis=1, keepdims=True), "test_y": y % 3},
            "unknown class": {"train_y": y + 1},
        }[name]
    )


BAD = {
    "not a number": "expected a probability from 0 to 1, found nan",
    "another length": "expected arrays of one length, found 19",
    "another number of classes": "expected as many classes in the training rows as in the test rows, found 4 and 3",
    "unknown class": "expected names of classes",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_of_a_folder_is_named(name, save, tmp_path):
    save("epoch1", 1.0)
    np.savez(tmp_path / "epoch2.npz", **bad_checkpoint(name))
    with pytest.raises(ValueError, match=rf"{BAD[name]}.*epoch2\.npz"):
        table_of(tmp_path)


def test_a_file_that_is_none_and_a_folder_without_any_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"expected a file of \.npz in the folder .*, found none"):
        table_of(tmp_path)
    (tmp_path / "epoch1.npz").write_bytes(b"PK half of a file")
    with pytest.raises(ValueError, match=r"epoch1\.npz"):
        table_of(tmp_path)


def test_a_run_goes_on_by_checkpoint(save, tmp_path, monkeypatch):
    paths = [save("a", 3.0), save("b", 1.0)]
    first = table_of(paths[0], store=tmp_path / "store")
    made = []
    one = checkpoints.one_checkpoint
    monkeypatch.setattr(checkpoints, "one_checkpoint", lambda *given: made.append(given[0]) or one(*given))
    both = table_of(*paths, store=tmp_path / "store")
    assert len(made) == 1
    columns = ["measure", "value", "low", "high"]
    pd.testing.assert_frame_equal(both[both["file"] == "a"][columns], first[columns], check_exact=True)


def test_it_runs_without_files_and_is_drawn(tmp_path):
    table, (csv, png) = load_study("checkpoints").run(tmp_path, quick=True)
    assert (csv.name, png.name) == ("checkpoints-quick.csv", "checkpoints-quick.png")
    assert table["file"].unique().tolist() == list(checkpoints.CHECKPOINTS)
    (figure,) = checkpoints.figures(table).values()
    drawn = figure.axes[0].lines[0].get_ydata()
    assert list(drawn) == table.loc[table["measure"] == "log loss", "value"].tolist()
    plt.close(figure)


def marked(axes, marker):
    """Numbers of the checkpoints that have this mark."""
    (line,) = [line for line in axes.lines if line.get_marker() == marker]
    return line.get_xdata().tolist()


@pytest.mark.parametrize("back", [False, True])
def test_a_p_value_that_no_resample_reached_is_marked(back, save, tmp_path):
    """Of 99 draws none is as large for the first: p is at most 1/100, which is no measured value."""
    table = table_of(save("a", 3.0), save("b", 1.0))
    if back:
        cs.study.write_table(table, tmp_path / "a.csv")
        table = pd.read_csv(tmp_path / "a.csv", comment="#")
    (figure,) = checkpoints.figures(table).values()
    for axes in figure.axes[3:5]:
        assert marked(axes, "v") == [1]
        assert marked(axes, "o") == [2]
    assert marked(figure.axes[0], "v") == []
    assert "p is at most 0.01" in figure.get_supxlabel()
    plt.close(figure)


def test_a_quick_run_has_enough_resamples_to_be_far_below_the_level():
    options = chosen(checkpoints.OPTIONS, {}, "checkpoints")
    for given, least in ((499, 0.005), (19, 0.05)):  # fewer stay as they were asked for
        table = checkpoints.table(quick=True, data=[], store=None, options={**options, "resamples": given})
        assert set(table.loc[table["measure"] == checkpoints.SMALLEST_P, "value"]) == {least}
        assert table.loc[table["measure"].isin(checkpoints.P_VALUES), "value"].min() == least


def test_the_legend_lies_on_no_bar(save):
    (figure,) = checkpoints.figures(table_of(save("a", 3.0), save("b", 1.0))).values()
    figure.draw_without_rendering()
    axes = figure.axes[5]
    assert axes.get_legend().get_window_extent().y0 >= axes.bbox.y1 - 1
    plt.close(figure)
