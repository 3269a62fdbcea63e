"""The answer of a test of one side, in words: which predictions are too high, or too low, and what is not shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.number_of_events import smallest_mean
from calibstat.data.sample import Sample
from calibstat.data.words.side import OTHER, TOO, Side
from calibstat.digits import settled
from calibstat.inference.deviation import count, mean_count
from calibstat.inference.size_of_error import LOW, points
from calibstat.measures.kinds.one_sided import OneSided
from calibstat.output.wording import level_text
from calibstat.result import Result

LIMIT_LEVEL = 0.95  # of the limit of the mean prediction
HARDLY_ANY = 1.0  # events, of which tenths may be too coarse


@dataclass(frozen=True, eq=False)
class EventsInRange(Result):
    """The events in the range of predictions with the largest deviation: the largest of many, and so overstated.

    Attributes
    ----------
    low, high : float
        The smallest and the largest prediction there.
    rows, expected, observed : float
        Rows, the sum of their predictions, and the events among them.
    """

    low: float
    high: float
    rows: float
    expected: float
    observed: float

    def __str__(self) -> str:
        ends = " to ".join(dict.fromkeys(_decimals(end, self.high - self.low) for end in (self.low, self.high)))
        rows = "1 row" if self.rows == 1 else f"{count(self.rows)} rows"
        return f"predictions {ends}, {rows}, {events_in_words(self.expected, self.observed)}"


@dataclass(frozen=True, eq=False)
class Events(Result):
    """The events that a test of one side counted, beside those to expect from the predictions.

    Attributes
    ----------
    rows, expected, observed : float
        All rows, the sum of their predictions, and the events.
    at_least : float or None
        A limit: the mean prediction is at least this much too high, or too low, with 95 % confidence, whatever the true
        probabilities are; 0 where that is not shown. None of rows with weights or in clusters.
    by_number : bool
        Whether the test is by the number of events of all rows.
    where : EventsInRange or None
        Else the range with the largest deviation, if the p-value is at most .05.
    """

    rows: float
    expected: float
    observed: float
    at_least: float | None
    by_number: bool = False
    where: EventsInRange | None = None

    @classmethod
    def of(cls, sample: Sample, measure: OneSided, *, found: bool) -> Events:
        """Return what a test by this measure has counted, and where, if it was `found`."""
        value, number, positives = sample.arrays
        rows, expected, observed = float(number.sum()), float(number @ value), float(positives.sum())
        at_least = None
        if sample.kind == "counts":
            seen, mean = (observed, expected) if measure.sign > 0 else (rows - observed, rows - expected)
            least = smallest_mean(np.array(seen), np.array(rows), 1 - LIMIT_LEVEL)
            at_least = max(float(least) - mean / rows, 0.0)
        of, where = measure.largest(sample), None
        if found and of is not None and of.start < of.stop:
            counts = float(number[of].sum()), float(number[of] @ value[of]), float(positives[of].sum())
            where = EventsInRange(float(value[of].min()), float(value[of].max()), *counts)
        return cls(rows, expected, observed, at_least, of is None, where)

    def __str__(self) -> str:
        return self._over_all_rows

    def answer(self, side: Side, pvalue: float) -> list[str]:
        """Return the sentences of the answer: what is found, and what is not."""
        p = f"p = {settled(pvalue):.3g}"
        if pvalue > LOW:
            return [verdict(side, p, pvalue), self._over_all_rows]
        fixed = f"side fixed beforehand: {side}"
        if self.by_number:
            counted = events_in_words(self.expected, self.observed, what="")
            by = f"{p}, by the number of events: {counted}; {fixed}"
            return [verdict(side, by, pvalue), *self._limit(side)]
        sentences = [f"Some predictions are {TOO[side]}: {p} ({fixed})."]
        if self.where is not None:
            sentences.append(f"Largest deviation, chosen for being largest and hence overstated: {self.where}.")
        return [*sentences, self._over_all_rows, *self._limit(side)]

    @property
    def _over_all_rows(self) -> str:
        return f"Over all rows: {events_in_words(self.expected, self.observed)}."

    def _limit(self, side: Side) -> list[str]:
        if not self.at_least:
            return []
        by = f"{points(self.at_least, np.floor)} points {TOO[side]}"
        return [f"The mean prediction is at least {by} ({level_text(LIMIT_LEVEL)} confidence)."]


def verdict(side: Side, how: str, pvalue: float) -> str:
    """Return what a p-value of one side shows; `how` it was found is said in brackets."""
    if pvalue <= LOW:
        return f"Some predictions are {TOO[side]} ({how})."
    other = f"Predictions that are {TOO[OTHER[side]]} were not looked for."
    return f"It is not shown that any predictions are {TOO[side]} ({how}). {other}"


def next_step(side: Side, pvalue: float, collected: str) -> str:
    """Return what to do after a test of one side; `collected` are the units that are independent."""
    if pvalue <= LOW:
        groups = f'ask for which groups, fixed beforehand: calibstat.audit(y, p, groups, side="{side}")'
        return f"Recalibrate on other rows, or {groups}." if collected == "rows" else "Recalibrate on other rows."
    if collected != "rows":
        return f"This does not show that none is {TOO[side]}: more {collected} would say more."
    show = f'calibstat.equivalence_test(y, p, margin=0.05, side="{side}")'
    return f"This does not show that none is {TOO[side]}. Ask whether any is by more than a margin: {show}."


def events_in_words(expected: float, observed: float, what: str = "events ") -> str:
    """Write expected and observed events."""
    most = mean_count(expected) if expected < HARDLY_ANY else f"{settled(expected):,.1f}"
    return f"{most} {what}expected, {count(observed)} observed"


def _decimals(end: float, width: float) -> str:
    """Write an end of a range with two digits of its width, a single prediction with three of its own."""
    size = width if width > 0 else min(end, 1 - end) / 10
    decimals = 2 if size <= 0 else int(np.clip(1 - np.floor(np.log10(size)), 2, 15))
    return f"{settled(end):.{decimals}f}"
