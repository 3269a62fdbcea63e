"""Resampling of the binary samples of all classes together, from the same rows and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.multiclass_labels import labels_of_rows
from calibstat.resampling.multiclass_pairs import pairs_of_rows
from calibstat.resampling.schemes import Draws, Labels, OfRows
from calibstat.resampling.sources import ClassSamples
from calibstat.resampling.threads import chunks, in_threads, small_chunks

OfSample = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def samples_of_classes(
    source: ClassSamples,
    scheme: OfRows,
    statistic: Callable[[np.ndarray, np.ndarray], OfSample],
    draws: Draws,
    stage: int,
) -> np.ndarray:
    """Return the statistic of each class in every resample, of shape (n_resamples, K).

    Classes are done one after the other, so that one is sorted at a time; threads share the classes.
    """
    predictions = source.predictions
    weight = np.ones(predictions.n) if source.weight is None else source.weight

    def replicates(first: int, last: int) -> np.ndarray:
        rows: Sequence[np.ndarray] | None = None
        labels: Sequence[np.ndarray] | np.ndarray
        if isinstance(scheme, Labels):
            labels = labels_of_rows(scheme.chances(predictions.prob), draws.key, stage, first, last)
        else:
            pairs = [pairs_of_rows(predictions, scheme, draws.key, stage, r) for r in range(first, last)]
            rows, labels = zip(*pairs, strict=True)
        drawn = np.empty((last - first, predictions.n_classes))

        def classes(low: int, high: int) -> None:
            for k in range(low, high):
                value, count, cell = predictions.distinct(k)
                count = count if source.weight is None else np.bincount(cell, weight)
                of_class = statistic(value, count)
                count_r, positives = count.copy(), np.empty_like(count)
                for r in range(last - first):
                    if rows is None:
                        _positives(labels[r], cell, weight, k, positives)
                    else:
                        _counts(rows[r], labels[r], cell, weight, k, count_r, positives)
                    drawn[r, k] = of_class(value, count_r, positives)

        in_threads(classes, chunks(predictions.n_classes, draws.n_jobs), draws.n_jobs)
        return drawn

    return np.concatenate(in_threads(replicates, small_chunks(draws.n, 1, 8 * predictions.n), 1))


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _positives(label: np.ndarray, cell: np.ndarray, weight: np.ndarray, k: int, positives: np.ndarray) -> None:
    """Add up the weights of the rows of class k at each distinct prediction."""
    positives[:] = 0.0
    for i in range(label.size):
        positives[cell[i]] += weight[i] * (label[i] == k)


@jit
def _counts(
    rows: np.ndarray,
    label: np.ndarray,
    cell: np.ndarray,
    weight: np.ndarray,
    k: int,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Add up the weights of the drawn rows, and of the rows of class k among them, at each distinct prediction."""
    count[:] = 0.0
    positives[:] = 0.0
    for i in range(rows.size):
        j = cell[rows[i]]
        count[j] += weight[rows[i]]
        positives[j] += weight[rows[i]] * (label[i] == k)
