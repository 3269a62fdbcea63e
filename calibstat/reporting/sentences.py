"""What intervals say, in words."""

from __future__ import annotations

import math

from calibstat.inference.confidence_interval import ConfidenceInterval
from calibstat.measures.registry import MEASURES
from calibstat.output.wording import number, percent


def say_interval(title: str, interval: ConfidenceInterval) -> str:
    """Report an interval."""
    if math.isinf(interval.estimate):
        return f"{title}: infinite on these rows and in the population they come from, because {interval.why_infinite}."
    where = f"between {number(interval.low)} and {number(interval.high)}"
    if interval.low <= 0:
        where = f"at most {number(interval.high)}, and may be 0"
    if math.isinf(interval.high):
        where = f"at least {number(interval.low)}, and may be infinite, because {interval.why_infinite}"
    few = f" {_capital(interval.few_events)}: this rests on what was not observed." if interval.few_events else ""
    return (
        f"{title}: {number(interval.estimate)} on these rows; in the population they come from it is {where}, "
        f"with {percent(interval.confidence_level)} confidence ({interval.method} method).{few}"
    )


def title_of(measure: str) -> str:
    """Return the name in prose of a measure, whatever its options."""
    return MEASURES[measure.partition("(")[0]].info.title


def ends(low: float, high: float) -> str:
    """Write the ends of an interval, or a dash where none is known."""
    return "–" if math.isnan(low) else f"{number(low)} to {number(high)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
