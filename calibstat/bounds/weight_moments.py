"""How sums of weighted residuals vary between samples of independent rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibstat.bounds.moments import Moments, RowNoise, score_of_units
from calibstat.bounds.score_bound import Score

POWERS = (1, 2, 3, 1, 2, 1)  # of x in x, x**2, x**3, x * w, x**2 * w and x * w**2


@dataclass(frozen=True, eq=False)
class WeightNoise(RowNoise):
    """Of independent rows with weights, which vary from sample to sample with the rows.

    A row adds x = w r, weight times residual, in its cell. A sum X of a * x, divided by the sum of weights n, is a
    ratio, and what a row adds to its error is a * x - w X / n. `first`, `second` and `third` hold the sums of the
    powers of x in cells; n is the sum of the weights.

    Attributes
    ----------
    shared, shared_square, square_shared : ndarray, shape (m,)
        The sums of x * w, x**2 * w and x * w**2 in cells.
    weight : ndarray, shape (n_rows,)
        The weights, of any order.
    largest_weight : ndarray, shape (m,)
        The largest weight in each cell, 1 in a cell without rows or of weights whose squares are rounded to 0.
    cubes : float
        The sum of abs(x)**3.
    """

    shared: np.ndarray
    shared_square: np.ndarray
    square_shared: np.ndarray
    weight: np.ndarray
    largest_weight: np.ndarray
    cubes: float

    @classmethod
    def of_weights(cls, cell: np.ndarray, residual: np.ndarray, weight: np.ndarray, cells: int) -> Self:
        """Return the noise of rows, each with its residual and its weight in a cell."""
        x = residual * weight
        largest = np.zeros(cells)
        np.maximum.at(largest, cell, weight)
        terms = x, x**2, x**3, x * weight, x**2 * weight, x * weight**2
        first, second, third, shared, shared_square, square_shared = (np.bincount(cell, part, cells) for part in terms)
        return cls(
            first=first,
            second=second,
            third=third,
            n=float(weight.sum()),
            shared=shared,
            shared_square=shared_square,
            square_shared=square_shared,
            weight=weight,
            largest_weight=np.where(largest**2 > 0, largest, 1.0),
            cubes=float((np.abs(x) ** 3).sum()),
        )

    @property
    def largest_square(self) -> np.ndarray:
        return self.largest_weight**2

    @cached_property
    def _squares(self) -> tuple[float, float]:
        """The sums of the squares and of the cubes of the weights."""
        return float((self.weight**2).sum()), float((self.weight**3).sum())

    @property
    def _terms(self) -> tuple[np.ndarray, ...]:
        """The sums in cells from which moments are made, of x to these `POWERS`."""
        return self.first, self.second, self.third, self.shared, self.shared_square, self.square_shared

    def _centred(self, x: Any, xx: Any, xxx: Any, xw: Any, xxw: Any, xww: Any) -> Moments:
        """Return sums with their moments about what the weight of each row lets expect, from sums of products."""
        ww, www = self._squares
        t = x / self.n
        return x, xx - 2 * t * xw + t**2 * ww, xxx - 3 * t * xxw + 3 * t**2 * xww - t**3 * www

    def score(self, tail: float) -> Score:
        return score_of_units(self.weight, tail)

    def moments(self, weight: np.ndarray) -> tuple[float, float, float]:
        terms = (float(weight**power @ part) for power, part in zip(POWERS, self._terms, strict=True))
        total, variance, third = self._centred(*terms)
        return float(total), float(variance), float(third)

    def central(self, total: float, variance: float, third: float) -> float:
        return third  # it is about the mean already

    def largest(self) -> tuple[float, float]:
        return float(self.second.sum()), self.cubes

    @cached_property
    def _sums(self) -> np.ndarray:
        return np.cumsum([np.append(0.0, part) for part in self._terms], axis=1)

    def prefixes(self) -> Moments:
        return self._centred(*self._sums)

    def differences(self, ends: np.ndarray) -> Moments:
        x, xx, xxx, xw, xxw, xww = (part[ends] - part[ends, None] for part in self._sums)
        return self._centred(x, np.abs(xx), xxx, xw, np.abs(xxw), xww)

    def variances(self) -> np.ndarray:
        return self._centred(*self._terms)[1]

    def covariance(self) -> np.ndarray:
        t = self.first / self.n
        along = np.outer(t, self.shared)
        return np.diag(self.second) - along - along.T + np.outer(t, t) * self._squares[0]
