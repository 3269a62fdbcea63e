"""Quantiles of drawn numbers, some of which may be infinite."""

from __future__ import annotations

from typing import Any

import numpy as np


def quantiles(drawn: np.ndarray, levels: Any, axis: int | None = None) -> np.ndarray:
    """Return `numpy.quantile`; between a finite and an infinite number lies the infinite one, where NumPy has nan."""
    if np.isfinite(drawn).all():
        return np.asarray(np.quantile(drawn, levels, axis=axis))
    with np.errstate(invalid="ignore"):
        found = np.quantile(drawn, levels, axis=axis)
    return np.where(np.isfinite(found), found, np.quantile(drawn, levels, axis=axis, method="higher"))
