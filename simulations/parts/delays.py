"""How long monitors take to see a change, and what they then say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, tee
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.generators import (
    Generator,
    calibrated,
    distorted,
    groups,
    high_frequency,
    prevalence,
    shift,
    stream,
    temperature,
)

from .period_sums import cox_columns, cox_limit, cox_statistic

ARL = (None, 1000.0)  # of the monitors: a bounded probability of a false alarm, and a mean run length
BAD = "c"  # the segment that becomes wrong
NAMES = ("early", "delay", "dated", "off", "signed", "named")


@dataclass(frozen=True)
class Change:
    """What becomes of calibrated predictions, which words about it are right, and what monitors are shown of it."""

    label: str
    after: Generator | Callable[[int], Generator]
    is_right: Callable[[str], bool]
    segments: bool = False
    promised: bool = True


@dataclass(frozen=True)
class Family:
    """Changes of the same calibrated model, whose days before the change they share."""

    before: Generator
    rows: int
    changes: tuple[Change, ...]


def families() -> Mapping[str, Family]:
    """Return the changes that are asked about."""
    even, few = calibrated(), calibrated(rare(50))
    five = dict.fromkeys("abcde", (0.2, even))
    bad = groups({**five, BAD: (0.2, shift(-1.2))})

    def high(words: str) -> bool:
        return "too high" in words

    def low(words: str) -> bool:
        return "too low" in words

    def over(words: str) -> bool:
        """Whether predictions are said to be too extreme, or too extreme in a quarter."""
        upper = "from 0.5 " in words or "from 0.75 " in words
        return "too extreme" in words or ("from " in words and (high(words) if upper else low(words)))

    def over_or_low(words: str) -> bool:
        """Whether predictions are said to be too low, or too extreme, which is the same below 1/2."""
        return low(words) or "too extreme" in words

    def any_words(words: str) -> bool:
        return True

    by_turns = (shift(0.4), shift(-0.4))
    smooth = (
        Change("temperature 1.5", temperature(1.5), over),
        Change("shift .4", shift(0.4), high),
        Change("shift .15", shift(0.15), high),
        Change("two waves of .07", distorted(even, s_shape=0.9), any_words, promised=False),
        Change("eight waves of .1", high_frequency(8, 0.1), any_words, promised=False),
        Change("shift .4, -.4 by turns", lambda day: by_turns[day % 2], any_words, promised=False),
    )
    hidden = Change("a fifth of the rows, shift -1.2", bad, low, promised=False)
    known = Change("one segment of five, shift -1.2", bad, low, segments=True)
    doubled = Change("prevalence .01 to .02", prevalence(few, 0.02), over_or_low)
    return {
        "uniform": Family(even, 200, smooth),
        "five segments": Family(groups(five), 200, (hidden, known)),
        "rare": Family(few, 1000, (doubled,)),
    }


def rare(m: int) -> list[float]:
    """Return m equally likely predictions of mean .01, spread like a beta(1, 99) distribution."""
    from scipy.stats import beta

    spread = beta(1, 99).ppf((np.arange(m) + 0.5) / m)
    return list(0.01 * spread / spread.mean())


def answers(family: Family, dates: Sequence[int], horizon: int, known_days: int, rng: Any) -> dict[Any, np.ndarray]:
    """Return what is found in one data set, for each change: the columns NAMES of each date and monitor, and the days.

    `known` has a 1 for each number of days since the first date after which one Cox test rejects at 5 %.
    """
    seed = int(rng.generate_state(1)[0])  # the same rows for all changes
    quiet = [*summaries(family, stream(family.before, rows=family.rows), 1, dates[-1] - 1, seed)]
    found: dict[Any, np.ndarray] = {}
    for change in family.changes:
        models = {date: stream(family.before, change.after, date, family.rows) for date in dates}
        for date, model in models.items():
            later = tee(summaries(family, model, date, date + horizon - 1, seed), len(ARL))
            for arl, rest in zip(ARL, later, strict=True):
                fed = (kinds[change.segments] for kinds in chain(quiet[: date - 1], rest))
                found[change.label, date, arl] = one_monitor(change, fed, date, arl)
        found[change.label, "known"] = known_date(models[dates[0]], dates[0], known_days, seed)
    return found


def summaries(family: Family, model: stream, first: int, last: int, seed: int) -> Iterator[tuple[Any, Any]]:
    """Draw periods one by one and return the summary without segments of each, and the one with them."""
    asked = any(change.segments for change in family.changes)
    reader = cs.Monitor()
    for _, y, p, segment in model.segments(first, last, seed):
        yield reader.summarize(y, p), reader.summarize(y, p, segment) if asked else None


def one_monitor(change: Change, fed: Iterable[Any], date: int, arl: float | None) -> np.ndarray:
    """Feed one monitor until it sees the change."""
    monitor = cs.Monitor(arl=arl)
    early = 0
    for period, summary in enumerate(fed, 1):
        monitor.update(summary, period=period)
        if period < date and monitor.alarm_period == period:
            early += 1
            if arl is None:
                return np.array([1, np.nan, *[np.nan] * 4])
        elif period >= date and monitor.alarm_period == period:
            onset = monitor.status().onset
            assert onset is not None
            start, low, high = (int(found) for found in (onset.start, onset.low, onset.high))
            dated, named = low <= date <= high, onset.segment == BAD
            signed = change.is_right(onset.direction)
            return np.array([early, period - date + 1, dated, start - date, signed, named], np.float64)
    return np.array([early, np.inf, *[np.nan] * 4])


def known_date(model: stream, date: int, days: int, rng: int) -> np.ndarray:
    """Whether one Cox test at 5 % of all days since the change rejects, after each number of days."""
    sums = []
    for _, y, p in model.periods(date, date + days - 1, rng):
        negative, positive = cox_columns(p, p)
        sums.append(np.where(y[:, None] == 1, positive, negative).sum(axis=0))
    return cox_statistic(np.cumsum(sums, axis=0)) > cox_limit(0.05)
