"""The largest gain by acting at another threshold, from the numbers of outcomes at each prediction.

A decision maker with threshold t gains y - t by acting on a row, and t - y by no longer acting on it. With a threshold
below t they also act on an interval of predictions below t, and gain the sum of y - t over this interval. The kernels
compute such moves to a lower threshold. A move to a higher one is a move to a lower one for 1 - y, 1 - v and 1 - t, in
reverse order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calibstat.compiled import jit, without_numba

TOGETHER = 64  # ends of intervals that are looked at together where kernels are not compiled
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # predictions, and the rows with outcomes 0 and 1 at each
Found = tuple[float, int, int]  # a gain, and its interval from the first to before the last place


class Move(NamedTuple):
    """The interval of predictions on which somebody acts otherwise, from `first` to before `last`, and what they gain.

    `threshold` is their probability of indifference, and `acts` says whether they begin to act there.
    """

    gain: float
    first: int
    last: int
    threshold: float
    acts: bool

    @property
    def weights(self) -> tuple[float, float]:
        """The part of the gain of a row of the interval with outcome 0, and with outcome 1."""
        sign = 1.0 if self.acts else -1.0
        return -sign * self.threshold, sign * (1 - self.threshold)


def largest_gain(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> Move:
    """Return the move with the largest gain, from the rows of each outcome at each of the ascending predictions.

    For an interval of predictions from v_i to v_j, the decision maker who gains most by acting on it has a threshold
    just above v_j. The one who gains most by no longer acting on it has the threshold v_i.
    """
    return _either_way(_of_counts, value, negatives, positives)


def largest_signed_gain(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> Move:
    """Return the same where numbers of rows may be negative, as in a step beyond a resample."""
    return _either_way(_of_signed, value, negatives, positives)


def _of_counts(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> Found:
    """Return the largest gain of any interval, with the interval."""
    return steepest(value, negatives, positives, value, 1.0, 0.0)[:3]


def _either_way(find: Callable[..., Found], value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> Move:
    """Return the better one of the best moves downwards and upwards."""
    down, first, last = find(value, negatives, positives)
    up, begin, end = find(*mirrored(value, negatives, positives))
    if down >= up:
        return Move(down, first, last, float(value[last - 1]), True)
    first, last = value.size - end, value.size - begin
    return Move(up, first, last, float(value[first]), False)


def mirrored(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> Rows:
    """Return the same rows with outcomes and predictions reversed."""
    return (1 - value)[::-1].copy(), positives[::-1].copy(), negatives[::-1].copy()


# Downwards the interval from i to j gains up_j (P_j - P_i) + down_j (M_j - M_i), with P and M the numbers of rows with
# outcomes 1 and 0 before a place, up = 1 - t and down = -t. So for each end j the best start is the i of the least P_i
# + down_j / up_j M_i: a tangent to the points (M, P). The slope falls from end to end, which both kernels use.


@jit
def steepest(
    value: np.ndarray, negatives: np.ndarray, positives: np.ndarray, threshold: np.ndarray, share: float, slope: float
) -> tuple[float, int, int, float]:
    """Return the largest share * gain + slope * squares of any interval, with the interval and its squares.

    An interval that ends at place j is of somebody with threshold[j]; numbers of rows are not negative, and the slope
    is at most the share. Points below the lower hull of the points so far are never a tangent's, and the tangent of a
    later end never touches an earlier point.
    """
    m = value.size
    p, q = np.zeros(m + 1), np.zeros(m + 1)  # numbers of rows with outcomes 1 and 0 at the points of the hull
    place = np.zeros(m + 1, np.int64)
    size, at = 0, 0
    total_p = total_q = 0.0
    best, first, last, squares = 0.0, 0, 0, 0.0
    for j in range(m):
        if size == 0 or total_q > q[size - 1]:  # straight above the last point there is no tangent
            while size > 1 and (p[size - 1] - p[size - 2]) * (total_q - q[size - 2]) >= (total_p - p[size - 2]) * (
                q[size - 1] - q[size - 2]
            ):
                size -= 1
            p[size], q[size], place[size] = total_p, total_q, j
            size += 1
            at = min(at, size - 1)
        total_p += positives[j]
        total_q += negatives[j]
        t = threshold[j]
        up = share * (1.0 - t) + slope * (1.0 - t) ** 2
        down = -share * t + slope * t**2
        while at + 1 < size and up * p[at + 1] + down * q[at + 1] <= up * p[at] + down * q[at]:
            at += 1
        gain = up * (total_p - p[at]) + down * (total_q - q[at])
        if gain > best:
            best, first, last = gain, place[at], j + 1
            squares = (1.0 - t) ** 2 * (total_p - p[at]) + t**2 * (total_q - q[at])
    return best, first, last, squares


def _signed_in_arrays(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> tuple[float, int, int]:
    p, q = (np.append(0.0, np.cumsum(rows)) for rows in (positives, negatives))
    best, first, last = 0.0, 0, 0
    for begin in range(0, value.size, TOGETHER):
        end = np.arange(begin, min(begin + TOGETHER, value.size))
        x = value[end, None]
        line = np.where(
            np.arange(end[-1] + 1) <= end[:, None], (1.0 - x) * p[: end[-1] + 1] - x * q[: end[-1] + 1], np.inf
        )
        start = line.argmin(axis=1)
        gain = (1.0 - x[:, 0]) * p[end + 1] - x[:, 0] * q[end + 1] - line[end - begin, start]
        k = gain.argmax()
        if gain[k] > best:
            best, first, last = float(gain[k]), int(start[k]), int(end[k]) + 1
    return best, first, last


@without_numba(_signed_in_arrays)
@jit
def _of_signed(value: np.ndarray, negatives: np.ndarray, positives: np.ndarray) -> tuple[float, int, int]:
    """Return the largest gain of any interval, with the interval; numbers of rows may be negative.

    Of the lines P_i + x M_i of starts a tree keeps at each node the one that is lowest in the middle of its ends, and
    hands the other down to the side where it is lower (Li Chao). The lowest at an end is on the way from its leaf up.
    """
    m = value.size
    leaves = 1
    while leaves < m:
        leaves *= 2
    p, q = np.zeros(2 * leaves), np.zeros(2 * leaves)
    start = np.full(2 * leaves, -1)
    best, first, last = 0.0, 0, 0
    total_p = total_q = 0.0
    for j in range(m):
        one, other, place = total_p, total_q, j
        node, left, half = 1, 0, leaves // 2
        while True:
            x = value[min(left + half, m - 1)]
            if start[node] < 0 or (1.0 - x) * (one - p[node]) < x * (other - q[node]):
                one, p[node] = p[node], one
                other, q[node] = q[node], other
                place, start[node] = start[node], place
            if half == 0 or place < 0:
                break
            node *= 2
            if other > q[node // 2]:
                node += 1
                left += half
            if left >= m or (left + half <= j and node % 2 == 0):
                break
            half //= 2
        total_p += positives[j]
        total_q += negatives[j]
        x = value[j]
        node = leaves + j
        lowest = np.inf
        while node > 0:
            here = (1.0 - x) * p[node] - x * q[node]
            if start[node] >= 0 and here < lowest:
                lowest, at = here, start[node]
            node //= 2
        gain = (1.0 - x) * total_p - x * total_q - lowest
        if gain > best:
            best, first, last = gain, at, j + 1
    return best, first, last
