"""The interval of Sun, Chaudhari, Barnett and Dobriban (2024) for the L2 error, as a rival.

A Confidence Interval for the l2 Expected Calibration Error, arXiv:2408.08998. The squared error is estimated without
bias, by the mean over bins of products of two different rows' residuals; the estimate is normal at two rates, and two
variances decide the ends. Followed are the formulas of the authors' experiments (github.com/sylydya/CI-ECE) with these
choices, where they are for simulations with a known truth:

- the outcome is binary and the prediction that of outcome 1, so the paper's k is 1 without choosing a top label;
- bins are those of the measure (15 of equal width, each with its upper edge), so that the estimand is the same;
- the paper treats calibrated models apart: there the estimate is compared with its spread under calibration. Here 0 is
  in the interval if the estimate is not above that, at the level of one side, whatever the truth is;
- that spread is computed from the variances v (1 - v) that the predictions in the bins imply, where the authors
  integrate over a known distribution of predictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibstat import Sample


class Interval(NamedTuple):
    """Ends and estimate of the L2 error, the root of the squared one."""

    low: float
    high: float
    estimate: float


def sun_interval(sample: Sample, level: float = 0.95, n_bins: int = 15) -> Interval:
    """Return the interval for the binned L2 error."""
    from scipy.special import ndtri

    value, count, positives = sample.arrays
    place = np.searchsorted(np.arange(n_bins + 1) / n_bins, value)

    def in_bins(of_points: np.ndarray) -> np.ndarray:
        return np.bincount(place, of_points, n_bins + 1)

    rows = in_bins(count)
    full = rows > 0
    rows = rows[full]
    residual = in_bins(positives - count * value)[full]
    square = in_bins(positives * (1 - value) ** 2 + (count - positives) * value**2)[full]
    implied = in_bins(count * value * (1 - value))[full] / rows
    n, pairs = rows.sum(), np.maximum(rows - 1, 1)
    estimate = max(float(((residual**2 - square) / pairs).sum() / n), 0.0)  # a bin of one row has no pairs and adds 0
    mean = residual / rows
    variance = (rows / n) @ (4 * mean**2 * square / rows - 3 * mean**4) - ((rows / n) @ mean**2) ** 2
    spread = np.sqrt(max(float(variance), 0.0) / n)
    calibrated = np.sqrt(2 * (rows / pairs * (rows > 1)) @ implied**2) / n
    one, two = ndtri(level), ndtri((1 + level) / 2)
    if estimate >= 2 * two * spread:
        low = estimate - two * spread
    elif estimate >= 2 * one * spread:
        low = estimate / 2
    else:
        low = max(estimate - one * spread, 0.0)
    if estimate <= one * calibrated:
        low = 0.0
    return Interval(*(float(np.sqrt(each)) for each in (low, estimate + two * spread, estimate)))
