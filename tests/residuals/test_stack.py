"""Tables of the same rows that are drawn together, against plain loops over the drawn units."""

import numpy as np
import pytest
from row_examples import KEY
from stacked_tables import CASES, DRAWS, stack_of, times_drawn, weighted
from unit_examples import own_cells

from calibstat.bounds.residual_tables import ClassTable
from calibstat.resampling import Draws, Stage
from calibstat.residuals import drawn
from calibstat.residuals.rows import RowResiduals
from calibstat.residuals.stack import Stack


@pytest.fixture(params=CASES)
def stack(request):
    return stack_of(request.param)


def test_all_tables_have_the_same_draws(stack):
    found, weight = stack.resampled(np.copy, np.copy), weighted(stack)
    for m, table in enumerate(stack.tables):
        for r in range(DRAWS.n):
            expected = np.bincount(table.cell, weight[r] * table.residual, table.cells) / weight[r].sum()
            assert found[m][r] == pytest.approx(expected, abs=1e-12)


def test_one_table_is_a_residual_table(stack):
    alone = RowResiduals(stack.tables[0]).resampled(np.copy, DRAWS, Stage.COMPARE)
    assert np.array_equal(alone, stack.resampled(np.copy, np.copy)[0])


def test_neither_threads_nor_parts_show(stack, monkeypatch):
    base = stack.resampled(np.copy, np.copy)
    monkeypatch.setattr(drawn, "SUM_BYTES", 100)  # a resample or two at a time
    for n_jobs in (1, 3):
        other = Stack(stack.tables, Draws(KEY, 8, n_jobs), Stage.COMPARE)
        assert all(map(np.array_equal, base, other.resampled(np.copy, np.copy)))
        assert all(map(np.array_equal, base, other.drawn(np.copy, np.copy)[0]))


@pytest.mark.parametrize("kept", [0, 2**24])
def test_rows_of_several_classes(kept, monkeypatch):
    """Also if the columns of the classes are made again for each part of the resamples."""
    monkeypatch.setattr(drawn, "FEW_COLUMNS", 0)
    monkeypatch.setattr(drawn, "COLUMN_BYTES", kept)
    sums = own_cells()
    n = sums.predictions.n
    stack = Stack([ClassTable(sums, sums.powers[0] / n)] * 2, DRAWS, Stage.COMPARE)
    found, times = stack.resampled(np.copy, np.copy), times_drawn(stack)
    for r in range(DRAWS.n):
        expected = np.zeros(sums.cells)
        for k in range(3):
            cell, residual = sums.column(k)
            np.add.at(expected, cell, times[r] * residual / n)
        assert found[0][r] == pytest.approx(expected, abs=1e-12)
        assert np.array_equal(found[0][r], found[1][r])
