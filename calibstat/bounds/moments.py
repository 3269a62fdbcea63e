"""Moments of weighted sums of residuals: how they vary between samples, of rows or of clusters of rows.

A unit, which is a row or a cluster, adds its contributions in cells. Here each adds in one cell alone, so that the
moments of a weighted sum follow from sums of powers in the cells; for other units see `joint_moments`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calibstat.bounds.folded_bounds import AbsoluteSums, are_folded
from calibstat.bounds.skewness import Sums, cancelled, share_skewed_up, signs
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.sample import Sample
from calibstat.inner_product import inner

POWERS = (1, 2, 3, 1, 2, 1)  # of x in x, x**2, x**3 and, of rows with weights w, in x * w, x**2 * w and x * w**2


class Majorant(NamedTuple):
    """Moments of cells that bound the moments of a sum with any weights w in [-1, 1].

    Its variance is at most ``w**2 @ variance``. What its third moment counts upwards is at most the sum over `thirds`,
    one for each kind of rows, of the larger one of ``u**3 @ third`` and ``abs(u)**3 @ third`` for some weights u whose
    absolute values and slopes are not larger than those of w.
    """

    total: np.ndarray
    variance: np.ndarray
    thirds: tuple[np.ndarray, ...]


class Moments(ABC):
    """The moments of weighted sums of the contributions in cells. A cell is a distinct prediction, or several.

    Attributes
    ----------
    n : float
        The number of rows, or the sum of their weights.
    total, square, cube : ndarray, shape (cells,)
        The sums of the contributions in each cell, of their squares and of their cubes.
    low : ndarray, shape (cells,)
        The sums of the cubes of rows that are skewed upwards, such as rows with rare events.
    factor : float
        The factor that makes sums of squared deviations unbiased for the variance, of clusters.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def n(self) -> float: ...
        @property
        def total(self) -> np.ndarray: ...
        @property
        def square(self) -> np.ndarray: ...
        @property
        def cube(self) -> np.ndarray: ...
        @property
        def low(self) -> np.ndarray: ...
        @property
        def factor(self) -> float: ...

    else:
        factor = 1.0

    @property
    def separable(self) -> SeparableMoments | None:
        """Itself if each row adds in one cell alone, else None."""
        return None

    @abstractmethod
    def tail_bound(self, tail: float) -> TailBound:
        """Return the upper bound of a sum with weights in [-1, 1] that is exceeded with probability `tail`."""

    @abstractmethod
    def of(self, weights: np.ndarray) -> Sums:
        """Return the sum of weight times contribution with its moments; of the third see `central_third`."""

    @property
    @abstractmethod
    def is_central(self) -> bool:
        """Whether third moments of weighted sums are about the mean, and not about 0."""

    def central_third(self, sums: Sums) -> float:
        """Return the third moment about the mean of what each row, or cluster, adds, from moments of a sum."""
        if self.is_central:
            return float(sums.third)
        mean = sums.total / self.n
        return float(sums.third - 3 * mean * sums.variance - self.n * mean**3)

    @abstractmethod
    def largest(self) -> tuple[float, float]:
        """Return the largest variance and third moment of a sum with weights in [-1, 1]."""

    @abstractmethod
    def prefixes(self) -> Sums:
        """Return the sums over the first 0, 1, ... cells."""

    @abstractmethod
    def between(self, ends: np.ndarray) -> Sums:
        """Return all differences of the sums over the first ends[i] cells: [i, j] is of j less i."""

    @property
    @abstractmethod
    def numbers_per_sum(self) -> float:
        """Number of numbers that one difference takes: 1, or the number of clusters."""

    @abstractmethod
    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest variance of a sum with weights in the unit ball of a kernel, orthogonal to `weights`.

        ``smooth(sums)`` applies the kernel, 1 at distance 0, to sums in cells.
        """

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell, the unit and the contribution of each entry, where units add in several cells."""
        raise NotImplementedError("each row adds in one cell alone")

    def by_unit(self) -> np.ndarray:
        """Return what each unit adds in each cell, less what is expected of it, where units add in several cells."""
        raise NotImplementedError("each row adds in one cell alone")

    @abstractmethod
    def largest_spread(self) -> tuple[float, float]:
        """Return s and d, for contributions that are not negative.

        The standard deviation of a sum S with weights w is then at most sqrt(s * (w**2 @ total)) + d * abs(S).
        """

    @abstractmethod
    def majorant(self) -> Majorant:
        """Return moments of cells that bound the moments of a sum with any weights in [-1, 1]."""

    @abstractmethod
    def variances(self) -> np.ndarray:
        """Return the variance of the sum of each cell."""

    @abstractmethod
    def covariance(self) -> np.ndarray:
        """Return the second moments of the sums of cells, shape (cells, cells)."""

    @abstractmethod
    def absolute_sum_bound(self, tail_bound: TailBound) -> float:
        """Return an upper bound of the sum over cells of absolute means, in rows."""


