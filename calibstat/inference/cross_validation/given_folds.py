"""Folds as they are asked for: a number of folds to be dealt at random, folds as numbers, or a splitter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import check_whole, described, short
from calibstat.data.folds_of_rows import need_whole
from calibstat.resampling import repeated_folds

REPEATS = 3  # of folds that are dealt here
ONCE = "that hold out every row once"
IN_TIME = "models that are tried on later rows are judged by cs.Monitor"


@runtime_checkable
class Splitter(Protocol):
    """A splitter as scikit-learn has them."""

    def split(self, X: object, y: np.ndarray, groups: object) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows to learn from and the rows to hold out, for each fold."""


def folds_asked(
    cv: object, repeats: int | None, key: np.uint64, X: object, y: np.ndarray, unit: np.ndarray | None, groups: object
) -> np.ndarray:
    """Return the fold of each row, shape (n, R): dealt at random, no class of `y` to one alone, or as they are given.

    `unit` numbers the group of each row, of which all rows are in one fold.
    """
    n = y.size
    if isinstance(cv, int | np.integer):
        n_folds = check_whole("cv", cv, 2)
        n_units = n if unit is None else int(unit.max()) + 1
        if n_units < 2 * n_folds:
            units = "rows" if unit is None else "groups"
            raise ValueError(f"expected at least 2 {units} in each fold, found {n_units} {units} for cv={n_folds}")
        _need_two_of_each(y, unit)
        return repeated_folds(key, y, n_folds, check_whole("repeats", REPEATS if repeats is None else repeats), unit)
    if repeats is not None:
        raise ValueError("expected repeats= with a number of folds as cv alone; folds that are given have theirs")
    is_text = isinstance(cv, str)  # which has a split of its own
    fold = _split(cv, X, y, groups) if isinstance(cv, Splitter) and not is_text else _numbered(cv, n)
    if unit is not None:
        for r, column in enumerate(fold.T):
            need_whole("group", column, unit, r if fold.shape[1] > 1 else None)
    return fold


def _need_two_of_each(y: np.ndarray, unit: np.ndarray | None) -> None:
    """Raise unless each class has two rows or, of rows in groups, is in two groups: one is held out, one fitted to."""
    classes, label = np.unique(y, return_inverse=True)
    of_unit = np.arange(y.size) if unit is None else unit
    times = np.bincount(np.unique(np.column_stack((label, of_unit)), axis=0)[:, 0])
    if times.min() < 2:
        one, several = ("row", "rows") if unit is None else ("group", "groups")
        others = ", leave it out or join it with another class" if classes.size > 2 else ""
        raise ValueError(
            f"expected at least 2 {several} with each class of y, one to fit to while the other is held out, found 1 "
            f"{one} with class {short(classes.tolist()[int(times.argmin())])}; give more {several} with it{others}"
        )


def _numbered(cv: object, n: int) -> np.ndarray:
    """Return folds that were given as numbers or names, numbered from 0."""
    given = np.asarray(cv)
    if given.shape[:1] != (n,) or given.ndim > 2:
        raise ValueError(
            f"expected cv, a number of folds, a splitter with split(X, y, groups), or the fold of each of {n} rows, "
            f"shape ({n},) or ({n}, R), found {described(cv)}"
        )
    columns = given.reshape(n, -1).T
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns])


def _split(cv: Splitter, X: object, y: np.ndarray, groups: object) -> np.ndarray:
    """Return the folds of a splitter; it repeats them if it holds out every row several times."""
    repeats: list[np.ndarray] = []
    fold, k = np.full(y.size, -1, np.int64), 0
    for train, test in cv.split(X, y, groups):
        if (fold[test] >= 0).any() or np.unique(test).size < len(test):
            raise ValueError(f"expected folds {ONCE}, found row {_again(fold, test)} held out twice by {short(cv)}")
        if np.union1d(train, test).size < y.size:
            raise ValueError(
                f"expected models fitted on all rows that are not held out, found {len(train)} of "
                f"{y.size - len(test)} by {short(cv)}; {IN_TIME}"
            )
        fold[test] = k
        k += 1
        if (fold >= 0).all():
            repeats.append(fold)
            fold, k = np.full(y.size, -1, np.int64), 0
    if (fold >= 0).any() or not repeats:
        row = int(np.flatnonzero(fold < 0)[0])
        raise ValueError(f"expected folds {ONCE}, found row {row} never held out by {short(cv)}; {IN_TIME}")
    return np.column_stack(repeats)


def _again(fold: np.ndarray, test: ArrayLike) -> int:
    """Return the first row of a fold that was held out before, or is there twice."""
    test = np.asarray(test)
    before = test[fold[test] >= 0]
    names, times = np.unique(test, return_counts=True)
    return int(before[0] if before.size else names[times > 1][0])
