"""What a question is about: one event, whole predicted vectors, or the events of all classes at once.

Every verb poses its problem here, so that all agree on what a lens shows and on what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data import lenses
from calibstat.data.lenses import ClassWise, Lens, find_lens
from calibstat.data.predictions import Predictions, as_predictions, n_columns
from calibstat.data.sample import Sample, as_rows, as_sample, need_counts
from calibstat.measures.registry import BoundMeasure, find_measure

EVENT = "event: outcome 1"
EVENT_NULL = "given the predictions, every outcome is 1 independently with its predicted probability."
REDUCTIONS = ("mean", "max")
SUBJECTS = {EVENT: "outcome 1", "lens top_label": "the most likely class", "lens canonical": "whole vectors"}


def subject(lens: str) -> str:
    """Say in words what a result whose lens this is speaks of."""
    return SUBJECTS.get(lens, lens)


@dataclass(frozen=True)
class Event:
    """Predictions of one event, either as rows that have not been sorted or as a summary."""

    lens: str
    null: str
    rows: tuple[np.ndarray, np.ndarray] | None
    summary: Sample | None

    @property
    def sample(self) -> Sample:
        """The sorted summary."""
        return self.summary if self.summary is not None else Sample.from_rows(*self.rows)  # type: ignore[misc]


@dataclass(frozen=True)
class Vectors:
    """Whole predicted vectors."""

    lens: str
    null: str
    predictions: Predictions


@dataclass(frozen=True)
class Classes:
    """The events of all classes, which share their rows."""

    lens: str
    null: str
    predictions: Predictions
    weight: np.ndarray | None

    def samples(self) -> Iterator[Sample]:
        """Summarise the event of each class."""
        prob, label = self.predictions.prob, self.predictions.label
        for k in range(prob.shape[1]):
            yield Sample.from_rows(label == k, prob[:, k], self.weight)


def look(
    y_true: Any,
    y_prob: Any,
    *,
    lens: Any = None,
    of_vectors: bool = False,
    sample_weight: Any = None,
    labels: Any = None,
) -> Event | Vectors | Classes:
    """Check the data and return what is seen of them.

    Without a lens that is outcome 1 of two, or the most likely of more classes; everything if `of_vectors`.
    """
    if isinstance(y_true, Sample):
        if lens is not None or of_vectors:
            wanted = "a measure of whole vectors" if of_vectors else "a lens"
            raise ValueError(f"expected rows or Predictions for {wanted}, found a Sample, which has one event only")
        return Event(EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
    several = isinstance(y_true, Predictions) or (y_prob is not None and n_columns(y_prob) > 2)
    if not several and lens is None and not of_vectors:
        if y_prob is None or sample_weight is not None:
            return Event(EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
        return Event(EVENT, EVENT_NULL, as_rows(y_true, y_prob, labels), None)
    predictions = as_predictions(y_true, y_prob, labels)
    if lens is None:
        seen: Lens | ClassWise = lenses.canonical if of_vectors else lenses.top_label
        event = predictions.n_classes == 2 and not of_vectors
        title, null = (EVENT, EVENT_NULL) if event else (f"lens {seen}", seen.null)
        seen = lenses.one_class(1) if event else seen
    else:
        seen = find_lens(lens)
        title, null = f"lens {seen}", seen.null
    if isinstance(seen, ClassWise):
        return Classes(title, null, predictions, None if sample_weight is None else np.asarray(sample_weight))
    outcomes, scores = seen.rows(predictions)
    if scores.ndim == 1:
        rows = as_rows(outcomes, scores)
        if sample_weight is None:
            return Event(title, null, rows, None)
        return Event(title, null, None, Sample.from_rows(*rows, sample_weight))
    if sample_weight is not None:
        raise ValueError(f"expected no sample_weight for whole vectors, found one with lens {seen}")
    return Vectors(title, null, seen.vectors(predictions, outcomes, scores))


def impossible(seen: Event | Vectors | Classes) -> str:
    """Say in which row first something happened that had probability 0, which makes a mean of logarithms infinite."""
    where = ""
    if not isinstance(seen, Event):
        prob, label = seen.predictions.prob, seen.predictions.label
        certain = (seen.predictions.largest == 1) & (seen.predictions.top != label)
        bad = (prob[np.arange(label.size), label] == 0) | certain
    elif seen.rows is not None:
        y, p = seen.rows
        bad = (p == 0) & (y == 1) | (p == 1) & (y == 0)
    else:
        value, count, positives = seen.sample.arrays
        bad = (value == 0) & (positives > 0) | (value == 1) & (positives < count)
        where = f", which was predicted to be {value[np.argmax(bad)]:g}," if bad.any() else ""
    if not bad.any():
        return ""
    return f"what happened{where or f' at row {int(np.argmax(bad))}'} had probability 0"


@dataclass(frozen=True)
class EventProblem:
    """A measure of one event."""

    bound: BoundMeasure
    seen: Event

    def estimate(self) -> float:
        """Return the measure."""
        if self.seen.rows is None:
            return self.bound.estimate(self.seen.sample)
        return self.bound.estimate_rows(*self.seen.rows)

    def holds_cells(self, always: bool) -> bool:
        """Whether the measure is that over cells which these rows make."""
        return self.bound.makes_cells

    def counted(self, what: str) -> Sample:
        """Return the sample if `what` can draw its rows."""
        sample = self.seen.sample
        need_counts(sample, what)
        return sample


@dataclass(frozen=True)
class VectorProblem:
    """A measure of whole predicted vectors."""

    bound: BoundMeasure
    seen: Vectors

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.seen.predictions

    def estimate(self) -> float:
        """Return the measure."""
        return self.bound.of_vectors(self.predictions.prob, self.predictions.label)

    def holds_cells(self, always: bool) -> bool:
        """Whether the measure is that over cells which these rows make, or is if cells are `always` to stay."""
        return always and self.bound.measure.cells is not None and self.bound.cells_move

    def in_order(self) -> VectorProblem:
        """Return the problem with its rows in the order of what they hold, unless the measure goes by their order."""
        if self.bound.goes_by_order:
            return self
        return replace(self, seen=replace(self.seen, predictions=resampling.in_order(self.predictions)))

    def resample(self, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int) -> np.ndarray:
        """Return the statistic of every resample."""
        return resampling.resample_vectors(self.bound, self.predictions, scheme, n_resamples, key, stage, n_jobs)


@dataclass(frozen=True)
class ClassProblem:
    """A measure of the events of all classes; `reduce` makes one number of theirs."""

    bound: BoundMeasure
    seen: Classes
    reduce: str | None

    @property
    def predictions(self) -> Predictions:
        """The predictions."""
        return self.seen.predictions

    def holds_cells(self, always: bool) -> bool:
        """Whether the measure of each class is that over cells which these rows make."""
        return self.bound.makes_cells

    def estimates(self) -> np.ndarray:
        """Return the measure of each class."""
        if self.seen.weight is None:
            return self.bound.of_classes(self.predictions)
        return np.array([self.bound.statistic(*sample.arrays) for sample in self.seen.samples()])

    def together(self, values: np.ndarray) -> Any:
        """Return the mean over the classes, or the largest, over the last axis."""
        return values.max(axis=-1) if self.reduce == "max" else values.mean(axis=-1)

    def estimate(self) -> Any:
        """Return the measure of each class, or one number for all if `reduce` says how."""
        return self.estimates() if self.reduce is None else float(self.together(self.estimates()))

    def in_order(self) -> ClassProblem:
        """Return the problem with its rows in the order of what they hold; weights are never drawn."""
        return replace(self, seen=replace(self.seen, predictions=resampling.in_order(self.predictions)))

    def resample_classes(self, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int) -> np.ndarray:
        """Return the statistic of each class in every resample."""
        return resampling.resample_classes(self.bound, self.predictions, scheme, n_resamples, key, stage, n_jobs)

    def resample(self, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int) -> np.ndarray:
        """Return the statistic of every resample."""
        return self.together(self.resample_classes(scheme, n_resamples, key, stage, n_jobs))


Problem = EventProblem | VectorProblem | ClassProblem


def pose(
    y_true: Any,
    y_prob: Any,
    measure: str,
    options: Mapping[str, Any],
    *,
    lens: Any = None,
    reduce: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
) -> Problem:
    """Check the data and say what they are asked."""
    bound = find_measure(measure, options)
    if reduce is not None and reduce not in REDUCTIONS:
        raise ValueError(f"expected reduce None, 'mean' or 'max', found {reduce!r}")
    of_vectors = bound.measure.of == "vectors"
    seen = look(y_true, y_prob, lens=lens, of_vectors=of_vectors, sample_weight=sample_weight, labels=labels)
    if reduce is not None and not isinstance(seen, Classes):
        raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found {seen.lens}")
    if of_vectors and not isinstance(seen, Vectors):
        raise ValueError(f"expected a lens that shows whole vectors for measure {measure!r}, found {seen.lens}")
    if isinstance(seen, Event):
        bound.check_rows(seen.rows[1] if seen.rows is not None else seen.sample.value)
        return EventProblem(bound, seen)
    if isinstance(seen, Classes):
        bound.check_rows(seen.predictions.prob)
        return ClassProblem(bound, seen, reduce)
    form = bound.of_whole_vectors()
    if form is None:
        raise ValueError(
            f"expected a lens that shows one event for measure {measure!r}, such as top_label, class_wise or "
            f"one_class(k); found {seen.lens}, which shows {seen.predictions.n_classes} classes"
        )
    return VectorProblem(form, seen)
