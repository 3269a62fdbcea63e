"""Sums over cells and classes of multiclass predictions, drawn without keeping what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.multiclass_labels import GUIDE_BITS, guide_words, thresholds
from calibstat.resampling.multiclass_pairs import draw_rows
from calibstat.resampling.schemes import Draws, Labels, Pairs
from calibstat.resampling.sources import VectorSums
from calibstat.resampling.streams import stream, word
from calibstat.resampling.threads import in_threads, small_chunks


def hits_of_vectors(
    source: VectorSums, scheme: Labels, statistic: Callable[[np.ndarray], Any], draws: Draws, stage: int
) -> np.ndarray:
    """Return the statistic of how often each class was drawn in each cell, for cells that do not move."""

    def replicates(first: int, last: int) -> Any:
        hits = np.zeros((last - first, source.size), np.int32)
        _hits(draws.key, stage, first, source.predictions.prob, source.place, source.along, hits)
        return statistic(hits)

    pieces = small_chunks(draws.n, draws.n_jobs, 16 * source.size)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


def residuals_of_vectors(
    source: VectorSums, scheme: Pairs, statistic: Callable[[np.ndarray], Any], draws: Draws, stage: int
) -> np.ndarray:
    """Return the statistic of residual / n summed in each cell, in resamples of the rows with their classes."""
    predictions = source.predictions

    def replicates(first: int, last: int) -> Any:
        theta = np.zeros((last - first, source.size))
        _residuals_of_rows(
            draws.key, stage, first, predictions.prob, predictions.label, source.place, source.along, theta
        )
        theta /= predictions.n
        return statistic(theta)

    pieces = small_chunks(draws.n, draws.n_jobs, 8 * source.size)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _hits(
    key: np.uint64,
    stage: int,
    first: int,
    prob: np.ndarray,
    place: np.ndarray,
    along: int,
    hits: np.ndarray,
) -> None:
    """Draw classes row by row for all replicates and count where they fall: nothing drawn is kept."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    start = np.empty(hits.shape[0], np.uint64)
    for r in range(start.size):
        start[r] = stream(key, stage, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    target = np.empty(classes, np.int64)
    for i in range(n):
        thresholds(prob[i], threshold)
        guide_words(threshold, guide)
        for k in range(classes):
            target[k] = place[i, 0 if shared else k] + k * along
        for r in range(start.size):
            u = word(start[r], i) >> np.uint64(1)
            k = guide[u >> np.uint64(63 - GUIDE_BITS)]
            while threshold[k] <= u:
                k += 1
            hits[r, target[k]] += 1


@jit
def _residuals_of_rows(
    key: np.uint64,
    stage: int,
    first: int,
    prob: np.ndarray,
    label: np.ndarray,
    place: np.ndarray,
    along: int,
    residual: np.ndarray,
) -> None:
    """Add up one-hot class minus prediction over drawn rows; how often each was drawn is counted before."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
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
                    residual[r, place[i, 0 if shared else k] + k * along] -= t * prob[i, k]
                k = label[i]
                residual[r, place[i, 0 if shared else k] + k * along] += t
