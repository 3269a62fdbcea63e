"""Predicted probabilities of K classes with the observed class of each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.compiled import first_calls, jit
from calibstat.data.checks import described, need_text, quoted
from calibstat.data.estimators import Classifier, predict
from calibstat.data.labels import OutcomeNames, Positive, check_row_names, labels_or_positive, with_labels
from calibstat.data.row_order import canonical_order
from calibstat.data.validation import (
    as_classes,
    as_matrix,
    look_swapped,
    n_columns,
    outcomes_of_rows,
    swapped,
    vector_error,
)

NAMED = '{"A": p, "B": q}'  # several models, as they are written in messages
TURNED = 1e-4  # how far from 1 the sums of the classes are, at most, of predictions with a column for each outcome
MAXIMA_BLOCK = 64  # classes whose maximum is found first; only the block that holds the largest is then searched


def advice_of_turned(prob: np.ndarray, outcomes: int) -> str:
    """Say what is written for predictions with a row for each model or class, and a column for each outcome."""
    if prob.shape[1] != outcomes:
        return ""
    classes = np.allclose(prob.sum(axis=0), 1, rtol=0, atol=TURNED)
    return "; write numpy.transpose(y_prob)" if classes else f"; write {NAMED}, with a name for each model"


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Predicted probabilities of K classes and the observed class, row by row.

        >>> import calibstat as cs
        >>> cs.Predictions.from_rows(["cat", "dog"], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]], labels=["cat", "dog", "hen"])
        Predictions(2 rows, 3 classes, 1 of them never observed)

    Make one with `Predictions.from_rows` or `Predictions.from_estimator`; do not write to its arrays. Functions of one
    model take it in place of ``(y_true, y_prob)``.

    Attributes
    ----------
    prob : ndarray of float64 or float32, shape (n, K)
        Predicted probabilities; the rows sum to 1 up to rounding.
    label : ndarray of int64, shape (n,)
        The observed class, from 0 to K - 1. Classes may be absent.
    names : tuple
        The names of the K classes, in the order of the columns.
    top : ndarray of int64, shape (n,)
        The most likely class of each row; of equally likely ones the first.
    largest : ndarray of float64, shape (n,)
        Its probability.
    """

    prob: np.ndarray
    label: np.ndarray
    names: tuple[Any, ...]
    top: np.ndarray
    largest: np.ndarray

    @classmethod
    def from_rows(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        labels: OutcomeNames = None,
        pos_label: object = None,
    ) -> Predictions:
        """Make predictions from rows of classes and predicted probabilities.

            >>> import calibstat as cs
            >>> cs.Predictions.from_rows([2, 0], [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]).n_classes
            3

        Parameters
        ----------
        y_true : array_like, shape (n,) or (n, 1)
            The observed class: its number from 0 to K - 1, or its name in `labels`.
        y_prob : array_like, shape (n, K)
            Predicted probabilities in [0, 1], a column for each class. One column, or shape (n,), is the probability
            of class 1 of two.
        labels : sequence of K, optional
            The names of the classes, in the order of the columns; not all need be observed. By default the names of
            the columns of a frame, if the outcomes are among them.
        pos_label : object, optional
            Instead of `labels`, of two classes: the one that counts as class 1.

        Returns
        -------
        Predictions

        Raises
        ------
        ValueError
            If there is no row, lengths differ, a class is not one of the K, a probability is missing or outside
            [0, 1], or a row does not sum to 1 within 1e-6, of single precision K 2**-21 from 1e-6 to
            1e-5, of half precision 2**-10 + K 2**-24. The message names the first offending row.

        Notes
        -----
        O(n K), one pass. Probabilities of type float32 are kept as they are, those of float16 become the shortest
        decimals that are rounded to them; nothing is normalised.
        """
        try:
            return cls._from_rows(y_true, y_prob, labels_or_positive(labels, pos_label))
        except ValueError:
            if look_swapped(y_true, y_prob):
                raise swapped() from None
            raise

    @classmethod
    def _from_rows(cls, y_true: ArrayLike, y_prob: ArrayLike, labels: OutcomeNames) -> Predictions:
        check_row_names(y_true, y_prob)
        y = outcomes_of_rows(y_true)
        y_prob, known = with_labels(y, y_prob, labels)
        prob, slack = as_matrix(y_prob)
        n, classes = prob.shape
        names = tuple(range(classes)) if known is None else tuple(known)
        if len(names) != classes or len(set(names)) != classes:
            raise ValueError(
                f"expected {classes} different labels, one for each column, found {len(names)}: {quoted(names)}"
            )
        need_text("labels", names)
        label = as_classes(y, names, given=known is not None)
        if label.size != n:
            found = f"found {label.size} outcomes and {n} rows{advice_of_turned(prob, label.size)}"
            raise ValueError(f"expected one row of y_prob for each outcome, {found}")
        return cls._checked(prob, label, names, slack)

    @classmethod
    def from_estimator(cls, model: Classifier, X: object, y: ArrayLike, *, pos_label: object = None) -> Predictions:
        """Make predictions by a fitted classifier or pipeline of scikit-learn.

            >>> import calibstat as cs
            >>> from sklearn.linear_model import LogisticRegression
            >>> X, y = [[0], [1], [2], [3]], ["dog", "cat", "dog", "cat"]
            >>> cs.Predictions.from_estimator(LogisticRegression().fit(X, y), X, y).names
            ('cat', 'dog')

        Parameters
        ----------
        model : object
            Anything fitted with `predict_proba` and `classes_`.
        X : array_like, shape (n, n_features)
            The features, as the model takes them.
        y : array_like, shape (n,)
            The observed class, one of ``model.classes_``.
        pos_label : object, optional
            Of two classes the one that counts as class 1; by default the second of ``model.classes_``.

        Returns
        -------
        Predictions
            The classes in the order of ``model.classes_``.

        Raises
        ------
        ValueError
            If the model gives no probabilities, or an outcome is none of its classes.

        Notes
        -----
        Several models at once are ``calibstat.predict({"a": a, "b": b}, X)``, given as `y_prob`.
        """
        y_prob = predict(model, X)
        labels: Any = list(y_prob.columns) if pos_label is None else Positive(pos_label)
        return cls.from_rows(y, y_prob, labels=labels)

    def regrouped(self, y_true: np.ndarray, y_prob: np.ndarray, names: tuple[Any, ...] | None) -> Predictions:
        """Return predictions of new classes made from these; sums of rows may be off from 1 by as much as here."""
        prob, slack = as_matrix(y_prob)
        names = tuple(range(prob.shape[1])) if names is None else names
        label = as_classes(y_true, tuple(range(prob.shape[1])), given=False)
        off = float(np.abs(self.prob.sum(axis=1, dtype=np.float64) - 1).max())
        return self._checked(prob, label, names, off + slack)

    @classmethod
    def _checked(cls, prob: np.ndarray, label: np.ndarray, names: tuple[Any, ...], slack: float) -> Predictions:
        top, largest = _most_likely(prob, slack)
        return cls(prob, label, names, top, largest.astype(np.float64))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.prob.shape[0]

    @cached_property
    def order(self) -> np.ndarray:
        """The order of the rows by what they hold, which is found once."""
        return canonical_order(chain([self.label], self.prob.T))[0]

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.prob.shape[1]

    def distinct(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct predictions of class k, their numbers of rows, and the index of the one of each row."""
        column = self.prob[:, k].astype(np.float64) + 0.0
        value, index, count = np.unique(column, return_inverse=True, return_counts=True)
        return value, count.astype(np.float64), index.astype(np.int64)

    def __repr__(self) -> str:
        absent = self.n_classes - np.unique(self.label).size
        never = f", {absent} of them never observed" if absent else ""
        return f"Predictions({self.n} row{'s' * (self.n != 1)}, {self.n_classes} classes{never})"


def in_order(predictions: Predictions) -> Predictions:
    """Return the predictions in canonical order, so that draws do not depend on the given order."""
    return take(predictions, predictions.order)


def take(predictions: Predictions, order: np.ndarray | slice) -> Predictions:
    """Return the rows of the predictions in this order."""
    return replace(
        predictions,
        prob=predictions.prob[order],
        label=predictions.label[order],
        top=predictions.top[order],
        largest=predictions.largest[order],
    )


def as_predictions(y_true: Any, y_prob: Any = None, labels: OutcomeNames = None) -> Predictions:
    """Return the predictions given to a public function, as `Predictions` or as rows."""
    if isinstance(y_true, Predictions):
        if y_prob is not None or labels is not None:
            raise ValueError("expected Predictions alone, found Predictions and further data beside them")
        return y_true
    if y_prob is None:
        raise ValueError(
            f"expected rows of outcomes and predicted probabilities, or Predictions; found one {described(y_true)}"
        )
    return Predictions.from_rows(y_true, y_prob, labels=labels)


def checked_vectors(y_prob: object) -> np.ndarray:
    """Return rows of probabilities, shape (n, K), that were given without outcomes.

    A vector gives the probabilities of class 1.
    """
    prob, slack = as_matrix(y_prob)
    if n_columns(y_prob) > 1:  # the two columns made of a vector are probabilities that sum to 1
        _most_likely(prob, slack)
    return prob


def _most_likely(prob: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the most likely class of each row and its probability; raise unless all rows are probabilities."""
    largest, top = np.empty(prob.shape[0], prob.dtype), np.empty(prob.shape[0], np.int64)
    whole = np.int64 if prob.dtype == np.float64 else np.int32
    one = np.ones(1, prob.dtype).view(whole)[0]
    bad = _check_vectors(prob, prob.view(whole), one, slack, largest.view(whole), top)
    if bad >= 0:
        raise vector_error(prob, int(bad))
    return top, largest


def _checked_in_arrays(
    prob: np.ndarray, bits: np.ndarray, one: np.integer[Any], slack: float, largest: np.ndarray, top: np.ndarray
) -> int:
    total = np.zeros(len(prob))
    for start in range(0, prob.shape[1], MAXIMA_BLOCK):
        some = prob[:, start : start + MAXIMA_BLOCK].T
        s = np.zeros((8, len(prob)), prob.dtype) + (prob[:, 0] - prob[:, 0])
        for k, column in enumerate(some):
            s[k % 8 if k < len(some) // 8 * 8 else 0] += column
        total += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
    most = bits.max(axis=1)
    bad = np.flatnonzero(~((most <= one) & (abs(total - 1.0) <= slack) & (prob >= 0.0).all(axis=1)))
    good = slice(bad[0] if bad.size else len(prob))
    largest[good], top[good] = most[good], bits[good].argmax(axis=1)
    return int(bad[0]) if bad.size else -1


@first_calls(2e-8, _checked_in_arrays)
@jit
def _check_vectors(
    prob: np.ndarray, bits: np.ndarray, one: np.integer[Any], slack: float, largest: np.ndarray, top: np.ndarray
) -> int:
    """Fill in the bits of the largest probability of each row, and its class; return the first bad row, or -1.

    The bits of non-negative floats sort like the floats, and the compiler makes vector code of whole numbers only.
    Eight running sums: one would wait for itself. They have the precision of the input, but hold one block alone, so
    that their error does not grow with the number of classes.
    """
    n, classes = prob.shape
    for i in range(n):
        row = prob[i]
        code = bits[i]
        most = code[0]
        signs = code[0]
        best = 0
        total = 0.0
        zero = row[0] - row[0]
        for start in range(0, classes, MAXIMA_BLOCK):
            part = code[start : start + MAXIMA_BLOCK]
            high = part[0]
            for k in range(part.size):
                high = max(high, part[k])
                signs |= part[k]
            if high > most:
                most = high
                best = start
            some = row[start : start + MAXIMA_BLOCK]
            eighths = some.size - some.size % 8
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = zero
            for k in range(0, eighths, 8):
                s0 += some[k]
                s1 += some[k + 1]
                s2 += some[k + 2]
                s3 += some[k + 3]
                s4 += some[k + 4]
                s5 += some[k + 5]
                s6 += some[k + 6]
                s7 += some[k + 7]
            for k in range(eighths, some.size):
                s0 += some[k]
            total += np.float64(((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)))
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
