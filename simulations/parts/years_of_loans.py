"""Years of loans in rating grades, whose defaults rise and fall together within a year, and what several years show.

A loan defaults if a normal number is small, of which a share is the same for all loans of a year: the model of one
factor that supervisors use. Grades are right on average over years, or all default rates are too low by a factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.classical.mean_over_clusters import mean_over_clusters
from calibstat.data.words.side import Side
from calibstat.generators.simulator import drawing
from calibstat.study.engine import Models

from .alike_outcomes import EXACT, ROWS
from .rating_grades import SEVEN, Portfolio

OVER_YEARS = "mean O/E over years"


@dataclass(frozen=True)
class Years:
    """So many years of a portfolio, with a correlation of the loans of a year, and a factor of all default rates."""

    portfolio: Portfolio
    clusters: int
    icc: float
    factor: float = 1.0
    side: Side = "under"

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        right = "right" if self.factor == 1 else f"times {self.factor:g}"
        return f"{self.portfolio.label}, {right}"

    @property
    def n(self) -> int:
        """The number of loans in all years."""
        return self.portfolio.n * self.clusters

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw defaults, with predictions and years; `n` is the number of loans in all years."""
        from scipy.special import ndtri

        n, random = drawing(n, rng)
        p = np.tile(np.repeat(self.portfolio.rate, self.portfolio.loans), self.clusters)
        year = np.repeat(np.arange(self.clusters), self.portfolio.n)
        shared, own = random.normal(size=self.clusters)[year], random.normal(size=n)
        normal = np.sqrt(self.icc) * shared + np.sqrt(1 - self.icc) * own
        return (normal < ndtri(self.factor * p)).astype(np.int64), {"prediction": p, "cluster": year}


@dataclass(frozen=True)
class RulesOfYears:
    """Asks whether default rates are found too low: by all loans as independent, by years as clusters, and by O/E.

    The last is the interval of `validate` with years as clusters, of the mean over years: its low end is above 1. Of
    one year the first alone is asked.
    """

    years: int
    n_resamples: int = 199
    level: float = 0.05

    @property
    def names(self) -> list[tuple[str, str]]:
        """The measure and the method of each answer."""
        by_rows, *others = ("mean", ROWS), ("mean", EXACT), ("O/E", OVER_YEARS)
        return [by_rows] if self.years == 1 else [by_rows, *others]

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers, 1 or 0, in the order of the names."""
        y, columns = data
        p, year = columns["prediction"], columns["cluster"]
        given: dict[str, Any] = {"side": "under", "measure": "mean"}
        by_rows = cs.calibration_test(y, p, n_resamples=self.n_resamples, rng=rng, **given).pvalue <= self.level
        if self.years == 1:  # one cluster is refused
            return [float(by_rows)]
        expected, variance = np.bincount(year, p), np.bincount(year, p * (1 - p))
        by_years = cs.calibration_test(y, p, cluster=year, **given).pvalue <= self.level
        ratio = mean_over_clusters(np.bincount(year, y) / expected, variance / expected**2, 0.95, least=0.0)
        return [float(by_rows), float(by_years), float(ratio.interval[0] > 1)]


def years(quick: bool) -> Iterator[Years]:
    """Return portfolios of one year and of several, whose grades are right and too low."""
    for number, icc in product((1, 8) if quick else (1, 8, 12, 20), (0.12,) if quick else (0.0, 0.05, 0.12, 0.24)):
        yield Years(SEVEN, number, icc)
    for number, factor in product(() if quick else (8, 12, 20), (1.5, 2.0)):
        yield Years(SEVEN, number, 0.12, factor)
