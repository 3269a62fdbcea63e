"""The three kinds of data that a question can be about: checked once, and seen through a lens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from calibstat.data import lenses
from calibstat.data.lenses import ClassWise, Lens, find_lens
from calibstat.data.predictions import Predictions, as_predictions, n_columns
from calibstat.data.sample import Sample, as_rows, as_sample, check_rows, need_counts

EVENT = "event: outcome 1"
EVENT_NULL = "given the predictions, every outcome is 1 independently with its predicted probability."
SUBJECTS = {EVENT: "outcome 1", "lens top_label": "the most likely class", "lens canonical": "whole vectors"}
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


def subject(lens: str) -> str:
    """Say in words what a result whose lens this is speaks of."""
    return SUBJECTS.get(lens, lens)


@dataclass(frozen=True)
class Observations(ABC):
    """Outcomes and predictions as a lens shows them, and the null hypothesis of calibration in words."""

    lens: str
    null: str

    @abstractmethod
    def choose(
        self,
        binary: Callable[[BinaryData], A],
        multiclass: Callable[[MulticlassData], B],
        class_wise: Callable[[ClassWiseData], C],
    ) -> A | B | C:
        """Return what the function for this kind of data returns."""

    @abstractmethod
    def impossible(self) -> str:
        """Say in which row first something of probability 0 was observed, which makes a mean of logarithms infinite."""

    @property
    def class_names(self) -> tuple[Any, ...]:
        """The names of the classes."""
        return ()

    def one_event(self, what: str = "") -> BinaryData:
        """Return the data if they are of one event, or raise."""
        wanted = f" for {what}" if what else ""
        raise ValueError(
            f"expected a lens that shows one event{wanted}, such as top_label or one_class(k); found {self.lens}"
        )


@dataclass(frozen=True)
class BinaryData(Observations):
    """Predictions of one event, either as rows that have not been sorted or as a summary."""

    rows: tuple[np.ndarray, np.ndarray] | None
    summary: Sample | None

    @property
    def sample(self) -> Sample:
        """The sorted summary."""
        if self.summary is not None:
            return self.summary
        assert self.rows is not None
        return Sample.from_rows(*self.rows)

    @property
    def prob(self) -> np.ndarray:
        """All predictions, or the distinct ones of a summary."""
        return self.rows[1] if self.rows is not None else self.sample.value

    @property
    def row_predictions(self) -> np.ndarray | None:
        """The predictions row by row, by which messages name a row; none of a summary."""
        return None if self.rows is None else self.rows[1]

    def choose(
        self,
        binary: Callable[[BinaryData], A],
        multiclass: Callable[[MulticlassData], B],
        class_wise: Callable[[ClassWiseData], C],
    ) -> A | B | C:
        return binary(self)

    def one_event(self, what: str = "") -> BinaryData:
        return self

    def counted(self, what: str) -> Sample:
        """Return the summary if `what` can draw its rows."""
        sample = self.sample
        need_counts(sample, what)
        return sample

    def check_rows(self) -> None:
        """Raise unless there are rows, which a summary has not, of outcomes and probabilities."""
        if self.rows is None:
            raise ValueError("expected rows, y_true and y_prob, found a Sample, in which rows cannot be told apart")
        check_rows(*self.rows)

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and predictions as they are drawn from, checked."""
        self.check_rows()
        assert self.rows is not None
        y, p = self.rows
        return y.astype(np.float64), p + 0.0

    def impossible(self) -> str:
        if self.rows is not None:
            y, p = self.rows
            return _of_row((p == 0) & (y == 1) | (p == 1) & (y == 0))
        value, count, positives = self.sample.arrays
        bad = (value == 0) & (positives > 0) | (value == 1) & (positives < count)
        return f"what happened, which was predicted to be {value[np.argmax(bad)]:g}, had probability 0" * bool(
            bad.any()
        )


@dataclass(frozen=True)
class _OfClasses(Observations):
    """Predictions of K classes."""

    predictions: Predictions

    @property
    def class_names(self) -> tuple[Any, ...]:
        return self.predictions.names

    def impossible(self) -> str:
        prob, label = self.predictions.prob, self.predictions.label
        certain = (self.predictions.largest == 1) & (self.predictions.top != label)
        return _of_row((prob[np.arange(label.size), label] == 0) | certain)


@dataclass(frozen=True)
class MulticlassData(_OfClasses):
    """Whole predicted vectors."""

    def choose(
        self,
        binary: Callable[[BinaryData], A],
        multiclass: Callable[[MulticlassData], B],
        class_wise: Callable[[ClassWiseData], C],
    ) -> A | B | C:
        return multiclass(self)


@dataclass(frozen=True)
class ClassWiseData(_OfClasses):
    """The events of all classes, which share their rows."""

    weight: np.ndarray | None

    def choose(
        self,
        binary: Callable[[BinaryData], A],
        multiclass: Callable[[MulticlassData], B],
        class_wise: Callable[[ClassWiseData], C],
    ) -> A | B | C:
        return class_wise(self)

    def samples(self) -> Iterator[Sample]:
        """Summarise the event of each class."""
        prob, label = self.predictions.prob, self.predictions.label
        for k in range(prob.shape[1]):
            yield Sample.from_rows(label == k, prob[:, k], self.weight)


def observe(
    y_true: Any,
    y_prob: Any,
    *,
    lens: Any = None,
    canonical: bool = False,
    sample_weight: Any = None,
    labels: Any = None,
) -> Observations:
    """Check the data and return what the lens shows of them.

    Without a lens that is outcome 1 of two, or the most likely of more classes; whole vectors if `canonical`.
    """
    if isinstance(y_true, Sample):
        if lens is not None or canonical:
            wanted = "a measure of whole vectors" if canonical else "a lens"
            raise ValueError(f"expected rows or Predictions for {wanted}, found a Sample, which has one event only")
        return BinaryData(EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
    several = isinstance(y_true, Predictions) or (y_prob is not None and n_columns(y_prob) > 2)
    if not several and lens is None and not canonical:
        if y_prob is None or sample_weight is not None:
            return BinaryData(EVENT, EVENT_NULL, None, as_sample(y_true, y_prob, sample_weight, labels))
        return BinaryData(EVENT, EVENT_NULL, as_rows(y_true, y_prob, labels), None)
    predictions = as_predictions(y_true, y_prob, labels)
    if lens is None:
        seen: Lens | ClassWise = lenses.canonical if canonical else lenses.top_label
        event = predictions.n_classes == 2 and not canonical
        title, null = (EVENT, EVENT_NULL) if event else (f"lens {seen}", seen.null)
        seen = lenses.one_class(1) if event else seen
    else:
        seen = find_lens(lens)
        title, null = f"lens {seen}", seen.null
    if isinstance(seen, ClassWise):
        weight = None if sample_weight is None else np.asarray(sample_weight)
        return ClassWiseData(title, null, predictions, weight)
    outcomes, scores = seen.rows(predictions)
    if scores.ndim == 1:
        rows = as_rows(outcomes, scores)
        if sample_weight is None:
            return BinaryData(title, null, rows, None)
        return BinaryData(title, null, None, Sample.from_rows(*rows, sample_weight))
    if sample_weight is not None:
        raise ValueError(f"expected no sample_weight for whole vectors, found one with lens {seen}")
    return MulticlassData(title, null, seen.vectors(predictions, outcomes, scores))


def _of_row(bad: np.ndarray) -> str:
    return f"what happened at row {int(np.argmax(bad))} had probability 0" if bad.any() else ""
