"""Bands of rows in clusters: score intervals of whole clusters, and the widest of the ways to draw calibrated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from calibstat.bounds.mean_interval import of_units
from calibstat.bounds.residual_tables import RowTable
from calibstat.inference.bands.reliability_bands import Band, Bins
from calibstat.inference.problems.calibrated_clusters import has_few_events, shared_labels
from calibstat.resampling import Draws

OfSums = Callable[[np.ndarray], np.ndarray]  # of (B, cells) sums of residuals over their number, or of (cells,)


def bars_of_clusters(bins: Bins, table: RowTable, miss: float) -> Band:
    """Return for each bin the score interval of its share of outcome 1, each end of which may miss.

    The rows of a cluster that are in the bin are one unit, so it counts what the outcomes of a cluster share, and what
    the clusters that were not seen could hide.
    """
    low, high = np.zeros(bins.count.size), np.ones(bins.count.size)
    for b, rows in enumerate(_rows_of_bins(bins, table)):
        clusters, unit = np.unique(table.units[rows], return_inverse=True)
        if clusters.size > 1:
            weight = np.ones(unit.size) if table.sample_weight is None else table.sample_weight[rows]
            outcome = np.rint(table.residual[rows] + table.prediction[rows])
            interval = of_units("share", outcome, weight, unit, (0.0, 1.0), True)
            low[b], high[b] = np.clip((interval.low(miss), interval.high(miss)), 0, 1)
    return Band(low, high)


def bins_of_few_events(bins: Bins, table: RowTable) -> np.ndarray:
    """Tell of each bin whether an outcome is observed or expected in few clusters: signs then say little of chance."""
    return np.array([_has_few_events(table, rows) for rows in _rows_of_bins(bins, table)])


def curves_of_clusters(
    table: RowTable, of: OfSums, few: np.ndarray, draws: Draws
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return curves of calibrated clusters by each way to draw them, beside independent labels, and where each counts.

    The signs of clusters count everywhere, labels that clusters share where `few`, shape (places,).
    """
    yield table.signed(of, draws), np.full(few.size, True)
    if few.any():
        yield shared_labels(table, table.cell, table.cells, of, draws), few


def in_bins(bins: Bins, table: RowTable) -> RowTable:
    """Return the table of the bins, made of a table of the distinct predictions."""
    return replace(table, cell=bins.cell[table.cell], cells=int(bins.cell[-1]) + 1, summary=None)


def _rows_of_bins(bins: Bins, table: RowTable) -> list[np.ndarray]:
    cell = bins.cell[table.cell]
    order = np.argsort(cell, kind="stable")
    return np.split(order, np.searchsorted(cell[order], bins.full)[1:])


def _has_few_events(table: RowTable, rows: np.ndarray) -> bool:
    weight = None if table.sample_weight is None else table.sample_weight[rows]
    unit = np.unique(table.units[rows], return_inverse=True)[1]
    cell = np.zeros(rows.size, np.int64)
    return has_few_events(RowTable(cell, table.residual[rows], table.prediction[rows], 1, weight, unit))
