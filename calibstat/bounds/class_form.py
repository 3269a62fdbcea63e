"""Linear forms of sums of absolute residuals over cells and classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from calibstat.bounds.cell_form import highest_of_cells
from calibstat.bounds.folded_bounds import MANY_SUMS, AbsoluteSums, are_folded
from calibstat.bounds.linear_form import LinearForm
from calibstat.bounds.moments import Moments, SeparableMoments, Sums
from calibstat.bounds.score_bound import ScoreBound
from calibstat.compiled import jit
from calibstat.data.cell_sums import vector_sums
from calibstat.data.predictions import Predictions

VECTOR_STEP = 20.0
LARGEST = 2.0  # a row's residuals, one for each class: absolute values add up to at most 2


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorForm(LinearForm):
    """A sum of absolute residuals over cells and classes, times a scale, or the largest such sum of a class.

    Class k in row i adds to ``theta[place[i, k] + k * along]``; if `place` has one column, all classes share it.
    """

    predictions: Predictions
    place: np.ndarray
    along: int


def of_vector_cells(scale: float, cell: np.ndarray, predictions: Predictions) -> VectorForm:
    """Return the form of `scale` times a sum over cells of the simplex and classes."""
    _, residual, _ = vector_sums(cell, predictions.prob, predictions.label)
    classes = predictions.n_classes
    return _summed(predictions, residual.ravel(), cell[:, None] * classes, 1, scale)


def of_classes(place: np.ndarray, value: np.ndarray, predictions: Predictions, reduce: str) -> VectorForm:
    """Return the form of the mean or the maximum over the classes.

    `place`, shape (n, K), is the cell of each row for each class; `value`, shape (K, cells), holds the predictions / n
    summed in these cells.
    """
    n, classes = predictions.prob.shape
    observed = np.zeros(value.shape)
    np.add.at(observed, (predictions.label, place[np.arange(n), predictions.label]), 1.0)
    theta = (observed / n - value).ravel()
    if reduce == "mean":
        return _summed(predictions, theta, place, value.shape[1], 1 / classes)

    def largest(theta: np.ndarray) -> np.ndarray:
        return np.abs(theta).reshape(*theta.shape[:-1], classes, -1).sum(axis=-1).max(axis=-1)

    def witness(theta: np.ndarray) -> np.ndarray:
        by_class = np.abs(theta).reshape(classes, -1).sum(axis=1)
        chosen = np.zeros((classes, theta.size // classes))
        chosen[by_class.argmax()] = 1
        return chosen.ravel() * np.sign(theta)

    first, second, third = _powers(predictions.prob, predictions.label, place, value.shape[1], theta.size)
    return VectorForm(
        estimate=float(largest(theta)),
        theta=theta,
        norm=largest,
        witness=witness,
        step=VECTOR_STEP,
        moments=SeparableMoments.of_powers(first, second, third, float(n)),
        highest=partial(highest_of_classes, classes=classes),
        predictions=predictions,
        place=place,
        along=value.shape[1],
    )


def _summed(predictions: Predictions, theta: np.ndarray, place: np.ndarray, along: int, scale: float) -> VectorForm:
    """Return the form of `scale` times the sum of all absolute residuals."""

    def norm(theta: np.ndarray) -> np.ndarray:
        return scale * np.abs(theta).sum(axis=-1)

    moments = ClassMoments.of_classes(predictions, place, along, theta.size)
    return VectorForm(
        estimate=float(norm(theta)),
        theta=theta,
        norm=norm,
        witness=lambda theta: scale * np.sign(theta),
        step=VECTOR_STEP,
        moments=moments,
        highest=partial(highest_of_sums, scale=scale),
        largest_weight=scale,
        predictions=predictions,
        place=place,
        along=along,
    )


# --- the high end ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassMoments(SeparableMoments):
    """Of independent rows each of which adds a residual for each class, to cells that it has for them."""

    predictions: Predictions
    place: np.ndarray
    along: int

    @classmethod
    def of_classes(cls, predictions: Predictions, place: np.ndarray, along: int, cells: int) -> Self:
        """Return the moments of rows whose residual of class k adds at ``place[i, k] + k * along``."""
        total, square, cube = _powers(predictions.prob, predictions.label, place, along, cells)
        return cls(
            powers=(total, square, cube),
            n=float(predictions.n),
            largest_third=np.nan,  # not of a residual, but of all residuals of a row: see `largest`
            predictions=predictions,
            place=place,
            along=along,
        )

    def score(self, tail: float) -> ScoreBound:
        return ScoreBound.of_rows(tail).times(LARGEST)

    def of(self, weights: np.ndarray) -> Sums:
        rows = _row_sums(*self._rows, weights)
        total = float(rows.sum())
        return Sums(total, float((rows**2).sum()) - total**2 / self.n, float((rows**3).sum()))

    def largest(self) -> tuple[float, float]:
        """Return the moments if each row adds its absolute residuals: those of the other classes add up to the same."""
        prob, label = self.predictions.prob, self.predictions.label
        rows = 2 * (1 - prob[np.arange(label.size), label].astype(np.float64))
        return float((rows**2).sum()), float((rows**3).sum())

    def covariance(self) -> np.ndarray:
        return self.covariance_of(np.arange(self.total.size))

    def covariance_of(self, chosen: np.ndarray) -> np.ndarray:
        """Return the covariances of these sums, shape (chosen, chosen)."""
        number = np.full(self.total.size, -1)
        number[chosen] = np.arange(chosen.size)
        products = _products(*self._rows, number, chosen.size)
        return products - np.outer(self.total[chosen], self.total[chosen]) / self.n

    @property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.predictions.prob, self.predictions.label, self.place, self.along


def highest_of_classes(moments: Moments, score: ScoreBound, classes: int) -> float:
    """Return the largest of the high ends of the classes: the class that is worst in the population is a fixed one.

    Statement and argument: docs/proofs.md, section 6.
    """
    assert isinstance(moments, SeparableMoments)
    total, square, cube = (part.reshape(classes, -1) for part in moments.powers)
    return max(
        highest_of_cells(SeparableMoments.of_powers(total[k], square[k], cube[k], moments.n), score)
        for k in range(classes)
    )


def highest_of_sums(moments: Moments, score: ScoreBound, scale: float) -> float:
    """Return the largest sum of absolute means that the observed sum allows, times `scale`.

    Of too many sums for a matrix it is the bound with the largest variance that any signs have.

    Statement and argument: docs/proofs.md, section 6.
    """
    assert isinstance(moments, ClassMoments)
    total, along, third = moments.of(np.where(moments.total < 0, -1.0, 1.0))
    rate = float(score.rate(max(along, 0.0), third))
    most = moments.largest()[0]
    used = np.flatnonzero(moments.square)
    if used.size > MANY_SUMS:
        return scale * (total + float(score.widen(score.z * np.sqrt(most), rate)))
    covariance = moments.covariance_of(used)
    variance = np.maximum(np.diag(covariance), 0.0)
    folded = are_folded(variance, moments.square[used])
    sums = AbsoluteSums(moments.total[used], variance, folded, covariance, most)
    return scale * sums.high(score, rate)


@jit
def _powers(prob: np.ndarray, label: np.ndarray, place: np.ndarray, along: int, size: int) -> np.ndarray:
    """Return the sums of the first three powers of residuals, shape (3, size)."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    out = np.zeros((3, size))
    for i in range(n):
        for k in range(classes):
            j = place[i, 0 if shared else k] + k * along
            v = float(prob[i, k])
            r = 1.0 - v if label[i] == k else -v
            out[0, j] += r
            out[1, j] += r * r
            out[2, j] += r * r * r
    return out


@jit
def _row_sums(prob: np.ndarray, label: np.ndarray, place: np.ndarray, along: int, weight: np.ndarray) -> np.ndarray:
    """Return for each row the sum over classes of weight times residual."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    out = np.zeros(n)
    for i in range(n):
        for k in range(classes):
            v = float(prob[i, k])
            r = 1.0 - v if label[i] == k else -v
            out[i] += weight[place[i, 0 if shared else k] + k * along] * r
    return out


@jit
def _products(
    prob: np.ndarray, label: np.ndarray, place: np.ndarray, along: int, number: np.ndarray, size: int
) -> np.ndarray:
    """Return the sums over rows of products of two residuals, of the sums that have a number from 0; -1 for others."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    out = np.zeros((size, size))
    at = np.empty(classes, np.int64)
    residual = np.empty(classes)
    for i in range(n):
        for k in range(classes):
            at[k] = number[place[i, 0 if shared else k] + k * along]
            v = float(prob[i, k])
            residual[k] = 1.0 - v if label[i] == k else -v
        for k in range(classes):
            if at[k] >= 0:
                for m in range(k + 1):
                    if at[m] >= 0:
                        out[at[k], at[m]] += residual[k] * residual[m]
    for a in range(size):
        for b in range(a):  # two classes are in different sums, of which one row may meet either first
            both = out[a, b] + out[b, a]
            out[a, b] = both
            out[b, a] = both
    return out
