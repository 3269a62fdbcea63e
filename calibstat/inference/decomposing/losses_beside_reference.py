"""Losses of predictions and of a reference forecast, and a confidence interval for the ratio of their means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibstat.bounds.mean_interval import OfMean, of_clusters, of_counted_losses, of_units
from calibstat.bounds.number_of_events import smallest_mean
from calibstat.bounds.observed_clusters import ClusterMean
from calibstat.data.clusters import OBSERVED, Unseen
from calibstat.data.row_order import canonical_order
from calibstat.data.views import BinaryView
from calibstat.inference.designs.design import Design
from calibstat.inference.unit_rows import Ends, ends_of_ratio
from calibstat.inner_product import inner
from calibstat.measures.bregman import Bregman

BOTH_OUTCOMES = np.array([0.0, 1.0])


class Losses(NamedTuple):
    """The loss of each row, and the smallest and the largest that a row may have."""

    loss: np.ndarray
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class LossesBesideReference:
    """Rows with the losses of their predictions and of a reference.

    Attributes
    ----------
    score : Bregman
        The loss of a prediction.
    limit : float
        Predictions that vary are between this and 1 minus this: `clip`, or 0.
    outcome, prediction : ndarray, shape (k,)
        Of rows, or of kinds of rows.
    reference : ndarray, shape (k,), or float, or None
        The forecasts of the reference; one rate for all rows; None for the base rate of the population.
    weight : ndarray, shape (k,)
        The weights of rows, or the numbers of rows of each kind.
    unit : ndarray of int64, shape (k,), or None
        The number of the cluster of each row, or of the row; None where rows are independent and have no weights.
    unseen : Unseen or None
        What is supposed of clusters that are absent; None without clusters.
    """

    score: Bregman
    limit: float
    outcome: np.ndarray
    prediction: np.ndarray
    reference: np.ndarray | float | None
    weight: np.ndarray
    unit: np.ndarray | None = None
    unseen: Unseen | None = None

    @classmethod
    def of(
        cls, score: Bregman, clip: float | None, view: BinaryView, reference: np.ndarray | float | None, design: Design
    ) -> LossesBesideReference:
        """Take the rows of a view in an order that depends on what they hold."""
        clusters, limit = design.unit, 0.0 if clip is None else clip
        if clusters is None and not isinstance(reference, np.ndarray) and not view.is_weighted:
            value, count, positives = view.counted("a skill score").arrays
            number = np.concatenate([count - positives, positives])
            there = number > 0
            y, p = np.repeat(BOTH_OUTCOMES, value.size)[there], np.tile(score.moved(value, clip), 2)[there]
            return cls(score, limit, y, p, reference, number[there])
        kept = view.sample.weighted if view.rows is None else None
        y, p = view.float_rows() if kept is None else (kept.outcome, kept.prediction)
        weight = view.weight if kept is None else kept.weight
        columns = (y, p, reference) if isinstance(reference, np.ndarray) else (y, p)
        order, unit = canonical_order(columns, clusters, weight)
        if clusters is None and weight is not None:
            unit = np.arange(order.size)
        return cls(
            score=score,
            limit=limit,
            outcome=y[order],
            prediction=score.moved(p[order], clip),
            reference=score.moved(reference[order], clip) if isinstance(reference, np.ndarray) else reference,
            weight=np.ones(order.size) if weight is None else weight[order],
            unit=unit,
            unseen=None if clusters is None else Unseen(design.unseen, view.rarest(clusters).count),
        )

    @property
    def base_rate(self) -> float:
        """The mean outcome."""
        return self._mean(self.outcome)

    @property
    def score_of_predictions(self) -> float:
        """The mean loss of the predictions."""
        return self._mean(self.score.loss(self.outcome, self.prediction))

    @property
    def score_of_reference(self) -> float:
        """The mean loss of the reference, which may be the mean outcome of these rows."""
        at = self.base_rate if self.reference is None else self.reference
        return self._mean(self.score.loss(self.outcome, np.broadcast_to(at, self.outcome.shape)))

    @property
    def is_bounded(self) -> bool:
        """Whether the losses of the predictions have a bound, also of rows that were not observed."""
        return self.limit > 0 or not self.score.is_steep

    def ends(self, tail: float) -> Ends:
        """Return the ends of the ratio of the two mean losses, each of which misses with probability `tail`.

        A ratio r is kept while 0 is in the interval of the mean of loss - r * loss of the reference. The base rate of
        the population is not known: r is kept while it is kept for a rate in the interval of the mean outcome with this
        tail, of which five are tried.

        Statement and argument: docs/evidence/proofs/skill.md.
        """
        predictions, references = self._of_forecasts(self.prediction), [*self._references(tail)]
        known = [each for each in references if np.isfinite(each.most)]
        lows, highs = zip(*(self._ends_of_ratio(predictions, each, tail) for each in known), strict=True)
        return min(lows) if len(known) == len(references) else 0.0, max(highs)

    def _ends_of_ratio(self, one: Losses, other: Losses, tail: float) -> Ends:
        """Return the ends of the ratio of two means of losses."""
        ratio = self._mean(one.loss) / self._mean(other.loss)
        if self.unit is not None and self.unseen is not None and self.unseen.word == OBSERVED:
            room = ratio * other.most - one.least, one.most - ratio * other.least
            total, size = (np.bincount(self.unit, self.weight * each) for each in (one.loss, other.loss))
            rows = np.bincount(self.unit, self.weight)
            interval = ClusterMean.of_ratio(self.score.name, total, size, rows, self.unseen.showing, room)
            return interval.low(tail), interval.high(tail)

        def mean(r: float) -> OfMean:
            ends = one.least - r * other.most, one.most - r * other.least
            return self._interval(self.score.name, one.loss - r * other.loss, ends)

        return ends_of_ratio(lambda r: mean(r).low(tail) > 0, lambda r: mean(r).high(tail) < 0, ratio)

    def _references(self, tail: float) -> Iterator[Losses]:
        """Yield the losses of the reference: of each rate that may be the base rate, or of the one that is given."""
        if isinstance(self.reference, np.ndarray):
            yield self._of_forecasts(self.reference)
            return
        rates = [self.reference]
        if self.reference is None:
            low, high = self._ends_of_rate(tail)
            middle = self.base_rate
            rates = [low, (low + middle) / 2, middle, (middle + high) / 2, high]
        for rate in rates:
            if_outcome = self.score.loss(BOTH_OUTCOMES, np.full(2, rate))
            yield Losses(if_outcome[self.outcome.astype(np.int64)], float(if_outcome.min()), float(if_outcome.max()))

    def _of_forecasts(self, prediction: np.ndarray) -> Losses:
        """Return the losses of a forecast for each row.

        If the score has no bound, the largest loss that any of these forecasts could have stands in its place.
        """
        most = np.array([self.limit, 1 - self.limit]) if self.is_bounded else prediction
        largest = max(float(self.score.loss(np.full(most.size, outcome), most).max()) for outcome in BOTH_OUTCOMES)
        return Losses(self.score.loss(self.outcome, prediction), 0.0, largest)

    def _interval(self, title: str, loss: np.ndarray, ends: Ends) -> OfMean:
        """Return the mean of what rows have that is within these ends."""
        if self.unit is None:
            return of_counted_losses(title, loss, self.weight, lambda: np.array(ends), ends)
        if self.unseen is None:
            return of_units(title, loss, self.weight, self.unit, ends, self.is_bounded)
        return of_clusters(title, loss, self.weight, self.unit, self.unseen, ends, self.is_bounded)

    def _ends_of_rate(self, tail: float) -> Ends:
        """Return the ends of the interval of the mean outcome."""
        if self.unit is None:
            n, events = float(self.weight.sum()), inner(self.weight, self.outcome)
            low, rest = smallest_mean(np.array([events, n - events]), np.array([n, n]), tail).tolist()
            return low, 1 - rest
        interval = self._interval("mean outcome", self.outcome, (0.0, 1.0))
        return max(interval.low(tail), 0.0), min(interval.high(tail), 1.0)

    def _mean(self, number: np.ndarray) -> float:
        return inner(self.weight, number) / float(self.weight.sum())
