"""Moments of weighted sums of residuals: how they vary between samples, of rows or of clusters of rows.

A unit, which is a row or a cluster, adds its contributions in cells. If each adds in one cell alone, the moments of a
weighted sum follow from sums of powers in the cells; if units add in several, from what each adds to the sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calibstat.bounds.folded_bounds import MANY_SUMS, PRODUCTS, AbsoluteSums, are_folded, largest_excess
from calibstat.bounds.score_bound import ScoreBound
from calibstat.bounds.unit_sums import UnitSums
from calibstat.compiled import jit
from calibstat.data.sample import Sample

SMALL = 50  # clusters below which a matrix is made of their products
POWERS = (1, 2, 3, 1, 2, 1)  # of x in x, x**2, x**3 and, of rows with weights w, in x * w, x**2 * w and x * w**2


class Sums(NamedTuple):
    """Weighted sums with their variances and third moments, numbers or arrays of one shape: in rows, not over n."""

    total: Any
    variance: Any
    third: Any


class Moments(ABC):
    """The moments of weighted sums of the contributions in cells. A cell is a distinct prediction, or several.

    Attributes
    ----------
    n : float
        The number of rows, or the sum of their weights.
    total, square, cube : ndarray, shape (cells,)
        The sums of the contributions in each cell, of their squares and of their cubes.
    """

    n: float
    total: np.ndarray
    square: np.ndarray
    cube: np.ndarray

    @abstractmethod
    def score(self, tail: float) -> ScoreBound:
        """Return the upper bound of a sum with weights in [-1, 1] that is exceeded with probability `tail`."""

    @abstractmethod
    def of(self, weights: np.ndarray) -> Sums:
        """Return the sum of weight times contribution with its moments; of the third see `central_third`."""

    @property
    def is_central(self) -> bool:
        """Whether third moments of weighted sums are about the mean, and not about 0."""
        return True

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

    @abstractmethod
    def majorant(self) -> Sums:
        """Return moments of cells that bound the moments of a sum with any weights w in [-1, 1].

        Its variance is at most ``w**2 @ variance``, its third moment at most the larger of ``w**3 @ third`` and
        ``abs(w)**3 @ third``.
        """

    @abstractmethod
    def variances(self) -> np.ndarray:
        """Return the variance of the sum of each cell."""

    @abstractmethod
    def covariance(self) -> np.ndarray:
        """Return the second moments of the sums of cells, shape (cells, cells)."""

    @abstractmethod
    def absolute_sum_bound(self, score: ScoreBound) -> float:
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
    sample_weight : ndarray, shape (n_rows,), or None
        The weights of rows, of any order.
    largest_square : ndarray, shape (cells,), or 1
        The square of the most that one row may add in each cell.
    largest_third : float
        The largest third moment of a sum with weights in [-1, 1].
    """

    powers: tuple[np.ndarray, ...]
    n: float
    largest_third: float
    sample_weight: np.ndarray | None = None
    largest_square: Any = 1.0

    @classmethod
    def of_powers(cls, total: np.ndarray, square: np.ndarray, cube: np.ndarray, n: float) -> SeparableMoments:
        """Return the moments of rows without weights, whose residuals are at most 1, so their cubes at most squares."""
        return SeparableMoments((total, square, cube), n, float(square.sum()))

    @classmethod
    def of_sample(cls, sample: Sample, cell: np.ndarray | None = None) -> SeparableMoments:
        """Return the moments of a summary, over its distinct predictions or these cells of them."""
        value, positives, negatives = sample.value, sample.positives, sample.count - sample.positives
        powers = [positives * (1 - value) ** k + negatives * (-value) ** k for k in (1, 2, 3)]
        total, square, cube = powers if cell is None else [np.bincount(cell, power) for power in powers]
        return cls.of_powers(total, square, cube, float(sample.n))

    @classmethod
    def of_rows(
        cls, cell: np.ndarray, residual: np.ndarray, cells: int, sample_weight: np.ndarray | None = None
    ) -> SeparableMoments:
        """Return the moments of rows, each with its residual in a cell, and with its weight if rows have any.

        The largest weight of a cell counts as 1 if the cell has no rows, or only weights whose squares are rounded to
        0.
        """
        if sample_weight is None:
            total, square, cube = (np.bincount(cell, residual**k, cells) for k in (1, 2, 3))
            return cls.of_powers(total, square, cube, float(cell.size))
        x = residual * sample_weight
        largest = np.zeros(cells)
        np.maximum.at(largest, cell, sample_weight)
        terms = x, x**2, x**3, x * sample_weight, x**2 * sample_weight, x * sample_weight**2
        return SeparableMoments(
            powers=tuple(np.bincount(cell, part, cells) for part in terms),
            n=float(sample_weight.sum()),
            largest_third=float((np.abs(x) ** 3).sum()),
            sample_weight=sample_weight,
            largest_square=np.where(largest**2 > 0, largest, 1.0) ** 2,
        )

    @property
    def total(self) -> np.ndarray:  # type: ignore[override]
        return self.powers[0]

    @property
    def square(self) -> np.ndarray:  # type: ignore[override]
        return self.powers[1]

    @property
    def cube(self) -> np.ndarray:  # type: ignore[override]
        return self.powers[2]

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        """The sums of the squares and of the cubes of the weights."""
        assert self.sample_weight is not None
        return float((self.sample_weight**2).sum()), float((self.sample_weight**3).sum())

    def _sums(self, x: Any, xx: Any, xxx: Any, *shared: Any) -> Sums:
        """Return sums with their moments from sums of powers."""
        if not shared:
            return Sums(x, xx - x**2 / self.n, xxx)
        xw, xxw, xww = shared
        ww, www = self._sizes
        t = x / self.n
        return Sums(x, xx - 2 * t * xw + t**2 * ww, xxx - 3 * t * xxw + 3 * t**2 * xww - t**3 * www)

    def score(self, tail: float) -> ScoreBound:
        return ScoreBound.of_rows(tail) if self.sample_weight is None else ScoreBound.of_units(self.sample_weight, tail)

    def of(self, weights: np.ndarray) -> Sums:
        found = self._sums(*(float(weights**k @ part) for k, part in zip(POWERS, self.powers, strict=False)))
        return Sums(*(float(each) for each in found))

    @property
    def is_central(self) -> bool:
        return self.sample_weight is not None

    def largest(self) -> tuple[float, float]:
        return float(self.square.sum()), self.largest_third

    @cached_property
    def _cumulated(self) -> np.ndarray:
        return np.cumsum([np.append(0.0, part) for part in self.powers], axis=1)

    def prefixes(self) -> Sums:
        return self._sums(*self._cumulated)

    def between(self, ends: np.ndarray) -> Sums:
        parts = [part[ends] - part[ends, None] for part in self._cumulated]
        return self._sums(*(np.abs(part) if k == 2 else part for k, part in zip(POWERS, parts, strict=False)))

    @property
    def numbers_per_sum(self) -> float:
        return 1.0

    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        # the squares of orthogonal functions of the unit ball add up to at most 1 everywhere
        return float(np.maximum(1 - weights**2, 0) @ self.square)

    def majorant(self) -> Sums:
        return Sums(self.total, self.square, self.cube)

    def variances(self) -> np.ndarray:
        return np.asarray(self._sums(*self.powers).variance)

    def covariance(self) -> np.ndarray:
        if self.sample_weight is None:
            return np.diag(self.square) - np.outer(self.total, self.total) / self.n
        t = self.total / self.n
        along = np.outer(t, self.powers[3])
        return np.diag(self.square) - along - along.T + np.outer(t, t) * self._sizes[0]

    def absolute_sum_bound(self, score: ScoreBound) -> float:
        """Return the largest sum of absolute means that the observed sum allows.

        The sums of cells are not correlated, except through their sum.

        Statement and argument: docs/proofs.md, section 4.
        """
        # a larger variance, as of a calibrated model, would take more of the estimate for bias
        variance = self.variances()
        folded = are_folded(variance / self.largest_square, self.square / self.largest_square)
        _, along, third = self.of(np.sign(self.total))
        sums = AbsoluteSums(self.total, np.where(folded, variance, self.square), folded)
        return sums.high(score, float(score.rate(max(along, 0.0), third)))


