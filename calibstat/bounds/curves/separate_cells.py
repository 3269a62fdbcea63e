"""Cells apart: curves whose deviation from the prediction has a bounded variation or slope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from calibstat.bounds.curves.noise_in_cells import Grid, HiddenNoise, hidden_noise
from calibstat.bounds.curves.runs_of_rows import Runs


class Cells(Protocol):
    """A programme over calibration curves."""

    def largest(self, theta: float, eta: float) -> float:
        """Return a bound of the sum of log E exp(-theta * distance) and of eta * |c - v| ** power, for any curve c."""
        ...


@dataclass(frozen=True, eq=False)
class SeparateCells:
    """Cells of which each may have any mean outcome.

    Attributes
    ----------
    runs, power, grid
        As of `LinkedCells`.
    most : float
        The largest variation, or slope, of the deviation c - v.
    """

    runs: Runs
    power: int
    grid: Grid
    most: float

    def noise(self, b: int, theta: float) -> HiddenNoise:
        """Return what noise can hide in a cell."""
        return hidden_noise(float(self.runs.rows[b]), float(self.runs.mean[b]), theta, self.power, self.grid)

    def highest(self, b: int, noise: HiddenNoise, eta: float, width: float, squares: float) -> float:
        """Return the largest sum of a cell over its mean outcome, without what varies within the cell.

        `width` is the most by which probabilities of the cell differ, and `squares` the most of Q.

        Statement and argument: docs/evidence/proofs/curve-cells.md.
        """
        n, node = float(self.runs.rows[b]), self.grid.node
        gap = eta * n * np.abs(node - self.runs.mean[b]) ** self.power
        if width > noise.widest:
            return float((noise.any.bound + gap).max())
        beside = np.maximum(np.append(noise.kappa[1:], 0.0), np.append(0.0, noise.kappa[:-1]))
        return float((noise.even.bound + np.maximum(noise.kappa, beside) * squares + gap).max())


@dataclass(frozen=True, eq=False)
class VaryingCells(SeparateCells):
    """Cells of a curve whose deviation has a bounded total variation."""

    def largest(self, theta: float, eta: float) -> float:
        """Return the sum over cells, and the most that a unit of variation adds in any of them for each unit.

        Statement and argument: docs/evidence/proofs/curve-cells.md.
        """
        total, added = 0.0, 0.0
        for b in range(self.runs.rows.size):
            noise = self.noise(b, theta)
            flat = min(
                self.highest(b, noise, eta, width, self.runs.squares[b]) for width in (self.runs.width[b], np.inf)
            )
            total += flat
            if not self.runs.is_single[b]:  # else the curve has one value there
                added = max(added, self._per_variation(b, noise, eta, flat))
        return total + self.most * added

    def _per_variation(self, b: int, noise: HiddenNoise, eta: float, flat: float) -> float:
        """Return the most that a variation inside a cell adds, over this variation.

        Up to some variation what it adds is convex, and beyond it one bound holds for all: the best place is taken.
        """
        runs, n, width = self.runs, float(self.runs.rows[b]), float(self.runs.width[b])
        most = min(self.most, 1 + width)

        def over(variation: float, highest: float) -> float:
            return (highest - flat + eta * n * (variation / 2) ** self.power) / variation

        def convex(variation: float) -> float:
            squares = (np.sqrt(runs.squares[b]) + np.sqrt(n) * variation / 2) ** 2
            return over(variation, self.highest(b, noise, eta, width + variation, squares))

        room, any_ = min(most, noise.widest - width), self.highest(b, noise, eta, np.inf, np.inf)
        if room <= 0 or flat >= any_:  # `flat` already holds for any probabilities
            return over(most, flat)
        places = room * 0.7 ** np.arange(12)
        found = [max(convex(place), over(place, any_), over(most, any_)) for place in places]
        return min([*found, convex(most)] if room == most else found)


@dataclass(frozen=True, eq=False)
class SlopedCells(SeparateCells):
    """Cells of a curve whose deviation has a bounded slope."""

    def largest(self, theta: float, eta: float) -> float:
        """Return the sum over cells, with what varies within each.

        Statement and argument: docs/evidence/proofs/curve-cells.md.
        """
        runs = self.runs
        total = 0.0
        for b, width in enumerate(runs.width):
            noise, stretch = self.noise(b, theta), 1 + self.most
            widths, squares = (stretch * width, np.inf), stretch**2 * runs.squares[b]
            total += min(self.highest(b, noise, eta, each, squares) for each in widths)
            total += eta * self._within(b)
        return float(total)

    def _within(self, b: int) -> float:
        """Return the most that the deviations of a cell from their mean add."""
        if self.power == 2:
            return float(self.most**2 * self.runs.squares[b])
        here = slice(*self.runs.first[b : b + 2])
        value, count = self.runs.value[here], self.runs.count[here]
        before = count.cumsum() - count
        # the sum over pairs of |v_i - v_j| over n, each pair twice
        pairs = value * count @ (before - (count.sum() - before - count))
        return float(self.most * 2 * pairs / count.sum())
