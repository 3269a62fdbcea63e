"""Binary, multiclass and class-wise data: the arguments of a function, checked once and seen through a lens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from calibstat.data.data_notes import (
    may_be_reversed,
    note_if_classes_apart,
    note_if_outcomes_apart,
    note_if_reversed,
    note_of_cells,
    note_of_certainty,
    note_of_classes,
    note_of_weights,
)
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import EVENT_NULL, Null
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample, need_counts, sample_of_rows
from calibstat.data.validation import check_rows
from calibstat.data.weighted_sample import weighted_sample
from calibstat.data.words.side import Side

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


@dataclass(frozen=True)
class Rarest:
    """An outcome, how often it was observed, and in how many rows or clusters."""

    outcome: str
    count: int
    total: int
    counted: str

    @classmethod
    def of(
        cls, names: Sequence[Any], label: np.ndarray, unit: np.ndarray | None, weight: np.ndarray | None = None
    ) -> Rarest:
        """Return the rarest of these outcomes of rows, or if `unit` is given of the clusters in which they occur.

        Of these, rows of weight 0 are not counted.
        """
        if unit is not None:
            label, unit = (label, unit) if weight is None else (label[weight > 0], unit[weight > 0])
            label = np.unique(np.stack([unit, label]), axis=1)[1]
        count = np.bincount(label, minlength=len(names))
        total = int(count.sum()) if unit is None else int(unit.max()) + 1
        least = int(count.argmin())
        return cls(str(names[least]), int(count[least]), total, "rows" if unit is None else "clusters")

    def __str__(self) -> str:
        return f"{self.outcome} was observed in {self.count} of {self.total} {self.counted}"


@dataclass(frozen=True)
class View(ABC):
    """Outcomes and predictions seen through a lens, with the null hypothesis of calibration."""

    kind: ClassVar[Literal["binary", "multiclass", "class-wise"]]
    lens: NamedLens
    null: Null
    confidences: tuple[int, ...] = field(default=(), kw_only=True)  # outcomes, as of the lens

    def choose(
        self,
        binary: Callable[[BinaryView], A],
        multiclass: Callable[[MulticlassView], B],
        class_wise: Callable[[ClassWiseView], C],
    ) -> A | B | C:
        """Call the function for this kind of data and return its result."""
        chosen: Any = {"binary": binary, "multiclass": multiclass, "class-wise": class_wise}[self.kind]
        return chosen(self)

    @property
    @abstractmethod
    def n_given(self) -> int:
        """Number of rows as they were given; rows of weight 0 are not part of the data."""

    @property
    @abstractmethod
    def counts(self) -> str:
        """The number of outcomes or classes, in words."""

    @property
    @abstractmethod
    def predicted(self) -> np.ndarray:
        """The distinct predictions, shape (m,), or the predictions of rows and classes, shape (n, K)."""

    @property
    def predicted_counts(self) -> np.ndarray | None:
        """The numbers of rows of the distinct predictions; None of K classes."""
        return None

    @property
    def row_predictions(self) -> np.ndarray | None:
        """The predictions of one event row by row, for messages that name a row; None of a summary and of K classes."""
        return None

    def check_rows(self) -> None:  # noqa: B027  rows of K classes have been checked
        """Raise unless there are rows (not a summary) of valid outcomes and probabilities."""

    @abstractmethod
    def impossible(self, side: Side | None = None) -> str:
        """Name the first row whose observed outcome had probability 0, which makes log losses infinite; "" if none.

        Of one side only a row that this side forbids: of predictions too high one of outcome 0.
        """

    @abstractmethod
    def certain(self) -> str:
        """Name the first row with a prediction of exactly 0 or 1; "" if there is none."""

    @abstractmethod
    def rarest(self, unit: np.ndarray | None = None) -> Rarest:
        """Return the outcome observed least often, in rows or in clusters; `unit` numbers each row's cluster."""

    @abstractmethod
    def data_note(self) -> str:
        """Say in a sentence if predictions look reversed, by their AUC, or like labels, or labels miscounted; else "".

        Of rows with real-valued weights it is not known whether predictions are reversed.
        """

    @property
    @abstractmethod
    def effective_n(self) -> float | None:
        """The number of rows of equal weight that say about as much as these rows with their weights; None without."""

    @abstractmethod
    def weights_note(self) -> str:
        """Say how rows with weights, or in cells, were taken; "" of others."""

    def null_given_weights(self, null: Null) -> Null:
        """Return a null hypothesis as one given the weights, if rows have weights."""
        return null if self.effective_n is None else replace(null, weights=True)

    def annotations(self) -> dict[str, Any]:
        """Return the fields that every result on these data has: its `note` and `effective_n`."""
        notes = [note for note in (self.data_note(), self.weights_note()) if note]
        return {"note": "\n".join(notes), "effective_n": self.effective_n}

    @property
    def class_names(self) -> tuple[Any, ...]:
        """The names of the classes; none of binary data."""
        return ()

    def event_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and predictions of each event, shape (K, n): of one event, or of each of K classes."""
        raise NotImplementedError(f"nothing is known by events of {self.kind} data")

    def one_event(self, what: str = "") -> BinaryView:
        """Return the data if they are binary, else raise."""
        wanted = f" for {what}" if what else ""
        raise ValueError(
            f"expected a lens that shows a binary outcome{wanted}, such as top_label or one_class(k); found {self.lens}"
        )


@dataclass(frozen=True)
class BinaryView(View):
    """Binary outcomes and predictions, either as unsorted rows, perhaps with weights, or as a summary."""

    kind = "binary"
    rows: tuple[np.ndarray, np.ndarray] | None
    summary: Sample | None
    predictions: Predictions | None = None  # of several classes, of which a lens shows one outcome
    weight: np.ndarray | None = None
    weight_is_whole: bool = False  # and not always 1

    @cached_property
    def sample(self) -> Sample:
        """The sorted summary of the rows."""
        if self.summary is not None:
            return self.summary
        assert self.rows is not None
        if self.weight is None:
            return sample_of_rows(*self.rows)
        check_rows(*self.rows)
        return weighted_sample(*self.rows, self.weight)

    @property
    def n_given(self) -> int:
        return int(self.sample.n) if self.rows is None else self.rows[0].size

    @property
    def counts(self) -> str:
        if self.rows is None:
            return f"{self.sample.positives.sum():,g} with {self.lens.subject}"
        return f"{np.count_nonzero(self.rows[0] == 1):,} with {self.lens.subject}"

    @property
    def prob(self) -> np.ndarray:
        """The predictions of all rows, or the distinct ones of a summary."""
        return self.rows[1] if self.rows is not None else self.sample.value

    @property
    def predicted(self) -> np.ndarray:
        return self.sample.value

    @property
    def predicted_counts(self) -> np.ndarray:
        return self.sample.count

    @property
    def row_predictions(self) -> np.ndarray | None:
        return None if self.rows is None else self.rows[1]

    def one_event(self, what: str = "") -> BinaryView:
        return self

    def counted(self, what: str) -> Sample:
        """Return the summary; raise if its weights are real-valued, so that `what` cannot draw rows."""
        sample = self.sample
        need_counts(sample, what)
        return sample

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights, and are not counted."""
        return self._weight is not None

    @property
    def _weight(self) -> np.ndarray | None:
        """The weights of the rows, also of a summary's rows."""
        kept = None if self.summary is None else self.summary.weighted
        return self.weight if kept is None else kept.weight

    @property
    def effective_n(self) -> float | None:
        return None if self._weight is None else float(self._weight.sum())

    def weights_note(self) -> str:
        if self._weight is not None:
            return note_of_weights(self._weight, self.weight_is_whole, self._separating(self._weight))
        if self.summary is None:
            return ""
        cells = note_of_cells(self.summary.moved, self.summary.count)
        if not self.summary.n_repeated:
            return cells
        return f"{cells}\n".lstrip() + (
            f"The whole-number weights of {self.summary.n_repeated:,} rows were taken as {self.summary.n:,} repeated "
            "rows. If they are not counts, give the rows with sample_weight=."
        )

    def _separating(self, weight: np.ndarray) -> str:
        """Say so if weights nearly tell the outcomes apart, or the classes if a lens shows one of several classes."""
        if self.predictions is not None:
            return note_if_classes_apart(weight, self.predictions)
        if self.rows is not None:
            return note_if_outcomes_apart(weight, *self.rows)
        kept = self.sample.weighted
        return "" if kept is None else note_if_outcomes_apart(weight, kept.outcome, kept.prediction)

    def check_rows(self) -> None:
        if self.rows is None:
            raise ValueError("expected rows, y_true and y_prob, found a Sample, in which rows cannot be told apart")
        check_rows(*self.rows)

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return checked outcomes and predictions as float64."""
        self.check_rows()
        assert self.rows is not None
        y, p = self.rows
        return y.astype(np.float64), p + 0.0

    def event_rows(self) -> tuple[np.ndarray, np.ndarray]:
        y, p = self.float_rows()
        return y[None], p[None]

    def impossible(self, side: Side | None = None) -> str:
        if self.rows is not None:
            y, p = self.rows
            return _of_row(forbidden(p, y, 1 - y, side) > 0)
        value, count, positives = self.sample.arrays
        bad = forbidden(value, positives, count - positives, side) > 0
        return f"an observed outcome had probability 0, at prediction {value[np.argmax(bad)]:g}" * bool(bad.any())

    def certain(self) -> str:
        bad = np.isin(self.prob, (0, 1))
        where = f"at row {int(np.argmax(bad))} " if self.rows is not None else ""
        return f"the prediction {where}is {self.prob[np.argmax(bad)]:g}, and may be wrong" if bad.any() else ""

    def data_note(self) -> str:
        certainty = note_of_certainty(self.prob if self.predictions is None else self.predictions.prob)
        note = ""
        if self.rows is None or may_be_reversed(self.rows[1], self.rows[0] == 1):
            sample = self.sample
            known = sample.kind == "counts"
            note = note_if_reversed(sample.count, sample.positives, self.lens.subject) if known else ""
        if not note and self.predictions is not None and self.predictions.n_classes > 2:
            note = note_of_classes(self.predictions)
        return "\n".join(part for part in (certainty, note) if part)

    def rarest(self, unit: np.ndarray | None = None) -> Rarest:
        names = "outcome 0", "outcome 1"
        if unit is not None:
            return Rarest.of(names, self.float_rows()[0].astype(np.int64), unit, self.weight)
        sample, kept = self.sample, self.sample.weighted
        if kept is not None:
            return Rarest.of(names, kept.outcome.astype(np.int64), None)
        positives, n = (int(part.sum()) for part in (sample.positives, sample.count))
        least = min((positives, "outcome 1"), (n - positives, "outcome 0"))
        return Rarest(least[1], least[0], n, "rows")


@dataclass(frozen=True)
class _OfClasses(View):
    """Labels and predictions of K classes."""

    predictions: Predictions
    weight: np.ndarray | None = field(default=None, kw_only=True)
    weight_is_whole: bool = field(default=False, kw_only=True)

    @property
    def n_given(self) -> int:
        return self.predictions.n

    @property
    def effective_n(self) -> float | None:
        return None if self.weight is None else float(self.weight.sum())

    def weights_note(self) -> str:
        if self.weight is None:
            return ""
        return note_of_weights(self.weight, self.weight_is_whole, note_if_classes_apart(self.weight, self.predictions))

    @property
    def counts(self) -> str:
        return f"{self.predictions.n_classes} classes"

    @property
    def predicted(self) -> np.ndarray:
        return self.predictions.prob

    @property
    def class_names(self) -> tuple[Any, ...]:
        return self.predictions.names

    def impossible(self, side: Side | None = None) -> str:
        prob, label = self.predictions.prob, self.predictions.label
        certain = (self.predictions.largest == 1) & (self.predictions.top != label)
        return _of_row((prob[np.arange(label.size), label] == 0) | certain)

    def certain(self) -> str:
        bad = (self.predictions.prob == 0).any(axis=1)
        return f"a prediction at row {int(np.argmax(bad))} is 0, and may be wrong" if bad.any() else ""

    def data_note(self) -> str:
        notes = note_of_certainty(self.predictions.prob), note_of_classes(self.predictions)
        return "\n".join(part for part in notes if part)

    def rarest(self, unit: np.ndarray | None = None) -> Rarest:
        names = [f"class {name}" for name in self.class_names]
        return Rarest.of(names, self.predictions.label, unit, self.weight)


@dataclass(frozen=True)
class MulticlassView(_OfClasses):
    """Labels and predictions of K classes, considered jointly."""

    kind = "multiclass"

    def need_no_weights(self, what: str, because: str) -> None:
        """Raise if rows have weights, which `what` does not take."""
        if self.weight is not None:
            raise ValueError(
                f"expected no sample_weight for multiclass data by {what}, found one with {self.lens}: {because}"
            )

    def rarest(self, unit: np.ndarray | None = None) -> Rarest:
        label = self.predictions.label
        common = int(np.bincount(label).argmax())
        names = (f"class {self.class_names[common]}", f"any class but {self.class_names[common]}")
        return Rarest.of(names, (label != common).astype(np.int64), unit, self.weight)


@dataclass(frozen=True)
class ClassWiseView(_OfClasses):
    """One binary problem for each class (one against the rest); all share their rows.

    `reduce` says how they become one number, "mean" or "max"; None if each is a number of its own.
    """

    kind = "class-wise"
    reduce: str | None = None

    def event_rows(self) -> tuple[np.ndarray, np.ndarray]:
        prob = np.ascontiguousarray(self.predictions.prob.T, np.float64) + 0.0  # 0.0 for -0.0
        return (self.predictions.label == np.arange(len(prob))[:, None]).astype(np.float64), prob

    def sample(self, k: int) -> Sample:
        """Return the binary sample of class k against the rest."""
        rows = self.predictions.label == k, self.predictions.prob[:, k].astype(np.float64)
        return Sample.from_rows(*rows) if self.weight is None else weighted_sample(*rows, self.weight)

    def samples(self) -> Iterator[Sample]:
        """Yield the binary sample of each class, one at a time: together they are larger than the predictions."""
        return map(self.sample, range(self.predictions.n_classes))

    def events(self) -> Iterator[BinaryView]:
        """Return the rows of each class, one against the rest."""
        prob, label = self.predictions.prob, self.predictions.label
        for k, (name, sample) in enumerate(zip(self.class_names, self.samples(), strict=True)):
            rows = (label == k).astype(np.int64), prob[:, k].astype(np.float64)
            lens = NamedLens(f"class {name}", f"class {name}")
            yield BinaryView(lens, EVENT_NULL, rows, sample, weight=self.weight, weight_is_whole=self.weight_is_whole)


def forbidden(p: np.ndarray, events: np.ndarray, others: np.ndarray, side: Side | None) -> np.ndarray:
    """Return how many outcomes of each prediction had probability 0, of one side only those that this side forbids."""
    return np.asarray(events * ((p == 0) & (side != "over")) + others * ((p == 1) & (side != "under")))


def _of_row(bad: np.ndarray) -> str:
    return f"the observed outcome at row {int(np.argmax(bad))} had probability 0" if bad.any() else ""
