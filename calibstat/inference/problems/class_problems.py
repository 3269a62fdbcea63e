"""Measures of several classes: of all jointly, and of each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import ComparableInterval, Interval
from calibstat.bounds.mean_interval import RowLosses
from calibstat.bounds.over_classes import REDUCERS, OverClasses
from calibstat.bounds.residual_tables import Order, TableOfRows
from calibstat.bounds.tables_of_classes import TablesOfClasses
from calibstat.data.lenses import top_label
from calibstat.data.named_lens import NamedLens
from calibstat.data.predictions import Predictions
from calibstat.data.views import ClassWiseView, MulticlassView
from calibstat.inference.deviation import Deviation, describe
from calibstat.inference.p_values import Compared
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.calibrated_clusters import null_draws
from calibstat.inference.problems.problem import Posed, Problem
from calibstat.inference.problems.resample import Resampler, resampler
from calibstat.measures.kinds.base import MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.resampling import Draws, GivenPredictions, Labels
from calibstat.resampling.schemes import OfRows

TOO_WIDE = (
    "few clusters do not make the sums of bins normal, so that the high end is the largest bound over all signs of the "
    "sums of all classes at once, up to 1.7 times as far as for rows where clusters do not matter"
)


@dataclass(frozen=True)
class ProblemOfClasses(Problem):
    """A measure of predictions of several classes."""

    view: MulticlassView | ClassWiseView

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.view.predictions

    @property
    def weight(self) -> np.ndarray | None:
        return self.view.weight

    @property
    def n(self) -> int | float:
        return self.predictions.n

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        """The label and the prediction of each class, row by row."""
        return self.predictions.label, *self.predictions.prob.T


@dataclass(frozen=True)
class MulticlassProblem(ProblemOfClasses):
    """A measure of multiclass data."""

    measure: MulticlassMeasure
    view: MulticlassView

    @property
    def _is_honest(self) -> bool:
        return self.measure.has_form if self.weight is None else self.compares

    def estimate(self) -> float:
        predictions = self.predictions
        if self.weight is None:
            return self.measure.evaluate(predictions.prob, predictions.label)
        rows = self.weight > 0
        return self.measure.weighted(predictions.prob[rows], predictions.label[rows], self.weight[rows], None)

    def statistic(self) -> float:
        return self.estimate()

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        self.view.need_no_weights("detail", "its tables count rows")
        fields = self.measure.detail(self.predictions.prob, self.predictions.label)
        return self.estimate(), self.predictions.n, fields

    def holds_cells(self, always: bool) -> bool:
        return always and self.measure.refits_cells

    def in_order(self, function: str) -> MulticlassProblem:
        if self.measure.depends_on_order:
            return self
        if self.weight is not None:
            return self.with_unit(None)
        return replace(self, view=replace(self.view, predictions=resampling.in_order(self.predictions)))

    def with_chances(self, chance: np.ndarray) -> tuple[MulticlassProblem, GivenPredictions]:
        if self.measure.depends_on_order:
            return self, Labels(chance)
        order = resampling.canonical_order((*self._columns, *chance.T), None, self.weight)[0]
        return self._in_order(order), Labels(chance[order])

    def with_unit(self, unit: np.ndarray | None) -> MulticlassProblem:
        if self.measure.depends_on_order:
            raise ValueError(
                f"no interval with clusters is known for {self.title}, which depends on the order of the rows: "
                "the rows of a cluster that is drawn twice would be compared with themselves"
            )
        order, in_order = resampling.canonical_order(self._columns, unit, self.weight)
        return replace(self._in_order(order), unit=in_order)

    def _in_order(self, order: np.ndarray) -> MulticlassProblem:
        weight = None if self.weight is None else self.weight[order]
        return replace(
            self, view=replace(self.view, predictions=resampling.take(self.predictions, order), weight=weight)
        )

    def resampler(self, scheme: OfRows, stream: int) -> Resampler:
        return resampler(self.measure, self.predictions, scheme, stream, self.weight)

    def honest(self) -> Interval:
        if self.weight is None:
            return self.measure.interval(self.predictions)
        if self.is_mean:
            return self.losses().interval
        return self.measure.interval_of_sums(self.predictions, self.weight)[0]

    def deviation(self, draws: Draws | None) -> Deviation | None:
        part = None if self.weight is not None else self.measure.strongest_part(self.predictions)
        if part is None:
            return None
        measure, sample, k = part
        of = top_label.subject if k is None else f"class {self.predictions.names[k]}"
        return describe(measure, sample, of, is_confidence=k is None or k in self.view.confidences)

    def sort_columns(self) -> tuple[np.ndarray, ...]:
        return (self.losses().loss,) if self.is_mean else self._columns

    @property
    def takes_clusters(self) -> bool:
        return self.is_mean

    @property
    def why_no_clusters(self) -> str:
        return TOO_WIDE if self.compares and not self.is_mean else ""

    def losses(self) -> RowLosses:
        return self.measure.losses(self.predictions, self.weight)

    def interval_of_rows(self, order: Order, unit: np.ndarray | None = None) -> tuple[ComparableInterval, TableOfRows]:
        weight = None if self.weight is None else self.weight[order]
        return self.measure.interval_of_sums(resampling.take(self.predictions, order), weight)


@dataclass(frozen=True)
class ClassWiseProblem(ProblemOfClasses):
    """A binary measure of each class against the rest; `reduce` makes it one number."""

    measure: Statistic
    view: ClassWiseView
    reduce: str | None

    @property
    def lens(self) -> NamedLens:
        lens = self.view.lens
        return lens if self.reduce is None else lens.of_all(self.reduce, self.predictions.n_classes)

    @property
    def _is_honest(self) -> bool:
        return self.is_mean or (self.reduce is not None and self.measure.honest == "norm")

    @property
    def why_no_interval(self) -> str:
        if self.measure.honest == "mean":
            return "the class whose mean loss is largest is chosen by the same rows; lens='class_wise_mean' has one"
        if self.measure.laplace_bandwidth is not None and self.measure.honest != "norm" and self.reduce == "max":
            return "the largest of several squares has no unbiased estimate, and their mean has"
        return super().why_no_interval

    @property
    def is_one_number(self) -> bool:
        return self.reduce is not None

    @property
    def is_mean(self) -> bool:
        return self.reduce == "mean" and self.measure.honest == "mean"

    def _reduce_classes(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the classes, or the largest, over the last axis."""
        return values.max(axis=-1) if self.reduce == "max" else values.mean(axis=-1)

    def _reduced(self, values: np.ndarray) -> Any:
        return values if self.reduce is None else self._reduce_classes(values)

    def estimate(self) -> Any:
        if self.view.weight is None:
            values = self.measure.estimate_classes(self.predictions)
        else:
            values = np.array([self.measure.estimate(sample) for sample in self.view.samples()])
        return values if self.reduce is None else float(self._reduce_classes(values))

    def statistic(self) -> Any:
        return self.estimate()

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        raise ValueError("expected a lens that shows one problem, such as lenses.one_class(0), found 'class_wise'")

    def holds_cells(self, always: bool) -> bool:
        return self.measure.has_cells_of_data

    def in_order(self, function: str) -> ClassWiseProblem:
        return self.with_unit(None)

    def with_chances(self, chance: np.ndarray) -> tuple[ClassWiseProblem, GivenPredictions]:
        order = resampling.canonical_order((*self._columns, *chance.T), None, self.weight)[0]
        return self._in_order(order), Labels(chance[order])

    def with_unit(self, unit: np.ndarray | None) -> ClassWiseProblem:
        order, in_order = resampling.canonical_order(self._columns, unit, self.view.weight)
        return replace(self._in_order(order), unit=in_order)

    def _in_order(self, order: np.ndarray) -> ClassWiseProblem:
        weight = None if self.view.weight is None else self.view.weight[order]
        return replace(
            self, view=replace(self.view, predictions=resampling.take(self.predictions, order), weight=weight)
        )

    def resampler(self, scheme: OfRows, stream: int) -> Resampler:
        of_classes = resampler(self.measure, self.predictions, scheme, stream, self.view.weight)
        return lambda draws: self._reduced(of_classes(draws))

    def honest(self) -> Interval:
        assert self.reduce is not None
        if self.is_mean:
            return self.losses().interval
        return self.measure.interval_over_classes(self.predictions, self.reduce, self.view.weight)

    def deviations(self, classes: np.ndarray) -> Iterator[Deviation]:
        for k in classes:
            deviation = describe(self.measure, self.view.sample(k), f"class {self.predictions.names[k]}")
            if deviation is not None:
                yield deviation

    @property
    def compares(self) -> bool:
        return self._is_honest

    @property
    def why_no_clusters(self) -> str:
        return TOO_WIDE if self._adds_up and self.reduce == "mean" else ""

    @property
    def _adds_up(self) -> bool:
        """Whether the mean, or the maximum, over classes is one norm on the sums of all classes."""
        return type(self.measure).interval_of_sums is not Statistic.interval_of_sums

    def sort_columns(self) -> tuple[np.ndarray, ...]:
        return (self.losses().loss,) if self.is_mean else self._columns

    @property
    def laplace_bandwidth(self) -> float | None:
        # the mean over classes of squares is one sum over pairs of rows; a mean of roots, or a largest square, is not
        return self.measure.laplace_bandwidth if self.reduce == "mean" and self.measure.honest != "norm" else None

    def losses(self) -> RowLosses:
        return self.measure.losses_over_classes(self.predictions, self.view.weight)

    def interval_of_rows(self, order: Order, unit: np.ndarray | None = None) -> tuple[ComparableInterval, TableOfRows]:
        assert self.reduce is not None
        if self._adds_up and unit is None:
            weight = None if self.view.weight is None else self.view.weight[order]
            return self.measure.interval_of_sums(resampling.take(self.predictions, order), self.reduce, weight)
        parts, tables = zip(*(event.interval_on_rows(order, unit) for event in self._events()), strict=True)
        return OverClasses(parts, REDUCERS[self.reduce]), TablesOfClasses(tables)

    def whole_clusters(self, unit: np.ndarray) -> Posed:
        return super().whole_clusters(unit) if self.is_mean else self.with_unit(unit)

    def compared_in_clusters(self, unit: np.ndarray, draws: Draws) -> dict[str, Compared] | None:
        if self.compares and not self.is_mean:
            return super().compared_in_clusters(unit, draws)
        order, unit_in_order = resampling.canonical_order(self._columns, unit, self.weight)
        of_classes, tables = zip(*(event.of_residuals(order, unit_in_order) for event in self._events()), strict=True)
        joined = TablesOfClasses(tables)

        def of(theta: np.ndarray) -> Any:
            parts = np.split(theta, joined.begin[1:-1], axis=-1)
            each = [of_class(part) for of_class, part in zip(of_classes, parts, strict=True)]
            return self._reduce_classes(np.stack(each, axis=-1))

        null, tail = null_draws(joined, of, draws), self.measure.info.tail
        return {way: Compared(self.statistic(), values, tail) for way, values in null.items()}

    def _events(self) -> Iterator[BinaryProblem]:
        """Return the problem of each class against the rest."""
        return (BinaryProblem(self.measure, view, unseen=self.unseen) for view in self.view.events())
