"""What tests of calibration that are right only as n grows found."""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.results.base import Result


@dataclass(frozen=True)
class AsymptoticTestResult(Result):
    """What `kernel_calibration_test` found.

    Attributes
    ----------
    statistic : float
        The estimate of the squared kernel calibration error, without bias and so perhaps negative.
    pvalue : float
        Probability, if the null hypothesis holds, of an estimate at least as large, as the limit for many rows has it.
    method : {"asymptotic", "block", "linear"}
        Which limit: that of the statistic of all pairs, by random signs, or the normal one of blocks of rows.
    null_hypothesis : str
        What was tested, in one sentence.
    measure, lens : str
        The measure with its options, and what was predicted.
    n, n_resamples : int
        Rows, and sets of random signs; 0 where the limit is normal.
    """

    statistic: float
    pvalue: float
    method: str
    null_hypothesis: str
    measure: str
    lens: str
    n: int
    n_resamples: int

    def __str__(self) -> str:
        how = f"{self.n_resamples} sets of random signs" if self.n_resamples else "normal limit"
        return (
            f"{self.method.capitalize()} test of calibration by {self.measure} = {self.statistic:.4g}, {self.lens}, "
            f"n = {self.n}: p = {self.pvalue:.3g} (approximate), {how}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )
