"""Edges, cuts and thresholds for predictions of single precision, which are compared with edges rounded like them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

Edges = TypeVar("Edges", float, np.ndarray)
FIRST = 64  # values that are looked at before all are


def is_single(value: np.ndarray) -> bool:
    """Whether all of these are numbers of single precision, whatever their type is by now.

    The values say it, because predictions of float32 soon are doubles: in frames, lists, files and summaries. Doubles
    that were never rounded are found among the first; simple ones, such as .25, have the same bins either way.
    """
    if value.dtype == np.float32:
        return True
    first = value.item(0) if value.size else 0.0
    if 0 < first < 1 and float(np.float32(first)) != first:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # of what is no probability, which is named elsewhere
        return all(bool(np.all(part.astype(np.float32) == part)) for part in (value.ravel()[:FIRST], value))


def edges_for(value: np.ndarray, edges: Edges) -> Edges:
    """Return edges, or one, as predictions are compared with them: rounded to single precision if these are such.

    The float32 of .3 lies above .3, and that of .7 below. Compared with .3 and .7 as doubles they would be in other
    bins than the same predictions in double precision; compared with what .3 and .7 become by the same rounding they
    are where they were.
    """
    if not is_single(value):
        return edges
    return np.float32(edges).astype(np.float64)  # type: ignore[return-value]
