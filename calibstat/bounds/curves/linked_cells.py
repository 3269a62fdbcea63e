"""Cells linked by one non-decreasing curve: a dynamic programme over curves with one jump a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.curves.jumps_between_levels import PARTS, Jumps
from calibstat.bounds.curves.noise_in_cells import Grid, Majorant, hidden_noise
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.compiled import jit


@dataclass(frozen=True, eq=False)
class LinkedCells:
    """The programme on runs of rows and a grid.

    Attributes
    ----------
    runs : Runs
        The cells.
    power : int
        1 of absolute errors, 2 of squares.
    grid : Grid
        Levels of the curve.
    """

    runs: Runs
    power: int
    grid: Grid

    @cached_property
    def losses(self) -> np.ndarray:
        """The sums of |level - v| ** power over the first parts of each cell, shape (cells, PARTS + 1, levels)."""
        runs = self.runs
        return _losses(runs.value, runs.count, runs.first, runs.rows, self.power, self.grid.level)

    @cached_property
    def jumps(self) -> Jumps:
        """All jumps from a level to a higher one."""
        return Jumps.of(self.grid, 1)

    @cached_property
    def far_jumps(self) -> Jumps:
        """All jumps between blocks of levels."""
        return Jumps.of(self.grid, self.grid.block)

    def largest(self, theta: float, eta: float) -> float:
        """Return a bound of the sum of log E exp(-theta * distance) and of eta * |c - v| ** power, for any curve c.

        Statement and argument: docs/evidence/proofs/curve-cells.md.
        """
        runs, grid = self.runs, self.grid
        best = np.zeros(grid.level.size)
        for b in range(runs.rows.size):
            n = float(runs.rows[b])
            noise = hidden_noise(n, float(runs.mean[b]), theta, self.power, grid)
            best_before = best = np.maximum.accumulate(best)
            level_loss = eta * self.losses[b, -1]
            constant = self._constant(noise.even) + level_loss
            if runs.is_single[b]:
                best = best + constant
            else:
                kappa = n * np.maximum(noise.kappa[grid.below], noise.kappa[grid.above])
                best = _next(
                    *(best, noise.even.bound, constant, *self._fall(noise.even), noise.even.bend),
                    *(kappa, noise.widest, eta * self.losses[b], grid.level, *self.jumps.arrays[1:]),
                )
                _add_far_jumps(
                    *(best_before, best, noise.any.bound, *self._fall(noise.any)),
                    *(noise.widest, level_loss, grid.level, *self.far_jumps.arrays),
                )
        return float(best.max())

    def _fall(self, each: Majorant) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much the slope falls up to the end of the reach of each interval of nodes, and before it."""
        return each.fall[self.grid.above], np.append(0.0, each.fall)[self.grid.below]

    def _constant(self, each: Majorant) -> np.ndarray:
        """Return bounds at levels of a curve that is constant in a cell and is rounded to the levels beside it."""
        grid = self.grid
        level = each.bound[:: grid.finer]
        chord = level[:-1, None] + grid.share * np.diff(level)[:, None]
        rounded = (each.bound[:-1].reshape(-1, grid.finer) - chord).max(axis=1).clip(0.0)
        return level + np.maximum(np.append(rounded, 0.0), np.append(0.0, rounded))


@jit
def _losses(
    value: np.ndarray, count: np.ndarray, first: np.ndarray, rows: np.ndarray, power: int, level: np.ndarray
) -> np.ndarray:
    """Return the sums of |level - v| ** power over the first parts of each cell; parts may split rows."""
    cells, levels = rows.size, level.size
    losses = np.zeros((cells, PARTS + 1, levels))
    for b in range(cells):
        part, left = 0, rows[b] / PARTS
        for j in range(first[b], first[b + 1]):
            here = count[j]
            while here > 0.0:
                taken = here if part == PARTS - 1 else min(here, left)
                for g in range(levels):
                    off = abs(level[g] - value[j])
                    losses[b, part + 1, g] += taken * (off if power == 1 else off * off)
                here -= taken
                left -= taken
                if left <= 0.0 and part < PARTS - 1:
                    part += 1
                    left = rows[b] / PARTS
        for part in range(PARTS):
            for g in range(levels):
                losses[b, part + 1, g] += losses[b, part, g]
    return losses


@jit
def _next(
    best: np.ndarray,
    even: np.ndarray,
    constant: np.ndarray,
    above: np.ndarray,
    below: np.ndarray,
    bend: float,
    kappa: np.ndarray,
    widest: float,
    losses: np.ndarray,
    level: np.ndarray,
    interval: np.ndarray,
    share: np.ndarray,
    length: np.ndarray,
    bends: np.ndarray,
    moved: np.ndarray,
    loose: np.ndarray,
) -> np.ndarray:
    """Return the best sums up to the end of a cell by the level there, where the curve is constant or jumps little."""
    result = best + constant
    for start in range(level.size - 1):
        for u in range(start + 1, level.size):
            rise = level[u] - level[start]
            if rise > widest + loose[start, u]:
                break
            square = rise * rise / PARTS**2
            added = 0.25 * square + 0.25 * moved[start, u] ** 2
            highest = -np.inf
            before, square_before, kappa_before, above_before = 0.0, 0.0, 0.0, 0.0
            for a in range(PARTS + 1):
                j = interval[start, u, a]
                value = even[j] + share[start, u, a] * (even[j + 1] - even[j])
                value += losses[a, start] + losses[PARTS, u] - losses[a, u]
                here = square * (a * (PARTS - a))
                if a > 0:
                    more = min(bend * bends[start, u, a - 1], length[start, u, a - 1] * (above_before - below[j]))
                    more += max(kappa[j], kappa_before) * (max(here, square_before) + added)
                    highest = max(highest, max(value, before) + more)
                before, square_before, kappa_before, above_before = value, here, kappa[j], above[j]
            result[u] = max(result[u], best[start] + highest)
    return result


@jit
def _add_far_jumps(
    best: np.ndarray,
    result: np.ndarray,
    by_jensen: np.ndarray,
    above: np.ndarray,
    below: np.ndarray,
    widest: float,
    loss: np.ndarray,
    level: np.ndarray,
    at: np.ndarray,
    interval: np.ndarray,
    share: np.ndarray,
    length: np.ndarray,
    bends: np.ndarray,
    moved: np.ndarray,
    loose: np.ndarray,
) -> None:
    """Raise the best sums to what curves reach whose values in the cell differ by more than `widest`, by blocks."""
    for s in range(at.size - 1):
        from_ = best[at[s + 1]]
        for e in range(s, at.size - 1):
            start, u = at[s], at[e + 1]
            if level[u] - level[start] < widest - loose[s, e + 1]:
                continue
            highest = -np.inf
            before, above_before = 0.0, 0.0
            for a in range(PARTS + 1):
                t = a / PARTS
                j = interval[s, e + 1, a]
                value = by_jensen[j] + share[s, e + 1, a] * (by_jensen[j + 1] - by_jensen[j])
                value += (1.0 - t) * loss[u] + t * loss[start]
                if a > 0:
                    more = length[s, e + 1, a - 1] * (above_before - below[j])
                    highest = max(highest, max(value, before) + more)
                before, above_before = value, above[j]
            for g in range(at[e], u + 1):
                result[g] = max(result[g], from_ + highest)
