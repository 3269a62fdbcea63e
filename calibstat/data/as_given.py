"""Rows of numbers in the container of the rows that they were made of, so that the names of rows are kept."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def as_given(given: object, rows: np.ndarray) -> Any:
    """Return rows as a series or frame of pandas or Polars if such a one was given, with its names; else as they are.

    `rows` has the shape of what was given. Other frames, which have names of columns alone, become frames of pandas.
    """
    frame: Any = given
    if _is(frame, "pandas", "Series"):
        return sys.modules["pandas"].Series(rows, frame.index, name=frame.name)
    if _is(frame, "polars", "Series"):
        return sys.modules["polars"].Series(frame.name, rows)
    if not (hasattr(frame, "columns") and hasattr(frame, "dtypes")):
        return rows
    if _is(frame, "polars", "DataFrame"):
        return sys.modules["polars"].DataFrame(rows, schema=list(frame.columns))
    import pandas as pd

    index = frame.index if isinstance(frame, pd.DataFrame) else None
    return pd.DataFrame(rows, index, list(frame.columns))


def _is(given: object, package: str, name: str) -> bool:
    """Whether something is of a class of a package; nothing is before the package has been imported."""
    kind = getattr(sys.modules.get(package), name, None)
    return kind is not None and isinstance(given, kind)
