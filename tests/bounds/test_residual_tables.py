"""Tables of residuals: sums, spreads and sums of units, against loops over rows and the dense matrix of units."""

import numpy as np
import pytest
from binary_draws import SMALL, TIED
from class_draws import KEY, example, slow_draw
from hypothesis import given
from row_strategies import rows
from scipy import stats
from unit_examples import ROWS, matrix, own_cells, shared_cells

import calibstat as cs
from calibstat.bounds import residual_tables as tables
from calibstat.bounds.absolute_norms import SumOverCells
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.residual_tables import ClassTable, LabelledRows, RowTable, SummaryTable
from calibstat.bounds.unit_sums import ClassSums
from calibstat.resampling import Draws, Pairs, Stream, binary_cells, draw


def labelled(weighted=False):
    random = np.random.default_rng(2)
    p = random.random(ROWS).round(1)
    weight = random.lognormal(0, 1, ROWS) if weighted else None
    return LabelledRows((random.random(ROWS) < p**2).astype(float), p, weight)


def cells_of(sample):
    return np.minimum((sample.value * 3).astype(np.int64), 2)


@given(rows())
def test_a_table_of_rows_is_that_of_their_summary(data):
    y, p = (np.asarray(part, float) for part in data)
    sample = cs.Sample.from_rows(y, p)
    for cell in (None, cells_of(sample)):
        summary, table = SummaryTable.of_sample(sample, cell), RowTable.of_rows(LabelledRows(y, p), sample, cell)
        assert summary.n == table.n
        np.testing.assert_allclose(table.theta, summary.theta, rtol=0, atol=1e-12)
        np.testing.assert_allclose(table.moments.square, summary.moments.square, rtol=0, atol=1e-12)
        assert summary.units_are_rows
        assert table.units_are_rows
        if cell is not None:
            assert summary.full_cells == table.full_cells
            np.testing.assert_allclose(table.spread, summary.spread, rtol=0, atol=1e-8)  # roots of variances near 0


