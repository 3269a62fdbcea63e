"""Folds at random: which part of the rows, or of their clusters, is held out together."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Stage
from calibstat.resampling.streams import stream, word


def folds(key: np.uint64, n: int, n_folds: int, repeat: int = 0) -> np.ndarray:
    """Return the fold, 0 to n_folds - 1, of each of n positions: a random partition whose sizes differ by at most 1.

    It depends on the key, n and the repeat alone. If it depended on outcomes, a map would be told about those it is to
    predict.
    """
    fold = np.empty(n, np.int64)
    start = np.uint64(stream(key, int(Stage.FOLDS), repeat))
    fold[np.argsort(_words(start, n), kind="stable")] = np.arange(n) % n_folds
    return fold


def repeated_folds(key: np.uint64, n: int, n_folds: int, repeats: int, unit: np.ndarray | None = None) -> np.ndarray:
    """Return the folds of n rows, dealt `repeats` times, shape (n, repeats); all rows of a cluster go to one fold.

    They depend on the key, the positions of the rows and which of them share a cluster, never on what they contain.
    `unit` numbers the cluster of each row; clusters count by their first rows, whatever their numbers.
    """
    if unit is None:
        return np.column_stack([folds(key, n, n_folds, repeat) for repeat in range(repeats)])
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return repeated_folds(key, first.size, n_folds, repeats)[rank][unit]


def fit_seeds(key: np.uint64, fit: int, n: int) -> list[int]:
    """Return n seeds of 31 bits for a learner that draws at random while it is fitted, others for each fit."""
    return [int(drawn >> np.uint64(33)) for drawn in _words(np.uint64(stream(key, int(Stage.FITS), fit)), n)]


@jit
def _words(start: np.uint64, n: int) -> np.ndarray:
    """Return the first n words of a replicate."""
    drawn = np.empty(n, np.uint64)
    for i in range(n):
        drawn[i] = word(start, i)
    return drawn
