"""Residuals of a summary, at distinct predictions or in cells of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.norms import Norm
from calibstat.data.sample import Sample
from calibstat.resampling import CellSums, Draws, Labels, Pairs, Stage
from calibstat.residuals.table import OfTheta, Residuals


@dataclass(frozen=True, eq=False)
class SummaryResiduals(Residuals):
    """Of independent rows of a summary: `cell` numbers the cell of each distinct prediction; None if each is one."""

    sample: Sample
    cell: np.ndarray | None = None

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        if self.cell is not None:
            cells = CellSums(self.sample, self.cell)
            return resampling.draw(cells, Pairs(), lambda _, residual, __: of(residual), draws, stage)

        return resampling.residuals_of_pairs(self.sample, np.zeros(self.sample.value.size), 1.0, of, draws, stage)

    def moved(self, norm: Norm, origin: np.ndarray, step: float, draws: Draws) -> np.ndarray:
        if self.cell is not None:
            return super().moved(norm, origin, step, draws)
        return resampling.residuals_of_pairs(self.sample, (1 - step) * origin, step, norm.value, draws, Stage.ROWS)

    def relabelled(self, norm: Norm, draws: Draws, stage: int = Stage.LABELS) -> np.ndarray:
        """Return the norm on distinct predictions of labels given them; no sums are held of a norm in one pass."""
        if norm.running is not None and self.sample.count.max() == 1:
            return resampling.running_labels(self.sample, norm.running, draws, stage)

        def of_counts(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
            return float(norm.value((positives - count * value) / count.sum()))

        return resampling.draw(self.sample, Labels(), of_counts, draws, stage)
