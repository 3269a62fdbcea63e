"""The calibration curve by local regression of outcomes on predictions (Cleveland 1979)."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import Sample

SPAN = 0.75  # share of the rows that are near
FLAT = 1e-12  # variance of the near predictions, in units of their reach, below which there is no line
MOST_POINTS = 1000  # at which the curve is computed; between them it is read by straight lines
SMOOTHER = f"local linear regression, tricube weights, the nearest {SPAN:.0%} of the rows, no robust steps"


def local_curve(sample: Sample) -> np.ndarray:
    """Return the smoothed frequency at each distinct prediction, between 0 and 1, shape (m,)."""
    value, count, positives = sample.arrays
    order = np.unique(np.linspace(0, value.size - 1, MOST_POINTS).astype(np.int64))
    near = max(math.floor(SPAN * sample.n), 1)
    fitted = _fitted(value[order], value, count, positives, near)
    return np.clip(np.interp(value, value[order], fitted), 0.0, 1.0)


@jit
def _fitted(point: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, near: float) -> np.ndarray:
    """Return the local line at each of some of the ascending values.

    The rows within the distance of the nearest `near` rows count, by the tricube of their share of it.
    """
    rate = np.empty(point.size)
    here = 0
    for i in range(point.size):
        x = point[i]
        while value[here] < x:
            here += 1
        first, last, rows = here, here, count[here]
        while rows < near:
            below = x - value[first - 1] if first > 0 else math.inf
            above = value[last + 1] - x if last + 1 < value.size else math.inf
            if below < above:
                first -= 1
                rows += count[first]
            else:
                last += 1
                rows += count[last]
        reach = max(x - value[first], value[last] - x)
        if reach == 0.0:
            rate[i] = positives[here] / count[here]
            continue
        w0 = w1 = w2 = y0 = y1 = 0.0
        for j in range(first, last + 1):
            t = (value[j] - x) / reach
            tricube = (1.0 - abs(t) ** 3) ** 3
            w0 += tricube * count[j]
            w1 += tricube * count[j] * t
            w2 += tricube * count[j] * t * t
            y0 += tricube * positives[j]
            y1 += tricube * positives[j] * t
        spread = w2 * w0 - w1 * w1
        rate[i] = (w2 * y0 - w1 * y1) / spread if spread > FLAT * w0 * w0 else y0 / w0
    return rate
