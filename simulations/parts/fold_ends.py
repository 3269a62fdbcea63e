"""Intervals, tests and differences of losses from out-of-fold predictions, written a second time with plain numpy.

docs/evidence/proofs/fold-ends.md has the statements. Multipliers are random signs of the rows, or of their clusters,
centred within each fold; quantiles of the norm of the noise G*, alone or beside what is observed, give the upper ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.measures.bins import bin_numbers

from .ends_in_the_limit import MEASURES, Z, place_of_quantile
from .whole_clusters import whole

BINS = 15
BATCH = 2_000_000  # numbers in memory at a time


@dataclass(frozen=True)
class UpperEnds:
    """The ends of one error: low and high as if rows were fresh, the mirror's and the triangle's."""

    low: float
    as_is: float
    mirror: float
    triangle: float


@dataclass(frozen=True, eq=False)
class Ordered:
    """Predictions in ascending order, and norms of sums at them.

    Attributes
    ----------
    prediction : ndarray, shape (n,)
        Predictions.
    """

    prediction: np.ndarray

    @cached_property
    def order(self) -> np.ndarray:
        """Their order."""
        return np.argsort(self.prediction, kind="stable")

    @cached_property
    def value(self) -> np.ndarray:
        """The predictions, ascending."""
        return self.prediction[self.order]

    @cached_property
    def ends(self) -> np.ndarray:
        """The places of the last of equal predictions."""
        return np.append(np.flatnonzero(np.diff(self.value)), self.value.size - 1)

    @cached_property
    def starts(self) -> np.ndarray:
        """The places of the first prediction in each bin of `ece` that has any."""
        return np.flatnonzero(np.append(1, np.diff(bin_numbers(self.value, BINS))))

    def norms(self, sums: np.ndarray) -> np.ndarray:
        """Return the errors by `MEASURES`, shape (3, m), of residuals of shape (m, n), divided by n, in this order."""
        curve = np.cumsum(sums, axis=1)
        ks = np.abs(curve[:, self.ends]).max(axis=1)
        ece = np.abs(np.add.reduceat(sums, self.starts, axis=1)).sum(axis=1)
        raised = sums * np.exp(self.value).astype(sums.dtype)  # the kernel exp(-|v - w|) is a product for v > w
        lowered = sums * np.exp(-self.value).astype(sums.dtype)
        square = 2 * (lowered * np.cumsum(raised, axis=1)).sum(axis=1) - (sums * sums).sum(axis=1)
        return np.stack([ece, ks, np.sqrt(np.maximum(square, 0))])


def errors(prediction: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return the errors by `MEASURES` of predictions whose residuals have these means."""
    at = Ordered(prediction)
    return at.norms((residual[at.order] / residual.size)[None])[:, 0]


def multipliers(random: Random, fold: np.ndarray, draws: int, unit: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """Yield random signs, of rows or of clusters, centred within folds and of variance 1, shape (some draws, n)."""
    folds = [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
    units = fold.size if unit is None else int(unit.max()) + 1
    part = max(BATCH // fold.size, 1)
    for begin in range(0, draws, part):
        shape = min(part, draws - begin), units
        sign = (2 * random.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.float32)
        sign = sign if unit is None else sign[:, unit]
        for rows in folds:
            own, size = sign[:, rows], sizes(rows, unit)
            sign[:, rows] = (own - own.mean(axis=1, keepdims=True)) * np.float32(np.sqrt(1 / left_by_centring(size)))
        yield sign


def sizes(rows: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """Return the numbers of rows of the units that these rows belong to."""
    return np.ones(rows.size) if unit is None else np.unique(unit[rows], return_counts=True)[1]


def left_by_centring(size: np.ndarray) -> float:
    """Return the share of the variance of a sum over units that is left if they are centred by rows.

    Unit i, a share f of the rows, adds e_i less f times the sum of all; the variance of e_i is taken as its size
    squared.
    """
    share = size / size.sum()
    variance = size.astype(float) ** 2
    left = (1 - share) ** 2 * variance + share**2 * (variance.sum() - variance)
    return float(left.sum() / variance.sum())


def upper_ends(
    random: Random, y: np.ndarray, p: np.ndarray, fold: np.ndarray, draws: int, unit: np.ndarray | None = None
) -> dict[str, UpperEnds]:
    """Return the ends of the errors by `MEASURES` of out-of-fold predictions."""
    at = Ordered(p)
    residual = ((y - p) / y.size)[at.order].astype(np.float32)
    alone, beside = [], []
    for sign in multipliers(random, fold[at.order], draws, None if unit is None else unit[at.order]):
        noise = sign * residual
        alone.append(at.norms(noise))
        beside.append(at.norms(noise + residual))
    place = place_of_quantile(draws)
    reach, mirrored = (np.sort(np.concatenate(part, axis=1), axis=1)[:, place] for part in (alone, beside))
    seen = errors(p, y - p)
    found = {}
    for k, measure in enumerate(MEASURES):
        seed = int(random.integers(2**31))
        fresh = cs.confidence_interval(y, p, measure=measure, n_resamples=199, rng=seed, cluster=whole(unit))
        mirror = max(fresh.high, float(mirrored[k]))
        triangle = max(fresh.high, float(seen[k] + reach[k]))
        found[measure] = UpperEnds(fresh.low, fresh.high, min(mirror, 1), min(triangle, 1))
    return found


def fold_tests(
    random: Random, y: np.ndarray, p: np.ndarray, fold: np.ndarray, measure: str, unit: np.ndarray | None = None
) -> tuple[float, float]:
    """Return the p-value of the theorem, K times the smallest of the folds, and the p-value of all rows together."""

    def pvalue(rows: np.ndarray) -> float:
        seed = int(random.integers(2**31))
        cluster = None if unit is None else unit[rows]
        test = cs.calibration_test(y[rows], p[rows], measure=measure, n_resamples=999, rng=seed, cluster=cluster)
        return float(test.pvalue)

    folds = int(fold.max()) + 1
    least = min(pvalue(fold == k) for k in range(folds))
    return min(folds * least, 1.0), pvalue(np.ones(y.size, bool))


def difference(
    loss: Sequence[np.ndarray], fold: Sequence[np.ndarray], unit: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Return the mean of differences of losses and n times its variances within folds and between repeats.

    `loss` has the differences of the rows, and `fold` their folds, in each repeat.
    """
    n, folds = loss[0].size, int(fold[0].max()) + 1
    rows = np.arange(n) if unit is None else unit
    units = int(rows.max()) + 1
    within = []
    for each, own in zip(loss, fold, strict=True):
        parts = [np.flatnonzero(own == k) for k in range(folds)]
        sums = [np.bincount(rows[part], each[part] - each[part].mean()) for part in parts]
        left = [left_by_centring(sizes(part, unit)) for part in parts]
        within.append(sum(np.sum(one**2) / share for one, share in zip(sums, left, strict=True)) / n)
    of_units = np.array([np.bincount(rows, each) for each in loss])
    between = float(of_units.var(axis=0, ddof=1).sum() / n) if len(loss) > 1 else 0.0
    return float(np.mean(loss)), float(np.mean(within)), folds * (units - 1) / (units - folds) * between


def reach(variance: float, n: int) -> float:
    """Return how far the interval of a mean of n rows reaches."""
    return float(Z * np.sqrt(variance / n))


def fresh_end(y: np.ndarray, p: np.ndarray, measure: str, unit: np.ndarray | None = None) -> float:
    """Return the high end of the honest interval of fresh rows."""
    return float(cs.confidence_interval(y, p, measure=measure, n_resamples=49, rng=0, cluster=whole(unit)).high)
