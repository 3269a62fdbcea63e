"""Moments of weighted sums over independent samples of units, which add up: of labelled and of other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.bounds.moments import Majorant, Moments, absolute_sum_bound_of_rows
from calibstat.bounds.skewness import Sums
from calibstat.bounds.tail_bound import TailBound


@dataclass(frozen=True, eq=False)
class MomentsOfSamples(Moments):
    """The moments of the sums over all samples, each of which is centred by itself.

    Attributes
    ----------
    samples : sequence of Moments
        One of rows or clusters, or several of rows that add in one cell each, all in the same cells.
    n : float
        What sums are divided by to be means.
    bound : callable
        ``bound(tail)`` is the score bound of a sum with weights in [-1, 1].
    """

    samples: Sequence[Moments]
    n: float
    bound: Callable[[float], TailBound]

    def _added(self, part: Callable[[Moments], Any]) -> Any:
        return sum(map(part, self.samples))

    def _sums(self, part: Callable[[Moments], Sums]) -> Sums:
        return Sums(*(sum(parts) for parts in zip(*map(part, self.samples), strict=True)))

    @property
    def total(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.total))

    @property
    def square(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.square))

    @property
    def cube(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.cube))

    @property
    def low(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.low))

    @property
    def factor(self) -> float:
        return max(each.factor for each in self.samples)

    @property
    def is_central(self) -> bool:
        return self.samples[0].is_central

    def tail_bound(self, tail: float) -> TailBound:
        return self.bound(tail)

    def of(self, weights: np.ndarray) -> Sums:
        return self._sums(lambda each: each.of(weights))

    def largest(self) -> tuple[float, float]:
        variance, third = zip(*(each.largest() for each in self.samples), strict=True)
        return sum(variance), sum(third)

    def prefixes(self) -> Sums:
        return self._sums(lambda each: each.prefixes())

    def between(self, ends: np.ndarray) -> Sums:
        return self._sums(lambda each: each.between(ends))

    @property
    def numbers_per_sum(self) -> float:
        return max(each.numbers_per_sum for each in self.samples)

    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        return float(self._added(lambda each: each.remainder(weights, smooth)))

    def by_unit(self) -> np.ndarray:
        return np.concatenate([each.by_unit() for each in self.samples], axis=1)

    def largest_spread(self) -> tuple[float, float]:
        raise NotImplementedError("what rectified rows add may be negative")

    def majorant(self) -> Majorant:
        total, variance, thirds = zip(*(each.majorant() for each in self.samples), strict=True)
        kinds = tuple(np.sum(of_samples, axis=0) for of_samples in zip(*thirds, strict=True))
        return Majorant(np.sum(total, axis=0), np.sum(variance, axis=0), kinds)

    def variances(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.variances()))

    def covariance(self) -> np.ndarray:
        return np.asarray(self._added(lambda each: each.covariance()))

    def absolute_sum_bound(self, tail_bound: TailBound) -> float:
        """Return the bound of the only sample or, of rows of several, the one of sums whose cells are not correlated.

        Sums of cells are not correlated, except through the sum of each sample.
        """
        if len(self.samples) == 1:
            return self.samples[0].absolute_sum_bound(tail_bound)
        return absolute_sum_bound_of_rows(self, tail_bound)