@pytest.mark.parametrize("unit", [None, np.arange(ROWS) // 3], ids=["rows", "clusters"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
def test_sums_of_rows_by_loops(weighted, unit):
    found, sample = labelled(weighted), cs.Sample.from_rows(labelled().outcome, labelled().prediction)
    table, weight = RowTable.of_rows(found, sample, cells_of(sample), unit), np.ones(ROWS)
    weight = found.sample_weight if weighted else weight
    units = np.arange(ROWS) if unit is None else unit
    x, size = np.zeros((units.max() + 1, 3)), np.zeros(units.max() + 1)
    for i in range(ROWS):
        cell = min(int(found.prediction[i] * 3), 2)
        x[units[i], cell] += weight[i] * (found.outcome[i] - found.prediction[i])
        size[units[i]] += weight[i]
    assert table.theta == pytest.approx(x.sum(axis=0) / weight.sum(), abs=1e-12)
    assert table.size == pytest.approx(size)
    assert type(table.moments) is (SeparableMoments if unit is None else JointMoments)
    left, random = x - np.outer(size, x.sum(axis=0)) / size.sum(), np.random.default_rng(1)
    share, weights = random.normal(size=size.size), random.normal(size=3)
    assert table.by_unit(weights) == pytest.approx(left @ weights, abs=1e-12)
    assert np.bincount(units, table.by_row(weights)) == pytest.approx(x @ weights, abs=1e-12)
    assert table.at_cells(share) == pytest.approx(left.T @ share / size.sum(), abs=1e-12)


def test_the_spread_of_few_rows_is_at_least_that_of_the_model():
    """Rows at .5 that all have the event vary like the model if they are fewer than 30, else not at all."""
    for n in (20, 40):
        y, p = np.ones(n), np.full(n, 0.5)
        sample = cs.Sample.from_rows(y, p)
        expected = np.sqrt(n * 0.25) / n if n == 20 else 0.0
        cell = np.zeros(1, np.int64)
        for table in (SummaryTable.of_sample(sample, cell), RowTable.of_rows(LabelledRows(y, p), sample, cell)):
            assert table.spread == pytest.approx([expected])


def test_rows_in_another_order():
    found, order = labelled(weighted=True), np.random.default_rng(3).permutation(ROWS)
    taken = found.take(order)
    assert [part.tolist() for part in taken] == [part[order].tolist() for part in found]
    assert labelled().take(order).sample_weight is None


# --- several classes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [own_cells, shared_cells])
def test_sums_of_classes_by_matrix(make, monkeypatch):
    """In blocks of rows, so that no array of all rows and classes is made."""
    monkeypatch.setattr(tables, "ROW_BLOCK", 7)
    sums = make()
    x, random = matrix(sums), np.random.default_rng(1)
    table = ClassTable(sums, x.sum(axis=0) / ROWS)
    share, weights = random.normal(size=ROWS), random.normal(size=sums.cells)
    left = x - x.mean(axis=0)
    assert table.by_row(weights) == pytest.approx(x @ weights, abs=1e-12)
    assert table.by_unit(weights) == pytest.approx(left @ weights, abs=1e-12)
    assert table.at_cells(share) == pytest.approx(left.T @ share / ROWS, abs=1e-12)
    assert (table.n, table.columns, table.units_are_rows) == (ROWS, 3, True)


def test_norms_of_one_class_take_the_cells_for_separate():
    """Each row adds in one cell of a class: its sums have the moments of the class against the rest."""
    sums = own_cells()
    table = ClassTable(sums, sums.powers[0] / ROWS)
    moments = table.of_one_class().moments
    label, prob = sums.predictions.label, sums.predictions.prob
    for k in range(3):
        alone = SeparableMoments.of_rows(sums.index[:, k], (label == k) - prob[:, k], 4, prediction=prob[:, k])
        weights = np.zeros(12)
        weights[4 * k : 4 * k + 4] = np.random.default_rng(k).uniform(-1, 1, 4)
        assert tuple(moments.of(weights)) == pytest.approx(tuple(alone.of(weights[4 * k : 4 * k + 4])), abs=1e-12)
        assert moments.of(weights)[:3] == pytest.approx(table.moments.of(weights)[:3], abs=1e-12)
    assert moments.tail_bound(0.025).times(2.0) == table.moments.tail_bound(0.025)


@pytest.mark.parametrize("shared", [True, False])
def test_rows_of_classes_are_drawn(shared):
    predictions, draws = example(ROWS, 3, digits=1), Draws(KEY, 8)
    random = np.random.default_rng(6)
    place = random.integers(0, 4, (ROWS, 1)) * 3 if shared else random.integers(0, 4, (ROWS, 3))
    stride = 1 if shared else 4
    found = ClassTable(ClassSums(predictions, place, stride, 12), np.zeros(12)).resampled(np.copy, draws)
    at = place + stride * np.arange(3)
    for r, (chosen, label) in enumerate(slow_draw(predictions, Pairs(), r, Stream.ROWS) for r in range(draws.n)):
        expected = np.zeros(12)
        for i, k in zip(chosen, label, strict=True):
            np.add.at(expected, at[i], ((np.arange(3) == k) - predictions.prob[i]) / ROWS)
        assert found[r] == pytest.approx(expected, abs=1e-12)


# --- resamples of a summary, against loops over the drawn counts ------------------------------------------------------


DRAWS = Draws(KEY, 20)


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
def test_residuals_of_drawn_counts(sample, monkeypatch):
    """Of each distinct prediction, or added up in cells of them: of a large table by the same draws."""
    monkeypatch.setattr(binary_cells, "LARGEST_TABLE", 1)
    cell = np.minimum((sample.value * 3).astype(np.int64), 2)
    counts = draw(sample, Pairs(), lambda _, count, positives: np.array([count, positives]), DRAWS, Stream.ROWS)
    alone = SummaryTable.of_sample(sample).resampled(np.copy, DRAWS)
    together = SummaryTable.of_sample(sample, cell).resampled(np.copy, DRAWS)
    for r, (count, positives) in enumerate(counts):
        theta = [(a - c * v) / sample.n for v, c, a in zip(sample.value, count, positives, strict=True)]
        assert alone[r] == pytest.approx(np.array(theta), abs=1e-12)
        assert together[r] == pytest.approx(np.bincount(cell, theta), abs=1e-12)


@pytest.mark.parametrize("cell", [None, np.zeros(6, np.int64)], ids=["predictions", "one cell"])
def test_their_mean_is_that_of_the_data(cell):
    found = SummaryTable.of_sample(SMALL, cell).resampled(lambda theta: theta.sum(axis=-1), Draws(KEY, 20_000))
    limit = stats.norm.isf(1e-5) * found.std() / np.sqrt(found.size)
    assert abs(found.mean() - SMALL.residual.sum()) < limit
    assert abs(found.mean() - SMALL.residual.sum() - 0.01) > limit  # planted fault: residuals that are .01 off


@pytest.mark.parametrize("cell", [None, np.array([0, 0, 1, 1, 2, 2])], ids=["predictions", "cells"])
def test_norms_of_moved_sums(cell):
    """Of the sums of each resample, moved by a step from an origin."""
    norm, origin = SumOverCells("absolute sum", cell), np.linspace(-0.2, 0.3, 6 if cell is None else 3)
    table = SummaryTable.of_sample(SMALL, cell)
    drawn = table.resampled(np.copy, DRAWS)
    found = table.moved(norm.value, None, origin, 2.5, DRAWS)
    assert found == pytest.approx(np.abs(origin + 2.5 * (drawn - origin)).sum(axis=-1), abs=1e-12)


def test_stages_and_threads():
    table = SummaryTable.of_sample(SMALL)
    assert np.array_equal(table.resampled(np.copy, DRAWS), table.resampled(np.copy, Draws(KEY, 20, 2)))
    assert not np.array_equal(table.resampled(np.copy, DRAWS), table.resampled(np.copy, DRAWS, Stream.COMPARE))
