"""Streams of days, watched from both sides and from one: when is an error of one direction found, and is none invented?

Predictions are uniform, 100 a day. From a day on the log-odds of the truth are those of the predictions, changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibstat.data.words.side import TOO, Side
from calibstat.generators.simulator import drawing
from calibstat.monitoring.directions import log_likelihood_ratios
from calibstat.monitoring.evidence import log_evidence
from calibstat.study.question import rate_of

from .period_sums import first_time

ROWS, CHANGE = 100, 31
SIDES: tuple[Side | None, ...] = (None, *TOO)
Truth = Callable[[np.ndarray], np.ndarray]
CHANGES: Mapping[str, tuple[int, Truth]] = {  # the first day of the change, and the true log-odds of logit(v)
    "calibrated": (CHANGE, lambda x: x),
    "too low by .4 from day 1": (1, lambda x: x + 0.4),
    "too high by .4": (CHANGE, lambda x: x - 0.4),
    "too high by .2": (CHANGE, lambda x: x - 0.2),
    "top quarter too high by .6": (CHANGE, lambda x: np.where(x > logit(0.75), x - 0.6, x)),
    "temperature 1.5": (CHANGE, lambda x: x / 1.5),
}


def one_side(streams: int, days: int, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    """Return in how many streams each monitor raises an alarm, before the change and at all, and its median day."""
    for (label, (first, truth)), own in zip(CHANGES.items(), seed.spawn(len(CHANGES)), strict=True):
        alarms = np.array([_first_alarms(first, truth, days, each) for each in own.spawn(streams)])
        for side, day in zip(SIDES, alarms.T, strict=True):
            middle = np.quantile(day, 0.5, method="inverted_cdf")
            yield {
                "question": "one side",
                "generator": label,
                "method": "both sides" if side is None else side,
                "change": first,
                "looks": days,
                "replicates": streams,
                **rate_of("flagged", np.isfinite(day)),
                "early": (day < first).mean(),
                "median": middle if np.isfinite(middle) else np.nan,
            }


def is_promised(label: str, method: str) -> bool:
    """Whether an alarm of these streams is a false one."""
    return label == "calibrated" or (label, method) == ("too low by .4 from day 1", "over")


def _first_alarms(first: int, truth: Truth, days: int, seed: np.random.SeedSequence) -> list[float]:
    """Return the day of the first alarm of each monitor on one stream; infinite if there is none."""
    days, random = drawing(days, seed)
    value = random.random((days, ROWS))
    changed = np.arange(1, days + 1)[:, None] >= first
    y = (random.random(value.shape) < np.where(changed, expit(truth(logit(value))), value)).astype(float)
    one = np.ones(ROWS)
    found = []
    for side in SIDES:
        ratios = np.array([log_likelihood_ratios(v, one, each, side) for v, each in zip(value, y, strict=True)])
        found.append(float(first_time((log_evidence(ratios, side=side) >= np.log(20))[None])[0]))
    return found
