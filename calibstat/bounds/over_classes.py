"""Honest intervals of the mean or the maximum over classes of seminorms, which is a seminorm of all their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, cast

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import CLASSES_STEP, ComparableInterval, SeminormInterval
from calibstat.bounds.residual_tables import RowTable, SummaryTable
from calibstat.bounds.tables_of_classes import TablesOfClasses
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.bounds.unit_sums import LARGEST_ROW
from calibstat.data.predictions import Predictions
from calibstat.in_order import first_largest
from calibstat.resampling import Draws, Pairs, Stream


class Reduction(NamedTuple):
    """The mean or the maximum over classes.

    Attributes
    ----------
    of : callable
        Reduces values of classes, along the first axis.
    weights : callable
        Returns the weights of K classes whose sum is the reduced value, given the values, both of shape (K,).
    largest : callable
        Returns the most that the residuals of one row add to such a sum, given K.
    """

    of: Callable[[Any], Any]
    weights: Callable[[np.ndarray], np.ndarray]
    largest: Callable[[int], float]


REDUCERS = {
    "mean": Reduction(partial(np.mean, axis=0), lambda of: np.full(of.size, 1 / of.size), lambda k: LARGEST_ROW / k),
    "max": Reduction(partial(np.max, axis=0), lambda of: np.eye(of.size)[first_largest(of)], lambda k: 1.0),
}


@dataclass(frozen=True, eq=False)
class OverClasses(ComparableInterval):
    """The mean or the maximum over classes, of the sums of one class after another."""

    step = CLASSES_STEP
    parts: Sequence[SeminormInterval]
    reduce: Reduction

    @cached_property
    def estimate(self) -> float:
        return float(self.reduce.of([part.estimate for part in self.parts]))

    @cached_property
    def theta(self) -> np.ndarray:
        return np.concatenate([part.theta for part in self.parts])

    def value(self, theta: np.ndarray) -> Any:
        return self.reduce.of(self._values(theta))

    def resampled(self, draws: Draws) -> np.ndarray:
        joined = TablesOfClasses([cast("RowTable", part.table) for part in self.parts])
        return joined.resampled(self.directional, draws)

    def witness(self, theta: np.ndarray) -> np.ndarray | None:
        weights = [part.witness(of_class) for part, of_class in zip(self.parts, self._split(theta), strict=True)]
        known = [weight for weight in weights if weight is not None]
        if len(known) < len(weights):
            return None
        of_classes = self.reduce.weights(np.array(self._values(theta)))
        return np.concatenate([share * weight for share, weight in zip(of_classes, known, strict=True)])

    def tail_bound(self, tail: float) -> TailBound:
        bounds = [part.tail_bound(tail) for part in self.parts]
        most = replace(bounds[0], **{name: max(getattr(of, name) for of in bounds) for name in ("largest", "cap")})
        return most.times(self.reduce.largest(len(self.parts)))

    def below(self, tail: float) -> Allowance:
        below = [part.below(tail) for part in self.parts]
        of = self.reduce.of
        return Allowance(float(of([b.normal for b in below])), float(of([b.skewness for b in below])))

    def high(self, tail: float) -> float:
        """Return the mean or the maximum of the high ends of the classes.

        The class that is worst in the population is a fixed one. Of a mean with fixed weights the standard deviation
        is at most the mean of the classes' standard deviations, and so are its third moment and the size of an event.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        return float(self.reduce.of([part.high(tail) for part in self.parts]))

    def _split(self, theta: np.ndarray) -> list[np.ndarray]:
        """Return the sums of each class, over the last axis."""
        return np.split(theta, np.cumsum([part.theta.size for part in self.parts])[:-1], axis=-1)

    def _values(self, theta: np.ndarray) -> list[Any]:
        return [part.value(of_class) for part, of_class in zip(self.parts, self._split(theta), strict=True)]


@dataclass(frozen=True, eq=False)
class OneByOneInterval(OverClasses):
    """The same, where the rows of resamples, which may have a weight, are summed one class at a time."""

    predictions: Predictions
    sample_weight: np.ndarray | None

    @classmethod
    def of(
        cls,
        parts: Iterable[SeminormInterval],
        reduce: str,
        predictions: Predictions,
        sample_weight: np.ndarray | None,
    ) -> Self:
        """Return the interval; its parts do without their summaries, which are together larger than the predictions."""
        small = [replace(part, table=cast("SummaryTable", part.table).without_sample()) for part in parts]
        return cls(small, REDUCERS[reduce], predictions, sample_weight)

    @cached_property
    def places(self) -> Sequence[tuple[np.ndarray, int]]:
        """Of each class, which distinct prediction each row has, and how many there are."""
        distinct = (self.predictions.distinct(k) for k in range(self.predictions.n_classes))
        return [(place, value.size) for value, _, place in distinct]

    def resampled(self, draws: Draws) -> np.ndarray:
        def of_resample(rows: np.ndarray, label: np.ndarray) -> float:
            weight = None if self.sample_weight is None else self.sample_weight[rows]
            return self.directional(self.sums(k, rows, label, weight) for k in range(self.predictions.n_classes))

        return resampling.draw(self.predictions, Pairs(), of_resample, draws, Stream.ROWS)

    def sums(self, k: int, rows: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return the sums of class k over these rows, with the label and the weight that each has."""
        place, places = self.places[k]
        prediction = self.predictions.prob[rows, k].astype(np.float64, copy=False)
        return self.parts[k].norm.sums_of(place[rows], places, label == k, prediction, weight)

    def directional(self, theta: Iterable[np.ndarray]) -> float:
        """Return the directional bootstrap of the measure in one resample, from the sums of each class."""
        moved = [
            part.value(part.theta + CLASSES_STEP * (of_class - part.theta))
            for part, of_class in zip(self.parts, theta, strict=True)
        ]
        return float((self.reduce.of(moved) - self.estimate) / CLASSES_STEP)
