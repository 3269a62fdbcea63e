"""The result of `cross_validate`: what is known of the models of the folds, and the models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from calibstat.in_words import InWords
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.cross_validation.mixture_predictor import MixturePredictor
from calibstat.inference.designs.folds.folds_with_tests import FoldsWithTests
from calibstat.output.wording import level_text, number, p_text
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class OutOfFold(InWords):
    """Fitted models, with a number for each row: in words a count of models.

    Attributes
    ----------
    folds, predictions, models, predictor
        As of `CrossValidation`.
    """

    folds: np.ndarray
    predictions: np.ndarray
    models: tuple[tuple[Any, ...], ...]
    predictor: MixturePredictor

    def __str__(self) -> str:
        n_models, (n, repeats) = sum(map(len, self.models)), self.folds.shape
        times = f", dealt {repeats} times" if repeats > 1 else ""
        return f"{n_models} models of {n:,} rows in {len(self.models[0])} folds{times}"


@dataclass(frozen=True, eq=False)
class CrossValidation(Result):
    """Result of `cross_validate`. It is the one result that holds a number for each row, and the fitted models.

    Attributes
    ----------
    estimator : str
        What was fitted.
    outcome : str
        The outcome whose probability was predicted, as `y` has it.
    interval : ConfidenceInterval
        Of the calibration error of the models of the folds, for each new row one of them at random.
    test : CalibrationTestResult
        Of what the learner does wrong each time it is fitted.
    brier : ConfidenceInterval
        Of the mean Brier score of the models.
    refitted_alike : bool
        Whether two models fitted on all rows with different seeds predict the same for all rows; if not, nothing is
        said of a model that is fitted on all rows.
    n_groups : int
        Number of groups of rows that were held out together; 0 without `groups`.
    seed : int
        The `rng` with which functions have the same numbers of `predictions` and `folds`.
    out_of_fold : OutOfFold
        In words, and in dictionaries and frames, the number of models. It holds what follows.
    folds : ndarray of int64, shape (n, R)
        The fold of each row in each of R repeats.
    predictions : ndarray, shape (n, R)
        The probability of the outcome for each row, by the model that was fitted without its fold.
    models : tuple of R tuples of K models
        The fitted models of each repeat, in the order of folds.
    predictor : MixturePredictor
        What was judged: a classifier that asks one of all R times K models for each row, chosen by a hash of the row.
    """

    estimator: str
    outcome: str
    interval: ConfidenceInterval
    test: CalibrationTestResult
    brier: ConfidenceInterval
    refitted_alike: bool
    n_groups: int
    seed: int
    out_of_fold: OutOfFold

    @property
    def folds(self) -> np.ndarray:
        """The fold of each row in each repeat, shape (n, R)."""
        return self.out_of_fold.folds

    @property
    def predictions(self) -> np.ndarray:
        """The probability of the outcome for each row and repeat, shape (n, R), by a model that has not seen it."""
        return self.out_of_fold.predictions

    @property
    def models(self) -> tuple[tuple[Any, ...], ...]:
        """The fitted models of each repeat, in the order of folds."""
        return self.out_of_fold.models

    @property
    def predictor(self) -> MixturePredictor:
        """A classifier that asks one of the models for each row: what the interval is about."""
        return self.out_of_fold.predictor

    def __str__(self) -> str:
        return "\n".join(sentence for sentence in self._sentences() if sentence)

    def _sentences(self) -> list[str]:
        """Return what was fitted, what the test and the interval say, and of which model nothing is said."""
        low, high, of_folds = self.interval.low, self.interval.high, f"{len(self.models[0])}-fold models"
        score, tested = self.brier, cast("FoldsWithTests", self.test.rows)
        bound = f"between {number(low)} and {number(high)}" if low > 0 else f"at most {number(high)}"
        alike = "The model refitted on all rows has the same error to first order, without a guarantee."
        return [
            f"{self.estimator}: {self.out_of_fold}.{self._named_outcome}",
            f"There is {tested.finding(self.test.pvalue)} (p = {p_text(self.test.pvalue)}, studied; "
            f"p = {p_text(tested.pvalue_by_theorem)} by theorem).",
            "No test of the same rows can show how large their chance errors are; the interval allows for them.",
            f"With {level_text(self.interval.confidence_level)} confidence the error ({self.interval.measure}) of its "
            f"{of_folds}, for each new row one of them at random, is {bound}.",
            f"Their Brier score is {number(score.estimate)} [{number(score.low)}, {number(score.high)}].",
            alike if self.refitted_alike else "",
            self._about_groups,
            self.test.note,
        ]

    @property
    def _named_outcome(self) -> str:
        return "" if self.outcome in ("1", "1.0", "True") else f" Probabilities are of the outcome {self.outcome}."

    @property
    def _about_groups(self) -> str:
        if self.n_groups == 0:
            return ""
        return (
            f"Rows of each of {self.n_groups:,} groups were held out together, and test and intervals take the groups, "
            "not their rows, as independent."
        )
