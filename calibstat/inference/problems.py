"""What a question is about: one event, whole predicted vectors, or the events of all classes at once.

Every verb poses its problem here, so that all agree on what a lens shows and on what is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import lenses, resampling
from calibstat.lenses import ClassWise, Lens, find_lens
from calibstat.measures.registry import BoundMeasure, find_measure
from calibstat.predictions import Predictions, as_predictions, n_columns
from calibstat.sample import Sample, as_rows, as_sample, need_counts

EVENT = "event: outcome 1"
EVENT_NULL = "given the predictions, every outcome is 1 independently with its predicted probability."
REDUCTIONS = ("mean", "max")


@dataclass(frozen=True)
class EventProblem:
    """One event, whose probability was predicted.

    `rows` are outcomes and predictions that have not been sorted, where there are any: some measures need no sorting.
    """

    bound: BoundMeasure
    lens: str
    null: str
    rows: tuple[np.ndarray, np.ndarray] | None
    summary: Sample | None

    @property
    def sample(self) -> Sample:
        """The sorted summary."""
        return self.summary if self.summary is not None else Sample.from_rows(*self.rows)  # type: ignore[misc]

    def estimate(self) -> float:
        """Return the measure."""
        if self.summary is not None:
            return self.bound.estimate(self.summary)
        return self.bound.estimate_rows(*self.rows)  # type: ignore[misc]


@dataclass(frozen=True)
class VectorProblem:
    """Whole predicted vectors of the classes that a lens shows."""

    bound: BoundMeasure
    lens: str
    null: str
    predictions: Predictions

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.predictions.n

    def statistic(self) -> float:
        """Return what the test compares with its null distribution."""
        return self.bound.of_vectors(self.predictions.prob, self.predictions.label)

    def estimate(self) -> float:
        """Return the measure."""
        return self.bound.report(self.statistic())

    def resample(self, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int) -> np.ndarray:
        """Return the statistic of every resample."""
        return resampling.resample_vectors(self.bound, self.predictions, scheme, n_resamples, key, stage, n_jobs)


@dataclass(frozen=True)
class ClassProblem:
    """The events of all classes, which share their rows; `reduce` makes one number of theirs."""

    bound: BoundMeasure
    lens: str
    null: str
    predictions: Predictions
    reduce: str | None
    weight: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.predictions.n

    def statistics(self) -> np.ndarray:
        """Return the statistic of each class."""
        if self.weight is None:
            return self.bound.of_classes(self.predictions)
        prob, label = self.predictions.prob, self.predictions.label
        samples = (Sample.from_rows(label == k, prob[:, k], self.weight) for k in range(prob.shape[1]))
        return np.array([self.bound.statistic(*sample.arrays) for sample in samples])

    def together(self, values: np.ndarray) -> Any:
        """Return the mean over the classes, or the largest, over the last axis."""
        return values.max(axis=-1) if self.reduce == "max" else values.mean(axis=-1)

    def statistic(self) -> float:
        """Return what the test compares with its null distribution."""
        return float(self.together(self.statistics()))

    def estimates(self) -> np.ndarray:
        """Return the measure of each class."""
        return np.array([self.bound.report(t) for t in self.statistics()])

    def estimate(self) -> Any:
        """Return the measure of each class, or one number for all if `reduce` says how."""
        return self.estimates() if self.reduce is None else float(self.together(self.estimates()))

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
    if isinstance(y_true, Sample):
        if lens is not None or reduce is not None or of_vectors:
            wanted = f"measure {measure!r}" if of_vectors else "a lens"
            raise ValueError(f"expected rows or Predictions for {wanted}, found a Sample, which has one event only")
        return EventProblem(bound, EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
    if isinstance(y_true, Predictions) or lens is not None or of_vectors or _many(y_prob):
        if sample_weight is not None and (isinstance(y_true, Predictions) or of_vectors):
            where = f"measure {measure!r}, which takes none" if of_vectors else "rows, not Predictions"
            raise ValueError(f"expected sample_weight with {where}")
        predictions = as_predictions(y_true, y_prob, labels)
        return _through(bound, predictions, lens, reduce, sample_weight)
    if reduce is not None:
        raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found two outcomes and no lens")
    if y_prob is None or sample_weight is not None:
        return EventProblem(bound, EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
    return EventProblem(bound, EVENT, EVENT_NULL, as_rows(y_true, y_prob, labels), None)


def _many(y_prob: Any) -> bool:
    return y_prob is not None and n_columns(y_prob) > 2


def _through(
    bound: BoundMeasure, predictions: Predictions, lens: Any, reduce: str | None, sample_weight: Any
) -> Problem:
    """Look at predictions through a lens; without one, at the most likely class, at outcome 1 of two, or at all."""
    name = bound.measure.name
    if lens is None and bound.measure.of == "events" and predictions.n_classes == 2:
        seen: Lens | ClassWise = lenses.one_class(1)
        title, null = EVENT, EVENT_NULL
    else:
        default = lenses.canonical if bound.measure.of == "vectors" else lenses.top_label
        seen = default if lens is None else find_lens(lens)
        title, null = f"lens {seen}", seen.null
    if isinstance(seen, ClassWise):
        if bound.measure.of == "vectors":
            raise ValueError(f"expected a measure of one event for lens 'class_wise', found {name!r}, of whole vectors")
        weight = None if sample_weight is None else np.asarray(sample_weight)
        return ClassProblem(bound, title, null, predictions, reduce, weight)
    if reduce is not None:
        raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found lens {seen}")
    outcomes, scores = seen.rows(predictions)
    if scores.ndim == 1:
        if bound.measure.of == "vectors":
            raise ValueError(f"expected a lens that shows whole vectors for measure {name!r}, found {seen}: one event")
        rows = as_rows(outcomes, scores)
        summary = None if sample_weight is None else Sample.from_rows(*rows, sample_weight)
        return EventProblem(bound, title, null, rows, summary)
    if sample_weight is not None:
        raise ValueError(f"expected no sample_weight with lens {seen}, which shows whole vectors")
    form = bound.of_whole_vectors()
    if form is None:
        shown = f"found lens {seen}, which shows {scores.shape[1]} classes"
        raise ValueError(f"expected lens 'top_label', 'class_wise' or one class for measure {name!r}; {shown}")
    return VectorProblem(form, title, null, seen.vectors(predictions, outcomes, scores))


def counted(problem: EventProblem, what: str) -> Sample:
    """Return the sample of an event if `what` can draw its rows."""
    sample = problem.sample
    need_counts(sample, what)
    return sample
