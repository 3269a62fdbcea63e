"""Resampling of multiclass labels given the predictions.

A class is drawn by comparing a random word with the cumulative sums of the row at 63 bits. A row whose sum is not
exactly 1 is normalised, and a class of probability 0 is never drawn.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.resampling.schemes import Draws, Labels, RowLabels
from calibstat.resampling.sources import OfLabels, OfSample, Value
from calibstat.resampling.streams import GOLDEN, first_state, mix
from calibstat.resampling.threads import announced_pieces, in_threads, of_draws, small_chunks

GUIDE_BITS = 8  # leading bits of a word that index the table of starting classes
FEW_CLASSES = 16  # up to so many thresholds are all compared
TILE = 16  # rows whose classes are drawn before they are written


def labels_of_predictions(
    predictions: Predictions, scheme: Labels, statistic: OfLabels, draws: Draws, stream: int
) -> np.ndarray:
    """Return ``statistic(labels)``, labels of shape (B, n), of all resamples, B at a time."""

    def replicates(first: int, last: int) -> np.ndarray:
        return statistic(labels_of_rows(scheme.chances(predictions.prob), draws.key, stream, first, last))

    pieces = small_chunks(draws.n, draws.n_jobs, 8 * predictions.n)
    return np.concatenate(announced_pieces(replicates, pieces, draws.n_jobs, of_draws(draws.n, predictions)))


def labels_of_event_rows(
    sample: Sample, scheme: RowLabels, statistic: OfSample, draws: Draws, stream: int
) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample, drawn row by row as of two classes."""
    value, count, _ = sample.arrays

    def replicates(first: int, last: int) -> list[Value]:
        drawn = []
        for label in labels_of_rows(scheme.chance, draws.key, stream, first, last):
            observed = label if scheme.weight is None else scheme.weight * label
            drawn.append(statistic(value, count, np.bincount(scheme.cell, observed, value.size)))
        return drawn

    parts = in_threads(replicates, small_chunks(draws.n, draws.n_jobs, 8 * scheme.cell.size), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def labels_of_rows(prob: np.ndarray, key: np.uint64, stream: int, first: int, last: int) -> np.ndarray:
    """Return the classes of replicates first..last, of shape (last - first, n)."""
    labels = np.empty((last - first, prob.shape[0]), np.int64)
    _labels(key, stream, first, prob, labels)
    return labels


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def thresholds(row: np.ndarray, threshold: np.ndarray) -> None:
    """Fill in cumulative sums times 2**63; the last class of positive probability takes the rounding error."""
    total = 0.0
    last = 0
    for k in range(row.size):
        total += row[k]
        if row[k] > 0.0:
            last = k
    below = 0.0
    for k in range(last):
        below += row[k]
        threshold[k] = np.uint64(below / total * 2.0**63)
    for k in range(last, row.size):
        threshold[k] = np.uint64(2**63)


@jit
def guide_words(threshold: np.ndarray, guide: np.ndarray) -> None:
    """Fill in the first possible class for the leading bits of a word, so that a draw takes few comparisons."""
    k = 0
    for i in range(guide.size):
        while threshold[k] <= np.uint64(i) << np.uint64(63 - GUIDE_BITS):
            k += 1
        guide[i] = k


@jit
def draw_classes(
    start: np.ndarray, i: int, threshold: np.ndarray, guide: np.ndarray, words: np.ndarray, label: np.ndarray
) -> None:
    """Draw the class of row i in all replicates; `guide` and `words`, one of each, are room.

    Few classes are compared with all thresholds, a plain loop that becomes vector code.
    """
    step = (np.uint64(i) + np.uint64(1)) * GOLDEN
    for r in range(start.size):
        words[r] = mix(start[r] + step) >> np.uint64(1)
    if threshold.size <= FEW_CLASSES:
        for r in range(start.size):
            label[r] = 0
        for k in range(threshold.size - 1):
            least = threshold[k]
            for r in range(start.size):
                label[r] += np.int64(1) if least <= words[r] else np.int64(0)
        return
    guide_words(threshold, guide)
    for r in range(start.size):
        k = guide[words[r] >> np.uint64(63 - GUIDE_BITS)]
        while threshold[k] <= words[r]:
            k += 1
        label[r] = k


@jit
def _labels(key: np.uint64, stream: int, first: int, prob: np.ndarray, labels: np.ndarray) -> None:
    """Draw the classes of all replicates, of some rows at a time, so that each replicate gets several at once."""
    n, classes = prob.shape
    start = np.empty(labels.shape[0], np.uint64)
    for r in range(start.size):
        start[r] = first_state(key, stream, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    words = np.empty(start.size, np.uint64)
    drawn = np.empty((TILE, start.size), np.int64)
    for begin in range(0, n, TILE):
        rows = min(TILE, n - begin)
        for i in range(rows):
            thresholds(prob[begin + i], threshold)
            draw_classes(start, begin + i, threshold, guide, words, drawn[i])
        for r in range(start.size):
            for i in range(rows):
                labels[r, begin + i] = drawn[i, r]
