"""The result of a test of calibration by predictions out of fold, and what it prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.digits import settled
from calibstat.inference.calibration_test_results import LOW, CalibrationTestResult

BY_CHANCE = (
    "No test on the same rows can show how large the chance errors of these fits are; confidence_interval with folds= "
    "bounds them."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossValidatedTestResult(CalibrationTestResult):
    """Result of `calibration_test` with `folds`.

    Attributes
    ----------
    statistic : float
        The measure of all rows, the mean over the repeats.
    pvalue : float
        Twice the smaller of the p-value of all rows and of `pvalue_by_theorem`, of one repeat; of several twice the
        mean over the repeats. Studied.
    pvalue_by_theorem : float
        The number of folds times the smallest p-value of a fold, of one repeat; of several twice the mean over the
        repeats. If all models are calibrated it is at most a with probability of at most a.
    pvalue_of_rows : ndarray, shape (R,)
        The p-value of all rows taken as independent, of each repeat.
    pvalue_of_folds : ndarray, shape (R, K)
        The p-value of the rows of each fold, in an order that depends on what the rows hold.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic of all rows in every resample of the first repeat, read-only.
    folds, repeats : int
        The number of folds, K, and of repeats, R.
    """

    pvalue_by_theorem: float
    pvalue_of_rows: np.ndarray
    pvalue_of_folds: np.ndarray
    folds: int
    repeats: int

    @property
    def finding(self) -> str:
        """The evidence of the p-value, or that there is none, in words."""
        if self.pvalue <= LOW:
            return f"evidence that not all of the {self.folds * self.repeats} models are calibrated"
        return "no evidence that the fits of this learner are miscalibrated each time"

    @property
    def answer(self) -> str:
        """The verdict of the p-value on the models, and what no such test can say."""
        return (
            f"There is {self.finding}: p = {settled(self.pvalue):.3g} (studied; by theorem p = "
            f"{settled(self.pvalue_by_theorem):.3g}).\n"
            f"{BY_CHANCE}"
        )

    @property
    def details(self) -> str:
        """The method of the test, and the null hypothesis."""
        repeats = f", {self.repeats} repeats" if self.repeats > 1 else ""
        return (
            f"Test by {self.measure} = {settled(self.statistic):.4g}, {self.lens}, n = {self.n} in {self.folds} "
            f"folds{repeats}; "
            f"{self.why_stopped}, Monte Carlo error of p {settled(self.pvalue_error):.2g}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )

    def __str__(self) -> str:
        return f"{self.answer}\n{self.details}"
