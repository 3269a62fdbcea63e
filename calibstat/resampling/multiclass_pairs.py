"""Pairs bootstrap, whole clusters and consistency resampling of multiclass predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit
from calibstat.data.predictions import Predictions
from calibstat.resampling.multiclass_labels import thresholds
from calibstat.resampling.row_sums import times_in_clusters
from calibstat.resampling.schemes import Clusters, Consistency, Draws, Pairs
from calibstat.resampling.sources import Value
from calibstat.resampling.streams import LOW_HALF, first_state, word
from calibstat.resampling.threads import one_by_one


def pairs_of_predictions(
    predictions: Predictions,
    scheme: Pairs | Clusters | Consistency,
    statistic: Callable[[np.ndarray, np.ndarray], Value],
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return ``statistic(rows, label)`` of every resample."""

    def replicate(r: int) -> Value:
        return statistic(*pairs_of_rows(predictions, scheme, draws.key, stream, r))

    return one_by_one(replicate, draws.n, draws.n_jobs)


def pairs_of_rows(
    predictions: Predictions, scheme: Pairs | Clusters | Consistency, key: np.uint64, stream: int, replicate: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a replicate and their classes: n of them, or as many as the drawn clusters have."""
    start = np.uint64(first_state(key, stream, replicate))
    if isinstance(scheme, Clusters):
        rows = np.repeat(np.arange(predictions.n), times_in_clusters(start, scheme.unit))
        return rows, predictions.label[rows]
    rows = np.empty(predictions.n, np.int64)
    draw_rows(start, rows)
    if isinstance(scheme, Pairs):
        return rows, predictions.label[rows]
    label = np.empty(predictions.n, np.int64)
    _classes_of_rows(start, predictions.prob, rows, label)
    return rows, label


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def draw_rows(start: np.uint64, rows: np.ndarray) -> None:
    """Draw rows with replacement, each with the upper half of the product of a word and n."""
    size = np.uint64(rows.size) & LOW_HALF
    for i in range(rows.size):
        w = word(start, i)
        low = (w & LOW_HALF) * size
        rows[i] = np.int64(((w >> np.uint64(32)) * size + (low >> np.uint64(32))) >> np.uint64(32))


@jit
def _classes_of_rows(start: np.uint64, prob: np.ndarray, rows: np.ndarray, label: np.ndarray) -> None:
    """Draw a class for each of the drawn rows, from the words after the words of the rows."""
    threshold = np.empty(prob.shape[1], np.uint64)
    for i in range(rows.size):
        thresholds(prob[rows[i]], threshold)
        u = word(start, rows.size + i) >> np.uint64(1)
        k = 0
        while threshold[k] <= u:
            k += 1
        label[i] = k
