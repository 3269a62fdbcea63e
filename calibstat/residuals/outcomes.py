"""Shares of rows by prediction and outcome, of a summary, and of each class against the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.decision_norm import cells_of_outcomes, sums_by_outcome
from calibstat.data.sample import Sample
from calibstat.resampling import Draws, Pairs, Stage
from calibstat.residuals.classes import EachClassResiduals
from calibstat.residuals.table import OfTheta, Residuals


@dataclass(frozen=True, eq=False)
class OutcomeShares(Residuals):
    """Of independent rows of a summary."""

    sample: Sample

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        n = self.sample.n
        return resampling.draw(self.sample, Pairs(), lambda _, *counts: of(sums_by_outcome(*counts) / n), draws, stage)


class EachClassShares(EachClassResiduals):
    """Of each class against the rest at its distinct predictions, one class after another."""

    def of_class(self, k: int, rows: np.ndarray, label: np.ndarray) -> np.ndarray:
        cell, size = self.cells[k]
        weight = np.ones(rows.size) if self.weight is None else self.weight[rows]
        return np.bincount(cells_of_outcomes(cell[rows], label == k), weight, 2 * size) / weight.sum()
