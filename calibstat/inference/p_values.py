"""P-values from resamples, and their adjustment for multiplicity."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

import numpy as np


class Compared(NamedTuple):
    """A statistic and its resamples under calibration, and the tail of the test."""

    statistic: float
    null: np.ndarray
    tail: str = "greater"

    @property
    def pvalue(self) -> float:
        """The p-value in this tail."""
        return p_value(self.statistic, self.null, self.tail)


def extremes(statistic: float, null: np.ndarray, tail: str) -> list[np.ndarray]:
    """Return which resamples are at least as extreme, in each tail of the test; ties, up to rounding, are."""
    tolerance = 100 * np.finfo(float).eps * max(1.0, abs(statistic)) if np.isfinite(statistic) else 0.0
    above = null >= statistic - tolerance
    return [above] if tail == "greater" else [above, null <= statistic + tolerance]


def p_value(statistic: float, null: np.ndarray, tail: str) -> float:
    """Return (1 + #{T* >= T}) / (1 + B), with ties up to rounding; two-sided, twice the smaller of the two tails."""
    pvalues = [(1 + int(np.count_nonzero(extreme))) / (1 + null.size) for extreme in extremes(statistic, null, tail)]
    return min(1.0, len(pvalues) * min(pvalues))


def largest_p_value(statistic: float, nulls: Mapping[str, np.ndarray]) -> tuple[float, str]:
    """Return the largest of the one-sided p-values by each null distribution, and the name of that distribution."""
    return max(((p_value(statistic, null, "greater"), name) for name, null in nulls.items()), key=itemgetter(0))


def p_values(statistics: np.ndarray, null: np.ndarray, tail: str) -> np.ndarray:
    """Return `p_value` of many statistics with one null distribution, by a single sort of it."""
    ordered = np.sort(null)
    finite = np.isfinite(statistics)
    tolerance = np.zeros(statistics.shape)
    tolerance[finite] = 100 * np.finfo(float).eps * np.maximum(1.0, np.abs(statistics[finite]))
    above = (1 + null.size - np.searchsorted(ordered, statistics - tolerance, "left")) / (1 + null.size)
    if tail == "greater":
        return above
    below = (1 + np.searchsorted(ordered, statistics + tolerance, "right")) / (1 + null.size)
    return np.minimum(1.0, 2 * np.minimum(above, below))


def holm(pvalue: np.ndarray) -> np.ndarray:
    """Adjust p-values for their number: the smallest times K, the next times K - 1 and so on, none below one before it.

    The function of statsmodels collects garbage first, which takes longer than a thousand resamples.
    """
    order = np.argsort(pvalue)
    adjusted = np.empty_like(pvalue)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalue[order] * np.arange(pvalue.size, 0, -1)), 1.0)
    return adjusted


def step_down(statistic: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Adjust p-values of K statistics for their number, by resamples of all together, shape (B, K).

    The largest is compared with the largest of all in each resample, the next with the largest of all but the first,
    and so on; none is below one before it (Westfall, Young 1993, algorithm 2.8).
    """
    order = np.argsort(-statistic, kind="stable")
    largest = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    adjusted = np.empty(statistic.size)
    adjusted[order] = np.maximum.accumulate(
        [p_value(statistic[k], largest[:, j], "greater") for j, k in enumerate(order)]
    )
    return adjusted
