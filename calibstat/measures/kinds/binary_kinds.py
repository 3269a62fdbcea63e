"""Kinds of binary measures: any statistic, seminorms of the residuals, functions of sums in bins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from calibstat.bounds.absolute_norms import AbsoluteSumInterval, OfClasses, SumOverCells, over_classes
from calibstat.bounds.intervals import Interval, SeminormInterval
from calibstat.bounds.mean_interval import RowLosses
from calibstat.bounds.moments import Moments
from calibstat.bounds.norms import Norm, SeminormOn
from calibstat.bounds.over_classes import OneByOneInterval
from calibstat.bounds.residual_tables import LabelledRows, RowTable, SummaryTable, Table
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.cell_sums import cell_sums
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.weighted_sample import weighted_sample
from calibstat.measures.components.deviations import Diagnostics
from calibstat.measures.kinds.base import Honest, Measure
from calibstat.measures.kinds.cache import Cache
from calibstat.measures.kinds.population_value import NO_EDGES, POPULATION_BINS, BinaryPopulation
from calibstat.resampling.one_pass import OnePass

OfResiduals = Callable[[np.ndarray], Any]


class NotOfResiduals(ValueError):
    """A measure that is not known as a function of the residuals, with the reason."""


_cells_of_classes = Cache()


class Statistic(Measure, ABC):
    """A binary measure: any function of the summary of a sample.

    It defines `evaluate`. It gets estimates, the exact test, bootstrap intervals and comparisons by permutation. If
    `plugs_in` is set, its estimates tend to the measure of the population, so that it has a value on generators.
    """

    plugs_in: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """Return the measure of distinct ascending predictions, with their numbers of rows and of positive rows.

        All arrays have shape (m,), float64. In resamples counts may be 0.
        """

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return further results beside the value, such as a table of bins, by name."""
        return {}

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass | None:
        """Return the measure as one pass over the residuals of labels, which makes tests fast; None if it is not one.

        The labels of these distinct predictions are drawn with the probabilities `chance`; all have shape (m,). A
        subclass that changes the value of a measure changes this too.
        """
        return None

    def of_residuals(self, sample: Sample) -> tuple[np.ndarray | None, OfResiduals]:
        """Return the cell of each distinct prediction, and the measure as a function of the residuals / n in cells.

        The function takes any residuals, also those of no outcome, as random signs of whole clusters make them, and
        cells along the last axis. The cells are None if each prediction is one. `NotOfResiduals` is raised with the
        reason if it is not such a function.

        Statement and argument: docs/evidence/proofs/cluster-tests.md.
        """
        one_pass = self.one_pass(sample.value, sample.count, sample.value)
        if one_pass is None:
            raise NotOfResiduals("it is not known as a function of residuals, whose signs change in whole clusters")
        return None, one_pass.of

    def diagnose(self, sample: Sample) -> tuple[np.ndarray, Diagnostics] | None:
        """Return the cell of each distinct prediction, and the diagnostics of labels in these cells.

        Results of tests say with them what drove the measure. None if the measure has none.
        """
        return None

    def has_value(self, value: np.ndarray) -> bool:
        """Whether there is an estimate on these distinct predictions, and not only a bracket by `detail`."""
        return True

    def with_fixed_cells(self, value: np.ndarray, count: np.ndarray) -> Self:
        """Return the measure over the cells of this sample; itself if its cells do not depend on the sample."""
        return self

    @property
    def has_cells_of_data(self) -> bool:
        """Whether the cells depend on the sample, so that resamples can keep the cells of the data."""
        return self.with_fixed_cells(np.array([0.0, 1.0]), np.ones(2)) != self

    def estimate(self, sample: Sample) -> float:
        """Return the measure of a sample."""
        return float(self.evaluate(*sample.arrays))

    def estimate_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        """Return the measure of outcomes and predictions, both of shape (n,); a kind may avoid sorting them."""
        return self.estimate(Sample.from_rows(y, p))

    def estimate_classes(self, predictions: Predictions) -> np.ndarray:
        """Return the measure of each class against the rest, shape (K,)."""
        columns = ((predictions.label == k, predictions.prob[:, k]) for k in range(predictions.n_classes))
        return np.array([self.estimate(Sample.from_rows(y, p)) for y, p in columns])

    @property
    def is_weak(self) -> bool:
        """Whether it hardly changes when residuals of neighbouring predictions are exchanged.

        Only then is it known on a population whose points scatter, such as a multiclass one through a lens.
        """
        return self.plugs_in

    def population_value(self, population: BinaryPopulation) -> float:
        """Return the limit of estimates as n grows; raise NotImplementedError with the reason if it is not known."""
        if not self.plugs_in:
            raise NotImplementedError(
                "nothing says that its estimates tend to it: register it by "
                f"cs.measure({self.name!r}, plugs_in=True) if they do"
            )
        return self.plug_in(population)

    def plug_in(self, population: BinaryPopulation, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> float:
        """Return the measure of the weighted points that represent a population, in bins that end at `edge`."""
        if population.scattered and not self.is_weak:
            raise NotImplementedError(
                "over a continuous distribution of several classes it needs the true probability at every score"
            )
        sample = population.summary(edge, strategy)
        if not self.has_value(sample.value):
            raise NotImplementedError(f"it has none on {sample.value.size} distinct predictions")
        return self.estimate(sample)

    @property
    def laplace_bandwidth(self) -> float | None:
        """The bandwidth of the Laplace kernel if it is an error by it or the square of one, else None."""
        return None

    @property
    def is_coarse(self) -> bool:
        """Whether it averages residuals over cells, and so is a lower bound on the error of the predictions."""
        return False

    def norm_on(self, value: np.ndarray, count: np.ndarray) -> Norm:
        """Return the norm of sums of residuals on these distinct predictions, of a measure that is one."""
        raise NotImplementedError(f"{self} is not a norm of sums of residuals")

    def interval(self, sample: Sample) -> Interval:
        """Return the honest interval of a summary of rows without weights."""
        raise NotImplementedError(f"no honest interval is known for {self}")

    def interval_on(self, table: Table, norm: Norm) -> SeminormInterval:
        """Return the honest interval of a norm of `norm_on` on a table, for rows with weights and clusters too."""
        return SeminormInterval(norm, table)

    def interval_by_rows(self, sample: Sample, table: RowTable) -> Interval:
        """Return an interval of the measure's own for rows with weights or in clusters, and their summary.

        The cells of the table are the distinct predictions. Only a measure whose `honest` is "own" needs it.
        """
        raise NotImplementedError(f"no honest interval by rows is known for {self}")

    @property
    def has_interval_by_rows(self) -> bool:
        """Whether it has an interval of its own, also for rows with weights and in clusters."""
        return self.honest == "own" and type(self).interval_by_rows is not Statistic.interval_by_rows

    def losses_of(self, rows: LabelledRows) -> RowLosses:
        """Return the losses of rows, of a measure that is their mean."""
        raise NotImplementedError(f"{self} is not a mean of losses")

    def losses_over_classes(self, predictions: Predictions, weight: np.ndarray | None) -> RowLosses:
        """Return the mean over all classes of the losses of each row, which may have a weight."""
        raise NotImplementedError(f"{self} is not a mean of losses")

    def interval_over_classes(
        self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None
    ) -> Interval:
        """Return the honest interval of the mean over all classes, or with `reduce` "max" of the maximum.

        Rows may have a weight.
        """
        raise NotImplementedError(f"no honest interval over classes is known for {self}")

    def interval_of_sums(self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None) -> OfClasses:
        """Return the same interval and its table, of a measure whose sums over classes are added up."""
        raise NotImplementedError(f"{self} is not one norm of the sums of all classes")

    def bracket(self, n: float) -> Bracket:
        """Return two measures with honest intervals that bracket this one, for `n` rows."""
        raise NotImplementedError(f"no bracket is known for {self}")


@dataclass(frozen=True)
class Bracket:
    """Two measures between which a measure is on every population.

    It is at least `share` times `below` and at most `times` times `above` plus `width`. None of these may be chosen by
    the outcomes.
    """

    below: Statistic
    share: float
    above: Statistic
    times: float = 1.0
    width: float = 0.0


def samples_of_classes(predictions: Predictions, weight: np.ndarray | None) -> Iterator[Sample]:
    """Yield the sample of each class against the rest; rows may have a weight."""
    for k in range(predictions.n_classes):
        if weight is None:
            value, count, cell = predictions.distinct(k)
            yield Sample(value, count, np.bincount(cell, predictions.label == k, value.size))
        else:
            yield weighted_sample(predictions.label == k, predictions.prob[:, k].astype(np.float64), weight)


class Seminorm(Statistic):
    """A binary measure that is a seminorm of the residuals.

    It defines `norm`, and `witness` where one is known. It gets what a `Statistic` gets, and honest intervals, also of
    clusters and of classes, comparisons of models, and values on generators. `upper_bound` may be defined to make the
    intervals shorter.

    Two class variables may be set. `step` is the step of the numerical delta method, None where no honest interval is
    known. `weak` says that the seminorm hardly changes when residuals of neighbouring predictions are exchanged.
    """

    plugs_in: ClassVar[bool] = True
    weak: ClassVar[bool] = False
    step: ClassVar[float | None] = 3.0

    @abstractmethod
    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        """Return the seminorm of residuals, divided by n, at distinct ascending predictions; both of shape (m,)."""

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray | None:
        """Return weights in [-1, 1], shape (m,), or None if not known.

        The sum of weight times residual equals the seminorm for these residuals, and exceeds it for no others.
        """
        return None

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest upper bound of the sum of weight times residual for any fixed weights, times n.

        The default needs no more than weights in [-1, 1]: it adds the largest reach that any of them has.

        Statement and argument: docs/evidence/proofs/seminorm.md.
        """
        return moments.n * float(self.norm(value, moments.total / moments.n)) + float(
            tail_bound.reach(*moments.largest())
        )

    @property
    def is_weak(self) -> bool:
        return self.weak

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return float(self.norm(value, (positives - count * value) / count.sum()))

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        witness = self.witness(value, (positives - count * value) / count.sum())
        return {} if witness is None else {"witness": witness}

    @property
    def honest(self) -> Honest:
        return "" if self.step is None else "norm"

    def norm_on(self, value: np.ndarray, count: np.ndarray) -> Norm:
        assert self.step is not None
        return SeminormOn(self, value, self.step)

    def interval(self, sample: Sample) -> SeminormInterval:
        return SeminormInterval(self.norm_on(sample.value, sample.count), SummaryTable.of_sample(sample))

    def interval_over_classes(
        self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None
    ) -> Interval:
        parts = (self._interval(sample, weight) for sample in samples_of_classes(predictions, weight))
        return OneByOneInterval.of(parts, reduce, predictions, weight)

    def _interval(self, sample: Sample, weight: np.ndarray | None) -> SeminormInterval:
        """Return the interval of a summary, whose rows may have a weight."""
        if weight is None:
            return self.interval(sample)
        return self.interval_on(SummaryTable.of_sample(sample), self.norm_on(sample.value, sample.count))


class Binned(Statistic):
    """A binary measure that is a function of sums in cells of the predictions.

    It defines `cells` and `reduce`. It gets what a `Statistic` gets, faster, and values on generators. If `is_l1`, it
    also gets honest intervals, also of clusters and of classes, and comparisons of models.
    """

    plugs_in: ClassVar[bool] = True

    def population_edges(self) -> tuple[np.ndarray, str]:
        """Return where the cells of a population end: as predictions ("uniform") or shares of it ("quantile").

        The default is many narrow cells, so that the end of a cell may be off by 1e-4.
        """
        return np.arange(1, POPULATION_BINS) / POPULATION_BINS, "uniform"

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
        """Return the cell of each distinct ascending prediction, int64 from 0, ascending; all of shape (m,)."""

    def cells_of_class(self, value: np.ndarray, count: np.ndarray, classes: int) -> np.ndarray:
        """Return the cells of one class of so many against the rest."""
        return self.cells(value, count)

    @abstractmethod
    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return the measure, given sums in cells along the last axis: of rows, residuals / n and predictions / n.

        The arrays have shape (..., cells) and broadcast; the result has shape (...).
        """

    def of_residual(self, count: np.ndarray, value: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return the measure as a function of the residuals alone, for many draws of the labels of the same rows.

        What depends on the predictions alone may then be computed once.
        """
        return lambda residual: self.reduce(count, residual, value)

    def of_residuals(self, sample: Sample) -> tuple[np.ndarray | None, OfResiduals]:
        cell = self.cells(sample.value, sample.count)
        count, _, value = cell_sums(cell, *sample.arrays)
        return cell, self.of_residual(count, value)

    def row_sums(self, y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return these sums, each of shape (cells,), of rows without sorting.

        None if rows have to be sorted, or if one is invalid, which the sorting then reports.
        """
        return None

    def sorted_sums(
        self, value: np.ndarray, count: np.ndarray, positives: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return these sums of distinct ascending predictions without the cell of each; None if cells are needed."""
        return None

    def column_sums(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return these sums for each class against the rest, each of shape (K, cells); None if that needs sorting."""
        return None

    def class_cells(
        self, predictions: Predictions, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell of each row for each class, shape (n, K), and rows and predictions / n summed in these cells.

        The sums have shape (K, cells). Rows may have a weight, by which they count. Without weights the last sums are
        kept, because intervals and the test inside share them.
        """
        if weight is not None:
            return self._class_cells(predictions, weight)
        cells: tuple[np.ndarray, np.ndarray, np.ndarray]
        cells = _cells_of_classes.of(predictions.prob, lambda: self._class_cells(predictions, None), self)
        return cells

    def _class_cells(
        self, predictions: Predictions, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, classes = predictions.prob.shape
        index = np.empty((n, classes), np.int32)
        sums = self.column_sums(predictions) if weight is None else None
        if sums is not None:  # cells that depend on each prediction alone: nothing needs sorting
            for k in range(classes):
                index[:, k] = self.cells(predictions.prob[:, k].astype(np.float64), np.ones(n))
            return index, sums[0], sums[2]
        for k in range(classes):
            value, count, cell = predictions.distinct(k)
            count = count if weight is None else np.bincount(cell, weight)
            index[:, k] = self.cells_of_class(value, count, classes)[cell]
        cells = int(index.max()) + 1
        count_b, value_b = np.zeros((2, classes, cells))
        total = n if weight is None else weight.sum()
        for k in range(classes):
            prob = predictions.prob[:, k] if weight is None else weight * predictions.prob[:, k]
            count_b[k] = np.bincount(index[:, k], weight, minlength=cells)
            value_b[k] = np.bincount(index[:, k], prob, minlength=cells) / total
        return index, count_b, value_b

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        sums = self.sorted_sums(value, count, positives)
        sums = cell_sums(self.cells(value, count), value, count, positives) if sums is None else sums
        return float(self.reduce(*sums))

    def estimate_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        sums = self.row_sums(y, p)
        return super().estimate_rows(y, p) if sums is None else float(self.reduce(*sums))

    def estimate_classes(self, predictions: Predictions) -> np.ndarray:
        sums = self.column_sums(predictions)
        return super().estimate_classes(predictions) if sums is None else np.asarray(self.reduce(*sums), np.float64)

    @property
    def honest(self) -> Honest:
        return "norm" if self.is_l1 else ""

    def norm_on(self, value: np.ndarray, count: np.ndarray) -> Norm:
        return SumOverCells(str(self), self.cells(value, count))

    def interval_on(self, table: Table, norm: Norm) -> SeminormInterval:
        return AbsoluteSumInterval(norm, table)

    def interval(self, sample: Sample) -> Interval:
        norm = self.norm_on(sample.value, sample.count)
        return self.interval_on(SummaryTable.of_sample(sample, norm.cell), norm)

    def interval_over_classes(
        self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None
    ) -> Interval:
        return self.interval_of_sums(predictions, reduce, weight)[0]

    def interval_of_sums(self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None) -> OfClasses:
        index, _, value = self.class_cells(predictions, weight)
        return over_classes(index, value, predictions, weight, reduce)
