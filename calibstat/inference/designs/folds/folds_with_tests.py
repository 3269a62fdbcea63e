"""The rows of a test of calibration by predictions out of fold, and what its result says of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.digits import settled
from calibstat.inference.rows_of_results import Folds
from calibstat.inference.size_of_error import LOW

BY_CHANCE = (
    "No test on the same rows can show how large the chance errors of these fits are; confidence_interval with folds= "
    "bounds them."
)


@dataclass(frozen=True, eq=False)
class FoldsWithTests(Folds):
    """The folds of a test, whose statistic and null distribution are of all rows: of repeats the mean, and the first.

    Attributes
    ----------
    pvalue_by_theorem : float
        The number of folds times the smallest p-value of a fold, of one repeat; of several twice the mean over the
        repeats. If all models are calibrated it is at most a with probability of at most a.
    pvalue_of_rows : ndarray, shape (R,)
        The p-value of all rows taken as independent, of each repeat.
    pvalue_of_folds : ndarray, shape (R, K)
        The p-value of the rows of each fold, in an order that depends on what the rows hold.
    """

    pvalue_by_theorem: float
    pvalue_of_rows: np.ndarray
    pvalue_of_folds: np.ndarray

    def finding(self, pvalue: float) -> str:
        """Return the evidence of a p-value, or that there is none, in words."""
        if pvalue <= LOW:
            return f"evidence that not all of the {self.folds * self.repeats} models are calibrated"
        return "no evidence that the fits of this learner are miscalibrated each time"

    def answer(self, pvalue: float) -> str:
        return (
            f"There is {self.finding(pvalue)}: p = {settled(pvalue):.3g} (studied; by theorem p = "
            f"{settled(self.pvalue_by_theorem):.3g}).\n"
            f"{BY_CHANCE}"
        )
