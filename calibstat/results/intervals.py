"""What confidence intervals are."""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.results.base import Result


@dataclass(frozen=True)
class ConfidenceInterval(Result):
    """What `confidence_interval` found.

    Attributes
    ----------
    low, high : float
        The ends.
    estimate : float
        The measure on the data.
    confidence_level : float
        The probability with which the interval is meant to cover the estimand.
    method : {"honest", "percentile", "basic", "bca"}
        How it was made.
    estimand : str
        What it covers, in one sentence.
    measure, lens : str
        The measure with its options, and the event whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    why_infinite : str
        Of an infinite estimate, the row that made it so; else empty.
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str
    estimand: str
    measure: str
    lens: str
    n: int
    n_resamples: int
    why_infinite: str = ""

    def __str__(self) -> str:
        infinite = f"Infinite: {self.why_infinite}.\n" if self.why_infinite else ""
        return (
            f"{self.measure} = {self.estimate:.4g}, {self.confidence_level:.4g} confidence interval "
            f"[{self.low:.4g}, {self.high:.4g}] ({self.method}), {self.lens}, n = {self.n}.\n"
            f"{infinite}Estimand: {self.estimand}"
        )
