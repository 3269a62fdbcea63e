"""P-values from resamples, and their adjustment for multiplicity."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from calibstat.in_order import smallest_first, without_rounding

TIE = 1e-10  # relative
ROUNDING = 100 * float(np.finfo(float).eps)  # of statistics that are 0 up to rounding


class Compared(NamedTuple):
    """A statistic and its resamples under calibration, and the tail of the test."""

    statistic: float
    null: np.ndarray
    tail: str = "greater"

    @property
    def pvalue(self) -> float:
        """The p-value in this tail."""
        return p_value(self.statistic, self.null, self.tail)


def tie(statistic: float | np.ndarray) -> np.ndarray:
    """Return how far from a statistic a resample ties with it: 1e-10 of it, and the rounding of what was added up.

    Equal sums of other processors, or of groups with the same rows, differ by some 1e-13 of themselves. A tie counts as
    at least as extreme, so that p-values can only become larger.
    """
    size = np.abs(statistic)
    return np.where(np.isfinite(size), TIE * size + ROUNDING, 0.0)


def extremes(statistic: float, null: np.ndarray, tail: str) -> list[np.ndarray]:
    """Return which resamples are at least as extreme, in each tail of the test; ties, up to rounding, are."""
    above = null >= statistic - tie(statistic)
    return [above] if tail == "greater" else [above, null <= statistic + tie(statistic)]


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
    tolerance = tie(statistics)
    above = (1 + null.size - np.searchsorted(ordered, statistics - tolerance, "left")) / (1 + null.size)
    if tail == "greater":
        return above
    below = (1 + np.searchsorted(ordered, statistics + tolerance, "right")) / (1 + null.size)
    return np.minimum(1.0, 2 * np.minimum(above, below))


def holm(pvalue: np.ndarray) -> np.ndarray:
    """Adjust p-values for their number: the smallest times K, the next times K - 1 and so on, none below one before it.

    The function of statsmodels collects garbage first, which takes longer than a thousand resamples.
    """
    order = smallest_first(pvalue)
    adjusted = np.empty_like(pvalue)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalue[order] * np.arange(pvalue.size, 0, -1)), 1.0)
    return adjusted


def step_down(statistic: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Adjust p-values of K statistics for their number, by resamples of all together, shape (B, K).

    The largest is compared with the largest of all in each resample, the next with the largest of all but the first,
    and so on; none is below one before it (Westfall, Young 1993, algorithm 2.8).
    """
    order = smallest_first(-without_rounding(statistic))
    largest = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    adjusted = np.empty(statistic.size)
    adjusted[order] = np.maximum.accumulate(
        [p_value(statistic[k], largest[:, j], "greater") for j, k in enumerate(order)]
    )
    return adjusted
