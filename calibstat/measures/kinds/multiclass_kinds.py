"""Kinds of multiclass measures: any statistic, and functions of sums in cells of the simplex."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from calibstat.bounds.absolute_norms import OfClasses
from calibstat.bounds.cell_norms import CellNorm
from calibstat.bounds.intervals import Interval
from calibstat.data.cell_sums import vector_sums
from calibstat.data.predictions import Predictions
from calibstat.measures.kinds.base import Honest, MulticlassMeasure
from calibstat.measures.kinds.population_value import VectorPopulation


class VectorStatistic(MulticlassMeasure):
    """A multiclass measure: any function of predictions of K classes and labels.

    It defines `evaluate`, and `batch` where many draws of the labels can share work. It gets estimates, the exact test
    and bootstrap intervals.
    """


class VectorBinned(MulticlassMeasure):
    """A multiclass measure that is a function of sums in cells of the probability simplex.

    It defines `cells` and `reduce`. It gets estimates, fast exact tests and bootstrap intervals; values on generators
    if its cells are the same for every sample; and honest intervals if it defines `cell_norm`.
    """

    @property
    def cell_norm(self) -> CellNorm | None:
        """The norm whose sum over the residuals of the cells is the measure, else None."""
        return None

    def has_fixed_cells(self, *, finite: bool) -> bool:
        """Whether the cells are the same for every sample.

        `finite`: of a population of finitely many predictions, or one whose outcomes are known at every prediction.
        """
        return not self.refits_cells

    def population_value(self, population: VectorPopulation) -> float:
        if not self.has_fixed_cells(finite=population.finite or population.resolved):
            return super().population_value(population)
        weight, prob = population.weight, population.prob
        cell, share = self.cells(prob), weight / weight.sum()
        cells = int(cell.max()) + 1
        residual, value = np.zeros((2, cells, prob.shape[1]))
        np.add.at(residual, cell, share[:, None] * (population.chance - prob))
        np.add.at(value, cell, share[:, None] * prob)
        return float(self.reduce(np.bincount(cell, weight, cells), residual, value))

    @abstractmethod
    def cells(self, prob: np.ndarray) -> np.ndarray:
        """Return the cell of each row, int64 from 0, shape (n,), given the predictions, shape (n, K)."""

    @abstractmethod
    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return the measure, given sums in C cells: rows (..., C), residuals / n and predictions / n (..., C, K).

        The arrays broadcast; the result has shape (...).
        """

    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        return float(self.reduce(*vector_sums(self.cells(prob), prob, label)))

    why_no_weights = ""

    def weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray, cell: np.ndarray | None) -> float:
        return float(self.reduce(*vector_sums(self.cells(prob) if cell is None else cell, prob, label, weight)))

    @property
    def honest(self) -> Honest:
        if self.cell_norm is None:
            return ""
        return "norm" if self.cell_norm.weighs_sums else "own"

    @property
    def why_no_interval(self) -> str:
        return self.info.no_interval or "it is not a sum over cells of a norm of the residuals"

    def interval(self, predictions: Predictions) -> Interval:
        assert self.cell_norm is not None
        return self.cell_norm.interval(self.cells(predictions.prob), predictions)

    def interval_of_sums(self, predictions: Predictions, weight: np.ndarray | None = None) -> OfClasses:
        assert self.cell_norm is not None
        return self.cell_norm.interval_of_sums(self.cells(predictions.prob), predictions, weight)
