"""Quantiles over rows of a number that rows with equal predictions share."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-12  # of a share of the weight


def row_quantiles(value: np.ndarray, count: np.ndarray, share: np.ndarray, whole: bool) -> np.ndarray:
    """Return the quantiles over `count` rows at each of ascending values, shape of `share`.

    Of counted rows (`whole`) they may lie between two rows, as in `numpy.quantile` and R; of rows with weights they are
    the smallest values that at least these shares of the weight do not exceed.
    """
    rows = np.cumsum(count)
    if not whole:
        return value[np.searchsorted(rows, share * rows[-1] * (1 - ROUNDING))]
    place = share * (rows[-1] - 1)
    below = np.floor(place)
    low, high = (value[np.searchsorted(rows, row, "right")] for row in (below, np.ceil(place)))
    return low + (place - below) * (high - low)
