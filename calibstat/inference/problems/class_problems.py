"""Measures of several classes: of all jointly, and of each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.class_row_form import rows_of_classes
from calibstat.bounds.linear_form import Form, Order, RowForm
from calibstat.bounds.mean_form import need_finite
from calibstat.data.lenses import top_label
from calibstat.data.named_lens import NamedLens
from calibstat.data.observations import ClassWiseData, MulticlassData
from calibstat.data.predictions import Predictions
from calibstat.inference.deviation import Deviation, describe
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.resampling import Draws, Pairs, Resampler, Stage, VectorSums
from calibstat.resampling.schemes import OfRows


@dataclass(frozen=True)
class ProblemOfClasses(Problem):
    """A measure of predictions of several classes."""

    data: MulticlassData | ClassWiseData

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.data.predictions

    @property
    def n(self) -> int | float:
        return self.predictions.n

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        """The label and the prediction of each class, row by row."""
        return self.predictions.label, *self.predictions.prob.T

    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        """Return the moves of a form over cells and classes, or of one by rows; a mean has none to draw."""
        if form.place is None:
            return np.asarray(form.moves(resampling.draw(self.predictions, Pairs(), form.of_rows, draws, Stage.ROWS)))
        sums = VectorSums(self.predictions, form.place, form.along, form.theta.size)
        return resampling.draw(sums, Pairs(), form.moves, draws, Stage.ROWS)


@dataclass(frozen=True)
class MulticlassProblem(ProblemOfClasses):
    """A measure of multiclass data."""

    measure: MulticlassMeasure
    data: MulticlassData

    @property
    def is_honest(self) -> bool:
        return self.measure.has_form

    def estimate(self) -> float:
        return self.measure.evaluate(self.predictions.prob, self.predictions.label)

    def statistic(self) -> float:
        return self.estimate()

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        fields = self.measure.detail(self.predictions.prob, self.predictions.label)
        return self.estimate(), self.predictions.n, fields

    def holds_cells(self, always: bool) -> bool:
        return always and self.measure.refits_cells

    def drawn_from(self, what: str) -> MulticlassProblem:
        if self.measure.depends_on_order:
            return self
        return replace(self, data=replace(self.data, predictions=resampling.in_order(self.predictions)))

    def resampler(self, scheme: OfRows, stage: Stage) -> Resampler:
        return resampling.resampler(self.measure, self.predictions, scheme, stage)

    def linear_form(self) -> Form:
        return self.measure.linear_form(self.predictions)

    def deviation(self, draws: Draws) -> Deviation | None:
        part = self.measure.strongest_part(self.predictions)
        if part is None:
            return None
        measure, sample, k = part
        of = top_label.subject if k is None else f"class {self.predictions.names[k]}"
        return describe(measure, sample, of, is_confidence=k is None or k in self.data.confidences)

    def contents(self) -> tuple[np.ndarray, ...]:
        losses = self.measure.losses(self.predictions)
        if losses is not None:
            need_finite(str(self.measure), losses, self.predictions.prob)  # before rows are put in order
            return (losses,)
        return self._columns if self.measure.has_row_form else ()

    @property
    def takes_clusters(self) -> bool:
        return self.is_mean

    def row_form(self, order: Order = slice(None)) -> RowForm:
        return self.measure.row_form(resampling.taken(self.predictions, order))


@dataclass(frozen=True)
class ClassWiseProblem(ProblemOfClasses):
    """A binary measure of each class against the rest; `reduce` makes it one number."""

    measure: Statistic
    data: ClassWiseData
    reduce: str | None

    @property
    def lens(self) -> NamedLens:
        lens = self.data.lens
        return lens if self.reduce is None else lens.of_all(self.reduce, self.predictions.n_classes)

    @property
    def is_honest(self) -> bool:
        return self.reduce is not None and self.measure.has_class_form and self.data.weight is None

    @property
    def is_one_number(self) -> bool:
        return self.reduce is not None

    @property
    def is_mean(self) -> bool:
        return False

    def together(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over the classes, or the largest, over the last axis."""
        return values.max(axis=-1) if self.reduce == "max" else values.mean(axis=-1)

    def _reduced(self, values: np.ndarray) -> Any:
        return values if self.reduce is None else self.together(values)

    def estimate(self) -> Any:
        if self.data.weight is None:
            values = self.measure.estimate_classes(self.predictions)
        else:
            values = np.array([self.measure.estimate(sample) for sample in self.data.samples()])
        return values if self.reduce is None else float(self.together(values))

    def statistic(self) -> Any:
        return self.estimate()

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        raise ValueError("expected a lens that shows one problem, such as lenses.one_class(0), found 'class_wise'")

    def holds_cells(self, always: bool) -> bool:
        return self.measure.makes_cells

    def drawn_from(self, what: str) -> ClassWiseProblem:
        order, _ = resampling.canonical_order(self._columns, None, self.data.weight)
        weight = None if self.data.weight is None else self.data.weight[order]
        predictions = resampling.taken(self.predictions, order)
        return replace(self, data=replace(self.data, predictions=predictions, weight=weight))

    def resampler(self, scheme: OfRows, stage: Stage) -> Resampler:
        of_classes = resampling.resampler(self.measure, self.predictions, scheme, stage, self.data.weight)
        return lambda draws: self._reduced(of_classes(draws))

    def linear_form(self) -> Form:
        assert self.reduce is not None
        return self.measure.class_form(self.predictions, self.reduce)

    def deviations(self, classes: np.ndarray) -> Iterator[Deviation]:
        names, samples = self.predictions.names, list(self.data.samples())
        for k in classes:
            found = describe(self.measure, samples[k], f"class {names[k]}")
            if found is not None:
                yield found

    def contents(self) -> tuple[np.ndarray, ...]:
        known = self.reduce is not None and self.measure.has_class_row_form and self.data.weight is None
        return self._columns if known else ()

    @property
    def takes_clusters(self) -> bool:
        return False

    def row_form(self, order: Order = slice(None)) -> RowForm:
        assert self.reduce is not None
        predictions = resampling.taken(self.predictions, order)
        return rows_of_classes(self.measure.class_form(predictions, self.reduce))
