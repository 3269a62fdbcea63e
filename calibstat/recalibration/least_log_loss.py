"""The temperature of the least log loss: Newton's method inside a bracket, each step one pass over the rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit

IMPOSSIBLE = -1e6  # in place of log 0: at every temperature searched its power is exactly 0
STILL = 1e-8  # a Newton step in log T below which the next one would be rounding


def best_temperature(prob: np.ndarray, label: np.ndarray, hottest: float, times: np.ndarray) -> float:
    """Return the temperature at which the derivative of the log loss is 0, or the end of the range towards it.

    The range is from 1 / hottest to hottest. Observed classes have probabilities above 0. A row counts `times`.
    """
    logs, total = np.empty(prob.shape), float(times.sum())
    if _fill_logs(prob, logs):
        return 1.0  # no temperature changes anything

    def slope(log_inverse: float) -> tuple[float, float]:
        """The first derivative by 1/T, and its derivative by log 1/T."""
        inverse = math.exp(log_inverse)
        first, second = _derivatives(logs, label, inverse, times, total)
        return first, second * inverse

    end = math.log(hottest)
    return math.exp(-_zero(slope, -end, end))


def _zero(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Return where a non-decreasing function, given with its slope, is 0, or the end of the range towards it.

    The search starts at 0. A Newton step that leaves the range, or is not half the one before, goes to an end instead
    if the sign there is not known, else to the middle. A function that vanishes with its slope has underflown from
    below.
    """
    x, before, unknown = 0.0, math.inf, {low, high}
    while low < high:
        value, slope = function(x)
        unknown.discard(x)
        low, high = (low, x) if value > 0 else (x, high)
        step = -value / slope if slope > 0 else math.inf
        if abs(step) <= STILL:
            return min(max(x + step, low), high)
        if low < x + step < high and abs(step) <= before / 2:
            x, before = x + step, abs(step)
            continue
        end = low if value > 0 else high
        x, before = end if end in unknown else (low + high) / 2, high - low
        if x in (low, high) and x not in unknown:
            break  # no number is between them
    return x


@jit
def _fill_logs(prob: np.ndarray, logs: np.ndarray) -> bool:
    """Fill in the logarithms relative to the largest of each row; return whether no power changes any row."""
    n, classes = prob.shape
    flat = True
    for i in range(n):
        largest = prob[i, 0]
        for k in range(classes):
            largest = max(largest, prob[i, k])
        for k in range(classes):
            p = prob[i, k]
            if p == largest:
                logs[i, k] = 0.0
            elif p == 0.0:
                logs[i, k] = IMPOSSIBLE
            else:
                logs[i, k] = math.log(p / largest)
                flat = False
    return flat


@jit
def _derivatives(
    logs: np.ndarray, label: np.ndarray, inverse: float, times: np.ndarray, n: float
) -> tuple[float, float]:
    """Return the first and the second derivative of the mean log loss by the inverse temperature.

    The first is the mean logarithm under the scaled predictions minus the observed classes', the second its variance.
    A row counts `times`, together n.
    """
    rows, classes = logs.shape
    slope = curvature = 0.0
    for i in range(rows):
        total = first = second = 0.0
        for k in range(classes):
            log = logs[i, k]
            weight = 1.0 if log == 0.0 else math.exp(inverse * log)
            total += weight
            first += weight * log
            second += weight * log * log
        mean = first / total
        slope += times[i] * (mean - logs[i, label[i]])
        curvature += times[i] * (second / total - mean * mean)
    return slope / n, curvature / n
