"""Resampled sums over cells and classes of multiclass predictions, without storing the draws."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.unit_sums import ClassSums
from calibstat.compiled import jit
from calibstat.resampling.multiclass_labels import GUIDE_BITS, guide_words, thresholds
from calibstat.resampling.multiclass_pairs import draw_rows
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import OfLabels
from calibstat.resampling.streams import stream, word
from calibstat.resampling.threads import in_threads, small_chunks


def labels_of_vectors(source: ClassSums, scheme: Labels, statistic: OfLabels, draws: Draws, stage: int) -> np.ndarray:
    """Return the statistic of the number of draws of each class in each cell; cells are fixed."""
    chance = scheme.chances(source.predictions.prob)

    def replicates(first: int, last: int) -> np.ndarray:
        observed = np.zeros((last - first, source.cells), np.int32)
        _labels_in_cells(draws.key, stage, first, chance, source.index, source.stride, observed)
        return statistic(observed)

    pieces = small_chunks(draws.n, draws.n_jobs, 16 * source.cells)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


def pairs_of_vectors(source: ClassSums, statistic: OfLabels, draws: Draws, stage: int) -> np.ndarray:
    """Return the statistic of the residuals / n summed in each cell, in the pairs bootstrap."""
    predictions = source.predictions

    def replicates(first: int, last: int) -> np.ndarray:
        theta = np.zeros((last - first, source.cells))
        _residuals_of_rows(
            draws.key, stage, first, predictions.prob, predictions.label, source.index, source.stride, theta
        )
        theta /= predictions.n
        return statistic(theta)

    pieces = small_chunks(draws.n, draws.n_jobs, 8 * source.cells)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _labels_in_cells(
    key: np.uint64,
    stage: int,
    first: int,
    prob: np.ndarray,
    index: np.ndarray,
    stride: int,
    observed: np.ndarray,
) -> None:
    """Draw the classes of each row for all replicates and count them in cells; draws are not stored."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    start = np.empty(observed.shape[0], np.uint64)
    for r in range(start.size):
        start[r] = stream(key, stage, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    target = np.empty(classes, np.int64)
    for i in range(n):
        thresholds(prob[i], threshold)
        guide_words(threshold, guide)
        for k in range(classes):
            target[k] = index[i, 0 if shared else k] + k * stride
        for r in range(start.size):
            u = word(start[r], i) >> np.uint64(1)
            k = guide[u >> np.uint64(63 - GUIDE_BITS)]
            while threshold[k] <= u:
                k += 1
            observed[r, target[k]] += 1


@jit
def _residuals_of_rows(
    key: np.uint64,
    stage: int,
    first: int,
    prob: np.ndarray,
    label: np.ndarray,
    index: np.ndarray,
    stride: int,
    residual: np.ndarray,
) -> None:
    """Add up one-hot class minus prediction over drawn rows, after counting how often each row is drawn."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    rows = np.empty(n, np.int64)
    times = np.empty(n, np.int32)
    for r in range(residual.shape[0]):
        draw_rows(stream(key, stage, first + r), rows)
        times[:] = 0
        for i in range(n):
            times[rows[i]] += 1
        for i in range(n):
            if times[i] > 0:
                t = np.float64(times[i])
                for k in range(classes):
                    residual[r, index[i, 0 if shared else k] + k * stride] -= t * prob[i, k]
                k = label[i]
                residual[r, index[i, 0 if shared else k] + k * stride] += t
