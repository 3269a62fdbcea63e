"""Evidence against calibration over time: e-processes whose false alarms are bounded at any number of looks.

Null hypothesis: given the predictions and everything before it, the outcomes of a period are 1 independently with
their predicted probabilities. Predictions, numbers of rows and the mix of rows may drift in any way, and may depend on
earlier outcomes.

Under it exp(l_g), the likelihood ratio of a period in direction g, has mean 1 (less after rounding down) given the
past. The product of these from period s on is what a bet of 1 placed before period s has become. It keeps its mean
through every period, and so does any mixture with weights fixed beforehand, of directions, segments and starts s:

    E_t = sum_s pi_s sum_g w_g exp(l_{s,g} + ... + l_{t,g}) + remaining(t),   the first sum over s <= t,

with remaining(t) = log 2 / log(t + 2) the weight of the starts still to come and
pi_t = remaining(t - 1) - remaining(t). E_0 = 1.

Ville's inequality: **P(E_t >= 1 / alpha for any t) <= alpha.** Stop at the first such t: what is held then has mean of
at most 1, as at any time, and is at least 1 / alpha in all cases that stop; so these have probability of at most alpha.

Average run length: R_t places a new bet of 1 before every period (Shiryaev-Roberts), R_t = sum_{s <= t} sum_g w_g
exp(l_{s,g} + ... + l_{t,g}), so **E[R_t] <= t**, and R_t - t is a supermartingale. Stopped when R_t >= A for the first
time, at T, it gives A <= E[R_T] <= **E[T]**: the mean number of periods to a false alarm is at least A (Shin, Ramdas,
Rinaldo 2022, arXiv:2203.03532, who prove it for infinite waits as well). After an alarm R starts again at 0.

One side. Null hypothesis of "over": given the predictions and everything before it, earlier rows of the period among
it, every outcome is 1 with a probability of at least its prediction v. All directions g of this side have q_g(v) <= v,
so that L(1) = q_g / v <= 1 <= L(0) = (1 - q_g) / (1 - v), and with a true probability P >= v

    E[L] = L(0) - P (L(0) - L(1)) <= L(0) - v (L(0) - L(1)) = 1,    row after row.

So the bets have a mean of at most 1 given the past, which is all that is needed above. "under" is "over" of 1 - y and
1 - v.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from calibstat.compiled import jit
from calibstat.data.words.side import Side
from calibstat.monitoring.directions import DIRECTIONS_OF

ALL_WEIGHT = 0.5  # the weight of all rows together, beside segments


def remaining(t: int) -> float:
    """Return the weight of starts after period t."""
    return math.log(2) / math.log(t + 2)


def stream_weights(n_segments: int) -> np.ndarray:
    """Return the weights of all rows together and of each segment, with sum 1."""
    if n_segments == 0:
        return np.ones(1)
    return np.array([ALL_WEIGHT] + [(1 - ALL_WEIGHT) / n_segments] * n_segments)


class Run:
    """One run of a monitor: the bets of every direction in all rows and in each segment, and what they have become.

    `log_held`, shape (1 + number of segments, number of directions), has the logarithm of what the bets placed so far
    in each direction hold; `log_streams` of the evidence of each stream, `log_evidence` of their weighted mean.
    """

    def __init__(self, n_segments: int, regime: str, side: Side | None = None) -> None:
        self.regime, self.side = regime, side
        self.t = 0
        self.log_weights = np.log(stream_weights(n_segments))
        self.log_held = np.full((self.log_weights.size, len(DIRECTIONS_OF[side].each)), -np.inf)
        self.log_streams = np.full(self.log_weights.size, -np.inf)

    def add(self, increments: np.ndarray) -> float:
        """Add the log-likelihood ratios of a period, of the shape of `log_held`; return the log evidence."""
        self.t += 1
        log_start, log_left = _clock(self.t, self.regime)
        weights = DIRECTIONS_OF[self.side].log_weights
        for k in range(self.log_held.shape[0]):
            self.log_streams[k] = _add_period(self.log_held[k], increments[k], log_start, log_left, weights)
        return float(_log_sum(self.log_streams + self.log_weights))


def log_evidence(increments: np.ndarray, regime: str = "false alarm", side: Side | None = None) -> np.ndarray:
    """Return the logarithm of the evidence after each period, as one `Run` of one stream gives it.

    Parameters
    ----------
    increments : ndarray, shape (..., T, number of directions)
        The log-likelihood ratios of each period, of one or more independent runs.
    regime : {"false alarm", "run length"}
        E_t, or R_t without a restart.
    side : {"over", "under"}, optional
        The side of the directions.

    Returns
    -------
    ndarray, shape (..., T)
    """
    increments = np.ascontiguousarray(increments, dtype=np.float64)
    *shape, n, _ = increments.shape
    clock = np.array([_clock(t, regime) for t in range(1, n + 1)]).reshape(n, 2)
    weights = DIRECTIONS_OF[side].log_weights
    return _paths(increments.reshape(-1, n, weights.size), clock, weights).reshape(*shape, n)


def start_probabilities(increments: np.ndarray, regime: str, side: Side | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of the evidence that each start, and each direction, has brought.

    Of the finite log-likelihood ratios of all periods of a run, shape (T, G) for G directions: shapes (T,) and (G,),
    each with sum 1. They describe where the evidence is from.
    """
    log_ratio = np.cumsum(increments[::-1], axis=0)[::-1]  # of a bet placed before each period
    log_start = np.array([_clock(t, regime)[0] for t in range(1, len(increments) + 1)])
    log_share = log_start[:, None] + DIRECTIONS_OF[side].log_weights + log_ratio
    share = np.exp(log_share - log_share.max())
    share /= share.sum()
    return share.sum(axis=1), share.sum(axis=0)


@cache
def _clock(t: int, regime: str) -> tuple[float, float]:
    """Return the logarithms of the bet placed before period t, remaining(t - 1) - remaining(t), and of remaining(t)."""
    if regime == "run length":
        return 0.0, -math.inf
    return math.log(math.log(2) * math.log1p(1 / (t + 1)) / (math.log(t + 1) * math.log(t + 2))), math.log(remaining(t))


@jit
def _log_sum(terms: np.ndarray) -> float:
    """Return log(sum(exp(terms))); infinite if a term is."""
    highest = terms.max()
    if np.isinf(highest):
        return highest
    total = 0.0
    for term in terms:
        total += np.exp(term - highest)
    return highest + np.log(total)


@jit
def _log_add(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high if np.isinf(high) else high + np.log1p(np.exp(low - high))


@jit
def _add_period(
    log_held: np.ndarray, increments: np.ndarray, log_start: float, log_left: float, log_weights: np.ndarray
) -> float:
    """Place the new bets, let all bets win or lose, and return the logarithm of the evidence."""
    for g in range(log_held.size):
        log_held[g] = _log_add(log_held[g], log_start) + increments[g]
    return _log_add(_log_sum(log_held + log_weights), log_left)


@jit
def _paths(increments: np.ndarray, clock: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """Return the log evidence after each period of each run, shape (B, T)."""
    runs, periods, directions = increments.shape
    paths = np.empty((runs, periods))
    for b in range(runs):
        log_held = np.full(directions, -np.inf)
        for t in range(periods):
            paths[b, t] = _add_period(log_held, increments[b, t], clock[t, 0], clock[t, 1], log_weights)
    return paths
