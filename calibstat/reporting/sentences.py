"""Sentences about intervals."""

from __future__ import annotations

import math

from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.size_of_error import LOW
from calibstat.output.wording import level_text, number


def say_interval(title: str, interval: ConfidenceInterval) -> str:
    """Report an interval."""
    if math.isinf(interval.estimate):
        return f"{title}: infinite on these rows and in the population they come from, because {interval.why_infinite}."
    where = f"between {number(interval.low)} and {number(interval.high)}"
    if interval.low <= 0:
        where = f"at most {number(interval.high)}, and may be 0"
    if math.isinf(interval.high):
        where = f"at least {number(interval.low)}, and may be infinite, because {interval.why_infinite}"
    few = "".join(f" {sentence}" for sentence in say_reservations(interval))
    cautions = "".join(f"\n{sentence}" for sentence in interval.rows.cautions)
    return (
        f"{title}: {number(interval.estimate)} on these rows; in the population they come from it is "
        f"{where}, with {level_text(interval.confidence_level)} confidence ({interval.method} method).{few}{cautions}"
    )


def say_reservations(interval: ConfidenceInterval) -> list[str]:
    """Return the models that an interval is for, a remark on its ends, and that events were few."""
    few = f"{_capital(interval.few_events)}; so few leave the error uncertain." if interval.few_events else ""
    told = interval.scope, interval.remark(number), few, interval.rows.unseen
    return [sentence for sentence in told if sentence]


def says_more(interval: ConfidenceInterval) -> bool:
    """Whether there is more to say of an interval than its ends."""
    return bool(interval.scope or interval.few_events or interval.why_infinite or interval.remark())


def say_both(pvalue: float, interval: ConfidenceInterval) -> str:
    """Say why a test and an interval do not contradict each other where they seem to; else nothing."""
    low, high, title = interval.low, interval.high, interval.measure.title
    name = f"the {title[:1].lower()}{title[1:]}"
    if pvalue <= LOW and low <= 0:
        return (
            f"The test finds an error that {name} does not show: by this measure it may be 0, and is at most "
            f"{number(high)}."
        )
    if pvalue > LOW and low > 0:
        return (
            f"The test does not find what {name} shows: it looks for errors of any kind, and needs more rows for that."
        )
    return ""


def whose_p(tested: str, size: str) -> str:
    """Say that the p-values of a table are of the test by this measure, not of the size of the error beside them."""
    return f"p belongs to the test by {tested}, and not to the {size} beside it. "


def titled(answer: ConfidenceInterval | Comparison) -> str:
    """Return the name in prose of the measure of a result, whatever its options, and the lens."""
    return f"{answer.measure.title}{answer.lens.in_brackets}"


def ends(low: float, high: float) -> str:
    """Write the ends of an interval, or a dash where none is known."""
    return "–" if math.isnan(low) else f"{number(low)} to {number(high)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
