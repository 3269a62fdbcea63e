"""Moments of weighted sums to which a unit adds in several cells: from what each unit adds to the sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.folded_bounds import MANY_SUMS, SUM_BUDGET, AbsoluteSums, are_folded, largest_excess
from calibstat.bounds.moments import Majorant, Moments
from calibstat.bounds.skewness import Sums, cancelled, share_skewed_up, signs, skewed_signs
from calibstat.bounds.tail_bound import TailBound
from calibstat.bounds.unit_sums import UnitSums
from calibstat.compiled import jit
from calibstat.inner_product import inner

FEW_CLUSTERS = 50  # clusters below which a matrix is made of their products


@dataclass(frozen=True, eq=False)
class JointMoments(Moments):
    """Of units that add in several cells: clusters of rows, or rows that add a residual for each class.

    The conventions by which clusters and rows differ are at `UnitSums.units_are_rows`.
    """

    sums: UnitSums

    @cached_property
    def n(self) -> float:
        return float(self.sums.size.sum())

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.sums.cells

    @property
    def total(self) -> np.ndarray:
        return np.asarray(self.sums.powers[0])

    @property
    def square(self) -> np.ndarray:
        return np.asarray(self.sums.powers[1])

    @property
    def cube(self) -> np.ndarray:
        return np.asarray(self.sums.powers[2])

    @property
    def low(self) -> np.ndarray:
        return self.sums.low

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

    def tail_bound(self, tail: float) -> TailBound:
        return self.sums.tail_bound(tail)

    def centred(self, total: np.ndarray) -> np.ndarray:
        """Return sums of units, along the last axis, less what their numbers of rows let expect."""
        return total - self.size * (total.sum(axis=-1, keepdims=True) / self.n)

    def of(self, weights: np.ndarray) -> Sums:
        by_unit = self.sums.by_unit(weights)
        cubes, up = by_unit**3, share_skewed_up(self.sums.skew(weights))
        hidden = float(cancelled(inner(up, cubes), inner(1 - up, cubes)))
        if self.sums.units_are_rows:
            total = float(by_unit.sum())
            return Sums(total, float((by_unit**2).sum()) - total**2 / self.n, float(cubes.sum()), hidden)
        return sums_of_units(by_unit, self.centred(by_unit))._replace(cancelled=hidden)

    def _sums(self, total: np.ndarray, squares: np.ndarray, cubes: np.ndarray, up: np.ndarray) -> Sums:
        """Return sums with their moments, from squares and cubes of what units add less what is expected of them.

        `up` holds the cubes of the units that are skewed upwards.
        """
        hidden = cancelled(up, cubes - up)
        if self.sums.units_are_rows:
            mean = total / self.n
            cubes = cubes + 3 * mean * squares + self.n * mean**3
        return Sums(total, self.factor * squares, cubes, hidden)

    @cached_property
    def _up(self) -> np.ndarray:
        """The share of each unit that is skewed upwards where all weights are 1."""
        return np.asarray(share_skewed_up(self.sums.skew(np.ones(self.cells))))

    def largest(self) -> tuple[float, float]:
        absolute = self.sums.absolute()
        return self.factor * float((absolute**2).sum()), float((absolute**3).sum())

    def prefixes(self) -> Sums:
        cell, unit, contribution = self.sums.entries()
        order = np.argsort(cell, kind="stable")
        up_to = _prefixes(contribution[order], unit[order], self.size, self._up)
        last = np.searchsorted(cell[order], np.arange(self.cells), side="right")
        return self._sums(*up_to[:, np.append(0, last)])

    def between(self, ends: np.ndarray) -> Sums:
        cell, unit, contribution = self.sums.entries()
        begin = np.searchsorted(ends, cell, side="right")  # of the sums at ends[begin:] the entry is part
        units = self.size.size
        parts = np.bincount(begin * units + unit, contribution, (ends.size + 1) * units)
        sums = np.cumsum(parts.reshape(-1, units)[:-1], axis=0)
        total, centred = sums.sum(axis=1), self.centred(sums)
        product = centred @ centred.T
        squares = np.diag(product)
        variance = squares + squares[:, None] - 2 * product

        def cubes_between(share: np.ndarray | float) -> np.ndarray:
            cubic = centred**2 @ (share * centred).T
            cubes = np.diag(cubic)
            return np.asarray(cubes - cubes[:, None] - 3 * cubic.T + 3 * cubic)

        return self._sums(total - total[:, None], variance, cubes_between(1.0), cubes_between(self._up))

    @property
    def numbers_per_sum(self) -> float:
        return float(self.size.size)

    def remainder(self, weights: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest eigenvalue of the products of what the units add, without their part along `weights`.

        Statement and argument: docs/evidence/proofs/clusters.md.
        """
        along = self.centred(self.sums.by_unit(weights))

        def products(share: np.ndarray) -> np.ndarray:
            share = share.ravel()
            smoothed = smooth(self.sums.at_cells(share - inner(self.size, share) / self.n))
            return self.centred(self.sums.by_unit(smoothed)) - along * inner(along, share)

        return self.factor * largest_eigenpair(products, self.size.size)[0]

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.sums.entries()

    def by_unit(self) -> np.ndarray:
        """Return what each unit adds in each cell, less what its number of rows lets expect, shape (cells, units)."""
        cell, unit, contribution = self.sums.entries()
        units = self.size.size
        return self.centred(np.bincount(cell * units + unit, contribution, self.cells * units).reshape(-1, units))

    def largest_spread(self) -> tuple[float, float]:
        return self.factor * float(self.size.max()), math.sqrt(self.factor * inner(self.size, self.size)) / self.n

    def majorant(self) -> Majorant:
        # a unit's sum is a mean of weights, each as likely as its contribution is large, times the sum of these sizes:
        # the square and the cube of a mean are at most the mean of squares and cubes
        cell, unit, contribution = self.sums.entries()
        size = np.abs(contribution)
        largest = self.sums.absolute()[unit]
        second, third = (np.bincount(cell, size * largest**k, self.cells) for k in (1, 2))
        return Majorant(self.total, self.factor * second, (third,))

    def variances(self) -> np.ndarray:
        mean = self.total / self.n
        return self.factor * (self.sums.squares_about(mean) + inner(self.size, self.size) * mean**2)

    def covariance(self) -> np.ndarray:
        return self.sums.covariance(np.arange(self.cells))

    def absolute_sum_bound(self, tail_bound: TailBound) -> float:
        """Return the inversion with covariances for rows, with weights or without, the bound over signs for clusters.

        Few clusters are not nearly normal. Of too many sums for a matrix it is the bound with the largest variance
        that any signs have.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        used = np.flatnonzero(self.square)
        few = used.size <= MANY_SUMS and (self.sums.inverts or used.size * self.numbers_per_sum <= SUM_BUDGET)
        covariance = self.sums.covariance(used) if few else None
        first = self.total[used]
        variance = self.variances()[used] if covariance is None else np.maximum(np.diag(covariance), 0.0)
        ways = np.ones((2, self.cells))
        ways[:, used] = signs(first, self.n, None if covariance is None else lambda: covariance)
        ways[1, used] = skewed_signs(ways[0, used], first, variance, self.cube[used], self.square[used], tail_bound.z)
        sign, along = ways[0, used], [self.of(way) for way in ways]
        if not self.sums.inverts:  # residuals of all classes of a row add up to 0
            along.append(self.of(np.ones(self.cells)))
        rate = max(float(tail_bound.rate(max(sums.variance, 0.0), sums.up)) for sums in along[:2])
        # along the signs of the data, which make the sum largest, it would count the bias of absolute values
        floor = max(tail_bound.of_either_sign(sums) for sums in along[1:])
        most, total = self.largest()[0], float(np.abs(self.total).sum())
        if covariance is None:
            return max(total + float(tail_bound.widen(tail_bound.z * np.sqrt(most), rate)), floor)
        if not self.sums.inverts:
            excess = largest_excess(first, sign, covariance, tail_bound.z)
            return max(total + float(tail_bound.widen(excess, rate)), floor)
        largest = self.sums.largest_square if self.sums.units_are_rows else np.asarray(self.sums.largest_square)[used]
        folded = are_folded(variance / largest, self.square[used] / largest)
        sums = AbsoluteSums(first, variance, folded, covariance, sign, most)
        return max(sums.high(tail_bound, rate), floor)


def largest_eigenpair(products: Callable[[np.ndarray], np.ndarray], size: int) -> tuple[float, np.ndarray]:
    """Return the largest eigenvalue of a symmetric matrix, 0 if it is negative, and its vector, from its products."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.cos(np.arange(size))  # any one will do that is no eigenvector
    if size < FEW_CLUSTERS:
        values, vectors = np.linalg.eigh(np.array([products(share) for share in np.eye(size)]))
    elif not products(start).any():
        return 0.0, start
    else:
        operator = LinearOperator((size, size), matvec=products, dtype=np.float64)
        values, vectors = eigsh(operator, k=1, which="LA", v0=start, tol=1e-4)
    return max(float(values[-1]), 0.0), vectors[:, -1]


