"""Tables of the same rows that are drawn together, against plain loops over the drawn units."""

import numpy as np
import pytest
from row_examples import KEY, drawn_units
from unit_examples import own_cells

import calibstat as cs
from calibstat.bounds.residual_tables import ClassTable, LabelledRows, RowTable
from calibstat.resampling import Draws, Stage
from calibstat.residuals.rows import RowResiduals
from calibstat.residuals.stack import Stack

N = 30
DRAWS = Draws(KEY, 8)


def tables(weighted=False, unit=None):
    """Two models on the same rows, one over 3 cells and one over 5."""
    random = np.random.default_rng(2)
    p, q = random.random((2, N)).round(1)
    y, weight = (random.random(N) < p).astype(float), random.lognormal(0, 1, N) if weighted else None

    def table(v, cells):
        sample = cs.Sample.from_rows(y, v)
        cell = np.minimum((sample.value * cells).astype(np.int64), cells - 1)
        return RowTable.of_rows(LabelledRows(y, v, weight), sample, cell, unit)

    return [table(p, 3), table(q, 5)]


CASES = {"rows": (), "weights": (True,), "clusters": (False, np.arange(N) // 4), "both": (True, np.arange(N) // 4)}


@pytest.fixture(params=CASES)
def stack(request):
    return Stack(tables(*CASES[request.param]), DRAWS, Stage.COMPARE)


def times_drawn(stack):
    """How often each row is drawn in each resample."""
    times, units = np.zeros((stack.draws.n, stack.rows.n_rows)), stack.rows.units
    for r in range(stack.draws.n):
        for unit in drawn_units(r, units.max() + 1, stack.stage):
            times[r, units == unit] += 1
    return times


def weighted(stack):
    weight = stack.rows.sample_weight
    return times_drawn(stack) * (1 if weight is None else weight)


def test_all_tables_have_the_same_draws(stack):
    found, weight = stack.resampled(np.hstack), weighted(stack)
    for r in range(DRAWS.n):
        expected = [np.bincount(t.cell, weight[r] * t.residual, t.cells) / weight[r].sum() for t in stack.tables]
        assert found[r] == pytest.approx(np.concatenate(expected), abs=1e-12)


def test_one_table_is_a_residual_table(stack):
    alone = RowResiduals(stack.tables[0]).resampled(np.copy, DRAWS, Stage.COMPARE)
    assert alone == pytest.approx(stack.resampled(lambda thetas: thetas[0]), abs=1e-12)


def test_the_first_resamples_of_one_table(stack):
    every = stack.resampled(lambda thetas: thetas[1])
    assert stack.first(1, 3) == pytest.approx(every[:3], abs=1e-12)
    assert stack.first(1, 99) == pytest.approx(every, abs=1e-12)


def test_means_are_less_those_of_the_data(stack):
    parts = np.random.default_rng(3).normal(size=(2, N))
    weight = stack.rows.sample_weight
    own = np.ones(N) if weight is None else weight
    found = stack.means([lambda part=part: own * part for part in parts])
    expected = weighted(stack) @ parts.T / weighted(stack).sum(axis=1)[:, None] - parts @ own / own.sum()
    assert found == pytest.approx(expected, abs=1e-12)


def test_covariances_with_the_numbers_of_draws(stack):
    number = np.random.default_rng(4).normal(size=DRAWS.n)
    units = stack.rows.units
    first = np.unique(units, return_index=True)[1]  # rows of a unit are drawn as often
    times = times_drawn(stack)[:, first]
    expected = (number - number.mean()) @ times / DRAWS.n
    assert stack.covariance_with(number) == pytest.approx(expected, abs=1e-12)


def test_threads_do_not_show(stack):
    other = Stack(stack.tables, Draws(KEY, 8, 3), Stage.COMPARE)
    assert np.array_equal(stack.resampled(np.hstack), other.resampled(np.hstack))


def test_rows_of_several_classes():
    sums = own_cells()
    n = sums.predictions.n
    stack = Stack([ClassTable(sums, sums.powers[0] / n)] * 2, DRAWS, Stage.COMPARE)
    found, times = stack.resampled(np.hstack), times_drawn(stack)
    for r in range(DRAWS.n):
        expected = np.zeros(sums.cells)
        for k in range(3):
            cell, residual = sums.column(k)
            np.add.at(expected, cell, times[r] * residual / n)
        assert found[r] == pytest.approx(np.append(expected, expected), abs=1e-12)
