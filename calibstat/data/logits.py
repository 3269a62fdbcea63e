"""Probabilities from logits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.as_given import as_given
from calibstat.data.checks import short
from calibstat.data.rows_error import Entry, RowsError
from calibstat.data.validation import as_array, not_a_number


def from_logits(logits: ArrayLike) -> Any:
    """Return the probabilities whose logits these are: the sigmoid of one column, the softmax of several.

        >>> import calibstat as cs
        >>> cs.from_logits([0, 800, -800])
        array([0.5, 1. , 0. ])
        >>> cs.from_logits([[1000, 1000], [0, -1000]])
        array([[0.5, 0.5],
               [1. , 0. ]])

    Parameters
    ----------
    logits : array_like, shape (n,), (n, 1) or (n, K), or mapping from name to array_like
        The logit of the probability of outcome 1, or scores of K classes up to a constant in each row, such as
        logarithms of probabilities. Several models are a mapping.

    Returns
    -------
    ndarray of float64, Series or DataFrame
        Of the shape of `logits`. A series or frame of pandas or Polars for one, with the same names of columns and of
        rows, so that rows in another order than the outcomes are noticed. A dict for a mapping.

    Raises
    ------
    ValueError
        If an entry is missing or no number, or a row has no finite softmax; the first such row is named.

    Notes
    -----
    No intermediate value overflows: the largest of each row is subtracted first. A probability above 1 - 2**-54 is
    rounded to 1.
    """
    if isinstance(logits, Mapping):
        return {str(name): from_logits(each) for name, each in logits.items()}
    z = as_array(logits, "logits")
    if z.dtype.kind not in "buif":
        raise not_a_number(z, "logits")
    if z.ndim not in (1, 2) or z.size == 0:
        raise ValueError(f"expected logits of shape (n,) or (n, K) with n of at least 1, found shape {z.shape}")
    z = z.astype(np.float64)
    prob = _sigmoid(z) if z.ndim == 1 or z.shape[1] == 1 else _softmax(z)
    bad = np.isnan(prob).reshape(len(z), -1).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        found = short(z[row].tolist())
        raise RowsError(f"expected logits with finite softmax or sigmoid, found {found} ", Entry(None, row))
    return as_given(logits, prob)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1 / (1 + small), small / (1 + small))


def _softmax(z: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # inf - inf, which is named above
        weight = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))
