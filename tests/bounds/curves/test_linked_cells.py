"""The programme over non-decreasing curves: above every curve by exact laws, and not far above the plain programme."""

from itertools import pairwise

import numpy as np
import pytest
from plain_programme import constant_cells, largest_on_grid, objective

from calibstat.bounds.curves import linked_cells
from calibstat.bounds.curves.jumps_between_levels import PARTS, Jumps
from calibstat.bounds.curves.linked_cells import LinkedCells, _add_far_jumps, _losses, _next
from calibstat.bounds.curves.noise_in_cells import Grid
from calibstat.bounds.curves.runs_of_rows import Runs


def in_runs(cells):
    """Runs of given cells of rows."""
    value, count = np.unique(np.concatenate(cells), return_counts=True)
    last = np.array([v.max() for v in cells])
    return Runs(value, count.astype(float), np.searchsorted(last, value))


def random_cells(random):
    """Three to five cells of a few rows, with ties, rare, certain or spread predictions."""
    sizes = random.integers(3, 7, random.integers(3, 6))
    shape = [(1, 1), (0.3, 3), (0.2, 0.2), (8, 8)][random.integers(4)]
    values = np.sort(random.beta(*shape, sizes.sum())).round(random.integers(2, 6))
    cells = np.split(values, sizes.cumsum()[:-1])
    for one, other in pairwise(cells):
        other[other <= one[-1]] = one[-1] + 1e-9  # no value in two cells
    return [np.minimum(v, 1.0) for v in cells]


def random_curve(random, cells):
    """A non-decreasing curve: steps, the identity, constants, or sorted numbers; by cell."""
    v = np.concatenate(cells)
    kind = random.integers(4)
    if kind == 0:
        c = np.sort(random.random(v.size) ** random.choice([0.3, 1, 3]))
    elif kind == 1:
        c = np.full(v.size, random.random())
    elif kind == 2:
        steps = np.sort(random.random(3))
        c = steps[np.sort(random.integers(0, 3, v.size))]
    else:
        c = np.clip(v + random.normal(0, 0.2), 0, 1)
    at = np.unique(v, return_inverse=True)[1]
    c = np.maximum.accumulate((np.bincount(at, c) / np.bincount(at))[at])  # a function of the prediction
    return np.split(c, np.cumsum([part.size for part in cells])[:-1])


@pytest.mark.parametrize("power", [1, 2])
def test_no_curve_is_above_the_bound(power):
    random = np.random.default_rng(7)
    for _ in range(60):
        cells = random_cells(random)
        theta = random.choice([0.1, 0.5, 1.5])
        eta = theta * random.choice([0.4, 0.8, 1.2])
        bound = LinkedCells(in_runs(cells), power, Grid(24)).largest(theta, eta)
        curves = [random_curve(random, cells) for _ in range(60)]
        assert max(objective(curve, cells, theta, eta, power) for curve in curves) <= bound + 1e-9


def test_the_maximum_of_the_plain_programme_is_below_the_bound_and_near_it():
    random = np.random.default_rng(3)
    cells = np.split(np.sort(random.random(18)), 3)
    found, curve = largest_on_grid(cells, np.linspace(0, 1, 21), 0.6, 0.4)
    assert found == pytest.approx(objective(curve, cells, 0.6, 0.4), abs=1e-9)
    bound = LinkedCells(in_runs(cells), 1, Grid(120)).largest(0.6, 0.4)
    assert found <= bound + 1e-9
    assert bound <= found + 0.7  # of cells of six rows, whose unequal probabilities have the largest part


def test_of_many_cells_the_bound_is_near_the_plain_programme():
    cells = np.split((np.arange(600) + 0.5) / 600, 20)
    theta, eta = 0.2, 0.1
    plain = constant_cells(cells, np.linspace(0, 1, 401), theta, eta)
    bound = LinkedCells(in_runs(cells), 1, Grid(200)).largest(theta, eta)
    assert plain <= bound <= plain + 1.0  # one jump in a cell, and rounding outwards, less than .05 for a cell


def test_a_finer_grid_gives_a_smaller_bound():
    cells = np.split((np.arange(600) + 0.5) / 600, 20)
    runs = in_runs(cells)
    coarse, fine, finest = (LinkedCells(runs, 1, Grid(steps)).largest(0.2, 0.1) for steps in (40, 80, 160))
    assert coarse > fine > finest


