"""P-values from resamples, and their adjustment for multiplicity."""

from __future__ import annotations

import numpy as np


def p_value(statistic: float, null: np.ndarray, tail: str) -> float:
    """Return (1 + #{T* >= T}) / (1 + B), with ties up to rounding; two-sided, twice the smaller of the two tails."""
    tolerance = 100 * np.finfo(float).eps * max(1.0, abs(statistic)) if np.isfinite(statistic) else 0.0
    above = (1 + int(np.count_nonzero(null >= statistic - tolerance))) / (1 + null.size)
    if tail == "greater":
        return above
    below = (1 + int(np.count_nonzero(null <= statistic + tolerance))) / (1 + null.size)
    return min(1.0, 2 * min(above, below))


def holm(pvalue: np.ndarray) -> np.ndarray:
    """Adjust p-values for their number: the smallest times K, the next times K - 1 and so on, none below one before it.

    The function of statsmodels collects garbage first, which takes longer than a thousand resamples.
    """
    order = np.argsort(pvalue)
    found = np.empty_like(pvalue)
    found[order] = np.minimum(np.maximum.accumulate(pvalue[order] * np.arange(pvalue.size, 0, -1)), 1.0)
    return found
