"""Rejections by a test whose predictions are fixed, where labels are drawn from an alternative."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.data.checked_rows import Data, data_of_predictions
from calibstat.data.lenses import AnyLens, class_wise
from calibstat.data.named_lens import NamedLens
from calibstat.data.predictions import Predictions
from calibstat.inference.p_values import p_values
from calibstat.inference.power.alternatives import Alternative, size
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Labels, Stream

MORE = 16  # times as many draws, where the null distribution has few values
MC_ERRORS = 2.0  # Monte Carlo errors: what as many draws have is a value of a statistic of few values
# Monte Carlo errors, of both numbers of draws: a p-value nearer to the level may be on its other side
_NEAR_LEVEL = 3.0


def pose_predictions(
    p: object,
    measure: str | Measure | type[Measure],
    options: Mapping[str, Any],
    *,
    lens: AnyLens = None,
) -> Problem:
    """Pose the problem of predictions without outcomes; outcomes of a `Sample` or `Predictions` are never looked at."""
    p = p.prob if isinstance(p, Predictions) else p
    return one_number(data_of_predictions(p, lens=lens), find_measure(measure, options))


def one_number(rows: Data, measure: Measure) -> Problem:
    """Pose the problem of a measure; of a number for each class that of their mean."""
    problem = problem_of(rows, measure)
    return problem if problem.is_one_number else problem_of(rows.through(class_wise.mean), measure)


@dataclass(frozen=True)
class FixedPredictions:
    """Predictions seen through a lens, and alternatives for them.

    Attributes
    ----------
    problem : Problem
        The predictions, with a measure and outcomes that are never looked at.
    """

    problem: Problem

    @property
    def lens(self) -> NamedLens:
        """The lens."""
        return self.problem.lens

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.problem.in_order("power").n)  # raises for weights that are no counts

    @cached_property
    def predicted(self) -> np.ndarray:
        """The distinct predictions, shape (m,), or the predictions of rows and classes, shape (n, K)."""
        return self.problem.view.predicted

    @cached_property
    def count(self) -> np.ndarray | None:
        """The numbers of rows of the distinct predictions; None of K classes."""
        return self.problem.view.predicted_counts

    def truth(self, alternative: Alternative) -> np.ndarray:
        """Return the probabilities of labels under an alternative."""
        rows = self.problem.view.row_predictions
        return alternative.truth(self.predicted, None if rows is None else rows + 0.0)

    def residual_variance(self, alternative: Alternative) -> float:
        """Return the mean square of a residual under an alternative."""
        truth = self.truth(alternative)
        return float(np.average(truth * (1 - truth) + (truth - self.predicted) ** 2, weights=self.count))

    def ece(self, alternative: Alternative) -> float:
        """Return the size of an alternative."""
        return size(self.truth(alternative), self.predicted, self.count)


@dataclass(frozen=True)
class FixedTest(FixedPredictions, ABC):
    """A test of fixed predictions; all that data sets share is computed once.

    Attributes
    ----------
    draws : Draws
        The key of the labels, and the number of resamples under calibration.
    """

    draws: Draws

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the test."""

    @abstractmethod
    def pvalues(self, truth: np.ndarray, n_datasets: int) -> np.ndarray:
        """Return the p-values of data sets whose labels have these probabilities; nan where the test has no result.

        For one key they are drawn from the same random words for any probabilities.
        """

    def rejected(self, alternative: Alternative, n_datasets: int, level: float) -> np.ndarray:
        """Return how many data sets are rejected at this level, and how many have no result."""
        pvalues = self.pvalues(self.truth(alternative), n_datasets)
        with np.errstate(invalid="ignore"):
            return np.array([np.count_nonzero(pvalues <= level), np.count_nonzero(np.isnan(pvalues))])


@dataclass(frozen=True)
class MeasureTest(FixedTest):
    """`calibration_test` by a measure: the null distribution is drawn once."""

    @property
    def title(self) -> str:
        return str(self.problem.measure)

    @cached_property
    def null(self) -> np.ndarray:
        """The null distribution."""
        return self._of_samples.resampler(Labels(), Stream.LABELS)(self.draws)

    @cached_property
    def _of_samples(self) -> Problem:
        """The summary of the rows of a binary outcome; rows of classes stay in their order, as the truth has it."""
        return self.problem if self.count is None else self.problem.in_order("power")

    @cached_property
    def _many(self) -> np.ndarray:
        """A longer null distribution, for a p-value that has to be known better."""
        draws = Draws(self.draws.key, MORE * self.draws.n, self.draws.n_jobs)
        return self._of_samples.resampler(Labels(), Stream.LABELS)(draws)

    def pvalues(self, truth: np.ndarray, n_datasets: int) -> np.ndarray:
        return p_values(self._statistics(truth, n_datasets), self.null, self._tail)

    def expected(self, alternative: Alternative, n_datasets: int, level: float) -> float:
        """Return how many data sets are rejected at this level on average over the draws of a test of its own.

        Where the statistic takes few values, the p-value at one of them may be so close to the level that the test
        rejects there in a part of its runs alone, however often data sets have that value.
        """
        statistic = self._statistics(self.truth(alternative), n_datasets)
        pvalues = p_values(statistic, self.null, self._tail)
        rejected = (pvalues <= level).astype(np.float64)
        undecided = np.isin(pvalues, self._undecided(level))
        if undecided.any():
            rejected[undecided] = self._share(p_values(statistic[undecided], self._many, self._tail), level)
        return float(rejected.sum())

    def _undecided(self, level: float) -> np.ndarray:
        """Return the p-values near the level of values that many draws share."""
        variance = level * (1 - level)
        known = np.unique(p_values(self.null, self.null, self._tail))
        shared = np.diff(known, prepend=0.0) > MC_ERRORS * np.sqrt(variance / self.draws.n)
        both = np.sqrt(variance / self.draws.n + variance / self.problem.measure.draws(None))
        return known[shared & (np.abs(known - level) <= _NEAR_LEVEL * both)]

    def _share(self, pvalue: np.ndarray, level: float) -> np.ndarray:
        """Return the probability that the test with its default number of draws rejects, given exact p-values."""
        from scipy.special import bdtr

        n, tails = self.problem.measure.draws(None), 1 if self._tail == "greater" else 2
        most = np.floor(level / tails * (n + 1) * (1 + np.finfo(float).eps)) - 1  # draws that are as extreme
        return bdtr(most, n, pvalue / tails) if most >= 0 else np.zeros_like(pvalue)

    @property
    def _tail(self) -> str:
        return self.problem.measure.info.tail

    def _statistics(self, truth: np.ndarray, n_datasets: int) -> np.ndarray:
        draws = Draws(self.draws.key, n_datasets, self.draws.n_jobs)
        return self._of_samples.resampler(Labels(truth), Stream.ALTERNATIVE)(draws)
