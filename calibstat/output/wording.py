"""Numbers and data in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.data.checked_rows import observe
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.digits import ROUNDING, settled

MOST_SHOWN = 10  # names in an error message or a sentence
COMPARING = (
    "A smaller calibration error alone does not make a better model: predicting the same rate for every row has hardly "
    "any. Compare brier or log_loss as well.",
)
MONITORING = (
    "Feed a period when all of its outcomes are known: if positive outcomes are known earlier than negative ones, an "
    "incomplete period can cause a false alarm.",
    "Outcomes must be independent given the predictions and earlier periods, and predictions as they were issued.",
)
IN_FULL = (
    "A large p-value is not evidence that the model is calibrated: it says only that this test found no difference "
    "between these outcomes and outcomes drawn from the predictions.",
    "Use held-out rows: a model fitted, recalibrated or chosen on the same rows looks better than it is.",
    "Rows must be independent: repeated patients, customers or days make every p-value too small and every interval "
    "too short.",
)


@dataclass(frozen=True)
class Brief:
    """The same in brief and at length; two of them are joined by +.

    Attributes
    ----------
    short : str
        In brief: a sentence or two.
    full : tuple of str
        At length: paragraphs; empty if there is no more to say.
    """

    short: str
    full: tuple[str, ...] = ()

    def __add__(self, other: Brief) -> Brief:
        return Brief(f"{self.short} {other.short}", self.at_length + other.at_length)

    @property
    def at_length(self) -> tuple[str, ...]:
        """The paragraphs at length."""
        return self.full or (self.short,)


NO_PROOF = Brief(
    "A large p is not evidence of calibration: the upper end of an interval says how large the error may be.",
    IN_FULL[:1],
)
HELD_OUT = Brief("Rows must be held out: a model looks better on rows that it was fitted to.", IN_FULL[1:2])
ROWS = Brief("Rows must be held out and independent.", IN_FULL[1:])
CLUSTERS = Brief(
    "Rows must be held out, and clusters independent.",
    (IN_FULL[1], "Rows of different clusters must be independent; rows of the same cluster need not be."),
)
ABOUT_SCORES = Brief(
    "A smaller calibration error alone does not make a better model: compare brier or log_loss too.", COMPARING
)
PERIODS = Brief(
    "Feed a period when all of its outcomes are known: if positives are known first, an incomplete period can cause a "
    "false alarm.",
    MONITORING,
)
OTHER_ROWS = Brief("Judge a recalibrated model on rows that its map was not fitted to.")


def number_of(what: str, n: float) -> str:
    """Return a number of things, one of which has no s, such as "1 row" and "1,200 rows"."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def units(clustered: bool) -> Brief:
    """Return what has to be independent: clusters, or else rows."""
    return CLUSTERS if clustered else ROWS


def listed(names: Sequence[object], most: int = MOST_SHOWN) -> str:
    """Write names with commas between, the first ones if there are many."""
    rest = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {rest} more" if rest > 0 else "")


def number(x: float) -> str:
    """Write a measure: four decimals, or two digits where that would hide it; what is only rounding is 0."""
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    x = 0.0 if abs(x) < ROUNDING else x
    return f"{settled(x):.1e}" if 0 < abs(settled(x)) < 0.0005 else f"{settled(x):.4f}"


def p_text(p: float) -> str:
    """Write a p-value: three decimals, or one digit below that."""
    return f"{settled(p):.3f}" if settled(p) >= 0.001 else f"{settled(p):.1g}"


def percent(share: float) -> str:
    """Write a share in per cent, without rounding to nothing or to everything."""
    return (
        f"{settled(100 * share):.0f} %" if 0.01 <= share <= 0.99 or share in (0, 1) else f"{settled(100 * share):.4g} %"
    )


def level_text(level: float) -> str:
    """Write a level, or a confidence, as a percentage: 0.95 as 95 %, and 0.975 as 97.5 %."""
    return f"{settled(100 * level):.4g} %"


def describe_data(data: Sample | Predictions) -> str:
    """Describe the data, and say if they look like a mistake."""
    return with_note(describe_multiclass(data) if isinstance(data, Predictions) else describe_binary(data), data)


def describe_briefly(data: Sample | Predictions) -> str:
    """Describe the data in one line, and say if they look like a mistake."""
    if isinstance(data, Predictions):
        described = (
            f"{number_of('row', data.n)}, {data.n_classes:,} classes, {seldom(data)}; "
            f"accuracy {percent(accuracy(data))}, "
            f"mean largest probability {settled(data.largest.mean()):.3f}."
        )
    else:
        positive, mean = float(data.positives.sum()), float(data.count @ data.value) / data.n
        described = (
            f"{number_of('row', data.n)}, {settled(positive):,.0f} positive ({percent(positive / data.n)}); "
            "predictions "
            f"{settled(data.value[0]):.3g} to {settled(data.value[-1]):.3g}, mean {settled(mean):.3f}."
        )
    return with_note(described, data)


def with_note(described: str, data: Sample | Predictions) -> str:
    """Add that outcomes and predictions look like a mistake, if they do."""
    return f"{described} {observe(data, None).data_note()}".rstrip()


def describe_binary(sample: Sample) -> str:
    """Describe binary data."""
    m, positive = sample.value.size, float(sample.positives.sum())
    values = (
        f"{m:,} distinct values, from {settled(sample.value[0]):.3g} to {settled(sample.value[-1]):.3g}"
        if m > 1
        else "one value"
    )
    mean = float(sample.count @ sample.value) / sample.n
    return (
        f"{number_of('row', sample.n)}, {settled(positive):,.0f} of them positive ({percent(positive / sample.n)}). "
        f"The predictions average {mean:{'.3g' if 0 < mean < 0.01 else '.3f'}} and take {values}."
    )


def describe_multiclass(data: Predictions) -> str:
    """Describe multiclass data."""
    return (
        f"{number_of('row', data.n)}, {data.n_classes:,} classes ({listed(data.names)}), {seldom(data)}. "
        f"The most likely class is observed in {percent(accuracy(data))} of the rows (accuracy); "
        f"its predicted probability averages {settled(data.largest.mean()):.3f}."
    )


def seldom(data: Predictions) -> str:
    """Say whether all classes are observed."""
    never = data.n_classes - np.unique(data.label).size
    return f"{never} of which {'is' if never == 1 else 'are'} never observed" if never else "all observed"


def accuracy(data: Predictions) -> float:
    """Return the share of rows whose most likely class is observed."""
    return float((data.top == data.label).mean())
