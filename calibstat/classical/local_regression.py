"""The calibration curve by local regression of outcomes on predictions (Cleveland 1979), as R computes it."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import Sample

NEAR_SHARE = 2 / 3  # share of the rows that are near
DELTA = 0.01  # of the range of the predictions, within which the curve is read by straight lines
ROUNDING = 1e-12  # of sums of weights
ROUNDING_OF_R = 1e-7  # of a number of rows
FLAT = 1e-12  # variance of the near predictions, in units of their reach, below which there is no line
HALVINGS = 60  # of the range of the predictions, in the search for a distance: more than a number has bits
MOST_VALUES = 10_000  # that a line is fitted to: of more, neighbours are put together at their mean
SMOOTHER = "lowess: local linear regression, tricube weights, the nearest 2/3 of the rows, no robust steps"


def lowess(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return the points, at most 202 of the distinct predictions, and the smoothed frequency at each.

    R's `lowess(p, y, iter=0)` has the same points, and reads the curve between them by straight lines. As there, the
    curve may leave the interval from 0 to 1.
    """
    value, count, positives = sample.arrays
    chosen = _spread(value)
    point = value[chosen]
    first, *groups = neighbours(value, count, positives)
    own = groups[0][np.searchsorted(first, chosen, "right") - 1]  # is within reach, however near the nearest rows are
    reach = _reach(point, value, count, _near(sample))
    return point, _fitted(point, np.maximum(reach, 2 * np.abs(point - own)), *groups)


def _spread(value: np.ndarray) -> np.ndarray:
    """Return the places of the first and last of ascending values, and of the last within `DELTA` of each chosen one.

    Where there is none that near, the next one is chosen.
    """
    step = DELTA * (value[-1] - value[0])
    chosen = [0]
    while chosen[-1] < value.size - 1:
        within = int(np.searchsorted(value, value[chosen[-1]] + step, "right")) - 1
        chosen.append(max(within, chosen[-1] + 1))
    return np.array(chosen)


def _near(sample: Sample) -> float:
    """Return the number of the nearest rows, which is whole where rows are counted, or their weight."""
    near = NEAR_SHARE * sample.n
    return max(math.floor(near + ROUNDING_OF_R), 2) if sample.kind == "counts" else near * (1 - ROUNDING)


def _reach(point: np.ndarray, value: np.ndarray, count: np.ndarray, near: float) -> np.ndarray:
    """Return the distance from each point within which the nearest `near` rows lie, by halving."""
    rows = np.concatenate(([0.0], np.cumsum(count)))
    low, high = np.zeros(point.size), np.full(point.size, value[-1] - value[0])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        first, last = np.searchsorted(value, point - middle), np.searchsorted(value, point + middle, "right")
        enough = rows[last] - rows[first] >= near
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def neighbours(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the first value, mean, rows and events of groups of neighbours: each value, or `MOST_VALUES` groups.

    A line that is fitted to the means differs from the line of the values in that weights within a group are equal: an
    error of the order of the square of a group's width in units of the reach.
    """
    if value.size <= MOST_VALUES:
        return np.arange(value.size), value, count, positives
    first = np.linspace(0, value.size, MOST_VALUES, endpoint=False).astype(np.int64)
    rows = np.add.reduceat(count, first)
    return first, np.add.reduceat(count * value, first) / rows, rows, np.add.reduceat(positives, first)


@jit
def _fitted(
    point: np.ndarray, reach: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray
) -> np.ndarray:
    """Return the local line at each of ascending points, of rows at ascending values.

    The rows within the reach of a point count, by the tricube of their share of it.
    """
    rate = np.empty(point.size)
    first = 0
    for i in range(point.size):
        x = point[i]
        while value[first] < x - reach[i]:
            first += 1
        w0 = w1 = w2 = y0 = y1 = 0.0
        for j in range(first, value.size):
            if value[j] > x + reach[i]:
                break
            t = (value[j] - x) / reach[i] if reach[i] > 0.0 else 0.0
            tricube = (1.0 - abs(t) ** 3) ** 3
            w0 += tricube * count[j]
            w1 += tricube * count[j] * t
            w2 += tricube * count[j] * t * t
            y0 += tricube * positives[j]
            y1 += tricube * positives[j] * t
        spread = w2 * w0 - w1 * w1
        rate[i] = (w2 * y0 - w1 * y1) / spread if spread > FLAT * w0 * w0 else y0 / w0
    return rate
