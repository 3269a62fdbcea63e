"""Folds at random: which part of the rows, or of their clusters, is held out together."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Stage
from calibstat.resampling.streams import stream, word


def folds(key: np.uint64, n: int, n_folds: int, repeat: int = 0) -> np.ndarray:
    """Return the fold, 0 to n_folds - 1, of each of n positions: a random partition whose sizes differ by at most 1.

    It depends on the key, on n and on the number of the repeat, from 0, alone. If it depended on outcomes, a map would
    be told about those it is to predict.
    """
    fold = np.empty(n, np.int64)
    fold[np.argsort(_words(np.uint64(stream(key, int(Stage.FOLDS), repeat)), n), kind="stable")] = (
        np.arange(n) % n_folds
    )
    return fold


@jit
def _words(start: np.uint64, n: int) -> np.ndarray:
    """Return the first n words of a replicate."""
    drawn = np.empty(n, np.uint64)
    for i in range(n):
        drawn[i] = word(start, i)
    return drawn
