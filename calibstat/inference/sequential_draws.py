"""Resamples that are drawn until enough are as extreme as the data: sequential p-values of Besag and Clifford.

One tail. Draw until h resamples are at least as extreme as the data, but no more than B. Stopped at draw l: p = h / l;
at the cap with g < h of them: p = (g + 1) / (B + 1). If data and resamples are exchangeable, P(p <= a) <= a: without
ties the rank of the data among l + 1 is uniform, and drawing goes on beyond draw l if the rank is among the first h, so
P(p <= h / l) = P(more than l - 1 draws) = h / l, and P(p <= (g + 1) / (B + 1)) = (g + 1) / (B + 1). Ties count as
at least as extreme, which is conservative: they only make p larger.

Two tails. Each is counted by itself, to h / 2 (rounded up), with a p-value of its own; p is twice the smaller of them,
so P(p <= a) is at most a / 2 + a / 2 by the union bound. The smaller belongs to the tail that stops last: so draw until
both have stopped.

All of this needs a statistic that is fixed before the draws. Besag, Clifford 1991, doi:10.1093/biomet/78.2.301.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibstat.data.checks import is_whole, short
from calibstat.in_words import InWords
from calibstat.inference.p_values import extremes, p_value
from calibstat.inference.problems.resample import Resampler
from calibstat.resampling import Draws


@dataclass(frozen=True)
class WhyStopped(InWords):
    """The reason for the number of resamples.

    Attributes
    ----------
    reason : str
        The reason, such as "stopped after 20 resamples at least as extreme".
    draw : int or None
        The draw at which drawing stopped; None if it did not.
    """

    reason: str
    draw: int | None = None

    def __str__(self) -> str:
        return self.reason if self.draw is None else f"{self.reason}, at draw {self.draw}"


@dataclass(frozen=True)
class PValue:
    """A p-value, its Monte Carlo standard error, the resamples that it rests on, whether drawing stopped, and why."""

    pvalue: float
    error: float
    n_resamples: int
    stopped: bool
    why_stopped: WhyStopped


def check_stop(stop_after: object, n_resamples: int) -> None:
    """Raise unless `stop_after` is None or a whole number from 1 to the number of resamples."""
    if stop_after is not None and not (is_whole(stop_after) and stop_after <= n_resamples):
        raise ValueError(
            f"expected stop_after to be None or a whole number from 1 to n_resamples = {n_resamples}, "
            f"found {short(stop_after)}"
        )


def draw_until(
    stops: Callable[[np.ndarray], list[int | None]], resampler: Resampler, draws: Draws, stream: int, first: int
) -> np.ndarray:
    """Return the resamples up to the last at which any statistic stops: all, if any does not stop.

    `stops` says after how many resamples each statistic stops. They are drawn in blocks: `first`, then as many as there
    are. Resample r is the same in any block.
    """
    last = min(first, draws.n)
    null = resampler(draws.part(0, last, stream))
    while True:
        stopped = stops(null)
        ends = [end for end in stopped if end is not None]
        if len(ends) == len(stopped):
            return null[: max(ends)]
        if last == draws.n:
            return null
        begin, last = last, min(2 * last, draws.n)
        null = np.concatenate([null, resampler(draws.part(begin, last, stream))])


def stopping_point(statistic: float, null: np.ndarray, tail: str, stop_after: int) -> int | None:
    """Return after how many of these resamples drawing stops, or None if it goes on."""
    tails = extremes(statistic, null, tail)
    places = [np.flatnonzero(extreme) for extreme in tails]
    needed = _in_each(stop_after, len(tails))
    if min(place.size for place in places) < needed:
        return None
    return max(int(place[needed - 1]) + 1 for place in places)


def judge(statistic: float, null: np.ndarray, tail: str, stop_after: int | None = None) -> PValue:
    """Return the p-value of these resamples, or of as many of them as were needed."""
    end = None if stop_after is None else stopping_point(statistic, null, tail, stop_after)
    if stop_after is None or end is None:
        p = p_value(statistic, null, tail)
        cap = "" if stop_after is None else ", the cap"
        error = float(np.sqrt(p * (1 - p) / null.size))
        return PValue(p, error, null.size, False, WhyStopped(f"{_resamples(null.size)}{cap}"))
    n_tails = 1 if tail == "greater" else 2
    needed = _in_each(stop_after, n_tails)
    share = needed / end
    p = min(1.0, n_tails * share)
    as_extreme = "at least as extreme" if n_tails == 1 else f"at least as large and {needed} at least as small"
    why = WhyStopped(f"stopped after {_resamples(needed)} {as_extreme}", end)
    return PValue(p, float(p * np.sqrt((1 - share) / needed)), end, True, why)


def _in_each(stop_after: int, n_tails: int) -> int:
    """Return how many resamples each tail needs."""
    return -(-stop_after // n_tails)


def _resamples(number: int) -> str:
    """Write a number of resamples."""
    return "1 resample" if number == 1 else f"{number} resamples"
