"""How sums of residuals vary between samples, of independent rows or of clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.bounds.score_bound import Score, events_at
from calibstat.compiled import jit
from calibstat.data.sample import Sample

SMALL = 50  # clusters below which a matrix is made of their products
Moments = tuple[np.ndarray, np.ndarray, np.ndarray]  # sums, their variances and their third moments


class Noise(ABC):
    """The moments of weighted sums of the residuals in cells, in rows: not divided by n.

    A cell is a distinct prediction, or several.
    """

    n: float
    first: np.ndarray  # the sum of the residuals in each cell

    @abstractmethod
    def score(self, tail: float) -> Score:
        """Return the upper bound of a sum with weights in [-1, 1] that is exceeded with probability `tail`."""

    @abstractmethod
    def moments(self, weight: np.ndarray) -> tuple[float, float, float]:
        """Return the sum of weight times residual, its variance, and its third moment: see `central`."""

    def central(self, total: float, variance: float, third: float) -> float:
        """Return the third moment about the mean of what each row, or cluster, adds, from moments of a sum."""
        return third

    @abstractmethod
    def largest(self) -> tuple[float, float]:
        """Return the largest variance and third moment of a sum with weights in [-1, 1]."""

    @abstractmethod
    def prefixes(self) -> Moments:
        """Return the moments of the sums over the first 0, 1, ... cells."""

    @abstractmethod
    def differences(self, ends: np.ndarray) -> Moments:
        """Return the moments of all differences of the sums over the first ends[i] cells: [i, j] is of j less i."""

    @property
    @abstractmethod
    def units(self) -> float:
        """How many sums one difference takes: 1, or the number of clusters."""

    @abstractmethod
    def beyond(self, weight: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest variance of a sum with weights in the unit ball of a kernel, orthogonal to `weight`.

        ``smooth(sums)`` applies the kernel, 1 at distance 0, to sums in cells.
        """

    @abstractmethod
    def separate(self) -> Moments:
        """Return moments of cells that bound those of a sum with any weights w in [-1, 1].

        Its variance is at most ``w**2 @ second``, its third moment at most the larger of ``w**3 @ third`` and
        ``abs(w)**3 @ third``.
        """

    @abstractmethod
    def variances(self) -> np.ndarray:
        """Return the variance of the sum of each cell."""

    @abstractmethod
    def covariance(self) -> np.ndarray:
        """Return the second moments of the sums of cells, shape (m, m)."""


