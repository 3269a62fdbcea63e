"""Bounds of a number of events in independent rows, whose probabilities may be unequal, and of their mean."""

from __future__ import annotations

import numpy as np


def most_likely_tail(seen: np.ndarray, rows: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Bound P(S >= seen) for a sum S of independent indicators whose mean probability is below `mean`, however unequal.

    By Hoeffding's theorem the binomial tail is the largest from one above the expected number on. Below that Markov's
    inequality holds, which is attained at seen = 1. No mean probability is below 0.
    """
    from scipy.special import betainc

    inside, some = np.clip(mean, 0, 1), np.maximum(seen, 1)
    binomial = betainc(some, rows - some + 1, inside)
    tail = np.where(some >= rows * inside + 1, binomial, np.minimum(rows * inside / some, 1))
    return np.where(mean <= 0, 0.0, np.where(seen == 0, 1.0, tail))


def smallest_mean(seen: np.ndarray, rows: np.ndarray, level: float) -> np.ndarray:
    """Return the largest mean of which `most_likely_tail` is at most `level`: a lower limit of the mean probability."""
    from scipy.special import betaincinv

    some = np.maximum(seen, 1)
    binomial = np.minimum(betaincinv(some, rows - some + 1, level), (some - 1) / rows)
    return np.where(seen == 0, 0.0, np.maximum(binomial, level * some / rows))
