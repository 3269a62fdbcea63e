"""Jumps between levels: where their means are."""

import numpy as np

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