def sums_of_units(total: np.ndarray, centred: np.ndarray) -> Sums:
    """Return the sum over clusters, its variance and its third moment.

    Statement and argument: docs/evidence/proofs/clusters.md.
    """
    factor = centred.size / max(centred.size - 1, 1)
    return Sums(float(total.sum()), factor * float((centred**2).sum()), float((centred**3).sum()))


@jit
def _powers_of_sizes(size: np.ndarray, up: np.ndarray) -> tuple[float, float, float]:
    """Return the sums over clusters of the squares of their rows, of the cubes, and of the cubes times the share."""
    m2 = 0.0
    m3 = 0.0
    um3 = 0.0
    for c in range(size.size):
        m2 += size[c] ** 2
        m3 += size[c] ** 3
        um3 += up[c] * size[c] ** 3
    return m2, m3, um3


@jit
def _prefixes(residual: np.ndarray, unit: np.ndarray, size: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the sums over the first 0, 1, ... rows, and over clusters of squares and cubes of what is not expected.

    Of a sum S over n rows, a cluster of m rows is expected to hold m S / n. Last come the sums of the same cubes times
    the share `up` of each cluster.
    """
    rows = residual.size
    n = size.sum()
    prefix_sums = np.zeros((4, rows + 1))
    cluster = np.zeros(size.size)
    total = 0.0
    x2 = 0.0  # sums over clusters of products of their residuals x and their rows m
    x3 = 0.0
    x1m1 = 0.0
    x2m1 = 0.0
    x1m2 = 0.0
    m2, m3, um3 = _powers_of_sizes(size, up)
    u3 = 0.0  # the same of the shares
    u2m1 = 0.0
    u1m2 = 0.0
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
        u = up[unit[i]]
        u3 += u * (after**3 - before**3)
        u2m1 += u * (after**2 - before**2) * m
        u1m2 += u * r * m**2
        a = total / n
        prefix_sums[0, i + 1] = total
        prefix_sums[1, i + 1] = x2 - 2 * a * x1m1 + a**2 * m2
        prefix_sums[2, i + 1] = x3 - 3 * a * x2m1 + 3 * a**2 * x1m2 - a**3 * m3
        prefix_sums[3, i + 1] = u3 - 3 * a * u2m1 + 3 * a**2 * u1m2 - a**3 * um3
    return prefix_sums
