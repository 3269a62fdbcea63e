"""Folds at random: which part of the rows, or of their clusters, is held out together."""

from __future__ import annotations

from itertools import product

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Stream
from calibstat.resampling.streams import first_state, word


def folds(key: np.uint64, n: int, n_folds: int, repeat: int = 0) -> np.ndarray:
    """Return the fold, 0 to n_folds - 1, of each of n positions: a random partition whose sizes differ by at most 1.

    It depends on the key, n and the repeat alone.
    """
    fold = np.empty(n, np.int64)
    fold[random_order(key, n, repeat)] = np.arange(n) % n_folds
    return fold


def repeated_folds(
    key: np.uint64, label: np.ndarray, n_folds: int, repeats: int, unit: np.ndarray | None = None
) -> np.ndarray:
    """Return the folds of rows, dealt `repeats` times, shape (n, repeats); all rows of a cluster go to one fold.

    They depend on the key, the positions of the rows and which of them share a cluster. If they depended on outcomes, a
    map would be told about those it is to predict. So they do in one case alone: where all rows of a class, `label`,
    were dealt to one fold, two clusters change places, so that a map that is fitted to the other folds has seen every
    class. A class in a single cluster stays as it was dealt. `unit` numbers the cluster of each row; clusters count by
    their first rows, whatever their numbers.
    """
    label = np.unique(label, return_inverse=True)[1]
    unit = np.arange(label.size) if unit is None else unit
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    dealt = []
    for repeat in range(repeats):
        fold, order = folds(key, first.size, n_folds, repeat), random_order(key, first.size, repeat)
        _spread(fold, order, rank[unit], label)
        dealt.append(fold[rank][unit])
    return np.column_stack(dealt)


def random_order(key: np.uint64, n: int, repeat: int = 0) -> np.ndarray:
    """Return the n positions in the random order in which they are dealt."""
    return np.argsort(_words(np.uint64(first_state(key, int(Stream.FOLDS), repeat)), n), kind="stable")


def _spread(fold: np.ndarray, order: np.ndarray, unit: np.ndarray, label: np.ndarray) -> None:
    """Exchange units between folds, which keep their sizes, until no class of several units is in one fold.

    Of the pairs that leave fewer such classes the first in the random order is exchanged. Where every row is a unit and
    folds have two or more, there always is one: else each row outside of the fold would be the only one there of a
    class that fills the fold, with two rows of the class that is alone, and so the fold would be the larger part.
    """
    alone = _alone(fold, unit, label)
    while alone.any():
        for one, other in product(order[np.isin(order, unit[alone[label]])], order):
            fold[[one, other]] = fold[[other, one]]
            left = _alone(fold, unit, label)
            if left.sum() < alone.sum():
                alone = left
                break
            fold[[one, other]] = fold[[other, one]]
        else:
            return


def _alone(fold: np.ndarray, unit: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Whether each class has units in one fold alone, and several of them."""
    return _constant(fold[unit], label) & ~_constant(unit, label)


def _constant(entry: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Whether all rows of a class have the same entry."""
    of_class = np.empty(int(label.max()) + 1, entry.dtype)
    of_class[label] = entry
    return np.bincount(label, entry != of_class[label]) == 0


def fit_seeds(key: np.uint64, fit: int, n: int) -> list[int]:
    """Return n seeds of 31 bits for a learner that draws at random while it is fitted, others for each fit."""
    return [int(drawn >> np.uint64(33)) for drawn in _words(np.uint64(first_state(key, int(Stream.FITS), fit)), n)]


@jit
def _words(start: np.uint64, n: int) -> np.ndarray:
    """Return the first n words of a replicate."""
    drawn = np.empty(n, np.uint64)
    for i in range(n):
        drawn[i] = word(start, i)
    return drawn
