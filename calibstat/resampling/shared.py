"""Draws rows that several models share, whole clusters at a time, and swaps of two models' predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.vectors import LARGEST_PIECE
from calibstat.resampling.words import GOLDEN, LOW_HALF, chunks, in_threads, mix, stream, word

Statistic = Callable[[np.ndarray, np.ndarray], np.ndarray]


def draw_shared(
    unit: np.ndarray | None,
    cell: np.ndarray,
    residual: np.ndarray,
    statistic: Statistic,
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return ``statistic(sums, rows)`` of every resample, the parts of which it gets and returns one row for each.

    `unit` numbers the cluster of each row from 0, or is None where every row is drawn by itself. In each resample as
    many units are drawn with replacement as there are; `rows` counts the rows in them, and `sums` adds up
    residual[i, m] at cell[i, m], for all models m alike.
    """
    unit = np.arange(cell.shape[0]) if unit is None else unit
    units, size = int(unit.max()) + 1, int(cell.max()) + 1
    cell, residual = np.ascontiguousarray(cell.T), np.ascontiguousarray(residual.T)

    def replicates(first: int, last: int) -> np.ndarray:
        sums, rows = np.zeros((last - first, size)), np.zeros(last - first)
        _shared_sums(key, stage, first, unit, cell, residual, np.empty(units), sums, rows)
        return statistic(sums, rows)

    pieces = chunks(n_resamples, n_jobs, LARGEST_PIECE // (8 * size))
    return np.concatenate(in_threads(replicates, pieces, n_jobs))


def draw_swaps(
    unit: np.ndarray | None,
    cell: np.ndarray,
    label: np.ndarray,
    size: int,
    statistic: Callable[[np.ndarray, np.ndarray], float],
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return the statistic of the first model minus that of the second, the two exchanged in units drawn at random.

    `cell` and `label` have a column for each of the two; ``statistic(count, positives)`` is over `size` cells.
    """
    unit = np.arange(cell.shape[0]) if unit is None else unit
    units = int(unit.max()) + 1

    def replicates(first: int, last: int) -> np.ndarray:
        count, positives, found = np.empty((2, size)), np.empty((2, size)), np.empty(last - first)
        swap = np.empty(units, np.int64)
        for i, replicate in enumerate(range(first, last)):
            _swap(np.uint64(stream(key, stage, replicate)), unit, cell, label, swap, count, positives)
            found[i] = statistic(count[0], positives[0]) - statistic(count[1], positives[1])
        return found

    return np.concatenate(in_threads(replicates, chunks(n_resamples, n_jobs), n_jobs))


@jit
def _shared_sums(key, stage, first, unit, cell, residual, times, sums, rows):  # type: ignore[no-untyped-def]
    """Draw units with replacement, count how often each, and add up what their rows hold."""
    units = np.uint64(times.size) & LOW_HALF
    for r in range(rows.size):
        z = np.uint64(stream(key, stage, first + r))
        times[:] = 0.0
        for _ in range(times.size):
            z += GOLDEN
            w = mix(z)
            high = (w >> np.uint64(32)) * units + (((w & LOW_HALF) * units) >> np.uint64(32))
            times[high >> np.uint64(32)] += 1.0
        drawn, total = 0.0, sums[r]
        for i in range(unit.size):
            drawn += times[unit[i]]
        rows[r] = drawn
        for m in range(cell.shape[0]):
            for i in range(unit.size):
                total[cell[m, i]] += times[unit[i]] * residual[m, i]


@jit
def _swap(state, unit, cell, label, swap, count, positives):  # type: ignore[no-untyped-def]
    """Fill in the summaries of two models after exchanging them in random units."""
    for u in range(swap.size):
        swap[u] = np.int64(word(state, u) >> np.uint64(63))
    count[:] = 0.0
    positives[:] = 0.0
    for i in range(unit.size):
        s = swap[unit[i]]
        for m in range(2):
            j = cell[i, m]
            count[m ^ s, j] += 1.0
            positives[m ^ s, j] += label[i, m]
