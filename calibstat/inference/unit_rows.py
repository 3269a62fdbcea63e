"""Rows with weights, in clusters or each by itself, for numbers that are not one measure: means and ratios of means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.bounds.mean_interval import OfMean, of_clusters, of_units
from calibstat.bounds.observed_clusters import ClusterMean
from calibstat.data.clusters import OBSERVED, Unseen, cluster_sizes, clusters_in_words
from calibstat.data.views import BinaryView
from calibstat.data.weighted_sample import WeightedSample
from calibstat.inference.problems.binary_problem import sample_in_clusters
from calibstat.inference.words_on_clusters import cautions, of_neighbours, of_outcomes, remark, supposed

Ends = tuple[float, float]
_HALVINGS = 60  # of an interval in which an end lies: more than a number has bits


@dataclass(frozen=True, eq=False)
class UnitRows:
    """Rows of positive weight with the cluster of each.

    Attributes
    ----------
    rows : WeightedSample
        The rows, ascending by prediction.
    unit : ndarray of int64, shape (n,)
        The number of the cluster of each row, or of the row.
    drawn : str
        What is independent: "rows", or clusters, with their number and sizes.
    unseen : Unseen or None
        What is supposed of clusters that were not observed; None without clusters.
    """

    rows: WeightedSample
    unit: np.ndarray
    drawn: str
    unseen: Unseen | None = None

    @classmethod
    def of(cls, seen: BinaryView, unit: np.ndarray | None, unseen: str) -> UnitRows | None:
        """Return the rows of this view in clusters `unit`; None of independent rows that all count once.

        `unseen` is what is supposed of clusters that are absent.
        """
        if unit is not None:
            of_absent = Unseen(unseen, seen.rarest(unit).count)
            return cls(*sample_in_clusters(seen, unit), clusters_in_words(unit, seen.weight), of_absent)
        rows = seen.sample
        return cls(rows, np.arange(rows.n_rows), "rows") if isinstance(rows, WeightedSample) else None

    @property
    def like_observed(self) -> Unseen | None:
        """The assumption about absent clusters, if it is that they are like those observed."""
        return None if self.unseen is None or self.unseen.word != OBSERVED else self.unseen

    def mean(self, title: str, loss: np.ndarray, bounds: Ends) -> OfMean:
        """Return the weighted mean of a loss of each row, which is within these bounds, with its interval."""
        if self.unseen is None:
            return of_units(title, loss, self.rows.weight, self.unit, bounds, True)
        return of_clusters(title, loss, self.rows.weight, self.unit, self.unseen, bounds, True)

    def ends(self, title: str, loss: np.ndarray, bounds: Ends, miss: float) -> Ends:
        """Return the ends of the interval of such a mean, each of which misses with probability `miss`."""
        interval = self.mean(title, loss, bounds)
        low, high = interval.low(miss), interval.high(miss)
        return max(low, bounds[0]), min(high, bounds[1])

    def ratio(self, title: str, miss: float) -> Ends:
        """Return the ends of the interval of mean outcome over mean prediction.

        The ratio is at most r if and only if the mean of outcome - r * prediction is at most 0: the interval holds all
        r for which 0 is in the interval of that mean (Fieller 1954). The high end is infinite where the mean prediction
        is not known to be above 0.
        """
        if self.like_observed is not None:
            interval = self._ratio_of_clusters(title, self.like_observed)
            return interval.low(miss), interval.high(miss)
        outcome, prediction = self.rows.outcome, self.rows.prediction
        estimate = float(self.rows.positives.sum() / (self.rows.weight @ prediction))

        def ends(r: float) -> Ends:
            return self.ends(title, outcome - r * prediction, (-r, 1.0), miss)

        return ends_of_ratio(lambda r: ends(r)[0] > 0, lambda r: ends(r)[1] < 0, estimate)

    def cautions(self, seen: BinaryView, unit: np.ndarray | None, names: np.ndarray | None) -> tuple[str, ...]:
        """Return when to be careful with intervals of these clusters, a sentence each; none without clusters.

        `unit` and `names` are the clusters of the rows as they were given, and their labels.
        """
        if self.unseen is None or unit is None:
            return ()
        outcome, prediction = seen.float_rows()
        clusters, _, _, effective = cluster_sizes(self.unit, self.rows.weight)
        events, size = (np.bincount(self.unit, self.rows.weight * of) for of in (self.rows.outcome, 1))
        alike = of_neighbours(outcome - prediction, unit, names, seen.weight)
        return (*cautions(clusters, effective), *of_outcomes(events, size), *alike)

    def supposed(self, confidence_level: float) -> str:
        """Return what intervals suppose of absent clusters, in a sentence; nothing without clusters."""
        if self.unseen is None:
            return ""
        return supposed(self.unseen, int(self.unit.max()) + 1, confidence_level)

    def annotated(self, seen: BinaryView, confidence_level: float, *remarks: str) -> dict[str, Any]:
        """Return the annotations of a result on these rows, with what its intervals suppose and other remarks."""
        fields = seen.annotations()
        notes = fields["note"], *remarks, self.supposed(confidence_level)
        return {**fields, "note": "\n".join(each for each in notes if each)}

    def remark_on_ratio(self, miss: float) -> str:
        """Return what a plain interval of O/E says, or what would move the interval to 1; nothing if neither is so."""
        if self.like_observed is None:
            return ""
        said = remark(self._ratio_of_clusters("O/E", self.like_observed), OBSERVED, miss, value=1.0)
        return f"O/E: {said}" if said else ""

    def _ratio_of_clusters(self, title: str, unseen: Unseen) -> ClusterMean:
        """Return mean outcome over mean prediction, if absent clusters are like those observed."""
        rows, weight = self.rows, self.rows.weight
        events, expected, size = (
            np.bincount(self.unit, part * weight) for part in (rows.outcome, rows.prediction, np.ones(weight.size))
        )
        rate = float(events.sum() / size.sum())
        return ClusterMean.of_ratio(title, events, expected, size, unseen.showing, (rate, 1 - rate))


def ends_of_ratio(below: Callable[[float], bool], above: Callable[[float], bool], estimate: float) -> Ends:
    """Return the ends of a ratio of two means that are at least 0, between what lies below it and what lies above.

    `below` says that the mean of numerator - r * denominator is above 0, and `above` that it is below 0. The high end
    is infinite where nothing is found above it.
    """
    farthest = max(estimate, 1.0)
    while not above(farthest):
        farthest *= 2
        if farthest > 1e6 * max(estimate, 1.0):
            farthest = np.inf
            break
    high = farthest if np.isinf(farthest) else _between(estimate, farthest, above)
    return _between(0.0, estimate, lambda r: not below(r)), high


def _between(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return where a condition that does not hold at first begins to hold."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
        if high - low <= 1e-12 * high:
            break
    return high
