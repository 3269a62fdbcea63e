"""The largest upper bound of a gain by acting at another threshold.

The gain of one move, an interval of predictions and a probability t of indifference, is a mean with fixed weights. In
the gap between two predictions t may be anywhere: a bound is convex in t, so that the ends of the gap are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from calibstat.bounds.decision_gains import mirrored, steepest
from calibstat.bounds.moments import POWERS, Moments, SeparableMoments
from calibstat.bounds.score_bound import ScoreBound

ENDS = 64  # of intervals that are looked at together
HALVINGS = 8  # between the logarithms of the least and the largest slope: the best one is met within some per cent


def bound_of_pairs(value: np.ndarray, moments: SeparableMoments, score: ScoreBound) -> float:
    """Return the largest upper bound of the gain of any move, in rows, by all pairs of ends.

    The cells of the moments are each prediction with outcome 0, and then with outcome 1.

    Statement and argument: docs/proofs.md, section 14.
    """
    powers = np.stack(moments.powers).reshape(len(moments.powers), value.size, 2)
    highest = float(score.reach(0.0, 0.0))
    for ascending, part in ((value, powers), (1 - value[::-1], powers[:, ::-1, ::-1])):
        before = np.cumsum(np.pad(part, ((0, 0), (1, 0), (0, 0))), axis=1)
        for threshold in _ends_of_gaps(ascending):
            for first in range(0, value.size, ENDS):
                end = np.arange(first, min(first + ENDS, value.size))
                inside = before[:, 1 + end, None] - before[:, None, : end[-1] + 1]
                weight = np.stack([-threshold[end], 1 - threshold[end]], axis=-1)[:, None]
                sums = moments.of_sums(*((part * weight**k).sum(axis=-1) for k, part in zip(POWERS, inside, strict=False)))
                bound = sums.total + score.reach(sums.variance, sums.third)
                highest = max(highest, float(np.tril(bound, first).max()))
    return highest


def bound_by_slopes(value: np.ndarray, moments: Moments, score: ScoreBound) -> float:
    """Return an upper bound of these bounds, in time that is proportional to the number of predictions.

    A root is at most slope * x + 1 / (4 slope) for every slope. For one slope the bound is a sum over the rows of the
    interval, and what the largest sum is above is convex in the slope.

    Statement and argument: docs/proofs.md, section 14.
    """
    negatives, positives = moments.total.reshape(-1, 2).T.copy()
    largest, drift = moments.largest_spread()
    square, skew, share = score.z**2 * largest, score.cap * score.k / 2, 1 - score.z * drift
    least, most = 0.5 / math.sqrt(square * moments.n + skew**2), min(0.5 / skew, share / square)
    if least > most:  # a few large units: no bound below the most that any row can gain
        return moments.n
    both_ways = [(value, negatives, positives), mirrored(value, negatives, positives)]
    moves = [(rows, threshold) for rows in both_ways for threshold in _ends_of_gaps(rows[0])]

    def best(slope: float) -> tuple[float, float]:
        found = [steepest(*rows, threshold, share, slope * square) for rows, threshold in moves]
        gain, *_, squares = max(found)
        return gain + slope * skew**2 + 0.25 / slope, square * squares + skew**2

    highest = math.inf
    for _ in range(HALVINGS):
        slope = math.sqrt(least * most)
        bound, root_of = best(slope)
        highest = min(highest, bound)
        least, most = (least, slope) if root_of > 0.25 / slope**2 else (slope, most)
    largest_sum = max(steepest(*rows, rows[0], 1.0, 0.0)[0] for rows in both_ways)
    return highest + skew + 2 * (1 - share) * largest_sum


def _ends_of_gaps(value: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the thresholds at the lower and at the upper end of the gap above each prediction."""
    yield value
    yield np.append(value[1:], 1.0)
