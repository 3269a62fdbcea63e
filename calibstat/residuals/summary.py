"""Residuals of a summary, at distinct predictions or in cells of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.norms import Norm
from calibstat.data.sample import Sample
from calibstat.resampling import CellSums, Draws, Pairs, Stage
from calibstat.resampling.one_pass import OnePass
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
        return resampling.residuals_of_pairs(self.sample, self._zeros, 1.0, of, draws, stage)

    def moved(self, norm: Norm, origin: np.ndarray, step: float, draws: Draws) -> np.ndarray:
        if self.cell is not None:
            return super().moved(norm, origin, step, draws)
        start, one_pass = (1 - step) * origin, norm.one_pass
        if one_pass is not None:
            return resampling.pairs_in_one_pass(self.sample, start, step, one_pass, draws, Stage.ROWS)
        return resampling.residuals_of_pairs(self.sample, start, step, norm.value, draws, Stage.ROWS)

    def in_one_pass(self, statistic: OnePass, draws: Draws) -> np.ndarray:
        return resampling.pairs_in_one_pass(self.sample, self._zeros, 1.0, statistic, draws, Stage.ROWS)

    @property
    def _zeros(self) -> np.ndarray:
        return np.zeros(self.sample.value.size)
