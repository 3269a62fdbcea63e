"""Draws of calibrated rows, one by one or in clusters: outcomes of a cluster may depend on each other in any way."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.bounds.residual_tables import OfTheta, RowTable
from calibstat.bounds.tables_of_classes import TableOfEvents
from calibstat.resampling import Draws, Stream

FEW_EVENTS = 10  # clusters
SIGNS, INDEPENDENT, SHARED = "signs of clusters", "independent labels", "labels that clusters share"  # ways to draw
LEVELS = 10  # of predictions, in which the residuals of a cluster are added up: errors at one do not undo another's
TINY = 1e-12  # of a spread: without any, all are the same


def independent_labels(table: TableOfEvents, of: OfTheta, draws: Draws) -> np.ndarray:
    """Return ``of(theta)`` of labels that are drawn independently from the predictions."""
    rows = np.arange(table.n_rows)
    return table.relabelled(_cells(table), table.cells, rows, of, draws, Stream.LABELS)


def shared_labels(table: TableOfEvents, part: np.ndarray, parts: int, of: OfTheta, draws: Draws) -> np.ndarray:
    """Return ``of(theta)`` of sums in parts, of labels that are as alike in a cluster as they can be.

    `part` has the part of each row, from 0 to `parts` - 1; of several events all rows of the first come first.
    """
    return table.relabelled(part, parts, table.units, of, draws, Stream.SHARED)


def null_draws(
    table: TableOfEvents, of: OfTheta, draws: Draws, labels: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Return ``of(theta)`` of calibrated clusters by each way to draw them: the largest p-value of a test counts.

    `labels` is what `independent_labels` returns, if it is known.

    Calibration does not say how the outcomes of one cluster depend on each other. Signs keep the squares of the
    observed residuals, which are tiny where no event was observed; labels are drawn from the predictions.

    Statement and argument: docs/evidence/proofs/cluster-tests.md.
    """
    independent = independent_labels(table, of, draws) if labels is None else labels
    null = {SIGNS: table.signed(of, draws), INDEPENDENT: independent}
    if fewest_events(table) < FEW_EVENTS:
        null[SHARED] = shared_labels(table, _cells(table), table.cells, of, draws)
    elif has_few_events(table):  # by their squares alone: enough clusters to tell their spread
        null[SHARED] = labels_in_spread(table, of, draws)
    return null


def has_few_events(table: TableOfEvents) -> bool:
    """Whether an outcome is observed or expected in few clusters, or in few large ones."""
    return min(fewest_events(table), fewest_events(table, by_square=True)) < FEW_EVENTS


def fewest_events(table: TableOfEvents, by_square: bool = False) -> float:
    """Return `fewest_clusters`, of several events the least."""
    return min(fewest_clusters(event, by_square) for event in table.events)


def fewest_clusters(table: RowTable, by_square: bool = False) -> float:
    """Return the least of the clusters with outcome 1, with outcome 0, and expected to have the less likely one.

    By square a cluster of m rows counts m**2, the variance of its sum if all its outcomes are equal, divided by the
    mean m**2 of the clusters, weighted by their unlikely outcomes. So small clusters in which an outcome occurred
    do not make up for a few large clusters in which it did not.

    Statement and argument: docs/evidence/proofs/cluster-tests.md.
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


def labels_in_spread(table: TableOfEvents, of: OfTheta, draws: Draws) -> np.ndarray:
    """Draw labels as alike as they can be in a cluster, each resample brought to the spread of the data.

    How alike the outcomes of a cluster are is not known, so the statistic is compared in units of the spread of what
    clusters add. For these labels that is as exact as the statistic itself, and where rows are less alike it finds
    more. Squares are divided by the rows of the cluster, or one large cluster would be all of the spread.
    """
    cells, units = table.cells, table.size.size
    columns = [table.column(k) for k in range(table.columns)]
    level = [np.minimum((event.prediction * LEVELS).astype(np.int64), LEVELS - 1) for event in table.events]
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

    return shared_labels(table, part, held.size, statistic, draws)


def _cells(table: TableOfEvents) -> np.ndarray:
    """Return the cell of each row; of several events all rows of the first come first."""
    return np.concatenate([table.column(k)[0] for k in range(table.columns)])
