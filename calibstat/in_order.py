"""Orders, firsts and zeros that the last bits of numbers do not decide, so that every processor gives the same ones.

Processors and libraries round sums, products and logarithms in other ways. What is equal on paper differs then by some
1e-13 of itself, and which of two is larger is chance. Here values are equal if they lie within 1e-9, relative, of their
neighbour in sorted order, and equal ones stand as they were given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

RELATIVE = 1e-9


def without_rounding(values: ArrayLike, size: float | np.ndarray = 1.0) -> np.ndarray:
    """Return sums with 0 for what is only rounding: within 1e-9 of `size`, the size of what was added up, from 0."""
    values = np.asarray(values)
    return np.where(np.abs(values) <= RELATIVE * np.asarray(size), 0.0, values)


def smallest_first(*keys: ArrayLike) -> np.ndarray:
    """Return the places of entries, smallest first: by the first key, equal ones by the next, and then as given.

    Not-a-numbers come last. For the largest first give the negative of a key.
    """
    return np.lexsort([ranks(key) for key in reversed(keys)])


def ranks(values: ArrayLike) -> np.ndarray:
    """Number values from the smallest on; equal ones have the same number."""
    value = np.asarray(values)
    order = np.argsort(value, kind="stable")
    ascending = value[order]
    rank = np.empty(value.size, np.int64)
    rank[order] = np.cumsum(np.append(0, ~_is_near(ascending[:-1], ascending[1:])))[: value.size]
    return rank


def _is_near(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of infinite numbers
        near = above - below <= RELATIVE * np.maximum(np.abs(below), np.abs(above))
    return (near & np.isfinite(below) & np.isfinite(above)) | (below == above)


def is_larger(one: float | np.ndarray, other: float | np.ndarray) -> np.ndarray:
    """Return whether one number is larger than the other by more than rounding."""
    one, other = np.asarray(one), np.asarray(other)
    return (one > other) & ~_is_near(other, one)


def first_largest(values: ArrayLike) -> Any:
    """Return the place of the largest along the last axis, of equal ones the first; a not-a-number before all."""
    values = np.asarray(values, dtype=np.float64)
    place = np.asarray(values.argmax(axis=-1))
    least = np.take_along_axis(values, place[..., None], -1)
    while True:
        with np.errstate(invalid="ignore"):  # of infinite numbers
            reach = np.where(np.isfinite(least), least - RELATIVE * np.abs(least), least)
        among = values >= reach
        if np.count_nonzero(among) == np.count_nonzero(~np.isnan(least)):  # none is near another one
            return place[()]
        lower = np.where(among, values, least).min(axis=-1, keepdims=True)
        if not (lower < least).any():
            return np.where(np.isnan(least[..., 0]), place, among.argmax(axis=-1))[()]
        least = lower


def first_smallest(values: ArrayLike) -> Any:
    """Return the place of the smallest along the last axis likewise."""
    return first_largest(-np.asarray(values, dtype=np.float64))
