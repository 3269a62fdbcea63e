"""Labels of rows, of clusters, folds, segments or groups, as numbers; and which entries are missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.data.checks import described


def is_missing(entry: object) -> bool:
    """Whether an entry is None, NaN, NaT or NA: nothing, or what equals nothing, not even itself."""
    try:
        return entry is None or bool(entry != entry)
    except (TypeError, ArithmeticError):  # NA of pandas, and the NaN of Decimal that signals
        return True
    except ValueError:  # an array in place of an entry
        return False


def missing(array: np.ndarray) -> np.ndarray:
    """Return which entries are missing."""
    if array.dtype.kind in "fcmM":
        return np.isnat(array) if array.dtype.kind in "mM" else np.isnan(array)
    if array.dtype.kind not in "OT":
        return np.zeros(array.shape, bool)
    return np.array([is_missing(entry) for entry in array.ravel().tolist()], bool).reshape(array.shape)


def beside_text(given: object, array: np.ndarray) -> np.ndarray:
    """Return the array made of what was given; as objects if entries are missing that NumPy has written as text."""
    if array.dtype.kind not in "US" or hasattr(given, "dtype"):
        return array
    entries = np.asarray(given, object)
    return entries if missing(entries).any() else array


def refuse_masked(name: str, given: object, advice: str = "") -> None:
    """Raise if an entry of a masked array is masked: NumPy would take what is below the mask."""
    if np.ma.isMaskedArray(given) and np.ma.is_masked(given):
        row = np.nonzero(np.ma.getmaskarray(given))[0][0]
        raise ValueError(f"expected no missing values, found a masked entry in {name} at row {row}{advice}")


def as_labels(what: str, given: object) -> np.ndarray:
    """Return labels of rows as an array; raise if an entry is masked, or is a list of another length than others."""
    refuse_masked(f"{what}s", given)
    try:
        return beside_text(given, np.asarray(given))
    except (TypeError, ValueError):
        raise ValueError(
            f"expected one {what} a row, found {described(given)} with entries of different shapes"
        ) from None


def coded(what: str, given: object, n: int) -> tuple[np.ndarray, list[Any]]:
    """Number labels of n rows from 0 in the order of their first rows; also return the label of each number."""
    import pandas as pd

    labels = as_labels(what, given)
    if labels.shape != (n,):
        raise ValueError(f"expected one {what} a row, shape ({n},), found shape {labels.shape}")
    try:
        code, names = pd.factorize(labels)
    except TypeError:
        if not (gone := missing(labels)).any():
            row = next((k for k, label in enumerate(labels) if not _has_hash(label)), 0)
            found = f"{described(labels[row])} at row {row}"
            raise ValueError(f"expected {what}s, text, numbers or dates, found {found}") from None
        code = -gone.astype(np.int64)
    if (code < 0).any():
        raise ValueError(f"expected no missing {what}s, found one at row {int(np.argmin(code))}")
    return code.astype(np.int64), names.tolist()


def known_outcomes(y: object) -> np.ndarray:
    """Return the outcomes that an estimator is fitted to, or judged by, as an array; raise if one is missing."""
    outcomes = as_labels("outcome", y)
    if (gone := missing(outcomes)).any():
        row = np.argwhere(gone)[0][0]
        raise ValueError(f"expected no missing outcomes, found one in y at row {row}")
    return outcomes


def numbered(what: str, given: object, n: int) -> np.ndarray:
    """Number labels of rows, of clusters or groups, from 0 in the order of their first rows."""
    return coded(what, given, n)[0]


def first_labels(what: str, given: object, number: np.ndarray) -> np.ndarray:
    """Return the label of each number, which `numbered` gave to these labels of rows."""
    first = np.flatnonzero(np.diff(np.maximum.accumulate(number), prepend=-1))
    return as_labels(what, given)[first]


def _has_hash(entry: object) -> bool:
    try:
        hash(entry)
    except TypeError:
        return False
    return True
