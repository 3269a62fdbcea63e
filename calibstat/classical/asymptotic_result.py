"""The result of an asymptotic test."""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.digits import settled
from calibstat.result import Result

ASYMPTOTIC_PVALUE = "the p-value comes from the limit for many rows"


@dataclass(frozen=True, eq=False)
class AsymptoticTestResult(Result):
    """Result of an asymptotic test: its p-value is correct in the limit of many rows.

    Attributes
    ----------
    statistic : float
        The statistic named by `measure`.
    pvalue : float
        Probability of a statistic at least as extreme under the null hypothesis, by the asymptotic distribution.
    method : str
        The name of the test. Of `kernel_calibration_test`: "asymptotic", "block" or "linear".
    null_hypothesis : Null
        The null hypothesis; as text one sentence.
    measure : str
        The statistic.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, n_resamples : int
        Rows, and sets of random signs; 0 where the limit has a closed form.
    limit : str
        The asymptotic distribution of the p-value.
    df : int or None
        The degrees of freedom of a chi-square limit, else None.
    """

    statistic: float
    pvalue: float
    method: str
    null_hypothesis: Null
    measure: str
    lens: NamedLens
    n: int
    n_resamples: int = 0
    limit: str = "normal limit"
    df: int | None = None

    def __str__(self) -> str:
        how = f"{self.n_resamples} sets of random signs" if self.n_resamples else self.limit
        if self.df is not None:
            how += f" with {self.df} degree{'s' * (self.df != 1)} of freedom"
        return (
            f"{self.method[0].upper()}{self.method[1:]} test of calibration: {self.measure} = "
            f"{settled(self.statistic):.4g}, "
            f"{self.lens}, n = {self.n}, p = {settled(self.pvalue):.3g} (approximate), {how}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )
