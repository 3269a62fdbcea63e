"""Norms of the residuals of all classes in a cell, and the honest intervals of their sums over cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibstat import resampling
from calibstat.bounds.absolute_norms import OfClasses, over_cells_of_simplex
from calibstat.bounds.intervals import CLASSES_STEP, DirectionalInterval
from calibstat.bounds.skewness import Sums, cancelled, share_skewed_up
from calibstat.bounds.tail_bound import ROOT_SLOPES, Allowance, TailBound
from calibstat.data.cell_sums import vector_sums
from calibstat.data.predictions import Predictions
from calibstat.in_order import first_largest, without_rounding
from calibstat.resampling import ClassCells, Draws, Stream

_LAGRANGE_HALVINGS = 40


class CellNorm(ABC):
    """A norm of the residuals of a cell, one for each class: called with them, over the last axis.

    `largest` is the largest norm of one row: of a one-hot class less predicted probabilities.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def largest(self) -> float: ...

    weighs_sums: ClassVar[bool] = False  # whether it weighs sums of residuals, so that models can be compared

    @abstractmethod
    def __call__(self, residual: np.ndarray) -> np.ndarray:
        """Return the norm over the last axis."""

    @abstractmethod
    def interval(self, cell: np.ndarray, predictions: Predictions) -> DirectionalInterval:
        """Return the interval of the sum over cells; `cell`, shape (n,), holds the cell of each row."""

    def interval_of_sums(
        self, cell: np.ndarray, predictions: Predictions, weight: np.ndarray | None = None
    ) -> OfClasses:
        """Return the same interval and its table, of a norm that weighs sums of residuals; rows may have a weight."""
        raise NotImplementedError("it weighs no sums of residuals")


@dataclass(frozen=True)
class AbsoluteSum(CellNorm):
    """The sum of absolute values, times `scale`."""

    weighs_sums: ClassVar[bool] = True
    scale: float = 1.0

    @property
    def largest(self) -> float:
        return 2 * self.scale

    def __call__(self, residual: np.ndarray) -> np.ndarray:
        return self.scale * np.abs(residual).sum(axis=-1)

    def interval(self, cell: np.ndarray, predictions: Predictions) -> DirectionalInterval:
        return self.interval_of_sums(cell, predictions)[0]

    def interval_of_sums(
        self, cell: np.ndarray, predictions: Predictions, weight: np.ndarray | None = None
    ) -> OfClasses:
        return over_cells_of_simplex(self.scale, cell, predictions, weight)


