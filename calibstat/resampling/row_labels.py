"""Resampled sums over rows whose labels are drawn given the predictions, row by row or cluster by cluster."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Draws
from calibstat.resampling.sources import OfLabels
from calibstat.resampling.streams import stream, word
from calibstat.resampling.threads import one_by_one


def sums_of_row_labels(
    cell: np.ndarray,
    prediction: np.ndarray,
    cells: int,
    unit: np.ndarray,
    sample_weight: np.ndarray | None,
    statistic: OfLabels,
    draws: Draws,
    stage: int,
) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample, theta the residuals / n summed in cells.

    The rows of a unit have one uniform number, below the predictions of those with outcome 1: their labels depend on
    each other as much as they can.
    """
    order = np.argsort(cell, kind="stable")  # sums are the same for any order of the rows
    cell, prediction, unit = cell[order], prediction[order], unit[order]
    weight = np.ones(cell.size) if sample_weight is None else sample_weight[order]
    expected, n = np.bincount(cell, weight * prediction, cells), float(weight.sum())

    def replicate(r: int) -> np.ndarray:
        events = _events(draws.key, stage, r, cell, prediction, unit, weight, cells)
        return statistic((events - expected) / n)

    return one_by_one(replicate, draws.n, draws.n_jobs)


@jit
def _events(
    key: np.uint64,
    stage: int,
    replicate: int,
    cell: np.ndarray,
    prediction: np.ndarray,
    unit: np.ndarray,
    weight: np.ndarray,
    size: int,
) -> np.ndarray:
    """Add up the weights of the rows of each cell whose prediction is above the uniform number of their unit."""
    start = np.uint64(stream(key, stage, replicate))
    sums = np.zeros(size)
    for i in range(cell.size):
        uniform = (np.float64(word(start, unit[i]) >> np.uint64(11)) + 0.5) * 2.0**-53
        if uniform < prediction[i]:
            sums[cell[i]] += weight[i]
    return sums
