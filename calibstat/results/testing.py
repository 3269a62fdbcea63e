"""What tests of calibration found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.results.base import Result


@dataclass(frozen=True)
class CalibrationTestResult(Result):
    """What `calibration_test` found.

    Attributes
    ----------
    statistic : float
        The measure on the data, in the form that was tested.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as extreme. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic of every resample, read-only.
    null_hypothesis : str
        What was tested, in one sentence.
    measure, lens : str
        The measure with its options, and the event whose probability was predicted.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both"}
        What was drawn.
    n, n_resamples : int
        Rows and resamples.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    null_distribution: np.ndarray
    null_hypothesis: str
    measure: str
    lens: str
    tail: str
    resample: str
    n: int
    n_resamples: int

    def __str__(self) -> str:
        approximate = "" if self.resample == "labels" else " (approximate)"
        return (
            f"Test of calibration by {self.measure} = {self.statistic:.4g}, {self.lens}, n = {self.n}: "
            f"p = {self.pvalue:.3g}{approximate}, {self.n_resamples} resamples.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )
