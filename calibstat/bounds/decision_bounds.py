"""The largest upper bound of a gain by acting at another threshold.

The gain of one move, an interval of predictions and a probability t of indifference, is a mean with fixed weights. In
the gap between two predictions t may be anywhere: a bound is convex in t, so that the ends of the gap are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from calibstat.bounds.decision_gains import Rows, mirrored, steepest
from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.tail_bound import UNSEEN, TailBound
from calibstat.compiled import jit, without_numba

HALVINGS = 8  # between the logarithms of the least and the largest slope: the best one is met within some per cent


def bound_of_pairs(value: np.ndarray, moments: SeparableMoments, tail_bound: TailBound) -> float:
    """Return the largest upper bound of the gain of any move, in rows, by all pairs of ends.

    The cells of the moments are each prediction with outcome 0, and then with outcome 1.

    Statement and argument: docs/evidence/proofs/decision-loss.md.
    """
    powers = np.stack(moments.powers[:3]).reshape(3, value.size, 2)
    sizes = powers[1:].sum(axis=(1, 2))
    numbers = np.array(
        [moments.n, tail_bound.z, tail_bound.k, UNSEEN * tail_bound.largest**2, tail_bound.largest, tail_bound.cap]
    )
    highest = float(tail_bound.reach(0.0, 0.0))
    for ascending, part in ((value, powers), (1 - value[::-1], powers[:, ::-1, ::-1])):
        before = np.cumsum(np.pad(part, ((0, 0), (1, 0), (0, 0))), axis=1)
        for threshold in _ends_of_gaps(ascending):
            highest = max(highest, _highest(threshold, before, sizes, moments.is_central, numbers))
    return highest


def _highest_in_arrays(
    threshold: np.ndarray, before: np.ndarray, sizes: np.ndarray, is_central: bool, numbers: np.ndarray
) -> float:
    n, z, k, unseen, largest, cap = numbers
    highest = -np.inf
    for j, t in enumerate(threshold):
        gain = np.array([-t, 1.0 - t])
        sums, squares, cubes = before[:, j + 1, None] - before[:, : j + 1]
        total = sums @ gain
        mean = total / n
        variance = squares @ gain**2 - 2.0 * mean * (squares @ gain) + mean**2 * sizes[0]
        third = cubes @ gain**3
        if is_central:
            third = third - 3.0 * mean * (cubes @ gain**2 - mean * (cubes @ gain)) - mean**3 * sizes[1]
        variance = np.maximum(variance, 0.0)
        added = 0.5 * k * np.minimum((np.maximum(third, 0.0) + unseen * largest) / (variance + unseen), cap)
        highest = max(highest, float((total + added + np.sqrt(z**2 * variance + added**2)).max()))
    return highest


@without_numba(_highest_in_arrays)
@jit
def _highest(
    threshold: np.ndarray, before: np.ndarray, sizes: np.ndarray, is_central: bool, numbers: np.ndarray
) -> float:
    """Return the largest bound of the gain of an interval that ends at place j, for somebody with threshold[j].

    `before` holds the sums of weights, of their squares and of their cubes over the rows with each outcome before a
    place, and `sizes` the sums of squares and cubes over all rows. The variance, the third moment and the rate are as
    in `SeparableMoments` and `TailBound`.
    """
    n, z, k, unseen, largest, cap = numbers
    highest = -np.inf
    for j in range(threshold.size):
        zero, one = -threshold[j], 1.0 - threshold[j]
        for i in range(j + 1):
            total = zero * (before[0, j + 1, 0] - before[0, i, 0]) + one * (before[0, j + 1, 1] - before[0, i, 1])
            of_0, of_1 = before[1, j + 1, 0] - before[1, i, 0], before[1, j + 1, 1] - before[1, i, 1]
            mean = total / n
            variance = zero**2 * of_0 + one**2 * of_1 - 2.0 * mean * (zero * of_0 + one * of_1) + mean**2 * sizes[0]
            of_0, of_1 = before[2, j + 1, 0] - before[2, i, 0], before[2, j + 1, 1] - before[2, i, 1]
            third = zero**3 * of_0 + one**3 * of_1
            if is_central:
                third -= 3.0 * mean * (zero**2 * of_0 + one**2 * of_1 - mean * (zero * of_0 + one * of_1))
                third -= mean**3 * sizes[1]
            variance = max(variance, 0.0)
            added = 0.5 * k * min((max(third, 0.0) + unseen * largest) / (variance + unseen), cap)
            highest = max(highest, total + added + math.sqrt(z**2 * variance + added**2))
    return highest


def bound_of_units(value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
    """Return the same where units, such as clusters, add in several cells: in time that grows with their number too.

    Statement and argument: docs/evidence/proofs/decision-loss.md.
    """
    units = moments.by_unit()
    total, by_unit = moments.total.reshape(-1, 2), units.reshape(value.size, 2, -1)
    numbers = np.array(
        [
            moments.factor,
            tail_bound.z,
            tail_bound.k,
            UNSEEN * tail_bound.largest**2,
            tail_bound.largest,
            tail_bound.cap,
        ]
    )
    highest = float(tail_bound.reach(0.0, 0.0))
    for ascending, sums, parts in ((value, total, by_unit), (1 - value[::-1], total[::-1, ::-1], by_unit[::-1, ::-1])):
        before = np.cumsum(np.pad(sums, ((1, 0), (0, 0))), axis=0)
        parts_before = np.cumsum(np.pad(parts, ((1, 0), (0, 0), (0, 0))), axis=0)
        for threshold in _ends_of_gaps(ascending):
            highest = max(highest, _highest_of_units(threshold, before, parts_before, numbers))
    return highest


@jit
def _highest_of_units(threshold: np.ndarray, before: np.ndarray, by_unit: np.ndarray, numbers: np.ndarray) -> float:
    """Return the largest bound of the gain of an interval that ends at place j, for somebody with threshold[j].

    `before` and `by_unit` hold the sums with each outcome before a place, of all rows and of each unit, centred.
    """
    factor, z, k, unseen, largest, cap = numbers
    highest = -np.inf
    for j in range(threshold.size):
        zero, one = -threshold[j], 1.0 - threshold[j]
        last = zero * by_unit[j + 1, 0] + one * by_unit[j + 1, 1]
        for i in range(j + 1):
            of_0, of_1 = by_unit[i]
            variance = third = 0.0
            for c in range(last.size):
                x = last[c] - zero * of_0[c] - one * of_1[c]
                variance += x * x
                third += x * x * x
            variance *= factor
            total = zero * (before[j + 1, 0] - before[i, 0]) + one * (before[j + 1, 1] - before[i, 1])
            added = 0.5 * k * min((max(third, 0.0) + unseen * largest) / (variance + unseen), cap)
            highest = max(highest, total + added + math.sqrt(z**2 * variance + added**2))
    return highest


def bound_by_slopes(value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
    """Return an upper bound of these bounds, in time that is proportional to the number of predictions.

    A root is at most slope * x + 1 / (4 slope) for every slope. For one slope the bound is a sum over the rows of the
    interval, and what the largest sum is above is convex in the slope.

    Statement and argument: docs/evidence/proofs/decision-loss.md.
    """
    negatives, positives = moments.total.reshape(-1, 2).T.copy()
    largest, drift = moments.largest_spread()
    square, skew, share = tail_bound.z**2 * largest, tail_bound.cap * tail_bound.k / 2, 1 - tail_bound.z * drift
    least, most = 0.5 / math.sqrt(square * moments.n + skew**2), min(0.5 / skew, share / square)
    if least > most:  # a few large units: no bound below the most that any row can gain
        return moments.n
    both_ways: list[Rows] = [(value, negatives, positives), mirrored(value, negatives, positives)]
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
