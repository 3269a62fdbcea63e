"""The honest interval of SmoothECE at its own bandwidth, by inversion.

The value is at most t exactly if the norm at bandwidth t, which does not increase with t, is at most t. So an interval
for the norm at every t gives one for the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat import resampling
from calibstat.inference.honest import ROWS_STAGE, upper_quantile
from calibstat.measures.registry import BoundMeasure, FixedPointInterval
from calibstat.measures.smooth import grid_intervals, share_out, smoothed
from calibstat.sample import Sample

NARROWEST = 2e-3  # the least bandwidth that the measure has, near enough
CLOSE = 1e-5  # how near the ends are found


def fixed_point_interval(
    bound: BoundMeasure,
    sample: Sample,
    recipe: FixedPointInterval,
    alpha: float,
    n_resamples: int,
    key: np.uint64,
    n_jobs: int,
) -> tuple[float, float]:
    """Return the ends: below, what the norm of the noise does not explain; above, a fixed witness at the value."""
    from scipy.special import ndtri

    value, n = sample.value, sample.n
    estimate = bound.estimate(sample)
    intervals = grid_intervals(max(estimate / 2, NARROWEST))
    residual, rows = share_out(value, sample.residual, sample.count / n, intervals)

    def statistic(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
        return share_out(value, (positives - count * value) / n, count, intervals)[0]

    noise = resampling.draw(sample, "rows", statistic, n_resamples, key, ROWS_STAGE, n_jobs) - residual

    def norm(part: np.ndarray, bandwidth: float) -> np.ndarray:
        return np.abs(smoothed(part, bandwidth)).sum(axis=-1) / smoothed(rows, bandwidth).sum()

    def explained(t: float) -> bool:
        return float(norm(residual, t)) - upper_quantile(norm(noise, t), alpha / 2) <= t

    at = max(estimate, NARROWEST)
    squares = sample.positives * (1 - value) ** 2 + (sample.count - sample.positives) * value**2
    spread = largest = float(np.sqrt(squares.sum()) / n)
    if estimate >= recipe.floor * largest:
        # the kernel is symmetric, so that smoothing the signs gives the weight of each residual
        witness = smoothed(np.sign(smoothed(residual, at)), at) / smoothed(rows, at).sum()
        spread = float((noise @ witness).std())
    reach = float(ndtri(1 - alpha / 2)) * spread
    high = _smallest(lambda t: float(norm(residual, t)) + reach < t, at, 1.0)
    return (0.0 if explained(NARROWEST) else _smallest(explained, NARROWEST, at)), high


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition begins to hold that holds from somewhere on, at `high` at the latest."""
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
