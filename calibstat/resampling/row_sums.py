"""Resampled sums over rows: pairs bootstrap, cluster bootstrap, and random signs of clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Clusters, Draws, Pairs, Signs
from calibstat.resampling.sources import OfLabels, RowSums
from calibstat.resampling.streams import GOLDEN, LOW_HALF, mix, stream, word
from calibstat.resampling.threads import in_threads, one_by_one, small_chunks

BLOCKS = 8  # of resamples that are added up one after another, whatever the number of threads


def sums_of_units(
    source: RowSums,
    scheme: Pairs | Clusters,
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray],
    draws: Draws,
    stage: int,
) -> np.ndarray:
    """Return ``statistic(sums, rows)`` of all resamples, some at a time.

    Rows, or clusters, are drawn with replacement, as many as there are. `rows` is the number of drawn rows, or the sum
    of their weights, and `sums` adds up residual[i, m] at cell[i, m], with the same draw for all models m.
    """
    unit = scheme.unit if isinstance(scheme, Clusters) else np.arange(source.n_rows)
    units, cells = int(unit.max()) + 1, source.n_cells
    size = cells if source.weight is None else cells + 1  # weights are one more sum
    cell, residual = (part.reshape(source.n_rows, -1) for part in (source.cell, source.residual))
    if source.weight is not None:
        cell = np.column_stack((cell, np.full(source.n_rows, cells)))
        residual = np.column_stack((residual, source.weight))
    order = np.lexsort(cell.T)  # rows that share the cells of every model are added up together
    cell, residual = cell[order].T, np.ascontiguousarray(residual[order].T)
    first_of_run = np.append(True, np.any(cell[:, 1:] != cell[:, :-1], axis=0))
    start = np.append(np.flatnonzero(first_of_run), cell.shape[1])
    cell = np.ascontiguousarray(cell[:, first_of_run])

    def replicates(first: int, last: int) -> np.ndarray:
        sums, rows = np.zeros((last - first, size)), np.zeros(last - first)
        times = np.empty(units, np.int32)
        _shared_sums(draws.key, stage, first, unit[order], start, cell, residual, times, sums, rows)
        return statistic(sums, rows) if size == cells else statistic(sums[:, :cells], sums[:, cells])

    pieces = small_chunks(draws.n, draws.n_jobs, 8 * size)
    return np.concatenate(in_threads(replicates, pieces, draws.n_jobs))


def weighted_counts(units: int, weight: np.ndarray, draws: Draws, stage: int) -> np.ndarray:
    """Return the sum over resamples of weight[r, m] times how often each row, or cluster, is drawn, shape (units, M).

    The draws are those of `sums_of_units` at the same stage. Sums are the same for any number of threads.
    """

    def block(first: int, last: int) -> np.ndarray:
        total = np.zeros((units, weight.shape[1]))
        _add_counts(draws.key, stage, first, weight[first:last], np.empty(units, np.int32), total)
        return total

    pieces = [(draws.n * i // BLOCKS, draws.n * (i + 1) // BLOCKS) for i in range(BLOCKS)]
    return np.sum(in_threads(block, pieces, draws.n_jobs), axis=0)


def sums_of_signs(source: RowSums, scheme: Signs, statistic: OfLabels, draws: Draws, stage: int) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample, theta the signed residuals / n summed in cells."""
    cell, size, units = source.cell.ravel(), source.n_cells, int(scheme.unit.max()) + 1
    n = source.n_rows if source.weight is None else float(source.weight.sum())
    residual = source.residual.T  # of any number of models, times the sign of each row

    def replicate(r: int) -> np.ndarray:
        sign = 2.0 * signs(draws.key, stage, r, units) - 1
        return statistic(np.bincount(cell, (residual * sign[scheme.unit]).T.ravel(), size) / n)

    return one_by_one(replicate, draws.n, draws.n_jobs)


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
def _shared_sums(
    key: np.uint64,
    stage: int,
    first: int,
    unit: np.ndarray,
    start: np.ndarray,
    cell: np.ndarray,
    residual: np.ndarray,
    times: np.ndarray,
    sums: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Draw units with replacement and add up what their rows hold, run by run of rows that share their cells."""
    n = unit.size
    often = np.empty(n)
    for r in range(rows.size):
        draw_units(np.uint64(stream(key, stage, first + r)), times)
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
    found = np.empty(n, np.uint8)
    for i in range(n):
        found[i] = np.uint64(word(start, i)) >> np.uint64(63)
    return found
