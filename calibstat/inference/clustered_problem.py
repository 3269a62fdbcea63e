"""A measure of rows that come in clusters, which are drawn whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.inference.drawable import Drawable
from calibstat.inference.p_values import p_value
from calibstat.measures.linear_form import RowForm
from calibstat.resampling import Clusters, Draws, Labels, LabelsOfClusters, Pairs, RowLabels, RowSums, Signs, Stage

FEW_EVENTS = 10  # clusters


@dataclass(frozen=True)
class ClusteredProblem(Drawable):
    """A measure by rows that come in clusters: whole clusters are drawn."""

    form: RowForm
    unit: np.ndarray

    @property
    def n(self) -> int | float:
        return self.form.n_rows

    def statistic(self) -> float:
        return self.form.estimate

    def draw_null(self, draws: Draws) -> np.ndarray:
        """Let the residuals of a cluster keep or change their signs together.

        If calibrated, the residuals of every cluster have mean zero given the predictions. Where few clusters share a
        cell this says more of their spread than drawing clusters does.
        """
        return resampling.draw(sums_of(self.form), Signs(self.unit), self.form.norm, draws, Stage.SIGNS)

    def draw_calibrated(self, draws: Draws) -> np.ndarray:
        """Draw labels independently.

        Signs keep the squares of the observed residuals, which are tiny in a lucky sample; and calibration does not say
        how far the outcomes of a cluster agree.
        """
        return self._draw_labels(Labels(), draws, Stage.LABELS)

    def pvalue_if_calibrated(self, draws: Draws, labels: Callable[[], np.ndarray] | None = None) -> float:
        return p_value(self.form.estimate, self.least_favourable(draws)[1], "greater")

    def least_favourable(self, draws: Draws) -> tuple[str, np.ndarray]:
        """Return the resamples with the largest p-value: of signs, of independent labels or, of few events, clusters'.

        Calibration does not say how the outcomes of one cluster depend on each other. Signs keep the squares of the
        observed residuals, which are tiny where no event was observed; labels are drawn from the predictions.
        """
        found = {
            "signs of clusters": self.draw_null(draws),
            "independent labels": self._draw_labels(Labels(), draws, Stage.LABELS),
        }
        if self.fewest_events < FEW_EVENTS:
            found["labels that clusters share"] = self._draw_labels(LabelsOfClusters(self.unit), draws, Stage.TOGETHER)
        return max(found.items(), key=lambda drawn: p_value(self.form.estimate, drawn[1], "greater"))

    @property
    def fewest_events(self) -> float:
        """The least of the clusters with outcome 1 and with outcome 0, observed and expected of clusters of one row."""
        prediction, outcome = self.form.prediction, self.form.residual + self.form.prediction > 0.5
        size = np.bincount(self.unit)
        expected = float((np.bincount(self.unit, prediction) / size).sum())
        observed = [np.unique(self.unit[rows]).size for rows in (outcome, ~outcome)]
        return min(*observed, expected, size.size - expected)

    def _draw_labels(self, scheme: Labels | LabelsOfClusters, draws: Draws, stage: Stage) -> np.ndarray:
        labels = RowLabels(self.form.cell, self.form.prediction, self.form.theta.size, self.form.weight)
        return resampling.draw(labels, scheme, self.form.norm, draws, stage)

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        return drawn_rows(self.form, self.form.norm, draws)

    def linear_form(self) -> RowForm:
        return self.form

    def draw_form(self, form: RowForm, draws: Draws) -> np.ndarray:
        return drawn_rows(form, form.moves, draws)


def sums_of(form: RowForm) -> RowSums:
    """Return the sums of a form by rows, to draw from."""
    return RowSums(form.cell, form.added, form.theta.size, form.weight)


def drawn_rows(form: RowForm, statistic: Callable[[np.ndarray], Any], draws: Draws) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample of the rows of a form, or of its clusters."""
    scheme = Pairs() if form.unit is None else Clusters(form.unit)
    return resampling.draw(
        sums_of(form), scheme, lambda total, rows: statistic(total / rows[:, None]), draws, Stage.ROWS
    )
