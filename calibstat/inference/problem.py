"""Binary, multiclass and class-wise problems: a measure together with data.

A verb poses a problem and evaluates it; only this file distinguishes the kinds of data.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibstat import resampling
from calibstat.data.observations import EVENT, BinaryData, ClassWiseData, MulticlassData, Observations, observe
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.inference.clustered_problem import ClusteredProblem
from calibstat.inference.drawable import Drawable
from calibstat.measures.base import Measure, MulticlassMeasure
from calibstat.measures.binary_kinds import Bracket, Statistic
from calibstat.measures.class_row_form import rows_of_classes
from calibstat.measures.linear_form import Form, Order, RowForm
from calibstat.measures.mean_form import need_finite
from calibstat.measures.registry import find_measure
from calibstat.resampling import CellSums, Draws, Labels, Pairs, Stage, VectorSums
from calibstat.resampling.schemes import OfRows

REDUCTIONS = ("mean", "max")


@dataclass(frozen=True)
class Problem(Drawable):
    """A measure and data.

    `bootstraps` are the methods of intervals beside the honest one.
    """

    measure: Measure
    data: Observations
    bootstraps: ClassVar[tuple[str, ...]] = ("percentile", "basic")

    @property
    def lens(self) -> str:
        """The title of the lens."""
        return self.data.lens

    @property
    def title(self) -> str:
        """The measure, and the lens unless the outcome is outcome 1."""
        return str(self.measure) if self.lens == EVENT else f"{self.measure}, {self.lens}"

    @abstractmethod
    def estimate(self) -> Any:
        """Return the measure: one number, or one for each class."""

    @abstractmethod
    def draw(self, scheme: OfRows, draws: Draws, stage: Stage) -> np.ndarray:
        """Return the statistic of every resample."""

    def draw_null(self, draws: Draws) -> np.ndarray:
        return self.draw(Labels(), draws, Stage.LABELS)

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        return self.draw(Pairs(), draws, Stage.ROWS)

    @abstractmethod
    def drawn_from(self, what: str) -> Problem:
        """Return the problem as `what` draws from it: summarised, or in an order that depends on what rows hold."""

    @abstractmethod
    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        """Return the measure, the number of rows, and the details of the measure."""

    @abstractmethod
    def holds_cells(self, always: bool) -> bool:
        """Whether the measure is that over cells which these rows make, or is if cells are `always` to stay."""

    @property
    @abstractmethod
    def is_honest(self) -> bool:
        """Whether an honest interval is known."""

    def bracket(self) -> Bracket | None:
        """Return two measures that bracket this one, or None where none are known."""
        return None

    @property
    def is_one_number(self) -> bool:
        """Whether the measure is one number, and not one for each class."""
        return True

    @property
    def is_mean(self) -> bool:
        """Whether the measure is a mean of losses."""
        return self.measure.is_mean

    @property
    def is_coarse(self) -> bool:
        """Whether the measure bounds the error of the predictions from below."""
        return False

    def contents(self) -> tuple[np.ndarray, ...]:
        """Return all that draws see of a row; nothing if the measure has no linear form by rows.

        Clusters and comparisons of models draw from that form.
        """
        return ()

    @property
    def takes_clusters(self) -> bool:
        """Whether the linear form by rows, if there is one, is also known for clusters."""
        return True

    def row_form(self, order: Order = slice(None)) -> RowForm:
        """Return the linear form by rows, in this order of the rows."""
        raise NotImplementedError(f"no form by rows is known for {self.title}")

    def check_rows(self) -> None:
        """Raise unless rows can be told apart and hold outcomes and probabilities; K classes have been checked."""

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and predictions for a permutation of two models."""
        raise ValueError(f"expected a lens that shows one event for method 'swap', found {self.lens}")

    def statistic_of(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """Return the measure of another binary sample."""
        raise NotImplementedError

    def in_clusters(self, unit: np.ndarray) -> ClusteredProblem | None:
        """Return the problem with its rows in clusters, numbered from 0, or None where none is known."""
        contents = self.contents()
        if not contents or not self.takes_clusters:
            return None
        order, unit_in_order = resampling.canonical_order(contents, unit)
        assert unit_in_order is not None
        return ClusteredProblem(self.row_form(order).in_units(unit_in_order), unit_in_order)


@dataclass(frozen=True)
class BinaryProblem(Problem):
    """A measure of binary data."""

    measure: Statistic
    data: BinaryData
    bootstraps: ClassVar[tuple[str, ...]] = ("percentile", "basic", "bca")

    @property
    def n(self) -> int | float:
        return self.data.sample.n

    @property
    def is_honest(self) -> bool:
        return self.measure.has_form

    @property
    def is_coarse(self) -> bool:
        return self.measure.is_coarse

    def bracket(self) -> Bracket | None:
        return self.measure.bracket(self.n)

    def estimate(self) -> float:
        if self.data.rows is None:
            return self.measure.estimate(self.data.sample)
        return self.measure.estimate_rows(*self.data.rows)

    def statistic(self) -> float:
        sample = self.data.sample
        return self.measure.estimate(sample) if self.measure.has_value(sample.value) else np.nan

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        sample = self.data.sample
        fields = self.measure.detail(*sample.arrays)
        return self.statistic(), sample.n, fields and {"value": sample.value, **fields}

    def holds_cells(self, always: bool) -> bool:
        return self.measure.makes_cells

    def drawn_from(self, what: str) -> BinaryProblem:
        return replace(self, data=replace(self.data, rows=None, summary=self.data.counted(what)))

    def draw(self, scheme: OfRows, draws: Draws, stage: Stage) -> np.ndarray:
        return resampling.resample(self.measure, self.data.sample, scheme, draws, stage)

    def linear_form(self) -> Form:
        sample = self.data.sample
        return self.measure.held(sample.value, sample.count).linear_form(sample)

    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        sample = self.data.sample
        if form.cell is not None:
            cells = CellSums(sample, form.cell)
            return resampling.draw(cells, Pairs(), lambda _, residual, __: form.moves(residual), draws, Stage.ROWS)

        def moves(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
            return form.moves((positives - count * value) / count.sum())

        return resampling.draw(sample, Pairs(), moves, draws, Stage.ROWS)

    def check_rows(self) -> None:
        self.data.check_rows()

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.data.float_rows()

    def statistic_of(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return self.measure.evaluate(value, count, positives)

    def contents(self) -> tuple[np.ndarray, ...]:
        return self.float_rows() if self.measure.has_row_form else ()

    def row_form(self, order: Order = slice(None)) -> RowForm:
        y, p = self.float_rows()
        sample = Sample.from_rows(y, p)
        return self.measure.held(sample.value, sample.count).row_form(y, p, sample, order)

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        sample = self.data.sample
        measure = self.measure.held(sample.value, sample.count)
        weights, left_out = [], []
        for outcome, rows in ((1.0, sample.positives), (0.0, sample.count - sample.positives)):
            for j in np.flatnonzero(rows):
                count, positives = sample.count.copy(), sample.positives.copy()
                count[j] -= 1
                positives[j] -= outcome
                weights.append(rows[j])
                left_out.append(measure.evaluate(sample.value, count, positives) if sample.n > 1 else 0.0)
        return np.array(weights), np.array(left_out)


@dataclass(frozen=True)
class MulticlassProblem(Problem):
    """A measure of multiclass data."""

    measure: MulticlassMeasure
    data: MulticlassData

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.data.predictions

    @property
    def n(self) -> int | float:
        return self.predictions.n

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

    def draw(self, scheme: OfRows, draws: Draws, stage: Stage) -> np.ndarray:
        return resampling.resample(self.measure, self.predictions, scheme, draws, stage)

    def linear_form(self) -> Form:
        return self.measure.linear_form(self.predictions)

    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        return _draw_vectors(self.predictions, form, draws)

    def contents(self) -> tuple[np.ndarray, ...]:
        losses = self.measure.losses(self.predictions)
        if losses is not None:
            need_finite(str(self.measure), losses, self.predictions.prob)  # before rows are put in order
            return (losses,)
        return _columns(self.predictions) if self.measure.has_row_form else ()

    @property
    def takes_clusters(self) -> bool:
        return self.is_mean

    def row_form(self, order: Order = slice(None)) -> RowForm:
        return self.measure.row_form(resampling.taken(self.predictions, order))


@dataclass(frozen=True)
class ClassWiseProblem(Problem):
    """A binary measure of each class against the rest; `reduce` makes it one number."""

    measure: Statistic
    data: ClassWiseData
    reduce: str | None

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.data.predictions

    @property
    def n(self) -> int | float:
        return self.predictions.n

    @property
    def lens(self) -> str:
        lens = self.data.lens
        return lens if self.reduce is None else f"{lens}, {self.reduce} over {self.predictions.n_classes} classes"

    @property
    def is_honest(self) -> bool:
        return self.reduce is not None and self.measure.has_class_form

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
        return replace(self, data=replace(self.data, predictions=resampling.in_order(self.predictions)))

    def draw(self, scheme: OfRows, draws: Draws, stage: Stage) -> np.ndarray:
        return self._reduced(resampling.resample(self.measure, self.predictions, scheme, draws, stage))

    def linear_form(self) -> Form:
        assert self.reduce is not None
        return self.measure.class_form(self.predictions, self.reduce)

    def contents(self) -> tuple[np.ndarray, ...]:
        known = self.reduce is not None and self.measure.has_class_row_form
        return _columns(self.predictions) if known else ()

    @property
    def takes_clusters(self) -> bool:
        return False

    def row_form(self, order: Order = slice(None)) -> RowForm:
        assert self.reduce is not None
        predictions = resampling.taken(self.predictions, order)
        return rows_of_classes(self.measure.class_form(predictions, self.reduce))

    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        return _draw_vectors(self.predictions, form, draws)


def _columns(predictions: Predictions) -> tuple[np.ndarray, ...]:
    """Return the label and the prediction of each class, row by row."""
    return predictions.label, *predictions.prob.T


def _draw_vectors(predictions: Predictions, form: Any, draws: Draws) -> np.ndarray:
    """Return the moves of a form over cells and classes, or of one by rows; a mean has none to draw."""
    if form.place is None:
        return np.asarray(form.moves(resampling.draw(predictions, Pairs(), form.of_rows, draws, Stage.ROWS)))
    sums = VectorSums(predictions, form.place, form.along, form.theta.size)
    return resampling.draw(sums, Pairs(), form.moves, draws, Stage.ROWS)


def pose(
    y_true: Any,
    y_prob: Any,
    measure: str | Measure | type[Measure],
    options: Mapping[str, Any],
    *,
    lens: Any = None,
    reduce: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
) -> Problem:
    """Check measure and data, and pose the problem of their kind."""
    asked = find_measure(measure, options)
    if reduce is not None and reduce not in REDUCTIONS:
        raise ValueError(f"expected reduce None, 'mean' or 'max', found {reduce!r}")
    canonical = isinstance(asked, MulticlassMeasure)
    seen = observe(y_true, y_prob, lens=lens, canonical=canonical, sample_weight=sample_weight, labels=labels)

    def binary(data: BinaryData | ClassWiseData) -> Statistic:
        if not isinstance(asked, Statistic):
            raise ValueError(f"expected a lens that shows whole vectors for measure {asked.name!r}, found {data.lens}")
        return asked

    def of_event(data: BinaryData) -> Problem:
        if reduce is not None:
            raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found {data.lens}")
        known = binary(data)
        known.check_probabilities(data.prob)
        return BinaryProblem(known, data)

    def of_classes(data: ClassWiseData) -> Problem:
        known = binary(data)
        known.check_probabilities(data.predictions.prob)
        return ClassWiseProblem(known, data, reduce)

    def of_vectors(data: MulticlassData) -> Problem:
        if reduce is not None:
            raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found {data.lens}")
        form = asked.multiclass()
        if form is None:
            raise ValueError(
                f"expected a lens that shows one event for measure {asked.name!r}, such as top_label, class_wise or "
                f"one_class(k); found {data.lens}, which shows {data.predictions.n_classes} classes"
            )
        return MulticlassProblem(form, data)

    return seen.choose(of_event, of_vectors, of_classes)
