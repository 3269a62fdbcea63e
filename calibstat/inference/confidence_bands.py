"""Confidence bands of the average outcome probabilities in bins: Clopper-Pearson for all, Wilson for each."""

from __future__ import annotations

import numpy as np

from calibstat.inference.reliability_bands import Band, Bins
from calibstat.resampling import Draws

LARGEST_MISS = 0.25  # up to it the limits hold for rows of different probabilities


def simultaneous_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return limits that hold the average outcome probability of the rows of every bin at once.

    The bins are independent given the predictions, so each end may miss with probability (1 - level**(1/B)) / 2.
    """
    miss = min((1 - level ** (1 / bins.count.size)) / 2, LARGEST_MISS)
    positives, rows = bins.positives, bins.count
    return Band(_lower_of_average(positives, rows, miss), 1 - _lower_of_average(rows - positives, rows, miss))


def _lower_of_average(positives: np.ndarray, rows: np.ndarray, miss: float) -> np.ndarray:
    """Return the lower limit for the average probability q of rows of different probabilities.

    By Hoeffding (1956, theorem 4) P(S >= s) is at most that of Binomial(n, q) once s >= nq + 1, which every limit above
    q needs of S, except from a single positive: there P(S >= 1) <= nq takes its place.
    """
    return np.where(positives == 1, miss / rows, lower_limit(positives, rows, miss))


def lower_limit(positives: np.ndarray, rows: np.ndarray, miss: float | np.ndarray) -> np.ndarray:
    """Return the lower limit of Clopper and Pearson (1934), too high with at most the probability `miss`.

    The upper limit is 1 minus the lower one of the negatives.
    """
    from scipy.special import betaincinv

    some = positives > 0
    return np.where(some, betaincinv(np.where(some, positives, 1), rows - positives + 1, miss), 0.0)


def pointwise_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return the interval of Wilson (1927) for the outcome probability of each bin."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(bins.positives, bins.count, alpha=1 - level, method="wilson")
    return Band(np.clip(low, 0, 1), np.clip(high, 0, 1))
