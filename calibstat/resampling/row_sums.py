"""Resampled sums over rows: pairs bootstrap and cluster bootstrap; and random signs of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Draws
from calibstat.resampling.sources import OfLabels
from calibstat.resampling.streams import GOLDEN, LOW_HALF, mix, stream, word
from calibstat.resampling.threads import in_threads, one_by_one, small_chunks

Column = Callable[[], tuple[np.ndarray, np.ndarray]]  # the cell of each row, and what it adds there
FEW_COLUMNS, KEPT = 4, 2**23  # columns, or bytes, up to which all columns are kept in order; else they are made again
BLOCK, LARGE_BLOCK = 2, 32  # resamples whose draws are held together, if columns are kept and if they are made again
BLOCKS = 8  # of resamples that are added up one after another, whatever the number of threads


def sums_of_units(
    columns: Sequence[Column],
    cells: int,
    unit: np.ndarray,
    sample_weight: np.ndarray | None,
    statistic: Callable[[np.ndarray, np.ndarray], Any],
    draws: Draws,
    stage: int,
) -> np.ndarray:
    """Return ``statistic(sums, sizes)`` of all resamples, some at a time.

    Units, `unit` of each row, are drawn with replacement, as many as there are, with the same draw for all columns.
    ``column()`` returns in which of `cells` each row adds how much. `sizes`, shape (B,), are the numbers of drawn rows,
    or the sums of their weights, and `sums`, shape (B, cells), add up what the drawn rows add.
    """
    size = cells if sample_weight is None else cells + 1  # weights are one more sum
    if sample_weight is not None:
        weight = sample_weight
        columns = [*columns, lambda: (np.full(weight.size, cells), weight)]
    order, start = _runs(columns, unit.size)
    unit, units = unit[order], int(unit.max()) + 1

    def ordered(column: Column) -> tuple[np.ndarray, np.ndarray]:
        cell, contribution = column()
        return cell[order[start[:-1]]], contribution[order]

    few = len(columns) <= FEW_COLUMNS or 16 * len(columns) * order.size <= KEPT
    kept, block = ([ordered(column) for column in columns], BLOCK) if few else (None, LARGE_BLOCK)

    def replicates(first: int, last: int) -> np.ndarray:
        sums, drawn = np.zeros((last - first, size)), np.zeros(last - first)
        for begin in range(first, last, block):
            part = slice(begin - first, min(begin + block, last) - first)
            often = _often(draws.key, stage, begin, unit, units, drawn[part])
            for m, column in enumerate(columns):
                cell, contribution = ordered(column) if kept is None else kept[m]
                _add_column(often, start, cell, contribution, sums[part])
        return statistic(sums, drawn) if size == cells else statistic(sums[:, :cells], sums[:, cells])

    pieces = small_chunks(draws.n, draws.n_jobs, 8 * size)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


def _runs(columns: Sequence[Column], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the order in which rows that share the cells of every column follow each other, and where runs start."""
    order = np.arange(n)
    for column in columns:
        order = order[np.argsort(column()[0][order], kind="stable")]
    first_of_run = np.zeros(n, np.bool_)
    first_of_run[0] = True
    for column in columns:
        cell = column()[0][order]
        first_of_run[1:] |= cell[1:] != cell[:-1]
    return order, np.append(np.flatnonzero(first_of_run), n)


def weighted_counts(units: int, weight: np.ndarray, draws: Draws, stage: int) -> np.ndarray:
    """Return the sum over resamples of weight[r, m] times how often each row, or cluster, is drawn, shape (units, M).

    The draws are the same as in `sums_of_units` at the same stage. Sums are the same for any number of threads.
    """

    def block(first: int, last: int) -> np.ndarray:
        total = np.zeros((units, weight.shape[1]))
        _add_counts(draws.key, stage, first, weight[first:last], np.empty(units, np.int32), total)
        return total

    pieces = [(draws.n * i // BLOCKS, draws.n * (i + 1) // BLOCKS) for i in range(BLOCKS)]
    return np.sum(in_threads(block, pieces, draws.n_jobs), axis=0)


def random_signs(units: int, statistic: OfLabels, draws: Draws, stage: int) -> np.ndarray:
    """Return ``statistic(signs)`` of every resample, the sign of each unit 0 for minus and 1 for plus, uint8."""
    return one_by_one(lambda r: statistic(signs(draws.key, stage, r, units)), draws.n, draws.n_jobs)


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def draw_units(state: np.uint64, times: np.ndarray) -> None:
    """Count how often each unit is drawn, two from each word: the upper half of 32 bits times the number of units.

    Probabilities are right to 2**-32; 64 bits for each draw would take twice as long.
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
def _often(key: np.uint64, stage: int, first: int, unit: np.ndarray, units: int, drawn: np.ndarray) -> np.ndarray:
    """Draw units with replacement, and return how often each row is drawn in each resample; add it up in `drawn`."""
    often = np.empty((drawn.size, unit.size), np.int32)
    times = np.empty(units, np.int32)
    for r in range(drawn.size):
        draw_units(np.uint64(stream(key, stage, first + r)), times)
        rows = 0
        for i in range(unit.size):
            t = times[unit[i]]
            rows += t
            often[r, i] = t
        drawn[r] = rows
    return often


@jit
def _add_column(
    often: np.ndarray, start: np.ndarray, cell: np.ndarray, contribution: np.ndarray, sums: np.ndarray
) -> None:
    """Add up what the rows of one column hold in each resample, run by run of rows that share their cells."""
    for r in range(often.shape[0]):
        for b in range(start.size - 1):
            one = 0.0  # two sums: a single one would wait for itself
            two = 0.0
            low = start[b]
            high = start[b + 1]
            even = high - (high - low) % 2
            for i in range(low, even, 2):
                one += often[r, i] * contribution[i]
                two += often[r, i + 1] * contribution[i + 1]
            if even < high:
                one += often[r, even] * contribution[even]
            sums[r, cell[b]] += one + two


@jit
def _add_counts(
    key: np.uint64, stage: int, first: int, weight: np.ndarray, times: np.ndarray, total: np.ndarray
) -> None:
    """Add the weight of each resample times how often it draws each unit."""
    for r in range(weight.shape[0]):
        draw_units(np.uint64(stream(key, stage, first + r)), times)
        for i in range(times.size):
            for m in range(weight.shape[1]):
                total[i, m] += weight[r, m] * times[i]


@jit
def signs(key: np.uint64, stage: int, replicate: int, n: int) -> np.ndarray:
    """Draw n random signs: 0 for minus, 1 for plus."""
    start = np.uint64(stream(key, stage, replicate))
    drawn = np.empty(n, np.uint8)
    for i in range(n):
        drawn[i] = np.uint64(word(start, i)) >> np.uint64(63)
    return drawn
