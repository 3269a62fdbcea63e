"""A measure of rows that come in clusters, which are drawn whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.inference.drawable import Drawable
from calibstat.measures.linear_form import RowForm
from calibstat.resampling import Clusters, Draws, RowSums, Signs, Stage


@dataclass(frozen=True)
class ClusteredProblem(Drawable):
    """A measure by rows that come in clusters: whole clusters are drawn."""

    form: RowForm
    unit: np.ndarray

    @property
    def n(self) -> int | float:
        return self.form.n

    def statistic(self) -> float:
        return self.form.estimate

    def draw_null(self, draws: Draws) -> np.ndarray:
        """Let the residuals of a cluster keep or change their signs together.

        If calibrated, the residuals of every cluster have mean zero given the predictions. Where few clusters share a
        cell this says more of their spread than drawing clusters does.
        """
        sums = RowSums(self.form.cell, self.form.residual, self.form.theta.size)
        return resampling.draw(sums, Signs(self.unit), self.form.norm, draws, Stage.SIGNS)

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        return self._draw_clusters(self.form.norm, draws)

    def linear_form(self) -> RowForm:
        return self.form

    def draw_form(self, form: RowForm, draws: Draws) -> np.ndarray:
        return self._draw_clusters(form.moves, draws)

    def _draw_clusters(self, statistic: Any, draws: Draws) -> np.ndarray:
        sums = RowSums(self.form.cell, self.form.residual, self.form.theta.size)
        return resampling.draw(
            sums, Clusters(self.unit), lambda total, rows: statistic(total / rows[:, None]), draws, Stage.ROWS
        )
