"""Tables side by side, against sums by hand."""

import numpy as np
import pytest

from calibstat.bounds.absolute_norms import SumOverCells
from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.residual_tables import RowTable
from calibstat.bounds.tables_of_classes import TablesOfClasses

CELLS = np.array([[0, 1, 1, 0, 2, 2], [1, 1, 0, 0, 0, 1]])
RESIDUALS = np.array([[0.5, -0.5, 0.25, 0.75, -0.25, 0.5], [-0.5, 0.25, 0.5, -0.75, 0.25, 0.0]])
WEIGHT = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.5])
UNIT = np.array([0, 0, 1, 1, 2, 2])


def table(weight=None, unit=None):
    zero = np.zeros(6)
    parts = zip(CELLS, RESIDUALS, (3, 2), strict=True)
    return TablesOfClasses([RowTable(cell, residual, zero, cells, weight, unit) for cell, residual, cells in parts])


def test_sums_are_those_of_one_table_after_another():
    joined = table()
    assert joined.cells == 5
    assert joined.begin.tolist() == [0, 3, 5]
    assert joined.column(1)[0].tolist() == [4, 4, 3, 3, 3, 4]
    assert np.allclose(joined.theta * 6, [1.25, -0.25, 0.25, 0.0, -0.25])


def test_moments_are_of_what_clusters_add_in_all_tables():
    for weight in (None, WEIGHT):
        joined, each = table(weight, UNIT), np.ones(6) if weight is None else weight
        weights = np.array([1.0, -1.0, 0.5, 0.25, -0.5])
        by_row = each * (weights[:3][CELLS[0]] * RESIDUALS[0] + weights[3:][CELLS[1]] * RESIDUALS[1])
        added, size = np.bincount(UNIT, by_row), np.bincount(UNIT, each)
        centred = added - size * added.sum() / size.sum()
        sums = joined.moments.of(weights)
        assert np.allclose(sums[:3], (added.sum(), 3 / 2 * (centred**2).sum(), (centred**3).sum()))
        assert np.allclose(joined.by_unit(weights), centred)
        share = np.array([0.3, -1.0, 2.0])
        assert np.isclose(joined.at_cells(share) @ weights * size.sum(), centred @ share)


@pytest.mark.parametrize("unit", [None, UNIT], ids=["rows", "clusters"])
def test_a_row_counts_as_a_cluster_because_it_adds_in_several_cells(unit):
    """Its parts depend on each other, so that draws take the step of sums that vary together."""
    norm = SumOverCells("ece", None)
    assert (norm.step, norm.joint_step) == (1, 3)
    assert not table(unit=unit).units_are_rows
    assert SeminormInterval(norm, table(unit=unit)).step == norm.joint_step
