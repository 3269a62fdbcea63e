"""Residuals of rows of several classes: one for each class, of each class at its own predictions, or of embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.unit_sums import ClassSums
from calibstat.data.predictions import Predictions
from calibstat.resampling import Draws, Pairs, Stage
from calibstat.residuals.table import OfTheta, Residuals


@dataclass(frozen=True, eq=False)
class ClassResiduals(Residuals):
    """Of rows that add a residual for each class in cells."""

    sums: ClassSums

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        return resampling.pairs_of_vectors(self.sums.places, of, draws, stage)


@dataclass(frozen=True, eq=False)
class EachClassResiduals(Residuals):
    """Of each class against the rest at its distinct predictions: statistics get the sums of one class after another.

    All classes share the drawn rows, which may have a weight.
    """

    predictions: Predictions
    weight: np.ndarray | None = None

    @cached_property
    def cells(self) -> Sequence[tuple[np.ndarray, int]]:
        """Of each class, which distinct prediction each row has, and how many there are."""
        distinct = (self.predictions.distinct(k) for k in range(self.predictions.n_classes))
        return [(cell, value.size) for value, _, cell in distinct]

    def of_class(self, k: int, rows: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the sums of class k over drawn rows, with the label that each has."""
        cell, size = self.cells[k]
        residual = (label == k) - self.predictions.prob[rows, k].astype(np.float64)
        if self.weight is None:
            return np.bincount(cell[rows], residual, size) / rows.size
        weight = self.weight[rows]
        return np.bincount(cell[rows], weight * residual, size) / weight.sum()

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        def of_drawn_rows(rows: np.ndarray, label: np.ndarray) -> Any:
            return of(self.of_class(k, rows, label) for k in range(self.predictions.n_classes))

        return resampling.draw(self.predictions, Pairs(), of_drawn_rows, draws, stage)


@dataclass(frozen=True, eq=False)
class RowCounts(Residuals):
    """Of rows by their numbers of draws, for statistics that are functions of these."""

    predictions: Predictions

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        def times(rows: np.ndarray, label: np.ndarray) -> np.ndarray:
            return np.bincount(rows, minlength=self.predictions.n).astype(np.float64)

        return np.asarray(of(resampling.draw(self.predictions, Pairs(), times, draws, stage)))
