"""The geometry of jumps between levels of a curve, the same for all cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.curves.noise_in_cells import Grid

PARTS = 8  # of a cell, between which a curve may jump


@dataclass(frozen=True, eq=False)
class Jumps:
    """Jumps from each of some levels to each higher one, of which the first a parts of a cell are at the lower.

    Attributes
    ----------
    at : ndarray of int, shape (k,)
        The places of these levels.
    interval : ndarray of int, shape (k, k, PARTS + 1)
        The interval of nodes in which the mean of the curve is.
    share : ndarray, shape (k, k, PARTS + 1)
        How far it is from the start of this interval to its end.
    length : ndarray, shape (k, k, PARTS)
        A quarter of the most by which the mean moves from one part to the next and by rounding: over the fall of the
        slope of a function there, what rounding adds to it.
    bends : ndarray, shape (k, k, PARTS)
        The same over the `bend` of the function.
    moved : ndarray, shape (k, k)
        By how much rounding to levels moves the mean at most.
    loose : ndarray, shape (k, k)
        By how much rounding changes the rise at most.
    """

    at: np.ndarray
    interval: np.ndarray
    share: np.ndarray
    length: np.ndarray
    bends: np.ndarray
    moved: np.ndarray
    loose: np.ndarray

    @classmethod
    def of(cls, grid: Grid, block: int) -> Jumps:
        """Return the jumps between levels of a grid, of which each block counts as one."""
        at = np.minimum(np.arange(0, grid.steps + block, block), grid.steps)
        level, reach = grid.level[at], grid.reach(grid.level[at])
        low, high = level[:, None], level[None, :]
        mean = high[..., None] - (high - low)[..., None] * (np.arange(PARTS + 1) / PARTS)
        interval = np.clip(np.searchsorted(grid.node, mean, side="right") - 1, 0, grid.node.size - 2)
        share = (mean - grid.node[interval]) / np.diff(grid.node)[interval]
        moved, least = grid.moved[interval], grid.least_moved[interval]
        moved, least = np.maximum(moved[..., 1:], moved[..., :-1]), np.minimum(least[..., 1:], least[..., :-1])
        loose = reach[:, None] + reach[None, :]
        spread = ((high - low + loose) / PARTS)[..., None]
        bends = (moved**2 * (1 + 1 / grid.finer**2) + spread**2) / 8 / least**2
        interval = interval.astype(np.int32)
        return cls(at, interval, share, (moved + spread) / 4, bends, moved.max(axis=2), loose)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of these, in this order."""
        return self.at, self.interval, self.share, self.length, self.bends, self.moved, self.loose
