"""Venn-Abers prediction: isotonic regression with the new row, once with either outcome."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.compiled import jit
from calibstat.data.sample import Sample
from calibstat.recalibration.formula import Expression, shares, steps
from calibstat.recalibration.one_against_rest import columns_of, rows_of
from calibstat.recalibration.recalibrator import Recalibrator

NO_CHANGE = 2.0**-40  # weight of a new row, as a share of the lightest prediction, that changes no level by more


class VennAbers(Recalibrator):
    """Map a prediction to what isotonic regression makes of it as a further row: p0 if its outcome is 0, p1 if it is 1.

        >>> from calibstat.recalibration import VennAbers
        >>> fitted = VennAbers().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
        >>> if_not, if_so = fitted.predict_pair([0.5])  # rows 0, 1, 0, 0, 1: 1/3; and 0, 1, 1, 0, 1: 2/3
        >>> if_not.round(3), if_so.round(3)
        (array([0.333]), array([0.667]))
        >>> fitted.predict_proba([0.5])
        array([0.5])

    `predict_proba` merges them to p1 / (1 - p0 + p1), `predict_pair` returns both. With more than two classes one map
    for each class against the rest; rows of merged probabilities are then divided by their sums.

    Attributes
    ----------
    values_ : list of ndarray
        For each class, or for class 1 of two: the distinct predictions of the calibration rows, ascending.
    if_not_, if_so_ : list of ndarray
        p0 and p1 at them: of other predictions p0 is the one of the nearest below (0 if there is none) and p1 the one
        of the nearest above (or 1).

    Notes
    -----
    The inductive form. Where the calibration rows and the new row are exchangeable, one of p0 and p1 is calibrated: the
    one of the outcome that comes. Their distance says how little the rows know. The merged probability minimises the
    largest regret by the log loss; it is never 0 or 1, and nothing is promised of it. A new row has weight 1, so that
    the scale of weights matters here. With more than two classes the accuracy can change. Cost: a sort and four passes
    for each class.

    References
    ----------
    Vovk, Petej, Fedorova 2015, Large-scale probabilistic predictors with and without guarantees of validity,
    arXiv:1511.00213.
    """

    values_: list[np.ndarray]
    if_not_: list[np.ndarray]
    if_so_: list[np.ndarray]

    def predict_pair(self, p: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return p0 and p1.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities.

        Returns
        -------
        tuple of two ndarray of float64
            p0 and p1, each of the shape of `p`: the probability of a class if the row is not of it, and if it is. Rows
            do not sum to 1.

        Raises
        ------
        ValueError
            As for `predict_proba`.
        """
        given, prob = self._checked(p)
        if_not, if_so = self._pairs(prob)
        if prob.shape[1] == 2 and given.shape == prob.shape:
            return np.column_stack((1 - if_so, if_not)), np.column_stack((1 - if_not, if_so))
        return if_not.reshape(given.shape), if_so.reshape(given.shape)

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        unit = 0 if weight is None else max(int(np.frexp(weight.max())[1]), 0)  # a power of 2, of large weights
        part = None if weight is None else np.ldexp(weight, -unit)
        samples = [Sample.from_rows(label == k, prob[:, k], part) for k in columns_of(prob.shape[1])]
        new = math.ldexp(1.0, -unit)
        self.values_ = [sample.value for sample in samples]
        sums = [(sample.count * sample.unit, sample.positives * sample.unit) for sample in samples]
        self.if_so_ = [_if_event(count, positives, new) for count, positives in sums]
        # the outcomes exchanged and the order reversed: events are then no events
        others = [_if_event(count[::-1].copy(), (count - positives)[::-1].copy(), new) for count, positives in sums]
        self.if_not_ = [1 - other[::-1] for other in others]
        return None

    def _pairs(self, prob: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p0 and p1 of the mapped classes, a column for each."""
        if_not, if_so = [], []
        for j, k in enumerate(columns_of(prob.shape[1])):
            pair = self._pair(j, prob[:, k])
            if_not.append(pair[0])
            if_so.append(pair[1])
        return np.stack(if_not, axis=1), np.stack(if_so, axis=1)

    def _pair(self, j: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p0 and p1 of predictions of the mapped class j."""
        value = self.values_[j]
        if_not = np.append(0.0, self.if_not_[j])[np.searchsorted(value, p, side="right")]
        return if_not, np.append(self.if_so_[j], 1.0)[np.searchsorted(value, p)]

    def _map(self, prob: np.ndarray) -> np.ndarray:
        if_not, if_so = self._pairs(prob)
        return rows_of(_merged(if_not, if_so))

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        classes = columns_of(len(prob))
        return shares([steps(prob[k], self.values_[j], partial(self._merged, j)) for j, k in enumerate(classes)])

    def _merged(self, j: int, p: np.ndarray) -> np.ndarray:
        """Return the merged probabilities of predictions of the mapped class j."""
        return _merged(*self._pair(j, p))


def _merged(if_not: np.ndarray, if_so: np.ndarray) -> np.ndarray:
    """Return the probability between p0 and p1 of the smallest largest regret by the log loss."""
    return np.asarray(if_so / (1 - if_not + if_so))


def _if_event(count: np.ndarray, positives: np.ndarray, new: float) -> np.ndarray:
    """Return the isotonic regression at each prediction with one event more, which changes nothing if it is too light.

    Running sums of far heavier rows would be the same to the last digit with it and without.
    """
    if new < NO_CHANGE * count.min():
        return recalibrated(np.arange(count.size, dtype=np.float64), count, positives)
    return _with_event(count, positives, new)


@jit
def _with_event(count: np.ndarray, positives: np.ndarray, new: float) -> np.ndarray:
    """Return the isotonic regression at each prediction if there were one event more, of weight `new`.

    It is the slope of the greatest convex function below the running sums at the event, which comes before all rows of
    its prediction: the sums up to there lie one row and one event lower. From one prediction to the next a single sum
    is lowered. Corners of the function to the right of the event are kept on a stack, whose top is the corner on its
    left (algorithms 1 and 2 of Vovk, Petej, Fedorova, with weights).
    """
    m = count.size
    rows, events = np.empty(m + 2), np.empty(m + 2)  # of corners; the top of the stack is `top`, the bottom `last`
    rows[0] = events[0] = -new
    rows[1] = events[1] = 0.0
    last = 1
    all_rows = all_events = 0.0
    for j in range(m):
        all_rows += count[j]
        all_events += positives[j]
        while last >= 1 and not _turns_left(rows, events, last - 1, last, all_rows, all_events):
            last -= 1
        last += 1
        rows[last], events[last] = all_rows, all_events
    out = np.empty(m)
    top = 0
    all_rows = all_events = 0.0
    for j in range(m):
        slope = (events[top + 1] - events[top]) / (rows[top + 1] - rows[top])
        out[j] = min(max(slope, 0.0), 1.0)  # up to rounding it is
        all_rows += count[j]
        all_events += positives[j]
        x, y = all_rows - new, all_events - new  # the sum that is lowered
        if (y - events[top]) * (rows[top + 1] - rows[top]) < (events[top + 1] - events[top]) * (x - rows[top]):
            top += 1
            while top < last and not _turns_left_from(x, y, rows, events, top):
                top += 1
            top -= 1
            rows[top], events[top] = x, y
    return out


@jit
def _turns_left(rows: np.ndarray, events: np.ndarray, i: int, j: int, x: float, y: float) -> bool:
    """Return whether the way from corner i over corner j to (x, y) turns left."""
    return (rows[j] - rows[i]) * (y - events[j]) > (events[j] - events[i]) * (x - rows[j])


@jit
def _turns_left_from(x: float, y: float, rows: np.ndarray, events: np.ndarray, i: int) -> bool:
    """Return whether the way from (x, y) over corner i to the next one turns left."""
    return (rows[i] - x) * (events[i + 1] - events[i]) > (events[i] - y) * (rows[i + 1] - rows[i])