@dataclass(frozen=True, eq=False)
class JointMoments(Moments):
    """Of units that add in several cells: clusters of rows, or rows that add a residual for each class.

    The conventions by which clusters and rows differ are at `UnitSums.units_are_rows`.
    """

    sums: UnitSums

    @cached_property
    def n(self) -> float:  # type: ignore[override]
        return float(self.sums.size.sum())

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.sums.cells

    @property
    def total(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self.sums.powers[0])

    @property
    def square(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self.sums.powers[1])

    @property
    def cube(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self.sums.powers[2])

    @property
    def size(self) -> np.ndarray:
        """The number of rows of each unit, or the sum of their weights."""
        return self.sums.size

    @property
    def factor(self) -> float:
        """The factor that makes sums of squared deviations unbiased for the variance."""
        return self.sums.factor

    @property
    def is_central(self) -> bool:
        return not self.sums.units_are_rows

    def score(self, tail: float) -> ScoreBound:
        return self.sums.score(tail)

    def centred(self, total: np.ndarray) -> np.ndarray:
        """Return sums of units, along the last axis, less what their numbers of rows let expect."""
        return total - self.size * (total.sum(axis=-1, keepdims=True) / self.n)

    def of(self, weights: np.ndarray) -> Sums:
        by_unit = self.sums.by_unit(weights)
        if self.sums.units_are_rows:
            total = float(by_unit.sum())
            return Sums(total, float((by_unit**2).sum()) - total**2 / self.n, float((by_unit**3).sum()))
        return sums_of_units(by_unit, self.centred(by_unit))

    def _sums(self, total: np.ndarray, squares: np.ndarray, cubes: np.ndarray) -> Sums:
        """Return sums with their moments, from squares and cubes of what units add less what is expected of them."""
        if self.sums.units_are_rows:
            mean = total / self.n
            cubes = cubes + 3 * mean * squares + self.n * mean**3
        return Sums(total, self.factor * squares, cubes)

    def largest(self) -> tuple[float, float]:
        absolute = self.sums.absolute()
        return self.factor * float((absolute**2).sum()), float((absolute**3).sum())

    def prefixes(self) -> Sums:
        cell, unit, contribution = self.sums.entries()
        order = np.argsort(cell, kind="stable")
        found = _prefixes(contribution[order], unit[order], self.size)
        last = np.searchsorted(cell[order], np.arange(self.cells), side="right")
        total, squares, cubes = found[:, np.append(0, last)]
        return self._sums(total, squares, cubes)

    def between(self, ends: np.ndarray) -> Sums:
        cell, unit, contribution = self.sums.entries()
        begin = np.searchsorted(ends, cell, side="right")  # of the sums at ends[begin:] the entry is part
        units = self.size.size
        parts = np.bincount(begin * units + unit, contribution, (ends.size + 1) * units)
        sums = np.cumsum(parts.reshape(-1, units)[:-1], axis=0)
        total, centred = sums.sum(axis=1), self.centred(sums)
        product, cubic = centred @ centred.T, centred**2 @ centred.T
        squares, cubes = np.diag(product), np.diag(cubic)
        variance = squares + squares[:, None] - 2 * product
        third = cubes - cubes[:, None] - 3 * cubic.T + 3 * cubic
        return self._sums(total - total[:, None], variance, third)

    @property
    def numbers_per_sum(self) -> float:
        return float(self.size.size)

    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest eigenvalue of the products of what the units add, without their part along `weights`.

        Statement and argument: docs/proofs.md, section 8.
        """
        along = self.centred(self.sums.by_unit(weights))

        def products(share: np.ndarray) -> np.ndarray:
            share = share.ravel()
            smoothed = smooth(self.sums.at_cells(share - self.size @ share / self.n))
            return self.centred(self.sums.by_unit(smoothed)) - along * (along @ share)

        return self.factor * largest_eigenvalue(products, self.size.size)

    def majorant(self) -> Sums:
        # a unit's sum is a mean of weights, each as likely as its contribution is large, times the sum of these sizes:
        # the square and the cube of a mean are at most the mean of squares and cubes
        cell, unit, contribution = self.sums.entries()
        size = np.abs(contribution)
        largest = self.sums.absolute()[unit]
        second, third = (np.bincount(cell, size * largest**k, self.cells) for k in (1, 2))
        return Sums(self.total, self.factor * second, third)

    def variances(self) -> np.ndarray:
        """Return the variances from the units that have entries in a cell: most have none."""
        at, number, contribution = self.sums.entries()
        units = self.size.size
        full, index = np.unique(at * units + number, return_inverse=True)
        total = np.bincount(index, contribution)
        cell, unit = np.divmod(full, units)
        mean = np.bincount(at, contribution, self.cells) / self.n
        squares = np.bincount(cell, total * (total - 2 * self.size[unit] * mean[cell]), self.cells)
        return self.factor * (squares + (self.size @ self.size) * mean**2)

    def covariance(self) -> np.ndarray:
        return self.sums.covariance(np.arange(self.cells))

    def absolute_sum_bound(self, score: ScoreBound) -> float:
        """Return the inversion with covariances for rows, the bound over signs for clusters.

        Few clusters are not nearly normal. Of too many sums for a matrix it is the bound with the largest variance
        that any signs have.

        Statement and argument: docs/proofs.md, section 6.
        """
        total, along, third = self.of(np.where(self.total < 0, -1.0, 1.0))
        rate, most = float(score.rate(max(along, 0.0), third)), self.largest()[0]
        widest = score.z * np.sqrt(most)
        if not self.sums.units_are_rows:
            few = self.cells <= MANY_SUMS and self.cells * self.numbers_per_sum <= PRODUCTS
            excess = largest_excess(self.total, self.covariance(), score.z) if few else widest
            return total + float(score.widen(excess, rate))
        used = np.flatnonzero(self.square)
        if used.size > MANY_SUMS:
            return total + float(score.widen(widest, rate))
        covariance = self.sums.covariance(used)
        variance = np.maximum(np.diag(covariance), 0.0)
        folded = are_folded(variance, self.square[used])
        return AbsoluteSums(self.total[used], variance, folded, covariance, most).high(score, rate)


def largest_eigenvalue(products: Callable[[np.ndarray], np.ndarray], size: int) -> float:
    """Return the largest eigenvalue of a symmetric matrix, 0 if it is negative, from its products with vectors."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.cos(np.arange(size))  # any one will do that is no eigenvector
    if size < SMALL:
        found = np.linalg.eigvalsh(np.array([products(share) for share in np.eye(size)]))[-1]
    elif not products(start).any():
        return 0.0
    else:
        operator = LinearOperator((size, size), matvec=products, dtype=np.float64)
        found = eigsh(operator, k=1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)[0]
    return max(float(found), 0.0)


