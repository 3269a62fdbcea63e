"""Interval of a weighted sum of absolute residuals, to which each class of a row may add in a cell of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import CLASSES_STEP, DirectionalInterval
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.skewness import signs, skewed_signs
from calibstat.bounds.tail_bound import ROOT_SLOPES, Allowance, TailBound
from calibstat.bounds.unit_sums import ClassSums
from calibstat.resampling import Draws, Stream

MANY_CELLS = 2000  # with more there is no matrix of their products


@dataclass(frozen=True, eq=False)
class WeightedSumsInterval(DirectionalInterval):
    """A sum of absolute residuals over n with weights, one for each cell.

    Attributes
    ----------
    sums : ClassSums
        The residuals of rows and classes in cells.
    weight : ndarray, shape (cells,)
        The weights.
    largest : float
        The most that one row may add.
    """

    step = CLASSES_STEP
    sums: ClassSums
    weight: np.ndarray
    largest: float

    def resampled(self, draws: Draws) -> np.ndarray:
        return resampling.pairs_of_vectors(self.sums.places, self.directional, draws, Stream.ROWS)

    @cached_property
    def theta(self) -> np.ndarray:
        return np.asarray(self.sums.powers[0]) / self.sums.predictions.n

    @cached_property
    def estimate(self) -> float:
        return float(self.value(self.theta))

    def value(self, theta: np.ndarray) -> np.ndarray:
        return np.abs(theta) @ self.weight

    def by_row(self) -> np.ndarray:
        """Return what each row adds to the sum with the signs of the data, shape (n,)."""
        return self.sums.by_unit(self._sign * self.weight)

    def below(self, tail: float) -> Allowance:
        return Allowance.of_rows(self.by_row(), self.largest, tail)

    def high(self, tail: float) -> float:
        """Return the largest bound of any signs.

        The standard deviation is at most slope * variance + 1 / (4 slope). To turn the sign of a sum, by a step d from
        0 to 2, costs d times its absolute value. With the matrix M of the products of sums it adds at most twice d
        times the excess of the row sum of abs(M) over the row sum of M with signs to the variance, so that each sum is
        best by itself.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        tail_bound = TailBound.of_rows(tail).times(self.largest)
        absolute, is_used = self.sums.absolute_by_unit(self.weight)
        value, n, most = float(np.abs(self.theta) @ self.weight), absolute.size, float((absolute**2).sum())
        value, excess = value * n, tail_bound.z * np.sqrt(most)
        used = np.flatnonzero(is_used)
        if 0 < used.size <= MANY_CELLS and most > 0:
            products, sign = self.sums.products(used, self.weight), self._sign[used]
            size = n * np.abs(self.weight * self.theta)[used]
            along = sign * (products @ sign)
            gained = np.abs(products).sum(axis=1) - along
            slope = tail_bound.z * ROOT_SLOPES / (2 * np.sqrt(most))
            turned = np.maximum(2 * slope[:, None] * gained - size, 0.0).sum(axis=1)
            excess = min(excess, float((slope * along.sum() + tail_bound.z**2 / (4 * slope) + 2 * turned).min()))
        total, square, cube = self.sums.powers
        skewed = skewed_signs(self._sign, total, square - total**2 / n, cube, square, tail_bound.z)
        along_signs = [JointMoments(self.sums).of(sign * self.weight) for sign in (self._sign, skewed)]
        rate = max(float(tail_bound.rate(max(sums.variance, 0.0), sums.up)) for sums in along_signs)
        return max(value + float(tail_bound.widen(excess, rate)), *map(tail_bound.of_either_sign, along_signs)) / n

    @cached_property
    def _sign(self) -> np.ndarray:
        """The signs of the sums; of those that are 0 up to rounding those with more variance, if they are few."""
        used = np.flatnonzero(self.sums.powers[1])
        products = None if used.size > MANY_CELLS else partial(self.sums.products, used, self.weight)
        sign = np.ones(self.theta.size)
        sign[used] = signs(self.theta[used], 1.0, products)
        return sign
