"""Sums of absolute residuals over cells: of one event, of all classes, and of the class in which they are largest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.bounds.folded_bounds import largest_bias
from calibstat.bounds.intervals import CLASSES_STEP, SeminormInterval, upper_quantile
from calibstat.bounds.moments import Moments
from calibstat.bounds.norms import Norm
from calibstat.bounds.residual_tables import ClassTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.bounds.unit_sums import ClassSums
from calibstat.data.cell_sums import vector_sums
from calibstat.data.predictions import Predictions
from calibstat.in_order import first_largest, without_rounding
from calibstat.resampling import Draws

NORM_CELLS = 100  # with more cells than this
ROWS_IN_A_CELL = 3  # so many rows a cell are needed, or the interval of an L1 error says next to nothing
NEAR_SPREADS = 4.0  # up to which the error of a cell may be 0; larger, the wider low ends are for nothing
STRICTER = 5.0  # so many times less likely than the tail is it that cells without error are taken for cells with one


class TooFewRowsInCells(ValueError):
    """An L1 error over many cells of few rows, of which no honest interval is known."""


@dataclass(frozen=True, eq=False)
class SumOverCells(Norm):
    """The sum of absolute residuals over these cells of the distinct predictions; `title` names the measure."""

    title: str
    cell: np.ndarray | None
    step = 1.0

    def value(self, theta: np.ndarray) -> Any:
        return np.abs(theta).sum(axis=-1)

    def witness(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(np.sign(without_rounding(theta)))

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        return moments.absolute_sum_bound(tail_bound)


class AbsoluteSumInterval(SeminormInterval):
    """The interval of a sum of absolute residuals, whose low end has a bound on the bias.

    The bound is short where many cells have no error, because half of them look as if they had one. If all cells are
    like that, the exact test of calibration makes the low end 0. If others are clearly off, and most of the noise is in
    cells that may have no error, then what these add to the estimate is taken for noise, unless it is too much for it.
    """

    norm: SumOverCells

    def check(self) -> None:
        need_rows_in_cells(self.norm.title, int(self.table.n), self.table.full_cells)

    @cached_property
    def near(self) -> np.ndarray:
        """The cells that may have no error, beside others; none of them if all may, or their noise is the smaller.

        Statement and argument: docs/evidence/proofs/binned-l1.md.
        """
        near = np.abs(self.theta) < NEAR_SPREADS * self.table.spread
        noise = self.table.spread**2
        beside = without_rounding(self.theta[~near]).any() and noise[near].sum() >= noise[~near].sum()
        return np.asarray(near & beside)

    def directional(self, theta: np.ndarray) -> Any:
        """Return the directional bootstrap, the same of the cells that are not near 0, and the norm of G* in others."""
        noise, far = theta - self.theta, ~self.near
        moved = (self.value(self.theta[far] + self.step * noise[..., far]) - self.value(self.theta[far])) / self.step
        of_near = self.value(noise[..., self.near])
        return np.stack([self.derivative(noise), moved, of_near], axis=-1)

    def resampled(self, draws: Draws) -> np.ndarray:
        return self.table.resampled(self.directional, draws)

    def reach(self, resampled: np.ndarray, tail: float) -> float:
        derivative, moved, noise = resampled.T
        reach = upper_quantile(derivative + self.missing_bias(derivative), tail)
        observed = self.value(self.theta[self.near])
        if not self.near.any() or observed > upper_quantile(noise, tail / STRICTER):
            return reach
        return max(reach, upper_quantile(noise + moved + self.missing_bias(moved, ~self.near), tail))

    def missing_bias(self, derivative: np.ndarray, cells: Any = slice(None)) -> float:
        """Return the bias of absolute values that resamples miss: the more cells, the more; of rows at least 0."""
        bias = largest_bias(np.abs(self.theta[cells]), self.table.spread[cells]) - float(derivative.mean())
        return bias if self.table.is_summary else max(bias, 0.0)

    def low(self, tail: float, draws: Draws) -> float:
        self.check()
        return super().low(tail, draws)


def need_rows_in_cells(title: str, n: int, cells: int) -> None:
    """Raise if there are many cells of few rows, whose absolute residuals are not nearly folded normal.

    The gap of a cell of one row is |y - v|, however small the error of the cell is.
    """
    if cells > NORM_CELLS and n < ROWS_IN_A_CELL * cells:
        raise TooFewRowsInCells(
            f"no honest interval is known for {title} where most rows are alone in their cell: expected at least "
            f"{ROWS_IN_A_CELL} rows a cell on average in more than {NORM_CELLS} cells, found {n} rows in {cells}"
        )


# --- several classes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SumOverClasses(Norm):
    """`scale` times the sum of absolute residuals over all cells of all classes."""

    scale: float
    step = CLASSES_STEP

    @property
    def largest_weight(self) -> float:
        return self.scale

    def value(self, theta: np.ndarray) -> Any:
        return self.scale * np.abs(theta).sum(axis=-1)

    def witness(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(self.scale * np.sign(without_rounding(theta)))

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        return self.scale * moments.absolute_sum_bound(tail_bound)


@dataclass(frozen=True, eq=False)
class LargestOverClasses(Norm):
    """The largest sum of absolute residuals over the cells of one class; each class has as many cells."""

    classes: int
    step = CLASSES_STEP

    def value(self, theta: np.ndarray) -> Any:
        return np.abs(theta).reshape(*theta.shape[:-1], self.classes, -1).sum(axis=-1).max(axis=-1)

    def witness(self, theta: np.ndarray) -> np.ndarray:
        by_class = np.abs(theta).reshape(self.classes, -1).sum(axis=1)
        chosen = np.zeros((self.classes, theta.size // self.classes))
        chosen[first_largest(by_class)] = 1
        return chosen.ravel() * np.sign(without_rounding(theta))

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest of the high ends of the classes: the class that is worst in the population is a fixed one.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        separable = moments.separable
        assert separable is not None
        cells = separable.total.size // self.classes
        parts = (slice(k * cells, (k + 1) * cells) for k in range(self.classes))
        return max(separable.of_cells(part).absolute_sum_bound(tail_bound) for part in parts)


OfClasses = tuple[SeminormInterval, ClassTable]  # an interval and its table


def over_classes(
    index: np.ndarray, value: np.ndarray, predictions: Predictions, weight: np.ndarray | None, reduce: str
) -> OfClasses:
    """Return the interval of the mean or the maximum over the classes, and its table; rows may have a weight.

    `index`, shape (n, K), is the cell of each row for each class; `value`, shape (K, cells), holds the predictions / n
    summed in these cells.
    """
    n, classes = predictions.prob.shape
    observed = np.zeros(value.shape)
    each, total = (1.0, n) if weight is None else (weight, weight.sum())
    np.add.at(observed, (predictions.label, index[np.arange(n), predictions.label]), each)
    theta = (observed / total - value).ravel()
    table = ClassTable(ClassSums(predictions, index, value.shape[1], theta.size, weight), theta)
    if reduce == "mean":
        return SeminormInterval(SumOverClasses(1 / classes), table), table
    table = table.of_one_class()
    return SeminormInterval(LargestOverClasses(classes), table), table


def over_cells_of_simplex(
    scale: float, cell: np.ndarray, predictions: Predictions, weight: np.ndarray | None
) -> OfClasses:
    """Return the interval of `scale` times the sum over cells of the simplex and classes, and its table.

    `cell` holds the cell of each row, which may have a weight.
    """
    residual = vector_sums(cell, predictions.prob, predictions.label, weight)[1].ravel()
    index = cell[:, None] * predictions.n_classes
    table = ClassTable(ClassSums(predictions, index, 1, residual.size, weight), residual)
    return SeminormInterval(SumOverClasses(scale), table), table
