"""Resampling schemes, their streams of random words, and how often to draw."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self

import numpy as np

from calibstat.data.checks import check_jobs, check_whole
from calibstat.resampling.streams import key_of


class Stage(IntEnum):
    """The streams of random words, one for each use, so that no two steps of an analysis share their words.

    The numbers stay, because every seeded result depends on them, and so some are shared: the unpaired samples of a
    comparison take COMPARE, COMPARE + 1, ..., of which the first are also BINS and SIGNS. None of these are ever drawn
    for one result: a comparison draws no signs, and a recalibrator draws nothing but its bins.
    """

    LABELS = 1  # null distributions of tests, and of the test that an interval asks
    ROWS = 2  # bootstrap intervals
    BARS = 3  # consistency bars of reliability diagrams
    ROW_SIGNS = 5  # signs of single rows: the asymptotic kernel calibration test
    COMPARE = 6  # comparisons of models; of unpaired samples, sample g takes COMPARE + g
    BINS = 6  # bootstrapped bins of a recalibrator
    SIGNS = 7  # signs of clusters


@dataclass(frozen=True)
class Draws:
    """How often to draw, from which key, in how many threads (-1: one a core)."""

    key: np.uint64
    n: int
    n_jobs: int = 1

    @classmethod
    def of(cls, rng: Any, n_resamples: int, n_jobs: int = 1) -> Self:
        """Check the arguments of a verb and make the key of its draws."""
        check_resamples(n_resamples, n_jobs)
        return cls(key_of(rng), n_resamples, n_jobs)


def check_resamples(n_resamples: int, n_jobs: int = 1) -> None:
    """Raise unless the number of resamples is a whole number of at least 1, and that of threads too, or -1."""
    check_jobs(n_jobs)
    check_whole("n_resamples", n_resamples)


@dataclass(frozen=True)
class Labels:
    """Labels given the predictions: the null hypothesis of calibration, exactly."""


@dataclass(frozen=True)
class Pairs:
    """Rows with replacement, predictions with their labels: the pairs bootstrap."""


@dataclass(frozen=True)
class Consistency:
    """Rows with replacement, and new labels given their predictions: consistency resampling."""


@dataclass(frozen=True)
class Clusters:
    """Whole clusters with replacement; `unit` numbers the cluster of each row from 0."""

    unit: np.ndarray


@dataclass(frozen=True)
class Swap:
    """Two models exchanged at random, in every row or in every cluster; `unit` numbers the cluster of each row."""

    unit: np.ndarray | None = None


@dataclass(frozen=True)
class Signs:
    """The residuals of a cluster keep or change their signs together; `unit` numbers the cluster of each row."""

    unit: np.ndarray


OfRows = Labels | Pairs | Consistency  # what rows by themselves can be drawn by
Scheme = OfRows | Clusters | Swap | Signs
