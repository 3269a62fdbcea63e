"""What tests of calibration found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd

MANY = 20  # classes, above which only the smallest p-values are printed
SMALLEST = 10


@dataclass(frozen=True)
class CalibrationTestResult(Result):
    """What `calibration_test` found.

    Attributes
    ----------
    statistic : float
        The measure on the data.
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
    why_infinite : str
        Of an infinite statistic, the row that made it so; else empty.
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
    why_infinite: str = ""

    def __str__(self) -> str:
        infinite = f"Infinite: {self.why_infinite}.\n" if self.why_infinite else ""
        approximate = "" if self.resample == "labels" else " (approximate)"
        return (
            f"Test of calibration by {self.measure} = {self.statistic:.4g}, {self.lens}, n = {self.n}: "
            f"p = {self.pvalue:.3g}{approximate}, {self.n_resamples} resamples.\n"
            f"{infinite}Null hypothesis: {self.null_hypothesis}"
        )


@dataclass(frozen=True)
class ClassWiseTestResult(Result):
    """What `calibration_test` found of every class, and of all together.

    Attributes
    ----------
    names : tuple, length K
        The classes.
    statistic : ndarray, shape (K,)
        The measure of each class.
    pvalue : ndarray, shape (K,)
        Probability, if the predictions of this class are calibrated, of a statistic at least as extreme. Never 0.
    pvalue_holm : ndarray, shape (K,)
        Adjusted for there being K of them (Holm): the probability that any class that is calibrated has one of at most
        a is at most a.
    pvalue_error : ndarray, shape (K,)
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples, K)
        The statistic of each class in every resample, read-only.
    null_hypothesis : str
        What was tested of each class, in one sentence.
    overall : CalibrationTestResult
        The test by the mean over all classes, with its own null hypothesis, which is a stronger one.
    measure, lens : str
        The measure with its options, and how the classes were looked at.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both"}
        What was drawn.
    n, n_resamples : int
        Rows and resamples.
    """

    names: tuple[Any, ...]
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_holm: np.ndarray
    pvalue_error: np.ndarray
    null_distribution: np.ndarray
    null_hypothesis: str
    overall: CalibrationTestResult
    measure: str
    lens: str
    tail: str
    resample: str
    n: int
    n_resamples: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON; `overall` as a dictionary."""
        return {**super().to_dict(), "names": list(self.names), "overall": self.overall.to_dict()}

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        import pandas as pd

        columns = ("statistic", "pvalue", "pvalue_holm", "pvalue_error")
        return pd.DataFrame({"class": [*self.names], **{name: getattr(self, name) for name in columns}})

    def __str__(self) -> str:
        approximate = "" if self.resample == "labels" else " (approximate)"
        many = len(self.names) > MANY
        shown = np.argsort(self.pvalue, kind="stable")[:SMALLEST] if many else np.arange(len(self.names))
        width = max(5, *(len(str(self.names[k])) for k in shown))
        lines = [
            f"Test of calibration of each class by {self.measure}{approximate}, {self.lens}, n = {self.n}, "
            f"{self.n_resamples} resamples{f', the {SMALLEST} with the smallest p' if many else ''}:",
            f"{'class':{width}}  {'value':>8}  {'p':>6}  {'p (Holm)':>8}",
        ]
        for k in shown:
            name, holm = f"{self.names[k]!s:{width}}", f"{self.pvalue_holm[k]:8.3g}"
            lines.append(f"{name}  {self.statistic[k]:8.4g}  {self.pvalue[k]:6.3g}  {holm}")
        if many:
            lines.append(f"and {len(self.names) - SMALLEST} more, each with p of at least {self.pvalue[shown[-1]]:.3g}")
        lines.append(f"Null hypothesis for each class: {self.null_hypothesis}")
        lines.append(f"All classes together: {str(self.overall)[0].lower()}{str(self.overall)[1:]}")
        return "\n".join(lines)
