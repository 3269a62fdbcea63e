"""The honest interval of SmoothECE at its own bandwidth, by inversion.

The value is at most t exactly if the norm at bandwidth t, which does not increase with t, is at most t. So an interval
for the norm at every t gives one for the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat import resampling
from calibstat.data.sample import Sample
from calibstat.inference.honest import ROWS_STAGE, upper_quantile
from calibstat.measures.registry import BoundMeasure, FixedPointInterval
from calibstat.measures.smooth_ece import NARROWEST, cosines, curve, integral

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
    at = max(estimate, NARROWEST)
    narrowest = max(estimate / 4, NARROWEST)
    residual = cosines(value, sample.residual, narrowest)

    def statistic(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
        return cosines(value, (positives - count * value) / n, narrowest)

    noise = resampling.draw(sample, "rows", statistic, n_resamples, key, ROWS_STAGE, n_jobs) - residual

    def norm(bandwidth: float) -> float:
        return float(integral(curve(residual, bandwidth)))

    def explained(t: float) -> bool:
        bandwidth = max(t, narrowest)  # below it the norm there stands in, which is at most that at t
        drawn = np.array([integral(step) for step in curve(noise, bandwidth)])
        return norm(bandwidth) - upper_quantile(drawn, alpha / 2) <= t

    squares = sample.positives * (1 - value) ** 2 + (sample.count - sample.positives) * value**2
    spread = largest = float(np.sqrt(squares.sum()) / n)
    if estimate >= recipe.floor * largest:
        witness = np.sign(curve(residual, at))
        spread = float(np.trapezoid(witness * curve(noise, at)).std()) / (witness.size - 1)
    reach = float(ndtri(1 - alpha / 2)) * spread
    high = _smallest(lambda t: norm(t) + reach < t, at, 1.0)
    return (0.0 if explained(NARROWEST) else _smallest(explained, NARROWEST, at)), high


def _smallest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition begins to hold that holds from somewhere on, at `high` at the latest."""
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
