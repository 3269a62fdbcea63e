"""Means over several splits of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def averaged(rows: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Average rows of the same labels over the splits, and count those in which an interval is on one side of 0."""
    rows = rows.assign(below=rows["high"] < 0, above=rows["low"] > 0)
    compared = (rows["question"] == "difference") & rows["low"].notna()
    rows[["below", "above"]] = rows[["below", "above"]].astype(float).where(compared)
    parts = rows.groupby(list(labels), sort=False, dropna=False)
    found = parts.agg(
        splits=("value", "size"),
        mean=("value", "mean"),
        sd=("value", spread),
        low=("low", "mean"),
        high=("high", "mean"),
        below=("below", _sum),
        above=("above", _sum),
        rank=("rank", "mean"),
    )
    return found.reset_index()


def spread(values: pd.Series) -> float:
    """Return the standard deviation, nan if some value is infinite."""
    return float(values.std()) if np.isfinite(values).all() else np.nan


def _sum(values: pd.Series) -> float:
    """Return the sum, nan if a value is."""
    return float(values.sum(skipna=False))
