"""Draws rows that several models share, whole clusters at a time, and swaps of two models' predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.draw_multiclass import LARGEST_PIECE
from calibstat.resampling.streams import GOLDEN, LOW_HALF, chunks, in_threads, mix, stream, word

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
    order = np.lexsort(cell.T)  # rows that share the cells of every model are added up together
    cell, residual = cell[order].T, np.ascontiguousarray(residual[order].T)
    first_of_run = np.append(True, np.any(cell[:, 1:] != cell[:, :-1], axis=0))
    start = np.append(np.flatnonzero(first_of_run), cell.shape[1])
    cell = np.ascontiguousarray(cell[:, first_of_run])

    def replicates(first: int, last: int) -> np.ndarray:
        sums, rows = np.zeros((last - first, size)), np.zeros(last - first)
        times = np.empty(units, np.int32)
        _shared_sums(key, stage, first, unit[order], start, cell, residual, times, sums, rows)
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
def _draw_units(state, times):  # type: ignore[no-untyped-def]
    """Count how often each unit is drawn, two by each word: the upper half of 32 bits times their number.

    The chance of a unit is right to 2**-32; 64 bits for each would take twice as long.
    """
    units = np.uint64(times.size) & LOW_HALF
    times[:] = 0
    for _ in range(times.size // 2):
        state += GOLDEN
        w = mix(state)
        times[((w & LOW_HALF) * units) >> np.uint64(32)] += 1
        times[((w >> np.uint64(32)) * units) >> np.uint64(32)] += 1
    if times.size % 2 == 1:
        times[((mix(state + GOLDEN) & LOW_HALF) * units) >> np.uint64(32)] += 1


@jit
def _shared_sums(key, stage, first, unit, start, cell, residual, times, sums, rows):  # type: ignore[no-untyped-def]
    """Draw units with replacement and add up what their rows hold, run by run of rows that share their cells."""
    n = unit.size
    often = np.empty(n)
    for r in range(rows.size):
        _draw_units(np.uint64(stream(key, stage, first + r)), times)
        drawn = 0
        for i in range(n):
            t = times[unit[i]]
            drawn += t
            often[i] = t
        rows[r] = drawn
        for m in range(cell.shape[0]):
            for b in range(start.size - 1):
                one = 0.0  # two sums: a single one would wait for itself
                two = 0.0
                low = start[b]
                high = start[b + 1]
                even = high - (high - low) % 2
                for i in range(low, even, 2):
                    one += often[i] * residual[m, i]
                    two += often[i + 1] * residual[m, i + 1]
                if even < high:
                    one += often[even] * residual[m, even]
                sums[r, cell[m, b]] += one + two


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
