"""Rows whose outcomes are alike within clusters, and tests of one side of them.

Outcomes follow an equicorrelated normal copula: each row has outcome 1 with its probability, and the correlation `icc`
is that of the normal variables. Rows that are calibrated one by one are then not allowed by the null hypothesis of the
test of independent rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.generators.simulator import drawing
from calibstat.study.engine import Models

from .laws_of_one_side import SIDES

EXACT, SIGNS, STUDENT, ROWS = "clusters, exact", "signs of clusters", "t of clusters", "independent rows"
BESIDE = (EXACT, SIGNS, STUDENT)


@dataclass(frozen=True)
class Alike:
    """Clusters of kinds, each so many of a size with a prediction (or predictions about it), all alike by `icc`."""

    label: str
    kinds: tuple[tuple[int, int, float], ...]
    icc: float
    side: Side = "over"
    spread: float = 0.0  # predictions of a cluster go from this far below to this far above
    too_high: float = 0.0

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(clusters * size for clusters, size, _ in self.kinds)

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return sum(clusters for clusters, _, _ in self.kinds)

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the predictions and the clusters of all rows."""
        each = [
            about + self.spread * np.linspace(-1, 1, size)
            for clusters, size, about in self.kinds
            for _ in range(clusters)
        ]
        return np.concatenate(each), np.repeat(np.arange(self.clusters), [part.size for part in each])

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions and clusters; `n` is the number of rows."""
        from scipy.special import ndtri

        n, random = drawing(n, rng)
        p, unit = self.columns()
        shared, own = random.normal(size=self.clusters)[unit], random.normal(size=n)
        normal = np.sqrt(self.icc) * shared + np.sqrt(1 - self.icc) * own
        return (normal < ndtri(p - self.too_high)).astype(np.int64), {"prediction": p, "cluster": unit}


@dataclass(frozen=True)
class TestsOfClusters:
    """Asks the exact test of clusters, and signs and a t test of their sums, which are approximate."""

    side: Side
    n_resamples: int = 199

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values."""
        y, columns = data
        p, unit = columns["prediction"], columns["cluster"]
        exact = cs.calibration_test(y, p, measure="mean", side=self.side, cluster=unit).pvalue
        sums = MORE_EVENTS[self.side] * np.bincount(unit, y - p)
        return [exact, by_signs(sums, self.n_resamples, rng), by_t(sums)]


def by_signs(sums: np.ndarray, n_resamples: int, rng: Any) -> float:
    """Return the p-value of as large a total, by random signs of the sums of clusters."""
    _, random = drawing(sums.size, rng)
    drawn = (2.0 * random.integers(0, 2, (n_resamples, sums.size)) - 1) @ sums
    return float((1 + np.count_nonzero(drawn >= sums.sum() - 1e-9)) / (1 + n_resamples))


def by_t(sums: np.ndarray) -> float:
    """Return the p-value of as large a mean, by Student's t."""
    from scipy.special import stdtr

    error = sums.std(ddof=1) / np.sqrt(sums.size)
    return float(stdtr(sums.size - 1, -sums.mean() / error)) if error > 0 else float(sums.mean() <= 0)


@dataclass(frozen=True)
class TestsOfRows:
    """Asks tests that suppose independent rows, and the exact test of clusters beside them."""

    side: Side
    n_resamples: int = 199
    measures: tuple[str, ...] = ("omnibus", "mean")

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values of the measures, and the one by clusters."""
        y, columns = data
        p = columns["prediction"]
        given: dict[str, Any] = {"side": self.side, "n_resamples": self.n_resamples, "rng": rng}
        found = [cs.calibration_test(y, p, measure=each, **given).pvalue for each in self.measures]
        exact = cs.calibration_test(y, p, measure="mean", side=self.side, cluster=columns["cluster"])
        return [*found, exact.pvalue]


def dependent(quick: bool) -> Iterator[Alike]:
    """Return calibrated rows that depend on each other."""
    yield Alike("pairs that agree, all 0.5", ((200, 2, 0.5),), 1.0)
    yield Alike("days of 5, all 0.5", ((80, 5, 0.5),), 0.5)
    if quick:
        return
    for icc in (0.1, 0.5, 1.0):
        yield Alike("days of 20, all 0.5", ((20, 20, 0.5),), icc)
    yield Alike("days of 20, 0.5 to 0.9", ((20, 20, 0.7),), 0.3, spread=0.2)
    for side in SIDES:
        yield Alike("years of 150 loans, all 0.02", ((8, 150, 0.02),), 0.1, side)


def in_clusters(quick: bool) -> Iterator[Alike]:
    """Return clusters whose rows are calibrated, and ones whose predictions are .1 too high."""
    for icc, too_high in product((0.3,) if quick else (0.0, 0.3, 0.9, 1.0), (0.0, 0.1)):
        yield Alike("60 of 5 rows, all 0.7", ((60, 5, 0.7),), icc, too_high=too_high)
        if not quick:
            yield Alike("100 of 5 rows, 0.77 to 0.93", ((100, 5, 0.85),), icc, spread=0.08, too_high=too_high)
    if quick:
        return
    yield Alike("60 of 5 rows, all 0.05", ((60, 5, 0.05),), 0.5)
    yield Alike("200 of 5 rows, all 0.02", ((200, 5, 0.02),), 0.5)
    yield Alike("30 of 10 rows, all 0.1", ((30, 10, 0.1),), 0.9)
    yield Alike("20 of 20 rows, all 0.05; 100 of 1, all 0.3", ((20, 20, 0.05), (100, 1, 0.3)), 0.5)
    yield Alike("60 of 5 rows, all 0.95", ((60, 5, 0.95),), 0.5, "under")
    yield Alike("60 of 5 rows, all 0.05", ((60, 5, 0.05),), 0.5, "under")
