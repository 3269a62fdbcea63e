"""Rows of planned data sets: which rows of a pilot they are, and the keys of what is drawn for each."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Stream
from calibstat.resampling.streams import LOW_HALF, first_state, word


def planned_key(key: np.uint64, number: int) -> np.uint64:
    """Return the key of a planned data set."""
    return np.uint64(first_state(key, int(Stream.PLANNED), number))


def planned_rows(key: np.uint64, n: int, size: int) -> np.ndarray:
    """Draw n of the row numbers 0..size - 1 with replacement; fewer rows of one key are the first of more."""
    return _rows(np.uint64(first_state(key, int(Stream.PLANNED), 0)), n, size)


@jit
def _rows(start: np.uint64, n: int, size: int) -> np.ndarray:
    """Take the high bits of a random word times `size`."""
    drawn = np.empty(n, np.int64)
    for i in range(n):
        w = word(start, i)
        low = (w & LOW_HALF) * np.uint64(size)
        drawn[i] = np.int64(((w >> np.uint64(32)) * np.uint64(size) + (low >> np.uint64(32))) >> np.uint64(32))
    return drawn
