"""Predicted vectors of probabilities for K classes, with the class that happened: checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import as_array, not_a_number, ready

CLASS_BLOCK = 64  # classes of which the largest is found before the block it is in is searched


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """A predicted probability for each of K classes and the class that happened, row by row.

    Make one with `Predictions.from_rows`; its arrays must not be written to. What looks at one model takes it in place
    of ``(y_true, y_prob)``.

    Attributes
    ----------
    prob : ndarray of float64 or float32, shape (n, K)
        Predicted probabilities; the rows sum to 1 up to rounding.
    label : ndarray of int64, shape (n,)
        The class that happened, from 0 to K - 1. Classes may be absent.
    names : tuple
        The names of the K classes, in the order of the columns.
    top : ndarray of int64, shape (n,)
        The most likely class of each row; of equally likely ones the first.
    largest : ndarray of float64, shape (n,)
        Its probability.

    Examples
    --------
    >>> import calibstat as cs
    >>> cs.Predictions.from_rows(["cat", "dog"], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], labels=["cat", "dog", "hen"])
    Predictions(2 rows, 3 classes, 1 of them never happened)
    """

    prob: np.ndarray
    label: np.ndarray
    names: tuple[Any, ...]
    top: np.ndarray
    largest: np.ndarray

    @classmethod
    def from_rows(cls, y_true: Any, y_prob: Any, *, labels: Sequence[Any] | None = None) -> Predictions:
        """Check rows of classes and predicted probabilities.

        Parameters
        ----------
        y_true : array_like, shape (n,) or (n, 1)
            The class that happened: its number from 0 to K - 1, or its name in `labels`.
        y_prob : array_like, shape (n, K)
            Predicted probabilities, in [0, 1], one column for each class. A vector is taken as the probability of
            class 1 of two.
        labels : sequence of K, optional
            The names of the classes, in the order of the columns; they need not all happen.

        Returns
        -------
        Predictions

        Raises
        ------
        ValueError
            If there is no row, lengths differ, a class is not one of the K, a probability is missing or outside
            [0, 1], or a row does not sum to 1 within 1e-6 or 4 K times the precision of its type, whichever is more.
            The message names the first offending row.

        Notes
        -----
        O(n K), one pass. Probabilities of type float32 are kept as they are; nothing is normalised.

        Examples
        --------
        >>> import calibstat as cs
        >>> cs.Predictions.from_rows([2, 0], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]).n_classes
        3
        """
        prob, slack = _as_matrix(y_prob)
        n, classes = prob.shape
        # the entries of an array as Python's own, which JSON knows
        names = tuple(range(classes)) if labels is None else tuple(getattr(labels, "tolist", lambda: labels)())
        if len(names) != classes or len(set(names)) != classes:
            raise ValueError(f"expected {classes} different labels, one for each column, found {list(names)!r}")
        label = _as_classes(y_true, names, given=labels is not None)
        if label.size != n:
            raise ValueError(f"expected one row of y_prob for each outcome, found {label.size} outcomes and {n} rows")
        return cls._checked(prob, label, names, slack)

    def regrouped(self, y_true: Any, y_prob: Any, names: tuple[Any, ...] | None) -> Predictions:
        """Return predictions of other classes made from these, whose sums may be off by as much as these may."""
        prob, slack = _as_matrix(y_prob)
        names = tuple(range(prob.shape[1])) if names is None else names
        label = _as_classes(y_true, tuple(range(prob.shape[1])), given=False)
        off = float(np.abs(self.prob.sum(axis=1, dtype=np.float64) - 1).max())
        return self._checked(prob, label, names, off + slack)

    @classmethod
    def _checked(cls, prob: np.ndarray, label: np.ndarray, names: tuple[Any, ...], slack: float) -> Predictions:
        largest, top = np.empty(prob.shape[0], prob.dtype), np.empty(prob.shape[0], np.int64)
        whole = np.int64 if prob.dtype == np.float64 else np.int32
        one = np.ones(1, prob.dtype).view(whole)[0]
        bad = _check_vectors(prob, prob.view(whole), one, slack, largest.view(whole), top)
        if bad >= 0:
            raise _vector_error(prob, int(bad))
        return cls(prob, label, names, top, largest.astype(np.float64))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.prob.shape[0]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.prob.shape[1]

    def distinct(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct predictions for class k, the rows at each, and for each row which of them it has."""
        column = self.prob[:, k].astype(np.float64) + 0.0
        value, place, count = np.unique(column, return_inverse=True, return_counts=True)
        return value, count.astype(np.float64), place.astype(np.int64)

    def __repr__(self) -> str:
        absent = self.n_classes - np.unique(self.label).size
        never = f", {absent} of them never happened" if absent else ""
        return f"Predictions({self.n} row{'s' * (self.n != 1)}, {self.n_classes} classes{never})"


def as_predictions(y_true: Any, y_prob: Any = None, labels: Any = None) -> Predictions:
    """Return the predictions that a public function was given: a `Predictions` itself, or rows."""
    if isinstance(y_true, Predictions):
        if y_prob is not None or labels is not None:
            raise ValueError("expected Predictions alone, found Predictions and further data beside them")
        return y_true
    if y_prob is None:
        raise ValueError(
            f"expected rows of outcomes and predicted probabilities, or Predictions; found one {type(y_true).__name__}"
        )
    return Predictions.from_rows(y_true, y_prob, labels=labels)


