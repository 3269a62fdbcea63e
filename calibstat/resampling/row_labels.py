"""Resampled sums over rows whose labels are drawn given the predictions, row by row or cluster by cluster."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Draws, Labels, LabelsOfClusters
from calibstat.resampling.sources import OfLabels, RowLabels
from calibstat.resampling.streams import stream, word
from calibstat.resampling.threads import one_by_one


def sums_of_row_labels(
    source: RowLabels, scheme: Labels | LabelsOfClusters, statistic: OfLabels, draws: Draws, stage: int
) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample, theta the residuals / n summed in cells."""
    unit = scheme.unit if isinstance(scheme, LabelsOfClusters) else np.arange(source.cell.size)
    order = np.argsort(source.cell, kind="stable")  # sums are the same for any order of the rows
    cell, prediction, unit = source.cell[order], source.prediction[order], unit[order]
    weight = np.ones(cell.size) if source.weight is None else source.weight[order]
    expected, n = np.bincount(cell, weight * prediction, source.size), float(weight.sum())
    chance = scheme.chances(source.prediction)[order] if isinstance(scheme, Labels) else prediction

    def replicate(r: int) -> np.ndarray:
        events = _events(draws.key, stage, r, cell, chance, unit, weight, source.size)
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
    found = np.zeros(size)
    for i in range(cell.size):
        uniform = (np.float64(word(start, unit[i]) >> np.uint64(11)) + 0.5) * 2.0**-53
        if uniform < prediction[i]:
            found[cell[i]] += weight[i]
    return found
