"""Rows of numbers in the container of the rows that they were made of, so that the names of rows are kept."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def as_given(given: Any, rows: np.ndarray) -> Any:
    """Return rows as a series or frame of pandas or Polars if such a one was given, with its names; else as they are.

    `rows` has the shape of what was given. Other frames, which have names of columns alone, become frames of pandas.
    """
    if _is(given, "pandas", "Series"):
        return sys.modules["pandas"].Series(rows, given.index, name=given.name)
    if _is(given, "polars", "Series"):
        return sys.modules["polars"].Series(given.name, rows)
    if not (hasattr(given, "columns") and hasattr(given, "dtypes")):
        return rows
    if _is(given, "polars", "DataFrame"):
        return sys.modules["polars"].DataFrame(rows, schema=list(given.columns))
    import pandas as pd

    index = given.index if isinstance(given, pd.DataFrame) else None
    return pd.DataFrame(rows, index, list(given.columns))


def _is(given: object, package: str, name: str) -> bool:
    """Whether something is of a class of a package; nothing is before the package has been imported."""
    kind = getattr(sys.modules.get(package), name, None)
    return kind is not None and isinstance(given, kind)