def sums_of_units(total: np.ndarray, centred: np.ndarray) -> Sums:
    """Return the sum over clusters, its variance and its third moment.

    Statement and argument: docs/proofs.md, section 8.
    """
    factor = centred.size / max(centred.size - 1, 1)
    return Sums(float(total.sum()), factor * float((centred**2).sum()), float((centred**3).sum()))


@jit
def _prefixes(residual: np.ndarray, unit: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the sums over the first 0, 1, ... rows, and over clusters of squares and cubes of what is not expected.

    Of a sum S over n rows, a cluster of m rows is expected to hold m S / n.
    """
    rows = residual.size
    n = size.sum()
    found = np.zeros((3, rows + 1))
    cluster = np.zeros(size.size)
    total = 0.0
    x2 = 0.0  # sums over clusters of products of their residuals x and their rows m
    x3 = 0.0
    x1m1 = 0.0
    x2m1 = 0.0
    x1m2 = 0.0
    m2 = 0.0
    m3 = 0.0
    for c in range(size.size):
        m2 += size[c] ** 2
        m3 += size[c] ** 3
    for i in range(rows):
        r = residual[i]
        m = size[unit[i]]
        before = cluster[unit[i]]
        after = before + r
        cluster[unit[i]] = after
        total += r
        x2 += after**2 - before**2
        x3 += after**3 - before**3
        x1m1 += r * m
        x2m1 += (after**2 - before**2) * m
        x1m2 += r * m**2
        a = total / n
        found[0, i + 1] = total
        found[1, i + 1] = x2 - 2 * a * x1m1 + a**2 * m2
        found[2, i + 1] = x3 - 3 * a * x2m1 + 3 * a**2 * x1m2 - a**3 * m3
    return found