def test_a_bound_without_what_rounding_adds_is_exceeded(monkeypatch):
    """A planted fault: levels without their outward rounding, on a coarse grid, are below a curve between them."""
    cells = [np.full(40, 0.3), np.full(40, 0.35)]
    runs = in_runs(cells)
    curve = [np.full(40, 0.31), np.full(40, 0.31)]
    theta, eta = 0.8, 0.1
    exact = objective(curve, cells, theta, eta)
    assert exact <= LinkedCells(runs, 1, Grid(6)).largest(theta, eta)
    monkeypatch.setattr(LinkedCells, "_constant", lambda self, each: each.bound[:: self.grid.finer])
    assert exact > LinkedCells(runs, 1, Grid(6)).largest(theta, eta)


def test_losses_split_rows_between_parts():
    # three rows at .2, one at .6: parts of half a row, so that the last two are the row at .6
    value, count, first = np.array([0.2, 0.6]), np.array([3.0, 1.0]), np.array([0, 2])
    found = _losses(value, count, first, np.array([4.0]), 1, np.array([0.0, 0.5, 1.0]))[0]
    np.testing.assert_allclose(found[6], 3 * np.array([0.2, 0.3, 0.8]))
    np.testing.assert_allclose(found[8], 3 * np.array([0.2, 0.3, 0.8]) + np.array([0.6, 0.1, 0.4]))


@pytest.mark.parametrize("block", [1, 7])
def test_rows_certain_to_fail_and_certain_to_succeed_are_below_the_bound(block, monkeypatch):
    """Half of the rows 0 and half 1 have no noise: the sum of residuals is 0, and each row is half an error.

    Such a curve jumps further than the lemma for unequal rows goes. Without far jumps, a planted fault, the bound is
    below it.
    """
    cells, theta, eta = [np.linspace(0.45, 0.55, 200)], 0.035, 0.02
    curve = [np.where(cells[0] < 0.5, 0.0, 1.0)]
    losses = eta * np.abs(curve[0] - cells[0]).sum()
    assert objective(curve, cells, theta, eta) == pytest.approx(losses)
    programme = LinkedCells(in_runs(cells), 1, Grid(60, block=block))
    assert losses <= programme.largest(theta, eta)
    monkeypatch.setattr(linked_cells, "_add_far_jumps", lambda *arguments: None)
    assert losses > programme.largest(theta, eta)


def test_what_one_jump_adds_to_the_spread_of_rows():
    """With Q alone: half of the rows at each end have Q = n rise**2 / 4. To move the jump by half an eighth of the rows
    moves the mean by rise / 16, and rounding moves it by half its reach: the squares of both are added."""
    grid = Grid(10)
    jumps, nodes, levels = Jumps.of(grid, 1), grid.node.size, grid.level.size
    best, lowest = np.full(levels, -np.inf), np.full(levels, -np.inf)
    best[2] = 0.0
    nothing, losses = np.zeros(nodes), np.zeros((PARTS + 1, levels))
    found = _next(
        *(best, nothing, lowest, nothing[1:], nothing[1:], 0.0, np.full(nodes - 1, 3.0), 2.0),
        *(losses, grid.level, *jumps.arrays[1:]),
    )
    assert (found[:3] == -np.inf).all()
    rise = grid.level[3:] - grid.level[2]
    np.testing.assert_allclose(found[3:], 3 * (rise**2 / 4 + (rise / 16) ** 2 + (jumps.moved[2, 3:] / 2) ** 2))


@pytest.mark.parametrize("block", [1, 3])
def test_far_jumps_go_from_the_end_of_a_block_to_all_of_another(block):
    """Where every jump is far and nothing but the sum before counts: to each level from the best end of a block that
    does not end above the block of this level, also within one block and within the last."""
    grid = Grid(10)
    jumps = Jumps.of(grid, block)
    nothing, none = np.zeros(grid.node.size), np.full(grid.level.size, -np.inf)
    ends = jumps.at.tolist()
    for best in (grid.level, -grid.level):
        result = none.copy()
        _add_far_jumps(best, result, nothing, nothing[1:], nothing[1:], 0.0, np.zeros(11), grid.level, *jumps.arrays)
        for g, found in enumerate(result):
            last = max(e for e, (start, end) in enumerate(pairwise(ends)) if start <= g <= end)
            assert found == max(best[end] for end in ends[1 : last + 2])
    result = none.copy()
    _add_far_jumps(best, result, nothing, nothing[1:], nothing[1:], 9.0, np.zeros(11), grid.level, *jumps.arrays)
    assert (result == -np.inf).all()