@dataclass(frozen=True, eq=False)
class SeparableMoments(Moments):
    """Of independent rows, each of which adds in one cell: from sums of powers of the contributions.

    A row adds x, its residual or weight times residual, in its cell. A sum X of a * x over the sum of weights n is a
    ratio, and what a row adds to its error is a * x - w X / n. Without weights third moments are about 0: of a positive
    sum they are the larger, and so safe above it.

    Attributes
    ----------
    powers : tuple of ndarray, each of shape (cells,)
        The sums of x, x**2 and x**3, and of rows with weights w also of x * w, x**2 * w and x * w**2.
    low : ndarray, shape (cells,)
        The part of the sums of x**3 of rows that are skewed upwards.
    sample_weight : ndarray, shape (n_rows,), or None
        The weights of rows, of any order.
    largest_square : ndarray, shape (cells,), or 1
        The square of the most that one row may add in each cell.
    largest_third : float
        The largest third moment of a sum with weights in [-1, 1].
    """

    powers: tuple[np.ndarray, ...]
    low: np.ndarray
    n: float
    largest_third: float
    sample_weight: np.ndarray | None = None
    largest_square: Any = 1.0

    @classmethod
    def of_powers(
        cls, total: np.ndarray, square: np.ndarray, cube: np.ndarray, n: float, low: np.ndarray | None = None
    ) -> SeparableMoments:
        """Return the moments of rows without weights, whose residuals are at most 1, so their cubes at most squares."""
        return SeparableMoments((total, square, cube), cube if low is None else low, n, float(square.sum()))

    @classmethod
    def of_sample(cls, sample: Sample, cell: np.ndarray | None = None) -> SeparableMoments:
        """Return the moments of a summary, of rows with weights too, over its distinct predictions or these cells."""
        kept = sample.weighted
        if kept is not None:
            at = kept.cell if cell is None else cell[kept.cell]
            cells = sample.value.size if cell is None else int(cell[-1]) + 1
            return cls.of_rows(at, kept.outcome - kept.prediction, cells, kept.weight, kept.prediction)
        value, positives, negatives = sample.value, sample.positives, sample.count - sample.positives
        powers, one, zero = [], positives, negatives
        for _ in range(3):  # NumPy's third power takes twenty times a product
            one, zero = one * (1 - value), zero * -value
            powers.append(one + zero)
        powers.append(share_skewed_up(1 - 2 * value) * powers[2])
        total, square, cube, low = powers if cell is None else [np.bincount(cell, power) for power in powers]
        return cls.of_powers(total, square, cube, float(sample.n), low)

    @classmethod
    def of_rows(
        cls,
        cell: np.ndarray,
        residual: np.ndarray,
        cells: int,
        sample_weight: np.ndarray | None = None,
        prediction: np.ndarray | float = 0.0,
    ) -> SeparableMoments:
        """Return the moments of rows, each with its residual in a cell, and with its weight if rows have any.

        Without predictions all rows are of one kind. The largest weight of a cell counts as 1 if the cell has no rows,
        or only weights whose squares are rounded to 0.
        """
        if sample_weight is None:
            total, square, cube = (np.bincount(cell, residual**k, cells) for k in (1, 2, 3))
            low = np.bincount(cell, share_skewed_up(1 - 2 * prediction) * residual**3, cells)
            return cls.of_powers(total, square, cube, float(cell.size), low)
        largest = np.zeros(cells)
        np.maximum.at(largest, cell, sample_weight)
        largest_square = np.where(largest**2 > 0, largest, 1.0) ** 2
        columns = [(cell, residual * sample_weight, prediction)]
        return cls.of_weighted_columns(columns, cells, sample_weight, largest_square)

    @classmethod
    def of_weighted_columns(
        cls,
        columns: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray | float]],
        cells: int,
        sample_weight: np.ndarray,
        largest_square: np.ndarray,
    ) -> SeparableMoments:
        """Return the moments of rows with weights, for sums to which each row adds in one of its columns alone.

        A column holds the cell of each row, the contribution, which is weight times residual, and the prediction.
        """
        parts, third = [], 0.0
        for cell, x, prediction in columns:
            low = share_skewed_up(1 - 2 * prediction) * x**3
            terms = x, x**2, x**3, x * sample_weight, x**2 * sample_weight, x * sample_weight**2, low
            parts.append([np.bincount(cell, part, cells) for part in terms])
            third += float((np.abs(x) ** 3).sum())
        *powers, low = np.sum(parts, axis=0)
        return SeparableMoments(
            powers=tuple(powers),
            low=low,
            n=float(sample_weight.sum()),
            largest_third=third,
            sample_weight=sample_weight,
            largest_square=largest_square,
        )

    @property
    def separable(self) -> SeparableMoments:
        return self

    def of_cells(self, cells: slice) -> SeparableMoments:
        """Return the moments of sums over these cells alone, in one of which each row adds."""
        if self.sample_weight is None:
            total, square, cube = (part[cells] for part in self.powers)
            return SeparableMoments.of_powers(total, square, cube, self.n, self.low[cells])
        powers = tuple(part[cells] for part in self.powers)
        return replace(self, powers=powers, low=self.low[cells], largest_square=self.largest_square[cells])

    @property
    def total(self) -> np.ndarray:
        return self.powers[0]

    @property
    def square(self) -> np.ndarray:
        return self.powers[1]

    @property
    def cube(self) -> np.ndarray:
        return self.powers[2]

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        """The sums of the squares and of the cubes of the weights."""
        assert self.sample_weight is not None
        return float((self.sample_weight**2).sum()), float((self.sample_weight**3).sum())

    def _sums(self, up: np.ndarray | float, x: Any, xx: Any, xxx: Any, *shared: Any) -> Sums:
        """Return sums with their moments from sums of powers, `up` of the cubes of rows that are skewed upwards."""
        hidden = cancelled(up, xxx - up)
        if not shared:
            return Sums(x, xx - x**2 / self.n, xxx, hidden)
        xw, xxw, xww = shared
        ww, www = self._sizes
        t = x / self.n
        return Sums(x, xx - 2 * t * xw + t**2 * ww, xxx - 3 * t * xxw + 3 * t**2 * xww - t**3 * www, hidden)

    def tail_bound(self, tail: float) -> TailBound:
        return TailBound.of_rows(tail) if self.sample_weight is None else TailBound.of_units(self.sample_weight, tail)

    def of(self, weights: np.ndarray) -> Sums:
        # with a negative weight rare non-events are the rows that are skewed upwards
        up = inner(np.maximum(weights, 0) ** 3, self.low) + inner(np.minimum(weights, 0) ** 3, self.cube - self.low)
        sums = self._sums(up, *(inner(weights**k, part) for k, part in zip(POWERS, self.powers, strict=False)))
        return Sums(*(float(each) for each in sums))

    @property
    def is_central(self) -> bool:
        return self.sample_weight is not None

    def largest(self) -> tuple[float, float]:
        return float(self.square.sum()), self.largest_third

    @cached_property
    def _cumulated(self) -> np.ndarray:
        return np.cumsum([np.append(0.0, part) for part in (self.low, *self.powers)], axis=1)

    def prefixes(self) -> Sums:
        return self._sums(*self._cumulated)

    def between(self, ends: np.ndarray) -> Sums:
        low, *parts = [part[ends] - part[ends, None] for part in self._cumulated]
        return self._sums(low, *(np.abs(part) if k == 2 else part for k, part in zip(POWERS, parts, strict=False)))

    @property
    def numbers_per_sum(self) -> float:
        return 1.0

    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        # the squares of orthogonal functions of the unit ball add up to at most 1 everywhere
        return inner(np.maximum(1 - weights**2, 0), self.square)

    def largest_spread(self) -> tuple[float, float]:
        if self.sample_weight is None:
            return 1.0, 0.0
        return float(self.sample_weight.max()), math.sqrt(self._sizes[0]) / self.n

    def majorant(self) -> Majorant:
        return Majorant(self.total, self.square, (self.low, self.cube - self.low))

    def variances(self) -> np.ndarray:
        return np.asarray(self._sums(self.low, *self.powers).variance)

    def covariance(self) -> np.ndarray:
        if self.sample_weight is None:
            return np.diag(self.square) - np.outer(self.total, self.total) / self.n
        t = self.total / self.n
        along = np.outer(t, self.powers[3])
        return np.diag(self.square) - along - along.T + np.outer(t, t) * self._sizes[0]

    def absolute_sum_bound(self, tail_bound: TailBound) -> float:
        return absolute_sum_bound_of_rows(self, tail_bound, self.largest_square)


