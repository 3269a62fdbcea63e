"""Labels, pairs bootstrap, whole clusters and consistency resampling of binary rows with weights, row by row."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.data.weighted_sample import WeightedSample
from calibstat.resampling.binary_labels import threshold
from calibstat.resampling.row_sums import draw_units, times_in_clusters
from calibstat.resampling.schemes import Clusters, Consistency, Draws, Labels, OfRows
from calibstat.resampling.sources import OfSample, Value
from calibstat.resampling.streams import GOLDEN, first_state, mix
from calibstat.resampling.threads import chunks, in_threads


def resamples_of_weighted_rows(
    sample: WeightedSample, scheme: OfRows, statistic: OfSample, draws: Draws, stream: int
) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample, counts and positives being sums of weights."""
    value, count, _ = sample.arrays
    cell, weight = sample.cell, sample.weight
    limit = threshold(scheme.chances(value) if isinstance(scheme, Labels) else value)

    def replicates(first: int, last: int) -> list[Value]:
        count_r, positives_r, times = np.empty_like(count), np.empty_like(count), np.empty(cell.size, np.int32)
        drawn = []
        for replicate in range(first, last):
            start = np.uint64(first_state(draws.key, stream, replicate))
            if isinstance(scheme, Labels):
                _add_labels(start, limit, cell, weight, positives_r)
                drawn.append(statistic(value, count, positives_r))
                continue
            if isinstance(scheme, Clusters):
                times = times_in_clusters(start, scheme.unit)
            else:
                draw_units(start, times)
            if isinstance(scheme, Consistency):
                _add_rows_and_labels(start, times, limit, cell, weight, count_r, positives_r)
            else:
                _add_rows(times, cell, weight, sample.outcome, count_r, positives_r)
            drawn.append(statistic(value, count_r, positives_r))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _add_labels(
    start: np.uint64, threshold: np.ndarray, cell: np.ndarray, weight: np.ndarray, positives: np.ndarray
) -> None:
    """Draw an outcome for each row and add up the weights of the positive ones at each distinct prediction."""
    positives[:] = 0.0
    for i in range(cell.size):
        start += GOLDEN
        positives[cell[i]] += weight[i] * ((mix(start) >> np.uint64(1)) < threshold[cell[i]])  # a branch takes longer


@jit
def _add_rows(
    times: np.ndarray,
    cell: np.ndarray,
    weight: np.ndarray,
    outcome: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Add up the weights of all rows, and of the positive ones, as often as each row is drawn."""
    count[:] = 0.0
    positives[:] = 0.0
    for i in range(cell.size):
        drawn = times[i] * weight[i]
        count[cell[i]] += drawn
        positives[cell[i]] += drawn * outcome[i]


@jit
def _add_rows_and_labels(
    start: np.uint64,
    times: np.ndarray,
    threshold: np.ndarray,
    cell: np.ndarray,
    weight: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Add up the weights of all rows as often as each is drawn, and of those drawn with outcome 1."""
    count[:] = 0.0
    positives[:] = 0.0
    start += np.uint64(times.size) * GOLDEN  # after the words that drew the rows
    for i in range(cell.size):
        for _ in range(times[i]):
            start += GOLDEN
            count[cell[i]] += weight[i]
            if (mix(start) >> np.uint64(1)) < threshold[cell[i]]:
                positives[cell[i]] += weight[i]
