"""A measure of rows that come in clusters, which are drawn whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.linear_form import RowForm
from calibstat.inference.p_values import p_value
from calibstat.inference.problems.drawable import Drawable
from calibstat.resampling import Clusters, Draws, Labels, LabelsOfClusters, Pairs, RowLabels, RowSums, Signs, Stage

FEW_EVENTS = 10  # clusters
LEVELS = 10  # of predictions, in which the residuals of a cluster are added up: errors at one do not undo another's
TINY = 1e-12  # of a spread: without any, all are the same


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

        Statement and argument: docs/proofs.md, section 8.
        """
        found = {
            "signs of clusters": self.draw_null(draws),
            "independent labels": self._draw_labels(Labels(), draws, Stage.LABELS),
        }
        if self.fewest_events() < FEW_EVENTS:
            found["labels that clusters share"] = self._draw_labels(LabelsOfClusters(self.unit), draws, Stage.TOGETHER)
        elif self.fewest_events(by_square=True) < FEW_EVENTS:  # enough clusters to tell their spread
            found["labels that clusters share"] = self._draw_in_spread(draws)
        return max(found.items(), key=lambda drawn: p_value(self.form.estimate, drawn[1], "greater"))

    def fewest_events(self, by_square: bool = False) -> float:
        """Return the least of the clusters with outcome 1, with outcome 0, and expected to have the less likely one.

        By square a cluster of m rows counts m**2, the variance of its sum if all its outcomes are equal, divided by the
        mean m**2 of the clusters, weighted by their unlikely outcomes. So small clusters in which an outcome occurred
        do not make up for a few large clusters in which it did not.

        Statement and argument: docs/proofs.md, section 8.
        """
        weight = np.ones(self.unit.size) if self.form.weight is None else self.form.weight
        size = np.bincount(self.unit, weight)
        mean = np.bincount(self.unit, weight * self.form.prediction) / size
        square = (size / size.max()) ** 2 if by_square else np.ones(size.size)
        unlikely = square * np.minimum(mean, 1 - mean).clip(0.0)
        if not unlikely.any():
            return 0.0
        outcome = self.form.residual + self.form.prediction > 0.5
        observed = [square[np.unique(self.unit[rows])].sum() for rows in (outcome, ~outcome)]
        return float(min(*observed, unlikely.sum()) * unlikely.sum() / (square @ unlikely))

    def _draw_labels(self, scheme: Labels | LabelsOfClusters, draws: Draws, stage: Stage) -> np.ndarray:
        labels = RowLabels(self.form.cell, self.form.prediction, self.form.theta.size, self.form.weight)
        return resampling.draw(labels, scheme, self.form.norm, draws, stage)

    def _draw_in_spread(self, draws: Draws) -> np.ndarray:
        """Draw labels as alike as they can be in a cluster, each resample brought to the spread of the data.

        How alike the outcomes of a cluster are is not known, so the statistic is compared in units of the spread of
        what clusters add. For these labels that is as exact as the statistic itself, and where rows are less alike it
        finds more. Squares are divided by the rows of the cluster, or one large cluster would be all of the spread.
        """
        form, cells = self.form, self.form.theta.size
        level = np.minimum((form.prediction * LEVELS).astype(np.int64), LEVELS - 1)
        held, part = np.unique((self.unit * LEVELS + level) * cells + form.cell, return_inverse=True)
        summand, cell = np.divmod(held, cells)  # of each part
        levels, summand = np.unique(summand, return_inverse=True)
        size = np.bincount(self.unit, form.weight)[levels // LEVELS]

        def spread(total: np.ndarray) -> float:
            return float(np.sqrt((np.bincount(summand, total) ** 2 / size).sum())) + TINY

        observed = spread(np.bincount(part, form.added) / form.n)

        def statistic(total: np.ndarray) -> Any:
            return form.norm(np.bincount(cell, total, cells)) * (observed / spread(total))

        labels = RowLabels(part, form.prediction, held.size, form.weight)
        return resampling.draw(labels, LabelsOfClusters(self.unit), statistic, draws, Stage.TOGETHER)

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