def n_columns(y_prob: Any) -> int:
    """Return how many columns of probabilities there are; 1 for a vector."""
    shape = getattr(y_prob, "shape", None)
    shape = np.shape(as_array(y_prob, "y_prob")) if shape is None else shape
    return shape[1] if len(shape) == 2 else 1


def _as_matrix(y_prob: Any) -> tuple[np.ndarray, float]:
    """Return a writable C-contiguous matrix of float64 or float32, and how far from 1 the sums of its rows may be."""
    array = as_array(y_prob, "y_prob")
    if array.dtype.kind not in "buif":
        raise not_a_number(array, "y_prob")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"expected y_prob of shape (n, K) with n of at least 1, found shape {array.shape}")
    precision = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
    array = ready(array, np.float32 if array.dtype == np.float32 else np.float64)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        array = _two_columns(array.reshape(-1))
    return array, max(1e-6, 4 * array.shape[1] * precision)


def _two_columns(p: np.ndarray) -> np.ndarray:
    """Return the probabilities of class 0 and class 1 from those of class 1."""
    good = (p >= 0) & (p <= 1)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"expected a probability from 0 to 1, found {p[row]} in y_prob at row {row}")
    return np.column_stack((1 - p, p))


def _as_classes(y_true: Any, names: tuple[Any, ...], *, given: bool) -> np.ndarray:
    """Return the number of each class from 0 to K - 1."""
    y = as_array(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or y.size == 0:
        raise ValueError(f"expected y_true of shape (n,) with n of at least 1, found shape {y.shape}")
    if given:
        number = {name: k for k, name in enumerate(names)}
        found = [number.get(entry, -1) for entry in y.tolist()]
        return _in_range(np.array(found, np.int64), y, f"one of the {len(names)} labels")
    if y.dtype.kind in "OUST":
        for row, entry in enumerate(y.tolist()):
            if not isinstance(entry, int | float | np.number | np.bool_):
                raise ValueError(
                    f"expected classes 0 to {len(names) - 1}, found {entry!r} at row {row} in y_true; "
                    "name them with labels="
                )
        y = y.astype(np.float64)
    if y.dtype.kind not in "buif":
        raise not_a_number(y, "y_true")
    with np.errstate(invalid="ignore"):
        number_of = y.astype(np.int64)
    return _in_range(np.where(number_of == y, number_of, -1), y, f"a class from 0 to {len(names) - 1}", len(names))


def _in_range(label: np.ndarray, y: np.ndarray, expected: str, classes: int | None = None) -> np.ndarray:
    """Return the numbers of the classes; a ValueError names the first row that has none."""
    good = (label >= 0) & (label < classes if classes is not None else True)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"expected {expected}, found {y[row : row + 1].tolist()[0]!r} in y_true at row {row}")
    return np.ascontiguousarray(label)


def _vector_error(prob: np.ndarray, row: int) -> ValueError:
    """Say what is wrong with a row."""
    good = (prob[row] >= 0) & (prob[row] <= 1)
    if not good.all():
        column = int(np.argmin(good))
        return ValueError(
            f"expected a probability from 0 to 1, found {prob[row, column]} in y_prob at row {row}, column {column}"
        )
    total = prob[row].sum(dtype=np.float64)
    return ValueError(f"expected a row of y_prob that sums to 1, found a sum of {total:.9g} at row {row}")


@jit
def _check_vectors(prob, bits, one, slack, largest, top):  # type: ignore[no-untyped-def]
    """Fill in the bits of the largest probability of each row and its class; return the first bad row, or -1.

    The bits of non-negative floats sort like the floats, and the compiler makes vector code of whole numbers only.
    Eight running sums: one would wait for itself. They have the precision of the input, as the slack does.
    """
    n, classes = prob.shape
    eighths = classes - classes % 8
    for i in range(n):
        row = prob[i]
        code = bits[i]
        most = code[0]
        signs = code[0]
        best = 0
        for start in range(0, classes, CLASS_BLOCK):
            part = code[start : start + CLASS_BLOCK]
            high = part[0]
            for k in range(part.size):
                high = max(high, part[k])
                signs |= part[k]
            if high > most:
                most = high
                best = start
        zero = row[0] - row[0]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = zero
        for k in range(0, eighths, 8):
            s0 += row[k]
            s1 += row[k + 1]
            s2 += row[k + 2]
            s3 += row[k + 3]
            s4 += row[k + 4]
            s5 += row[k + 5]
            s6 += row[k + 6]
            s7 += row[k + 7]
        for k in range(eighths, classes):
            s0 += row[k]
        total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        good = most <= one and abs(total - 1.0) <= slack  # a missing value makes the total one
        if signs < 0:  # -0.0 has a sign and is not below 0
            for k in range(classes):
                good &= row[k] >= 0.0
        if not good:
            return i
        while code[best] != most:
            best += 1
        largest[i] = most
        top[i] = best
    return -1
