"""Kinds of measures of one event: any statistic, seminorms of the residuals, functions of sums in bins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures import cell_form, linear_form
from calibstat.measures.base import Measure
from calibstat.measures.cell_sums import cell_sums
from calibstat.measures.linear_form import Form, LinearForm, RowForm
from calibstat.measures.population_value import FINE, NO_EDGES, BinaryPopulation


class Statistic(Measure, ABC):
    """Any function of a summary of one event: estimate, exact test, bootstrap intervals, comparison by permutation.

    With `plugs_in` its estimates tend to the measure of the population, which is then its value on a generator.
    """

    plugs_in: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """Return the measure of distinct ascending predictions, the rows at each, and those with outcome 1."""

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return what the measure knows of a summary beyond its value."""
        return {}

    def has_value(self, value: np.ndarray) -> bool:
        """Whether there is an estimate on these distinct predictions, or only a bracket, which `detail` knows."""
        return True

    def held(self, value: np.ndarray, count: np.ndarray) -> Self:
        """Return the measure over the cells that this sample makes, wherever they are made of it."""
        return self

    @property
    def makes_cells(self) -> bool:
        """Whether the cells depend on the sample: there is then something to hold on two rows."""
        return self.held(np.array([0.0, 1.0]), np.ones(2)) != self

    def estimate(self, sample: Sample) -> float:
        """Return the measure of a summary."""
        return float(self.evaluate(*sample.arrays))

    def estimate_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        """Return the measure of rows, which a kind may find without sorting them."""
        return self.estimate(Sample.from_rows(y, p))

    def estimate_classes(self, predictions: Predictions) -> np.ndarray:
        """Return the measure of the event of each class, of shape (K,)."""
        columns = ((predictions.label == k, predictions.prob[:, k]) for k in range(predictions.n_classes))
        return np.array([self.estimate(Sample.from_rows(y, p)) for y, p in columns])

    @property
    def is_weak(self) -> bool:
        """Whether it hardly changes when residuals of neighbouring predictions are exchanged."""
        return self.plugs_in

    def population_value(self, population: BinaryPopulation) -> float:
        """Return what estimates tend to as n grows, or raise NotImplementedError with the reason why it is unknown."""
        if not self.plugs_in:
            raise NotImplementedError("it does not say that its estimates tend to it (`plugs_in`)")
        return self.plug_in(population)

    def plug_in(self, population: BinaryPopulation, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> float:
        """Return the measure of predictions and weights that stand for a population, in bins that end at `edge`."""
        if population.scattered and not self.is_weak:
            raise NotImplementedError(
                "over a continuous distribution of vectors it needs the mean chance of every score"
            )
        sample = population.summary(edge, strategy)
        if not self.has_value(sample.value):
            raise NotImplementedError(f"it has none on {sample.value.size} distinct predictions")
        return self.estimate(sample)

    @property
    def is_coarse(self) -> bool:
        """Whether it averages residuals over cells, and so bounds the error of the predictions from below."""
        return False

    @property
    def has_form(self) -> bool:
        """Whether an honest interval is known."""
        return False

    @property
    def has_row_form(self) -> bool:
        """Whether it is known row by row too, for clusters and for comparisons of models."""
        return self.has_form

    @property
    def has_class_form(self) -> bool:
        """Whether it is known for the mean over all classes, and for the largest."""
        return False

    def linear_form(self, sample: Sample) -> Form:
        """Return what the honest interval is made of, over distinct predictions or cells."""
        raise NotImplementedError(f"no honest interval is known for {self}")

    def row_form(self, y: np.ndarray, p: np.ndarray, sample: Sample) -> RowForm:
        """Return the same row by row; `sample` is their summary."""
        raise NotImplementedError(f"no form by rows is known for {self}")

    def class_form(self, predictions: Predictions, reduce: str) -> Form:
        """Return the same for the mean over all classes, or for the largest."""
        raise NotImplementedError(f"no form over classes is known for {self}")


class Seminorm(Statistic):
    """A seminorm of the residual measure: also an honest interval, clusters, comparison, value of a population.

    `step` is that of the numerical delta method, None where no honest interval is known. Below `floor` standard errors
    the upper end uses the largest standard deviation that any witness can have; without a witness it always does.
    `hilbert` says that its square is a squared norm of a Hilbert space, whose bias is known, and `weak` that the
    seminorm hardly changes when residuals of neighbouring predictions are exchanged.
    """

    plugs_in: ClassVar[bool] = True
    weak: ClassVar[bool] = False
    step: ClassVar[float | None] = 3.0
    floor: ClassVar[float] = 2.0
    hilbert: ClassVar[bool] = False

    @abstractmethod
    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        """Return the seminorm of the residuals, divided by n, at distinct ascending predictions."""

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray | None:
        """Return weights within [-1, 1] whose sum with these residuals is the seminorm and with no others above it."""
        return None

    @property
    def is_weak(self) -> bool:
        return self.weak

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return float(self.norm(value, (positives - count * value) / count.sum()))

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        witness = self.witness(value, (positives - count * value) / count.sum())
        return {} if witness is None else {"witness": witness}

    @property
    def has_form(self) -> bool:
        return self.step is not None

    def linear_form(self, sample: Sample) -> LinearForm:
        assert self.step is not None
        norm, witness = partial(self.norm, sample.value), self.witness(sample.value, sample.residual)
        return linear_form.of_seminorm(norm, witness, self.step, self.floor, sample)

    def row_form(self, y: np.ndarray, p: np.ndarray, sample: Sample) -> RowForm:
        return linear_form.rows_of_seminorm(self.linear_form(sample), self.hilbert, y, p, sample.value)


class Binned(Statistic):
    """A function of the sums in cells of the predictions: also fast exact tests, and the value of a population.

    With `is_l1`, the sum of absolute residuals over cells, it has the honest interval, clusters and comparison.
    """

    plugs_in: ClassVar[bool] = True

    def population_edges(self) -> tuple[np.ndarray, str]:
        """Return where the cells of a population end: predictions ("uniform"), or shares of it ("quantile").

        By default nobody knows, and many narrow cells are taken instead: a cell may then end off by 1e-4.
        """
        return np.arange(1, FINE) / FINE, "uniform"

    def population_value(self, population: BinaryPopulation) -> float:
        return self.plug_in(population, *self.population_edges())

    @property
    def is_l1(self) -> bool:
        """Whether the measure is the sum over cells of absolute residuals."""
        return False

    @property
    def is_coarse(self) -> bool:
        return self.is_l1

    @abstractmethod
    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        """Return the cell, from 0, of each distinct ascending prediction; cells ascend too."""

    @abstractmethod
    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> Any:
        """Return the measure from rows, residuals / n and predictions / n summed in cells, over the last axis.

        The arrays broadcast.
        """

    def row_sums(self, y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return those sums straight from rows, or None where rows need sorting or one is bad (sorting names it)."""
        return None

    def column_sums(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return those sums for the event of every class, of shape (K, cells), or None where that needs sorting."""
        return None

    def class_cells(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell of each row in the problem of each class, and rows and predictions / n summed in them."""
        n, classes = predictions.prob.shape
        place = np.empty((n, classes), np.int32)
        sums = self.column_sums(predictions)
        if sums is not None:  # cells that depend on each prediction alone: nothing needs sorting
            for k in range(classes):
                place[:, k] = self.cells(predictions.prob[:, k].astype(np.float64), np.ones(n))
            return place, sums[0], sums[2]
        for k in range(classes):
            value, count, cell = predictions.distinct(k)
            place[:, k] = self.cells(value, count)[cell]
        cells = int(place.max()) + 1
        count_b, value_b = np.zeros((2, classes, cells))
        for k in range(classes):
            count_b[k] = np.bincount(place[:, k], minlength=cells)
            value_b[k] = np.bincount(place[:, k], predictions.prob[:, k], minlength=cells) / n
        return place, count_b, value_b

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return float(self.reduce(*cell_sums(self.cells(value, count), value, count, positives)))

    def estimate_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        sums = self.row_sums(y, p)
        return super().estimate_rows(y, p) if sums is None else float(self.reduce(*sums))

    def estimate_classes(self, predictions: Predictions) -> np.ndarray:
        sums = self.column_sums(predictions)
        return super().estimate_classes(predictions) if sums is None else np.asarray(self.reduce(*sums), np.float64)

    @property
    def has_form(self) -> bool:
        return self.is_l1

    @property
    def has_class_form(self) -> bool:
        return self.is_l1

    def linear_form(self, sample: Sample) -> Form:
        return cell_form.of_cells(str(self), self.cells(sample.value, sample.count), sample)

    def row_form(self, y: np.ndarray, p: np.ndarray, sample: Sample) -> RowForm:
        cell = self.cells(sample.value, sample.count)[np.searchsorted(sample.value, p)]
        return cell_form.rows_of_cells(str(self), cell, y, p)

    def class_form(self, predictions: Predictions, reduce: str) -> Form:
        place, _, value = self.class_cells(predictions)
        return cell_form.of_classes(place, value, predictions, reduce)
