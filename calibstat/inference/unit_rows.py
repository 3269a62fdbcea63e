"""Rows with weights, in clusters or each by itself, for numbers that are not one measure: means and ratios of means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, of_units
from calibstat.data.clusters import clusters_in_words
from calibstat.data.views import BinaryView
from calibstat.data.weighted_sample import WeightedSample
from calibstat.inference.problems.binary_problem import sample_in_clusters

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
    """

    rows: WeightedSample
    unit: np.ndarray
    drawn: str

    @classmethod
    def of(cls, seen: BinaryView, unit: np.ndarray | None) -> UnitRows | None:
        """Return the rows of this data in clusters `unit`; None of independent rows that all count once."""
        if unit is not None:
            return cls(*sample_in_clusters(seen, unit), clusters_in_words(unit, seen.weight))
        rows = seen.sample
        return cls(rows, np.arange(rows.n_rows), "rows") if isinstance(rows, WeightedSample) else None

    def mean(self, title: str, loss: np.ndarray, bounds: Ends) -> MeanInterval:
        """Return the weighted mean of a loss of each row, which is within these bounds, with its interval."""
        return of_units(title, loss, self.rows.weight, self.unit, bounds, True)

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
        outcome, prediction = self.rows.outcome, self.rows.prediction
        estimate = float(self.rows.positives.sum() / (self.rows.weight @ prediction))

        def below(r: float) -> bool:
            return self.ends(title, outcome - r * prediction, (-r, 1.0), miss)[0] > 0

        def above(r: float) -> bool:
            return self.ends(title, outcome - r * prediction, (-r, 1.0), miss)[1] < 0

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
