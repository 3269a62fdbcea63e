"""Rows of several models: all of few, exact kinds of many with few predictions, and cells of any number."""

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.large import rows_of_models
from calibstat.cli.large.rows_of_models import ModelCounts
from calibstat.data.engines.cell_table import TABLE_CELLS

TWO = ["--label", "y", "--prob", "a", "--prob", "b"]
FIELDS = ("estimates", "difference", "low", "high", "pvalue", "errors", "errors_low", "errors_high", "at_least")


def rows(n=4000, decimals=None):
    """Two models with noise of their own; rounded, many rows are of one kind."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float)
    a, b = (1 / (1 + np.exp(-each)) for each in (1.6 * z, z + 0.02 * rng.normal(size=n)))
    return (y, a, b) if decimals is None else (y, a.round(decimals), b.round(decimals))


def summed(y, a, b, size=333, names=("a", "b")):
    counts = ModelCounts(names)
    for start in range(0, y.size, size):
        counts.add(*(each[start : start + size] for each in (y, a, b)))
    return counts.models()


def kinds(models):
    """The kinds as a sorted table, by a data frame of all rows in the test's own code."""
    counted = models.counted
    frame = pd.DataFrame({"y": counted.label, **counted.value, "count": counted.count})
    return frame.sort_values(["y", "a", "b"]).reset_index(drop=True)


def test_few_rows_stay_as_they_are():
    y, a, b = rows()
    models = summed(y, a, b)
    assert models.counted is None
    np.testing.assert_array_equal(models["b"].view().rows[1], b)


def test_equal_rows_are_one_kind_and_compared_to_the_last_bit(monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 1000)
    y, a, b = rows(decimals=2)
    a[:9] = [0, -0.0, 1, 0, -0.0, 1, 0, 1, 1]  # zero of either sign is one prediction
    models = summed(y, a, b)
    expected = pd.DataFrame({"y": y, "a": a + 0.0, "b": b}).value_counts(sort=False).reset_index()
    expected = expected.sort_values(["y", "a", "b"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(kinds(models), expected.astype(float))
    assert models.counted.n_cells == 0
    found, wanted = cs.compare(models), cs.compare(y, {"a": a, "b": b})
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert found.note == wanted.note == ""
    assert found.n == wanted.n == (4000, 4000)


@pytest.mark.parametrize("most", [3000, 1000, 500])
def test_cells_are_halved_until_the_kinds_are_few_enough(most, monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 0)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", most)
    y, a, b = rows()
    models = summed(y, a, b)
    n_cells = models.counted.n_cells
    assert TABLE_CELLS % n_cells == 0
    place = lambda p, n: np.ceil(p * n).astype(int)  # noqa: E731  cells are open on the left; no prediction is 0
    both = lambda n: pd.DataFrame({"y": y, "i": place(a, n), "j": place(b, n), "a": a, "b": b})  # noqa: E731
    number = lambda n: len(both(n).drop_duplicates(["y", "i", "j"]))  # noqa: E731
    assert number(n_cells) <= most < number(2 * n_cells)
    grouped = both(n_cells).groupby(["y", "i", "j"])[["a", "b"]]
    expected = grouped.mean().assign(count=grouped.size()).reset_index("y").sort_values(["y", "a", "b"])
    expected = expected.reset_index(drop=True)
    np.testing.assert_allclose(kinds(models).sort_values(["y", "a", "b"]), expected, rtol=1e-13)
    moved = max((grouped.transform("mean") - both(n_cells)[["a", "b"]]).abs().max())
    assert models.counted.moved == pytest.approx(moved)
    for name, p in {"a": a, "b": b}.items():
        square = np.mean(p**2) - models.counted.count @ models.counted.value[name] ** 2 / y.size
        assert 0 <= square <= models.counted.spread[name] < 1 / (2 * n_cells) ** 2


@pytest.mark.parametrize("measure", [None, "brier"])
def test_cells_answer_within_their_bound(measure, monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 0)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 1000)
    options = {} if measure is None else {"measure": measure}
    y, a, b = rows(20_000)
    found, wanted = cs.compare(summed(y, a, b), **options), cs.compare(y, {"a": a, "b": b}, **options)
    bound = float(found.note.split("off by at most ")[1].split(". ")[0])
    assert 0 < abs(found.difference - wanted.difference).item() < bound
    width = wanted.high - wanted.low
    np.testing.assert_allclose(found.high - found.low, width, rtol=0.02)
    assert abs(found.low - wanted.low).item() < 0.02 * width.item()
    backwards = cs.compare(summed(y[::-1], a[::-1], b[::-1]), **options)
    np.testing.assert_allclose(backwards.low, found.low, rtol=1e-9)


def test_a_loss_that_may_change_much_in_cells_is_refused(monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 0)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 1000)
    models = summed(*rows())
    counted = rf"rows counted in {models.counted.n_cells:,} cells, found log_loss, .*; round predictions"
    with pytest.raises(ValueError, match=f"expected brier or the default measure for {counted}"):
        cs.compare(models, measure="log_loss")


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 0)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 50)
    with pytest.raises(ValueError, match=r"expected at most 50 kinds of rows, found more, .* in 75 cells"):
        summed(*rows())


def test_too_many_combinations_in_files_are_one_line(folder, monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 0)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 50)
    fails_with(run("compare", folder, *TWO), "expected at most 50 kinds of rows, found more", "give fewer columns")


# --- from the shell --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    y, a, b = rows(6000)
    for k in range(3):
        part = slice(2000 * k, 2000 * (k + 1))
        pd.DataFrame({"y": y[part], "a": a[part], "b": b[part]}).to_csv(tmp_path / f"part-{k}.csv", index=False)
    return tmp_path


def test_compare_says_that_many_rows_are_in_cells(folder, monkeypatch):
    few = plain_text(run("compare", folder, *TWO).stdout)
    y, a, b = rows(6000)
    comparison = cs.compare(y, {"a": a, "b": b})
    assert f"p = {comparison.pvalue.item():.2g}" in few or "p <" in few
    assert "kinds" not in few
    monkeypatch.setattr(rows_of_models, "MOST_ROWS", 3000)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 1000)
    many = plain_text(run("compare", folder, *TWO).stdout)
    assert "of width 1/" in many
    assert "6,000 rows, 2 models" in many
    reads_all = plain_text(run("compare", folder, *TWO, "--measure", "ks", "--n-resamples", "99").stdout)
    assert "6,000 rows, 2 models" in reads_all


def test_a_column_that_the_third_file_lacks_is_named(folder):
    frame = pd.read_csv(folder / "part-2.csv").drop(columns="b")
    frame.to_csv(folder / "part-2.csv", index=False)
    result = run("compare", folder, *TWO)
    assert result.exit_code != 0
    assert "no column 'b' in" in plain_text(result.output)
    assert "part-2.csv', file 3 of 3" in plain_text(result.output)


def test_a_bad_row_is_named_with_its_column(folder):
    frame = pd.read_csv(folder / "part-1.csv")
    frame.loc[7, "b"] = 1.5
    frame.to_csv(folder / "part-1.csv", index=False)
    text = plain_text(run("compare", folder, *TWO).output)
    assert "at row 7" in text
    assert "'b'" in text
    assert "part-1.csv" in text


def test_an_interrupt_leaves_nothing(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelCounts, "add", interrupted)
    before = sorted(folder.iterdir())
    result = run("compare", folder, *TWO)
    assert result.exit_code not in (0, 1)
    assert result.stdout == ""
    assert sorted(folder.iterdir()) == before
