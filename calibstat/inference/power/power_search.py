"""Solvers for the strength of an effect, or the number of rows, at which a test has a given power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

POWER_RUNS = 6
_NEAR_POWER = 0.18  # of the wished power: points that the line is fitted to
_FAR_STEP, _CLOSE_STEP = 4.0, 1.6  # steps outwards from a power of little more than the level, and from others


@dataclass(frozen=True)
class PowerPoint:
    """The power at a strength: so many of so many data sets were rejected, on average over draws of the test."""

    at: float
    rejected: float
    n_datasets: int

    @property
    def power(self) -> float:
        """The share."""
        return self.rejected / self.n_datasets

    @property
    def probit(self) -> float:
        """The probit of the share, moved by half a data set so that it is finite."""
        from scipy.special import ndtri

        return float(ndtri((self.rejected + 0.5) / (self.n_datasets + 1)))


def solve_power(
    power_at: Callable[[float], PowerPoint], start: float, largest: float, power: float, level: float
) -> tuple[float, list[PowerPoint]]:
    """Return the strength at which the power is as wished, and the points at which it was found.

    Powers of one family are about linear on the probit scale. First `start` is tried and, until the wished power is
    exceeded, larger strengths; then points by the secant inside the bracket, six in all if the start is good. The
    answer is read off a least-squares line through all points near the wished power. If even `largest` is not found
    with that power it is infinite.
    """
    from scipy.special import ndtri

    wished = float(ndtri(power))
    low, high = (0.0, float(ndtri(level / 2))), (np.inf, np.inf)  # strength and probit of the bracket
    points: list[PowerPoint] = []
    at, left = min(start, largest), POWER_RUNS
    while left:
        point = power_at(at)
        points.append(point)
        here = (at, point.probit)
        left -= point.probit >= wished - 1 or np.isfinite(high[0])
        if point.probit < wished:
            if at >= largest:
                return np.inf, points
            low = here
        else:
            high = here
        at = min(_next(low, high, wished), largest)
        if any(abs(at - each.at) < 1e-3 * at for each in points):
            at = min(at * 1.05, largest)
    return _read_off(points, wished, low, high), points


def _next(low: tuple[float, float], high: tuple[float, float], wished: float) -> float:
    """Return the next strength to try."""
    if np.isinf(high[0]):
        return _FAR_STEP * low[0] if low[1] < wished - 1.5 else _CLOSE_STEP * low[0]
    share = (wished - low[1]) / (high[1] - low[1]) if high[1] > low[1] else 0.5
    return low[0] + float(np.clip(share, 0.1, 0.9)) * (high[0] - low[0])


def _read_off(points: list[PowerPoint], wished: float, low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return the strength at the wished probit on a line through the points near it, or between the bracket."""
    from scipy.special import ndtr

    near = [point for point in points if abs(point.power - ndtr(wished)) < _NEAR_POWER]
    at, probit = np.array([p.at for p in near]), np.array([p.probit for p in near])
    if len(near) >= 2 and np.ptp(at) > 0:
        slope, base = np.polyfit(at, probit, 1)
        if slope > 0:
            strength = (wished - base) / slope
            if at.min() / 1.5 < strength < at.max() * 1.5:
                return float(strength)
    if np.isinf(high[0]):
        return points[-1].at
    return _next(low, high, wished)