class RoundNorm(CellNorm):
    """A norm whose dual ball has a known largest quadratic function."""

    @abstractmethod
    def witness(self, residual: np.ndarray) -> np.ndarray:
        """Return for each cell the weights in the dual ball whose product with the residuals is the norm."""

    @abstractmethod
    def widest(self, second: np.ndarray) -> np.ndarray:
        """Return for each cell weights in the dual ball whose sum has the most variance, or nearly so.

        `second`, shape (C, K, K), holds the second moments of cells.
        """

    @abstractmethod
    def quadratic_bound(self, total: np.ndarray, second: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return for each slope a bound of ``w @ total + slope * w @ second @ w`` for all w in the dual ball.

        `total`, shape (C, K), and `second`, shape (C, K, K), are of C cells; the result has shape (slopes, C).
        """

    def interval(self, cell: np.ndarray, predictions: Predictions) -> DirectionalInterval:
        _, residual, _ = vector_sums(cell, predictions.prob, predictions.label)
        return CellNormInterval(float(self(residual).sum()), residual.ravel(), self, predictions, cell)


class Euclidean(RoundNorm):
    """The Euclidean norm."""

    largest = np.sqrt(2.0)

    def __call__(self, residual: np.ndarray) -> np.ndarray:
        return np.sqrt((residual**2).sum(axis=-1))

    def witness(self, residual: np.ndarray) -> np.ndarray:
        norm = self(residual)[..., None]
        return np.divide(residual, norm, out=np.zeros_like(residual), where=norm > 0)

    def widest(self, second: np.ndarray) -> np.ndarray:
        chosen = first_largest(np.diagonal(second, axis1=1, axis2=2))  # one step of the power method from this class
        return self.witness(second[np.arange(len(second)), chosen])

    def quadratic_bound(self, total: np.ndarray, second: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Return the Lagrange bound of each cell, m + sum_k t_k**2 / (4 (m - a_k)), which holds for any m above all a.

        In the coordinates of the eigenvectors `t` is the total and `a` the slope times the eigenvalues. Where it is
        least the sum of t_k**2 / (m - a_k)**2 is 4, so that m is at most half the norm of t above the largest a.
        """
        eigenvalue, vector = np.linalg.eigh(second)
        squares = np.einsum("ckj,ck->cj", vector, total) ** 2
        below = slope[:, None, None] * (eigenvalue[:, -1:] - eigenvalue)  # the largest is the last
        low = np.zeros((slope.size, len(total)))
        high = np.broadcast_to(np.sqrt(squares.sum(axis=-1)) / 2, low.shape)
        for _ in range(_LAGRANGE_HALVINGS):
            middle = (low + high) / 2
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(squares > 0, squares / (middle[..., None] + below) ** 2, 0.0)
            short = terms.sum(axis=-1) > 4
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        above = high[..., None] + below
        terms = np.divide(squares / 4, above, out=np.zeros(above.shape), where=above > 0)
        return slope[:, None] * np.maximum(eigenvalue[:, -1], 0.0) + high + terms.sum(axis=-1)


class Largest(RoundNorm):
    """The largest absolute value."""

    largest = 1.0

    def __call__(self, residual: np.ndarray) -> np.ndarray:
        return np.abs(residual).max(axis=-1)

    def witness(self, residual: np.ndarray) -> np.ndarray:
        chosen = first_largest(np.abs(residual))[..., None]
        weights = np.zeros_like(residual)
        np.put_along_axis(weights, chosen, np.sign(np.take_along_axis(residual, chosen, -1)), -1)
        return weights

    def widest(self, second: np.ndarray) -> np.ndarray:
        return self.witness(np.diagonal(second, axis1=1, axis2=2))

    def quadratic_bound(self, total: np.ndarray, second: np.ndarray, slope: np.ndarray) -> np.ndarray:
        # a convex function is largest at a corner of the dual ball, which has one class
        own = np.diagonal(second, axis1=1, axis2=2)
        return (np.abs(total) + slope[:, None, None] * own).max(axis=-1)


@dataclass(frozen=True, eq=False)
class CellNormInterval(DirectionalInterval):
    """The interval of a sum over cells of a norm of the residuals of all classes; `cell` is of each row."""

    step = CLASSES_STEP
    estimate: float
    theta: np.ndarray
    cell_norm: RoundNorm
    predictions: Predictions
    cell: np.ndarray

    def resampled(self, draws: Draws) -> np.ndarray:
        cells = ClassCells(self.predictions, self.cell[:, None] * self.predictions.n_classes, 1, self.theta.size)
        return resampling.pairs_of_vectors(cells, self.directional, draws, Stream.ROWS)

    @property
    def total(self) -> np.ndarray:
        """The sums in cells and classes, not divided by n, shape (C, K)."""
        return self.predictions.n * self.theta.reshape(-1, self.predictions.n_classes)

    def value(self, theta: np.ndarray) -> np.ndarray:
        return self.cell_norm(theta.reshape(*theta.shape[:-1], -1, self.predictions.n_classes)).sum(axis=-1)

    @cached_property
    def second(self) -> np.ndarray:
        """The second moments of the residuals in each cell, shape (C, K, K)."""
        second = np.zeros((*self.total.shape, self.total.shape[1]))
        order, cells = np.argsort(self.cell, kind="stable"), np.bincount(self.cell)
        for c, rows in enumerate(np.split(order, np.cumsum(cells)[:-1])):
            residual = -self.predictions.prob[rows].astype(np.float64)
            residual[np.arange(rows.size), self.predictions.label[rows]] += 1
            second[c] = residual.T @ residual
        return second

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of cells and classes whose sum with the residuals is the norm, shape (C, K).

        In a cell whose norm is 0 up to rounding they are those with the most variance.
        """
        is_zero = without_rounding(self.cell_norm(self.total), self.predictions.n) == 0
        weights = self.cell_norm.witness(self.total)
        weights[is_zero] = self.cell_norm.widest(self.second[is_zero])
        return weights

    def by_row(self) -> np.ndarray:
        """Return what each row adds to the sum with the weights of the data, shape (n,)."""
        weight, label = self.weights[self.cell], self.predictions.label
        return weight[np.arange(label.size), label] - np.einsum("ij,ij->i", weight, self.predictions.prob)

    def below(self, tail: float) -> Allowance:
        return Allowance.of_rows(self.by_row(), self.cell_norm.largest, tail)

    def high(self, tail: float) -> float:
        """Return the largest bound of any weights in the dual balls.

        The standard deviation is at most slope * variance + 1 / (4 slope) for every slope, so that each cell is best by
        itself.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        n, norm, total = self.predictions.n, self.cell_norm, self.total
        tail_bound = TailBound.of_rows(tail).times(norm.largest)
        value, second = float(norm(total).sum()), self.second
        most = float(norm.quadratic_bound(np.zeros_like(total), second, np.ones(1)).sum())
        slope = ROOT_SLOPES / (2 * np.sqrt(most)) if most > 0 else np.ones(1)
        bounds = norm.quadratic_bound(total, second, tail_bound.z * slope).sum(axis=-1) + tail_bound.z / (4 * slope)
        excess = min(float(bounds.min()) - value, tail_bound.z * np.sqrt(most))
        cells = self._sums_of_cells()
        sums = Sums(*(part.sum() for part in cells))
        along = sums._replace(variance=max(float(sums.variance - sums.total**2 / n), 0.0))
        third = cells._replace(variance=cells.variance - cells.total**2 / n).up_if_unsure(tail_bound.z).sum()
        end = value + tail_bound.widen(max(excess, 0.0), tail_bound.rate(along.variance, third))
        return max(float(end), tail_bound.of_either_sign(along)) / n

    def _sums_of_cells(self) -> Sums:
        """Return the sums of cells along their weights, with their moments about 0."""
        row, weight = self.by_row(), self.weights
        most, least = (of(axis=1)[self.cell] for of in (weight.max, weight.min))
        middle = (most + least) / 2 - np.einsum("ij,ij->i", weight[self.cell], self.predictions.prob)
        skew = np.divide(2 * middle, most - least, out=np.zeros_like(row), where=most > least)
        low = share_skewed_up(skew) * row**3
        total, square, cube, up = (np.bincount(self.cell, part, len(weight)) for part in (row, row**2, row**3, low))
        return Sums(total, square, cube, cancelled(up, cube - up))