def absolute_sum_bound_of_rows(
    moments: Moments, tail_bound: TailBound, largest_square: np.ndarray | float = 1.0
) -> float:
    """Return the largest sum of absolute means that the observed sum allows, of rows that add in one cell each.

    The sums of cells are not correlated, except through their sum. `largest_square` is the square of the most that one
    row may add in each cell.

    Statement and argument: docs/evidence/proofs/binned-l1.md.
    """
    # a larger variance, as of a calibrated model, would take more of the estimate for bias
    variance, square, total = moments.variances(), moments.square, moments.total
    folded = are_folded(variance / largest_square, square / largest_square)
    sign = signs(total, moments.n)
    along = moments.of(sign)
    sums = AbsoluteSums(total, np.where(folded, variance, square), folded)
    third = _third_of_cells(moments, along, sign, tail_bound.z)
    end = sums.high(tail_bound, float(tail_bound.rate(max(along.variance, 0.0), third)))
    return max(end, tail_bound.of_either_sign(moments.of(np.ones(total.size))))


def _third_of_cells(moments: Moments, along: Sums, sign: np.ndarray, z: float) -> float:
    """Return the third moment of the sum of absolute values, most of it in cells whose sign is not known.

    Statement and argument: docs/evidence/proofs/binned-l1.md.
    """
    cube, hidden = moments.cube, cancelled(moments.low, moments.cube - moments.low)
    cells = Sums(sign * moments.total, moments.variances(), sign * cube, hidden)
    central = along.third - float(inner(sign, cube))  # of weights: of rows it is 0
    return float(cells.up_if_unsure(z).sum()) + central
