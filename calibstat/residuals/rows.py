"""Residuals row by row, with weights or in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.joined_table import JoinedTable
from calibstat.bounds.residual_tables import RowTable, TableOfRows
from calibstat.resampling import Draws, Stage
from calibstat.residuals.stack import Stack
from calibstat.residuals.table import OfTheta, Residuals

FEW_EVENTS = 10  # clusters
SIGNS, INDEPENDENT, SHARED = "signs of clusters", "independent labels", "labels that clusters share"  # ways to draw
LEVELS = 10  # of predictions, in which the residuals of a cluster are added up: errors at one do not undo another's
TINY = 1e-12  # of a spread: without any, all are the same


@dataclass(frozen=True, eq=False)
class TableResiduals(Residuals):
    """Of rows, which are drawn one by one or, if they have a `unit`, in whole clusters."""

    table: TableOfRows

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        return Stack([self.table], draws, stage).resampled(of)[0]


@dataclass(frozen=True, eq=False)
class RowResiduals(TableResiduals):
    """Residuals of rows, each of which adds in one cell; calibrated labels can be drawn for them."""

    table: RowTable

    @property
    def events(self) -> Sequence[RowTable]:
        """The table of each event whose residuals are added up."""
        return [self.table]

    def relabelled(self, of: OfTheta, draws: Draws) -> np.ndarray:
        """Return ``of(theta)`` of labels that are drawn independently from the predictions."""
        rows = np.arange(self.table.n_rows)
        return self._labels(self._cells, self.table.cells, rows, of, draws, Stage.LABELS)

    def shared_labels(self, part: np.ndarray, parts: int, of: OfTheta, draws: Draws) -> np.ndarray:
        """Return ``of(theta)`` of sums in parts, of labels that are as alike in a cluster as they can be.

        `part` holds the part of each row, of one event after another.
        """
        return self._labels(part, parts, self.table.units, of, draws, Stage.SHARED)

    @property
    def _cells(self) -> np.ndarray:
        """The cell of each row, of one event after another."""
        return np.concatenate([self.table.column(k)[0] for k in range(self.table.columns)])

    def signed(self, of: OfTheta, draws: Draws) -> np.ndarray:
        """Return ``of(theta)`` where the residuals of a cluster keep or change their signs together.

        If calibrated, the residuals of every cluster have mean zero given the predictions. Where few clusters share a
        cell this says more of their spread than drawing clusters does.
        """
        return Stack([self.table], draws, Stage.SIGNS).signed(lambda thetas: of(thetas[0]))

    def null_draws(self, of: OfTheta, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return ``of(theta)`` of calibrated clusters by each way to draw them: the largest p-value of a test counts.

        `labels` is what `relabelled` returns, if it is known.

        Calibration does not say how the outcomes of one cluster depend on each other. Signs keep the squares of the
        observed residuals, which are tiny where no event was observed; labels are drawn from the predictions.

        Statement and argument: docs/proofs.md, section 8.
        """
        independent = self.relabelled(of, draws) if labels is None else labels
        null = {SIGNS: self.signed(of, draws), INDEPENDENT: independent}
        if self.fewest_events() < FEW_EVENTS:
            null[SHARED] = self.shared_labels(self._cells, self.table.cells, of, draws)
        elif self.has_few_events():  # by their squares alone: enough clusters to tell their spread
            null[SHARED] = self._labels_in_spread(of, draws)
        return null

    def has_few_events(self) -> bool:
        """Whether an outcome is observed or expected in few clusters, or in few large ones."""
        return min(self.fewest_events(), self.fewest_events(by_square=True)) < FEW_EVENTS

    def fewest_events(self, by_square: bool = False) -> float:
        """Return `fewest_clusters`, of several events the least."""
        return min(fewest_clusters(event, by_square) for event in self.events)

    def _labels(
        self, cell: np.ndarray, cells: int, unit: np.ndarray, of: OfTheta, draws: Draws, stage: int
    ) -> np.ndarray:
        prediction, weight = self.table.prediction, self.table.sample_weight
        return resampling.sums_of_row_labels(cell, prediction, cells, unit, weight, of, draws, stage)

    def _labels_in_spread(self, of: OfTheta, draws: Draws) -> np.ndarray:
        """Draw labels as alike as they can be in a cluster, each resample brought to the spread of the data.

        How alike the outcomes of a cluster are is not known, so the statistic is compared in units of the spread of
        what clusters add. For these labels that is as exact as the statistic itself, and where rows are less alike it
        finds more. Squares are divided by the rows of the cluster, or one large cluster would be all of the spread.
        """
        table, cells, units = self.table, self.table.cells, self.table.size.size
        columns = [table.column(k) for k in range(table.columns)]
        level = [np.minimum((event.prediction * LEVELS).astype(np.int64), LEVELS - 1) for event in self.events]
        keys = [((k * units + table.units) * LEVELS + level[k]) * cells + cell for k, (cell, _) in enumerate(columns)]
        held, part = np.unique(np.concatenate(keys), return_inverse=True)
        summand, cell = np.divmod(held, cells)  # of each part
        levels, summand = np.unique(summand, return_inverse=True)
        size = np.bincount(table.units, table.sample_weight)[levels // LEVELS % units]

        def spread(total: np.ndarray) -> float:
            return float(np.sqrt((np.bincount(summand, total) ** 2 / size).sum())) + TINY

        observed = spread(np.bincount(part, np.concatenate([contribution for _, contribution in columns])) / table.n)

        def statistic(total: np.ndarray) -> Any:
            return of(np.bincount(cell, total, cells) * (observed / spread(total)))

        return self.shared_labels(part, held.size, statistic, draws)


@dataclass(frozen=True, eq=False)
class ClassRowResiduals(RowResiduals):
    """Of all classes of rows, each against the rest: labels are classes, which are drawn once for all of them.

    Where the rows of a cluster share a uniform number, a row has the first class, the rarest one first, at which its
    cumulated predictions exceed the number. So the rarest class is as alike in a cluster as it can be.
    """

    table: JoinedTable  # type: ignore[assignment]

    @property
    def events(self) -> Sequence[RowTable]:
        return self.table.tables

    def _labels(
        self, cell: np.ndarray, cells: int, unit: np.ndarray, of: OfTheta, draws: Draws, stage: int
    ) -> np.ndarray:
        prob = np.stack([event.prediction for event in self.events], axis=1)
        weight = self.table.sample_weight
        rarest_first = np.argsort(prob.sum(axis=0), kind="stable")
        cell = cell.reshape(prob.shape[1], -1)[rarest_first]
        prob = np.ascontiguousarray(prob[:, rarest_first])
        return resampling.sums_of_class_labels(cell.T, prob, cells, unit, weight, of, draws, stage)


def fewest_clusters(table: RowTable, by_square: bool = False) -> float:
    """Return the least of the clusters with outcome 1, with outcome 0, and expected to have the less likely one.

    By square a cluster of m rows counts m**2, the variance of its sum if all its outcomes are equal, divided by the
    mean m**2 of the clusters, weighted by their unlikely outcomes. So small clusters in which an outcome occurred
    do not make up for a few large clusters in which it did not.

    Statement and argument: docs/proofs.md, section 8.
    """
    unit = table.units
    weight = np.ones(unit.size) if table.sample_weight is None else table.sample_weight
    size = np.bincount(unit, weight)
    mean = np.bincount(unit, weight * table.prediction) / size
    square = (size / size.max()) ** 2 if by_square else np.ones(size.size)
    unlikely = square * np.minimum(mean, 1 - mean).clip(0.0)
    if not unlikely.any():
        return 0.0
    outcome = table.residual + table.prediction > 0.5
    observed = [square[np.bincount(unit[rows], minlength=size.size) > 0].sum() for rows in (outcome, ~outcome)]
    return float(min(*observed, unlikely.sum()) * unlikely.sum() / (square @ unlikely))
