"""Quantiles of draws that may be infinite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def quantiles(drawn: np.ndarray, levels: float | Sequence[float] | np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return `numpy.quantile`, but infinite instead of nan between a finite and an infinite number."""
    if np.isfinite(drawn).all():
        return np.asarray(np.quantile(drawn, levels, axis=axis))
    with np.errstate(invalid="ignore"):
        linear = np.quantile(drawn, levels, axis=axis)
    return np.where(np.isfinite(linear), linear, np.quantile(drawn, levels, axis=axis, method="higher"))