@dataclass(frozen=True, eq=False)
class RowNoise(Noise):
    """Of independent rows: `first`, `second` and `third` hold the sums of the powers of their residuals in cells."""

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    n: float

    @property
    def largest_square(self) -> Any:
        """The square of the most that one row may add in each cell."""
        return 1.0

    @classmethod
    def of_sample(cls, sample: Sample, cell: np.ndarray | None = None) -> RowNoise:
        """Return the noise of a summary, over its distinct predictions or these cells of them."""
        value, positives, negatives = sample.value, sample.positives, sample.count - sample.positives
        powers = [positives * (1 - value) ** k + negatives * (-value) ** k for k in (1, 2, 3)]
        first, second, third = powers if cell is None else [np.bincount(cell, power) for power in powers]
        return cls(first, second, third, float(sample.n))

    @classmethod
    def of_rows(cls, cell: np.ndarray, residual: np.ndarray, cells: int) -> RowNoise:
        """Return the noise of rows, each with its residual in a cell."""
        first, second, third = (np.bincount(cell, residual**k, cells) for k in (1, 2, 3))
        return cls(first, second, third, float(cell.size))

    def score(self, tail: float) -> Score:
        return Score.of_rows(tail)

    def moments(self, weight: np.ndarray) -> tuple[float, float, float]:
        total = float(weight @ self.first)
        return total, float(weight**2 @ self.second) - total**2 / self.n, float(weight**3 @ self.third)

    def central(self, total: float, variance: float, third: float) -> float:
        """The third moments of `moments` are about 0. Of a positive sum those are the larger, and so safe above it."""
        mean = total / self.n
        return third - 3 * mean * variance - self.n * mean**3

    def largest(self) -> tuple[float, float]:
        # a residual is at most 1, so its cube is at most its square
        return float(self.second.sum()), float(self.second.sum())

    @cached_property
    def _sums(self) -> np.ndarray:
        return np.cumsum([np.append(0.0, part) for part in (self.first, self.second, self.third)], axis=1)

    def prefixes(self) -> Moments:
        total, squares, cubes = self._sums
        return total, squares - total**2 / self.n, cubes

    def differences(self, ends: np.ndarray) -> Moments:
        total, squares, cubes = (part[ends] - part[ends, None] for part in self._sums)
        return total, np.abs(squares) - total**2 / self.n, cubes

    @property
    def units(self) -> float:
        return 1.0

    def beyond(self, weight: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        # the squares of orthogonal functions of the unit ball add up to at most 1 everywhere
        return float(np.maximum(1 - weight**2, 0) @ self.second)

    def separate(self) -> Moments:
        return self.first, self.second, self.third

    def variances(self) -> np.ndarray:
        return self.second - self.first**2 / self.n

    def covariance(self) -> np.ndarray:
        return np.diag(self.second) - np.outer(self.first, self.first) / self.n


@dataclass(frozen=True, eq=False)
class ClusterNoise(Noise):
    """Of clusters: `unit` numbers the cluster of each row, which has its residual in a cell.

    Rows may have a weight, which their residual has been multiplied by.
    """

    cell: np.ndarray
    residual: np.ndarray
    unit: np.ndarray
    cells: int
    weight: np.ndarray | None = None

    @cached_property
    def n(self) -> float:  # type: ignore[override]
        return float(self.size.sum())

    @cached_property
    def first(self) -> np.ndarray:  # type: ignore[override]
        return np.bincount(self.cell, self.residual, self.cells)

    @cached_property
    def size(self) -> np.ndarray:
        """The number of rows of each cluster, or the sum of their weights."""
        return np.bincount(self.unit, self.weight).astype(np.float64)

    def score(self, tail: float) -> Score:
        return score_of_units(self.size, tail)

    def centred(self, total: np.ndarray) -> np.ndarray:
        """Return sums of clusters, along the last axis, less what their numbers of rows let expect."""
        return total - self.size * (total.sum(axis=-1, keepdims=True) / self.n)

    @property
    def factor(self) -> float:
        """The factor that makes sums of squared deviations unbiased for the variance."""
        return self.size.size / (self.size.size - 1)

    def moments(self, weight: np.ndarray) -> tuple[float, float, float]:
        by_cluster = np.bincount(self.unit, weight[self.cell] * self.residual)
        return moments_of_sums(by_cluster, self.centred(by_cluster))

    def largest(self) -> tuple[float, float]:
        by_cluster = np.bincount(self.unit, np.abs(self.residual))
        return self.factor * float((by_cluster**2).sum()), float((by_cluster**3).sum())

    def prefixes(self) -> Moments:
        order = np.argsort(self.cell, kind="stable")
        found = _prefixes(self.residual[order], self.unit[order], self.size)
        last = np.searchsorted(self.cell[order], np.arange(self.cells), side="right")
        total, squares, cubes = found[:, np.append(0, last)]
        return total, self.factor * squares, cubes

    def differences(self, ends: np.ndarray) -> Moments:
        begin = np.searchsorted(ends, self.cell, side="right")  # of the sums at ends[begin:] the row is part
        clusters = self.size.size
        parts = np.bincount(begin * clusters + self.unit, self.residual, (ends.size + 1) * clusters)
        sums = np.cumsum(parts.reshape(-1, clusters)[:-1], axis=0)
        total, centred = sums.sum(axis=1), self.centred(sums)
        product, cubic = centred @ centred.T, centred**2 @ centred.T
        squares, cubes = np.diag(product), np.diag(cubic)
        variance = squares + squares[:, None] - 2 * product
        third = cubes - cubes[:, None] - 3 * cubic.T + 3 * cubic
        return total - total[:, None], self.factor * variance, third

    @property
    def units(self) -> float:
        return float(self.size.size)

    def beyond(self, weight: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest eigenvalue of the products of what the clusters add, without their part along `weight`.

        Statement and argument: docs/proofs.md, section 8.
        """
        along = self.centred(np.bincount(self.unit, weight[self.cell] * self.residual))

        def products(share: np.ndarray) -> np.ndarray:
            share = share.ravel()
            mixed = (share - self.size @ share / self.n)[self.unit] * self.residual
            smoothed = smooth(np.bincount(self.cell, mixed, self.cells))
            return self.centred(np.bincount(self.unit, smoothed[self.cell] * self.residual)) - along * (along @ share)

        return self.factor * largest_eigenvalue(products, self.size.size)

    def separate(self) -> Moments:
        # a cluster's sum is a mean of weights, each as likely as its residual is large, times the sum of these sizes:
        # the square and the cube of a mean are at most the mean of squares and cubes
        size = np.abs(self.residual)
        largest = np.bincount(self.unit, size)[self.unit]
        second, third = (np.bincount(self.cell, size * largest**k, self.cells) for k in (1, 2))
        return self.first, self.factor * second, third

    def _by_cell(self) -> np.ndarray:
        clusters = self.size.size
        sums = np.bincount(self.cell * clusters + self.unit, self.residual, self.cells * clusters)
        return self.centred(sums.reshape(self.cells, clusters))

    def variances(self) -> np.ndarray:
        """Return the variances from the clusters that have rows in a cell: most have none."""
        clusters = self.size.size
        full, place = np.unique(self.cell * clusters + self.unit, return_inverse=True)
        total = np.bincount(place, self.residual)
        cell, unit = np.divmod(full, clusters)
        mean = np.bincount(self.cell, self.residual, self.cells) / self.n
        squares = np.bincount(cell, total * (total - 2 * self.size[unit] * mean[cell]), self.cells)
        return self.factor * (squares + (self.size @ self.size) * mean**2)

    def covariance(self) -> np.ndarray:
        by_cell = self._by_cell()
        return self.factor * by_cell @ by_cell.T


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


def moments_of_sums(total: np.ndarray, centred: np.ndarray) -> tuple[float, float, float]:
    """Return the sum over clusters, its variance and its third moment.

    Statement and argument: docs/proofs.md, section 8.
    """
    factor = centred.size / max(centred.size - 1, 1)
    return float(total.sum()), factor * float((centred**2).sum()), float((centred**3).sum())


def score_of_units(size: np.ndarray, tail: float) -> Score:
    """Return the bound for clusters of these sizes, whose rows may have an event together, or rows of these weights.

    Units of `size` hide the most, each with a chance q of its own, that have no event with probability exp(-k): the sum
    of q * size, subject to prod(1 - q) = exp(-k), is largest where size * (1 - q) is one number. The degrees of freedom
    of Student's quantile are those of a sum of squares of such sizes (Satterthwaite 1946).

    Statement and argument: docs/proofs.md, section 8.
    """
    from scipy.special import stdtrit

    square = (size / size.max()) ** 2
    freedom = max(square.sum() ** 2 / (square @ square) - 1, 1.0)
    z = float(stdtrit(freedom, 1 - tail))
    k = events_at(z)
    largest_first = -np.sort(-size)
    logs = np.cumsum(np.log(largest_first))
    below = np.exp((logs - k) / np.arange(1, size.size + 1))  # the common number if so many clusters take part
    taking_part = int(np.count_nonzero(largest_first > below))
    hidden = float((largest_first[:taking_part] - below[taking_part - 1]).sum())
    return Score(z, hidden / k, float(largest_first[0]))


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
