"""Resampling schemes, streams of random words, and numbers of draws."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from calibstat.data.checks import check_jobs, check_whole
from calibstat.resampling.rng import Rng
from calibstat.resampling.streams import first_state, key_after, key_of


class Stream:
    """The streams of random words, one for each use, so that no two steps of an analysis share words.

    The numbers are fixed, because every seeded result depends on them, and so some are shared: the unpaired samples of
    a comparison use COMPARE, COMPARE + 1, ..., which are also BINS and SIGNS. These never occur in one result: a
    comparison of unpaired samples draws no signs, and a recalibrator draws only its bins.
    """

    LABELS = 1  # null distributions of tests, also of the test inside an interval
    ROWS = 2  # bootstrap intervals
    BARS = 3  # consistency bars of reliability diagrams
    ROW_SIGNS = 5  # signs of single rows: the asymptotic kernel calibration test
    COMPARE = 6  # comparisons of models; of unpaired samples, sample g takes COMPARE + g
    BINS = 6  # bootstrapped bins of a recalibrator
    SIGNS = 7  # signs of clusters
    SHARED = 8  # labels of whole clusters
    ALTERNATIVE = 9  # labels under an alternative: power
    PLANNED = 10  # rows of planned data sets, and the keys of what is drawn for each
    FOLDS = 11  # parts of the rows that are held out together
    FOLD_SIGNS = 12  # signs of rows, centred within each fold of cross-validation
    REPEATS = 13  # the keys of what is drawn for each repeat of cross-validation
    FITS = 14  # seeds of learners that draw while they are fitted
    UNLABELLED = 15  # bootstrap of rows whose outcomes are not known
    DESIGN = 16  # which rows are labelled
    GUESSES = 17  # signs of what a judge adds to a rectified residual
    UNCERTAIN = 18  # the key of what is drawn for rows that are predicted neither 0 nor 1, beside all rows
    LEARNED = 19  # the key of what is drawn for groups that a learner finds


@dataclass(frozen=True)
class Draws:
    """The key of the random words, the number of resamples, and the number of threads (-1: one for each core).

    `whole` is the number of resamples of which these are a part, None for all: by it the way of drawing is chosen, so
    that a part is drawn like the whole.
    """

    key: np.uint64
    n: int
    n_jobs: int = 1
    whole: int | None = None

    @classmethod
    def of(cls, rng: Rng, n_resamples: int, n_jobs: int = 1) -> Self:
        """Check the arguments of a function and make the key of its draws."""
        check_resamples(n_resamples, n_jobs)
        return cls(key_of(rng), n_resamples, n_jobs)

    @property
    def total(self) -> int:
        """Number of resamples of which these are a part, or all."""
        return self.n if self.whole is None else self.whole

    def with_own_key(self, stream: int) -> Draws:
        """Return as many resamples for another question, which share no words with these."""
        return replace(self, key=np.uint64(first_state(self.key, stream, 0)))

    def part(self, first: int, last: int, stream: int) -> Draws:
        """Return resamples first..last of one stream."""
        return Draws(key_after(self.key, stream, first), last - first, self.n_jobs, self.total)


def check_resamples(n_resamples: int, n_jobs: int = 1) -> None:
    """Raise unless the number of resamples is a whole number of at least 1, and the number of threads too, or -1."""
    check_jobs(n_jobs)
    check_whole("n_resamples", n_resamples)


@dataclass(frozen=True)
class Labels:
    """Labels given the predictions: the exact null distribution of calibration (parametric bootstrap).

    With `truth`, labels are drawn from these probabilities instead, while the statistic still sees the predictions: a
    distribution under an alternative. One for each distinct prediction of a `Sample`, shape (m,), or for each row and
    class of `Predictions`, shape (n, K).
    """

    truth: np.ndarray | None = field(default=None, compare=False)

    def chances(self, predicted: np.ndarray) -> np.ndarray:
        """Return the probabilities from which labels are drawn."""
        return predicted if self.truth is None else self.truth

    def of_sample(self, value: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is drawn of a sample: its places among the predictions, ascending, its chances, and its rows."""
        return np.arange(value.size), self.chances(value), count


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Labels of one event, row by row, each from a probability of its own, also where predictions are equal.

    Attributes
    ----------
    cell : ndarray of int64, shape (n,)
        The place of the prediction of each row among the distinct ones of a `Sample`.
    chance : ndarray, shape (n, 2)
        The probabilities of outcome 0 and of outcome 1 in each row.
    weight : ndarray, shape (n,), or None
        What each row counts; None for 1.
    """

    cell: np.ndarray
    chance: np.ndarray
    weight: np.ndarray | None

    def of_sample(self, value: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is drawn of a sample: its places among the predictions, ascending, its chances, and its rows."""
        return self.cell, self.chance[:, 1], np.ones(self.cell.size)


@dataclass(frozen=True)
class Pairs:
    """Pairs of prediction and label with replacement: the pairs bootstrap."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Whole clusters with replacement, as many as there are; `unit`, shape (n,), numbers the cluster of each row."""

    unit: np.ndarray


@dataclass(frozen=True)
class Consistency:
    """Predictions with replacement, then labels given them: consistency resampling."""


@dataclass(frozen=True)
class Swap:
    """Permutation of two models, in every row or in every cluster; `unit` numbers the cluster of each row."""

    unit: np.ndarray | None = None


GivenPredictions = Labels | RowLabels  # schemes that draw outcomes alone
OfRows = Labels | RowLabels | Pairs | Clusters | Consistency  # schemes for the rows of one model
Scheme = OfRows | Swap
