"""What the classical tests of calibration found, where that is more than a statistic and a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.classical.asymptotic_result import AsymptoticTestResult
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class HosmerLemeshowResult(AsymptoticTestResult):
    """What `hosmer_lemeshow` found: an `AsymptoticTestResult` with the table of groups behind it.

    Attributes
    ----------
    low, high : ndarray, shape (groups,)
        The smallest and the largest prediction in each group.
    count, observed, expected, variance : ndarray, shape (groups,)
        Its rows, its positive outcomes, how many were predicted, and the variance of that number if calibrated.
    """

    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    variance: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each group."""
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(self, name) for name in ("low", "high", "count", "observed", "expected", "variance")}
        )

    __str__ = AsymptoticTestResult.__str__


@dataclass(frozen=True)
class CoxResult(Result):
    """What `cox` found: logit of the outcome's probability = intercept + slope * logit of the prediction.

    Attributes
    ----------
    intercept, slope : float
        The maximum likelihood estimates; 0 and 1 if calibrated.
    intercept_error, slope_error : float
        Their standard errors, from the observed information.
    intercept_interval, slope_interval : tuple of two floats
        Profile-likelihood intervals.
    in_the_large : float
        The intercept if the slope is held at 1; above 0 where outcomes are more frequent than predicted.
    in_the_large_error : float
        Its standard error.
    in_the_large_interval : tuple of two floats
        Its profile-likelihood interval.
    confidence_level : float
        That of the intervals.
    in_the_large_test : AsymptoticTestResult
        Likelihood-ratio test that the intercept is 0, given that the slope is 1.
    slope_test : AsymptoticTestResult
        Likelihood-ratio test that the slope is 1, whatever the intercept.
    joint_test : AsymptoticTestResult
        Likelihood-ratio test that the intercept is 0 and the slope is 1; its statistic is the sum of the other two.
    lens : str
        What was predicted.
    n : int
        Rows.
    """

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float
    intercept_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    in_the_large: float
    in_the_large_error: float
    in_the_large_interval: tuple[float, float]
    confidence_level: float
    in_the_large_test: AsymptoticTestResult
    slope_test: AsymptoticTestResult
    joint_test: AsymptoticTestResult
    lens: str
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON; each test as a dictionary."""
        tests = {name: getattr(self, name).to_dict() for name in ("in_the_large_test", "slope_test", "joint_test")}
        intervals = ("intercept_interval", "slope_interval", "in_the_large_interval")
        return {**super().to_dict(), **{name: list(getattr(self, name)) for name in intervals}, **tests}

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each null hypothesis; that of both has no estimate."""
        import pandas as pd

        nothing = (np.nan, np.nan, (np.nan, np.nan))
        large = (self.in_the_large, self.in_the_large_error, self.in_the_large_interval)
        slope = (self.slope, self.slope_error, self.slope_interval)
        rows = []
        for (estimate, error, (low, high)), test in (
            (large, self.in_the_large_test),
            (slope, self.slope_test),
            (nothing, self.joint_test),
        ):
            row = {"null": test.measure, "estimate": estimate, "error": error, "low": low, "high": high}
            rows.append({**row, "statistic": test.statistic, "df": test.df, "pvalue": test.pvalue})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        def estimate(value: float, interval: tuple[float, float]) -> str:
            return f"{value:.3g} (from {interval[0]:.3g} to {interval[1]:.3g})"

        level = f"{100 * self.confidence_level:.4g} %"
        return (
            f"Cox calibration, {self.lens}, n = {self.n}, with {level} profile-likelihood intervals:\n"
            f"intercept if the slope is 1 = {estimate(self.in_the_large, self.in_the_large_interval)}, "
            f"0 if calibrated: p = {self.in_the_large_test.pvalue:.3g};\n"
            f"slope = {estimate(self.slope, self.slope_interval)}, "
            f"1 if calibrated: p = {self.slope_test.pvalue:.3g};\n"
            f"both together, likelihood ratio {self.joint_test.statistic:.4g} with 2 degrees of freedom: "
            f"p = {self.joint_test.pvalue:.3g} (all approximate).\n"
            f"Null hypothesis: {self.joint_test.null_hypothesis}"
        )


@dataclass(frozen=True)
class TCalResult(Result):
    """What `t_cal` found.

    Attributes
    ----------
    statistic : float
        The smallest p-value of a single scale.
    pvalue : float
        Probability, if the null hypothesis holds, of a smallest p-value at most as large. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    n_bins : ndarray of int, shape (scales,)
        Equal-width bins of each scale.
    squared_error : ndarray, shape (scales,)
        The debiased squared calibration error at each scale, which may be negative.
    scale_pvalue : ndarray, shape (scales,)
        The p-value of each scale by itself, which does not allow for there being several.
    null_distribution : ndarray, shape (n_resamples,)
        The smallest p-value of every resample, read-only.
    null_hypothesis : str
        What was tested, in one sentence.
    lens : str
        What was predicted.
    n, n_resamples : int
        Rows and resamples.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    n_bins: np.ndarray
    squared_error: np.ndarray
    scale_pvalue: np.ndarray
    null_distribution: np.ndarray
    null_hypothesis: str
    lens: str
    n: int
    n_resamples: int

    def __str__(self) -> str:
        best = int(np.argmin(self.scale_pvalue))
        return (
            f"T-Cal over {self.n_bins.size} scales of {self.n_bins[0]} to {self.n_bins[-1]} bins, {self.lens}, "
            f"n = {self.n}: p = {self.pvalue:.3g}, {self.n_resamples} resamples; the scale that speaks loudest has "
            f"{self.n_bins[best]} bins, squared error {self.squared_error[best]:.4g}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )
