"""The kind of measures of rows: any function of outcomes and predictions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.data.sample import Sample
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.population_value import NO_EDGES, BinaryPopulation

POPULATION_ROWS = 100_000  # that stand for a population: the value of a measure of rows is off by about 1e-5


class RowStatistic(Statistic):
    """A binary measure: any function of the outcomes and predictions of rows, in ascending order of predictions.

    It defines `of_rows`, and gets what a `Statistic` gets.
    """

    @abstractmethod
    def of_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        """Return the measure of outcomes 0 and 1, int64, and predictions, float64, both of shape (n,)."""

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        each = np.column_stack([count - positives, positives]).ravel()
        rows = each.astype(np.int64)
        if np.any(rows != each):
            raise ValueError(
                f"expected rows without weights for measure {self.name!r}, a function of outcomes and predictions, "
                "found weights; a function of (value, count, positives) takes them"
            )
        return float(self.of_rows(np.repeat(np.tile([0, 1], value.size), rows), np.repeat(value.repeat(2), rows)))

    def plug_in(self, population: BinaryPopulation, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> float:
        in_rows: Any = _InRows(population)  # all of a population that a statistic asks for
        return super().plug_in(in_rows, edge, strategy)


@dataclass(frozen=True)
class _InRows:
    """A population whose weighted points are replaced by rows, as many as `POPULATION_ROWS`."""

    population: BinaryPopulation

    @property
    def scattered(self) -> bool:
        return self.population.scattered

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return whole rows: of either outcome the number up to every prediction is off by half a row at most."""
        points = self.population.summary(edge, strategy)
        share = POPULATION_ROWS / points.count.sum()
        negatives, positives = (
            np.diff(np.rint(share * each.cumsum()), prepend=0.0)
            for each in (points.count - points.positives, points.positives)
        )
        count = negatives + positives
        there = count > 0
        return Sample(points.value[there], count[there], positives[there])
