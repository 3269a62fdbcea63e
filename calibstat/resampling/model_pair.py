"""Permutation of two models, in rows or in clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Draws, Swap
from calibstat.resampling.sources import ModelPair
from calibstat.resampling.streams import first_state, word
from calibstat.resampling.threads import chunks, in_threads


def permuted_models(
    source: ModelPair,
    scheme: Swap,
    statistic: Callable[[np.ndarray, np.ndarray], float],
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return ``statistic(count, positives)`` of the first model minus the second's, in every resample."""
    unit = np.arange(source.cell.shape[0]) if scheme.unit is None else scheme.unit
    units = int(unit.max()) + 1
    weight = np.ones(unit.size) if source.weight is None else source.weight

    def replicates(first: int, last: int) -> np.ndarray:
        count, positives = np.empty((2, source.size)), np.empty((2, source.size))
        differences, swap = np.empty(last - first), np.empty(units, np.int64)
        for i, replicate in enumerate(range(first, last)):
            state = np.uint64(first_state(draws.key, stream, replicate))
            _swap(state, unit, source.cell, source.label, weight, swap, count, positives)
            differences[i] = statistic(count[0], positives[0]) - statistic(count[1], positives[1])
        return differences

    return np.concatenate(in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs))


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _swap(
    state: np.uint64,
    unit: np.ndarray,
    cell: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    swap: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Fill in the summaries of two models after exchanging them in random units (rows or clusters)."""
    for u in range(swap.size):
        swap[u] = np.int64(word(state, u) >> np.uint64(63))
    count[:] = 0.0
    positives[:] = 0.0
    for i in range(unit.size):
        s = swap[unit[i]]
        for m in range(2):
            j = cell[i, m]
            count[m ^ s, j] += weight[i]
            positives[m ^ s, j] += weight[i] * label[i, m]
