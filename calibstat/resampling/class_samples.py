"""Resampling of the binary samples of all classes together, from the same rows and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np

from calibstat.compiled import jit
from calibstat.progress import announced
from calibstat.resampling.multiclass_labels import labels_of_rows
from calibstat.resampling.multiclass_pairs import pairs_of_rows
from calibstat.resampling.schemes import Draws, Labels, OfRows, RowLabels
from calibstat.resampling.sources import ClassSamples
from calibstat.resampling.threads import chunks, of_draws, one_after_another, small_chunks

AT_ONCE = 16  # classes, after which it is known how long all take
OfSample = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def samples_of_classes(
    source: ClassSamples,
    scheme: OfRows,
    statistic: Callable[[np.ndarray, np.ndarray], OfSample],
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return the statistic of each class in every resample, of shape (n_resamples, K).

    Classes are done one after the other, so that one is sorted at a time; threads share the classes.
    """
    predictions = source.predictions
    weight = np.ones(predictions.n) if source.weight is None else source.weight
    drawn = np.empty((draws.n, predictions.n_classes))

    def replicates(first: int, last: int) -> Iterator[None]:
        rows: Sequence[np.ndarray] | None = None
        labels: Sequence[np.ndarray] | np.ndarray
        if isinstance(scheme, Labels):
            labels = labels_of_rows(scheme.chances(predictions.prob), draws.key, stream, first, last)
        else:
            assert not isinstance(scheme, RowLabels)
            pairs = [pairs_of_rows(predictions, scheme, draws.key, stream, r) for r in range(first, last)]
            rows, labels = zip(*pairs, strict=True)

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
                    drawn[first + r, k] = of_class(value, count_r, positives)

        return one_after_another(classes, of_classes, draws.n_jobs)

    pieces = small_chunks(draws.n, 1, 8 * predictions.n)
    of_classes = chunks(predictions.n_classes, draws.n_jobs, AT_ONCE)
    sizes = [(last - first) * (high - low) for first, last in pieces for low, high in of_classes]
    parts = chain.from_iterable(replicates(*piece) for piece in pieces)
    for _ in announced(parts, sizes, of_draws(draws.n, predictions)):
        pass
    return drawn


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
