"""The result of an asymptotic test, whose p-value is right as the number of rows grows."""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.result import Result

LIMIT = "the p-value is that of the limit for many rows"


@dataclass(frozen=True)
class AsymptoticTestResult(Result):
    """What a test found whose p-value is that of a limit for many rows.

    Attributes
    ----------
    statistic : float
        The statistic named by `measure`.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as extreme, as the limit has it.
    method : str
        Which test. Of `kernel_calibration_test`: "asymptotic", "block" or "linear".
    null_hypothesis : str
        What was tested, in one sentence.
    measure, lens : str
        What the statistic is, and what was predicted.
    n, n_resamples : int
        Rows, and sets of random signs; 0 where the limit has a closed form.
    limit : str
        The law that the p-value is taken from.
    df : int or None
        Its degrees of freedom, of a chi-square law.
    """

    statistic: float
    pvalue: float
    method: str
    null_hypothesis: str
    measure: str
    lens: str
    n: int
    n_resamples: int = 0
    limit: str = "normal limit"
    df: int | None = None

    def __str__(self) -> str:
        how = f"{self.n_resamples} sets of random signs" if self.n_resamples else self.limit
        if self.df is not None:
            how += f" with {self.df} degree{'s' * (self.df != 1)} of freedom"
        return (
            f"{self.method[0].upper()}{self.method[1:]} test of calibration by {self.measure} = {self.statistic:.4g}, "
            f"{self.lens}, n = {self.n}: p = {self.pvalue:.3g} (approximate), {how}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )


def approximate(null: str) -> str:
    """Say that the test of this null hypothesis is approximate."""
    return f"{null.removesuffix('.')} (approximate: {LIMIT})."
