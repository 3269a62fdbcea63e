"""Rows of features as estimators take them: arrays, frames, sparse matrices and lists. Their number, parts, hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from calibstat.data.checks import described

BESIDE_FEATURES = ("prediction", "log-odds of prediction")  # columns beside the features
OUTERMOST = 36.0  # log-odds of predictions that an estimator is given


def count_rows(X: object) -> int:
    """Return the number of rows of features."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    if isinstance(X, list | tuple):
        return len(X)
    raise ValueError(f"expected X, an array, a data frame, a sparse matrix or a list of rows, found {described(X)}")


def rows_at(X: object, index: np.ndarray) -> object:
    """Return the rows of features at these positions, in the container in which they came."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if hasattr(X, "tocsr"):
        return X.tocsr()[index]
    if isinstance(X, list | tuple):
        return [X[i] for i in index]
    return cast(Any, X)[index]


def beside(X: object, p: np.ndarray) -> object:
    """Return features with two more columns: the prediction and its log-odds."""
    from scipy.special import logit

    columns = dict(zip(BESIDE_FEATURES, (p, np.clip(logit(p), -OUTERMOST, OUTERMOST)), strict=True))
    assign = getattr(X, "assign", None)
    if assign is not None:
        return assign(**columns)
    features = np.asarray(X)
    if features.ndim != 2:
        raise ValueError(f"expected X of shape (n, n_features) or a data frame, found shape {features.shape}")
    return np.column_stack([features, *columns.values()])


def row_hashes(X: object, key: int) -> np.ndarray:
    """Return a 64-bit number for each row of features, shape (n,), which looks random and depends on its values alone.

    Equal rows have equal numbers, whatever their place, the other rows and the container: numbers are taken in double
    precision, everything else as text, and columns by their position. `key` gives other numbers.
    """
    import pandas as pd

    total = np.zeros(count_rows(X), np.uint64)
    for row, column, value in _filled(X):
        words = pd.util.hash_pandas_object(pd.DataFrame({"column": column, "value": value}), index=False)
        np.add.at(total, row, words.to_numpy(np.uint64))
    return pd.util.hash_array(total ^ np.uint64(key))


def _filled(X: object) -> Iterator[tuple[np.ndarray, Any, np.ndarray]]:
    """Yield rows, columns and values of what is not zero: of sparse matrices all at once, of others by columns."""
    if hasattr(X, "tocsr"):
        sparse = X.tocsr().tocoo()
        kept = sparse.data != 0
        yield sparse.row[kept], sparse.col[kept].astype(np.int64), sparse.data[kept].astype(np.float64)
        return
    for j, column in enumerate(_columns(X)):
        value = _numbers_or_text(column)
        row = np.flatnonzero(value != 0) if value.dtype.kind == "f" else np.arange(value.size)
        yield row, np.full(row.size, j, np.int64), value[row]


def _columns(X: object) -> Iterator[np.ndarray]:
    """Yield the columns of a frame, of an array or of a list of rows."""
    X = X.to_frame() if hasattr(X, "to_frame") else X
    if hasattr(X, "iloc"):
        yield from (X.iloc[:, j].to_numpy() for j in range(len(cast(Any, X).columns)))
    elif hasattr(X, "get_columns"):
        yield from (column.to_numpy() for column in X.get_columns())
    else:
        rows = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
        yield from rows.reshape(rows.shape[0], -1).T if rows.size else ()


def _numbers_or_text(column: np.ndarray) -> np.ndarray:
    """Return a column as numbers, with one kind of nan, or as text."""
    holds_text = column.dtype.kind == "O" and any(isinstance(entry, str) for entry in column)
    try:
        value = column.astype(np.float64) if column.dtype.kind in "biufO" and not holds_text else None
    except (TypeError, ValueError):
        value = None
    if value is None:
        return np.array([str(entry) for entry in column.tolist()], dtype=object)
    value[np.isnan(value)] = np.nan
    return value
