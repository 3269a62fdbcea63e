"""The size of an error in words, before its test: the one place that says whether an error is small, and what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibstat.digits import settled
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.output.wording import level_text
from calibstat.result import Result

SMALL = 0.02  # of the high end of ECE
SMALL_SHARE = 0.2  # of the mean outcome, or of 1 minus it
FEW_ROWS = 1000  # below which ECE says little, and sums up to a prediction are said too
WHAT_NOW = 'See the page "p is small and the error is tiny: what now?".'
LOW = 0.05  # p-values that count as evidence
STRONG = 0.01


@dataclass(frozen=True, eq=False)
class SizeOfError(Result):
    """The size of the calibration error, with its interval.

    Attributes
    ----------
    estimate, low, high : float
        The expected calibration error (ECE) of these rows, and the ends of its interval in the population.
    confidence_level : float
        The confidence level of the interval.
    rate : float
        The mean outcome.
    margin : float or None
        The largest error that counts as small; None for the convention: 2 points, and a fifth of the smaller of the
        mean outcome and 1 minus it.
    if_calibrated : float or None
        The ECE that a calibrated model would show on these rows; None where it is not known.
    running : float or None
        The high end of `ks`, the largest difference of sums of outcomes and predictions up to any prediction: of fewer
        than 1000 rows if ECE may be 0 and is not shown to be small. Else None.
    brier : float or None
        The Brier score of these rows, where lower is better. For several classes it is the multiclass Brier
        score, unless the lens shows a single event. Use it to choose between models.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    rate: float
    margin: float | None = None
    if_calibrated: float | None = None
    running: float | None = None
    brier: float | None = None

    @classmethod
    def of(
        cls, interval: ConfidenceInterval, rate: float, margin: float | None = None, brier: float | None = None
    ) -> SizeOfError:
        """Return the size that an interval of ECE states."""
        ends = interval.estimate, interval.low, interval.high
        level, floor = interval.confidence_level, interval.if_calibrated
        return cls(*ends, confidence_level=level, rate=rate, margin=margin, if_calibrated=floor, brier=brier)

    @property
    def largest_small(self) -> float:
        """The largest error that counts as small."""
        if self.margin is not None:
            return self.margin
        return min(SMALL, SMALL_SHARE * min(self.rate, 1 - self.rate))

    @property
    def is_small(self) -> bool:
        """Whether the error is shown to be small."""
        return self.high <= self.largest_small

    @property
    def says_little(self) -> bool:
        """Whether ECE may be 0 and is not shown to be small."""
        return self.low <= 0 and not self.is_small

    @property
    def where(self) -> str:
        """The ECE with its interval and, where it may be 0, what a calibrated model would show."""
        high = points(self.high, math.ceil)
        if self.low > 0:
            return f"ECE {points(self.estimate)} points, between {points(self.low, math.floor)} and {high}"
        noise = "" if self.if_calibrated is None else f" (a calibrated model would show {points(self.if_calibrated)})"
        return f"ECE {points(self.estimate)} points, at most {high}{noise}"

    def __str__(self) -> str:
        small = f"The error is {'' if self.is_small else 'not shown to be '}small"
        return f"{small}: {self.where} (points of a percentage, {level_text(self.confidence_level)} confidence)."


def points(share: float, rounded: Callable[[float], float] = round) -> str:
    """Write a share as points of a percentage, with two digits; high ends are rounded up, and low ends down."""
    value = settled(100 * share)
    if value <= 0 or not math.isfinite(value):
        return "0" if value <= 0 else "infinitely many"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    number = settled(rounded(settled(value / unit)) * unit)
    return np.format_float_positional(number, trim="-")


def verdict(p: str, pvalue: float, size: SizeOfError | None, found: str = "") -> list[str]:
    """Return the sentences of a test of calibration: the size of the error, if it is known, and the p-value.

    `p` is the p-value in words, such as "p = 0.001 (approximate)". `found` is what else is known of the error.
    """
    shown = next((words for level, words in STRENGTHS if pvalue <= level), NOTHING_SHOWN)
    if size is None:
        return [f"{shown} ({p}){f': {found}' if found else ''}."]
    if size.is_small:
        shown = "Not perfectly calibrated" if pvalue <= LOW else shown
        return [f"{shown} ({p}), and the error is small: {size.where}."]
    if shown == NOTHING_SHOWN and size.low > 0:
        return [f"This test finds no miscalibration ({p}), but the interval of the ECE excludes 0: {size.where}."]
    sentences = [f"{shown} ({p}): {size.where}."]
    if size.running is not None:
        most = points(size.running, math.ceil)
        sentences.append(
            f"Up to any prediction, outcomes and predictions add up to within {most} points of each other."
        )
    return sentences


NOTHING_SHOWN = "No miscalibration is shown"
STRENGTHS = (
    (STRONG, "Not calibrated"),
    (LOW, "There is evidence of miscalibration"),
    (0.10, "There is weak evidence of miscalibration"),
)


def next_step(pvalue: float, size: SizeOfError, collected: str = "rows") -> str:
    """Return what to do, in a sentence, and where it is explained; `collected` is what more of would say more."""
    high = points(size.high, math.ceil)
    if size.is_small:
        if pvalue <= LOW:
            known = f"Use the predictions if an error of {high} points does not matter: it is shown not to be larger."
            return f"{known} {WHAT_NOW}"
        return "Use the predictions, and watch them with calibstat.Monitor."
    if pvalue <= LOW or size.low > 0:
        return (
            f"If an error of {high} points matters to you, recalibrate on other rows, or on more if that is done: "
            "calibstat.recalibration.choose(y, p)."
        )
    return (
        f"Collect more {collected} if an error of {high} points matters to you, which these do not exclude; else "
        "watch the predictions with calibstat.Monitor."
    )
