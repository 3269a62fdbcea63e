"""Jumps between levels: where their means are."""

from itertools import pairwise, product

import numpy as np
import pytest

from calibstat.bounds.curves.jumps_between_levels import PARTS, Jumps
from calibstat.bounds.curves.noise_in_cells import Grid


def test_means_are_where_the_intervals_say():
    grid = Grid(12)
    jumps = Jumps.of(grid, 1)
    for start in range(12):
        for end in range(start + 1, 13):
            t = np.arange(PARTS + 1) / PARTS
            mean = t * grid.level[start] + (1 - t) * grid.level[end]
            j = jumps.interval[start, end]
            found = grid.node[j] + jumps.share[start, end] * (grid.node[j + 1] - grid.node[j])
            np.testing.assert_allclose(found, mean, atol=1e-14)
            assert (jumps.share[start, end] >= -1e-12).all()
            assert (jumps.share[start, end] <= 1 + 1e-12).all()


def test_blocks_keep_both_ends():
    grid = Grid(13)
    assert Jumps.of(grid, 5).at.tolist() == [0, 5, 10, 13]
    assert Jumps.of(grid, 1).at.tolist() == list(range(14))


def test_what_rounding_adds_grows_with_the_rise():
    jumps = Jumps.of(Grid(40), 1)
    assert (np.diff(jumps.length[20, 21:], axis=0) > 0).mean() > 0.9


@pytest.mark.parametrize("grid", [Grid(6), Grid(11, finer=2)], ids=["coarse", "uneven"])
def test_what_parts_and_rounding_add_over_a_bend(grid):
    """A parabola -m**2 / 2 loses half the variance of its argument, which moves by up to half a reach by rounding, by
    a finer part of this, and by half of what one part of the cell takes it: all by the mean over their signs."""
    jumps = Jumps.of(grid, 1)
    for start, end in product(range(grid.steps), range(1, grid.steps + 1)):
        between = (grid.level[end] - grid.level[start] + jumps.loose[start, end]) / PARTS
        for a, (one, other) in enumerate(pairwise(jumps.interval[start, end])):
            moved = max(grid.moved[one], grid.moved[other])
            least = min(grid.least_moved[one], grid.least_moved[other])
            ends = [
                (s * moved / 2, t * moved / grid.finer / 2, u * between / 2) for s, t, u in product((-1, 1), repeat=3)
            ]
            loss = np.mean([sum(each) ** 2 / 2 for each in ends])
            assert jumps.bends[start, end, a] * least**2 == pytest.approx(loss, rel=1e-12)
            assert jumps.length[start, end, a] == pytest.approx((moved + between) / 4, rel=1e-12)
