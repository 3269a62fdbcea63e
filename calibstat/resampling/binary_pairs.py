"""Pairs of prediction and label of a binary sample, and predictions alone with new labels, drawn with replacement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.compiled import jit, without_numba
from calibstat.data.sample import Sample
from calibstat.resampling.binary_labels import threshold
from calibstat.resampling.row_counts import BLOCK, count_block
from calibstat.resampling.schemes import Consistency, Draws, Pairs
from calibstat.resampling.sources import OfSample
from calibstat.resampling.streams import GOLDEN, LOW_HALF, binomial, first_state, mix, parted, words
from calibstat.resampling.threads import chunks, in_threads

LARGE_BLOCK = 4096  # rows drawn together: thresholds stay in the first-level cache, fixed-point sums in 63 bits
ROWS_OF_A_VALUE = 32  # on average, up to which rows are drawn one by one, and not the number of rows at each prediction


def pairs_of_sample(
    sample: Sample, scheme: Pairs | Consistency, statistic: OfSample, draws: Draws, stream: int
) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample."""
    value, count, positives = sample.arrays
    probability = positives / count if isinstance(scheme, Pairs) else value
    by_row = few_ties(sample)
    if by_row:
        cell, outcome = rows_of_sample(sample)
        limit = threshold(value)[cell] if isinstance(scheme, Consistency) else None

    def replicates(first: int, last: int) -> list[Any]:
        count_r, positives_r = np.empty_like(count), np.empty_like(count)
        drawn = []
        for replicate in range(first, last):
            start = np.uint64(first_state(draws.key, stream, replicate))
            if not by_row:
                _cells(start, count, probability, count_r, positives_r)
            elif limit is None:
                _pairs(start, cell, outcome, count_r, positives_r)
            else:
                _relabelled_rows(start, cell, limit, count_r, positives_r)
            drawn.append(statistic(value, count_r, positives_r))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def residuals_of_pairs(
    sample: Sample, origin: np.ndarray, step: float, of: Callable[[np.ndarray], Any], draws: Draws, stream: int
) -> np.ndarray:
    """Return ``of(origin + step * residual)`` of every resample, in an array that later resamples overwrite.

    `residual`, shape (m,), adds up y - v of the drawn pairs at each distinct prediction, divided by their number.
    """
    if not few_ties(sample):
        return pairs_of_sample(
            sample, Pairs(), lambda v, c, a: of(origin + (a - c * v) * (step / sample.n)), draws, stream
        )
    cell, outcome = rows_of_sample(sample)
    added = (outcome - sample.value[cell]) * (step / sample.n)

    def replicates(first: int, last: int) -> list[Any]:
        total = np.empty_like(origin)
        drawn = []
        for replicate in range(first, last):
            _sums(np.uint64(first_state(draws.key, stream, replicate)), cell, added, origin, total)
            drawn.append(of(total))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def few_ties(sample: Sample) -> bool:
    """Whether drawing rows one by one is cheaper than drawing the number of rows at each distinct prediction."""
    return sample.n <= ROWS_OF_A_VALUE * sample.value.size


def rows_of_sample(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of the prediction of each row, ascending, and its outcome, outcome 1 first."""
    if sample.value.size == sample.n:
        return np.arange(sample.value.size), sample.positives
    kinds = np.stack([sample.positives, sample.count - sample.positives], axis=1).astype(np.int64).ravel()
    kind = np.repeat(np.arange(kinds.size), kinds)
    return kind >> 1, 1.0 - (kind & 1)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _pairs_in_arrays(
    start: np.uint64, cell: np.ndarray, outcome: np.ndarray, count: np.ndarray, positives: np.ndarray
) -> None:
    times = _times(start, cell.size)
    count[:] = np.bincount(cell, times, count.size)
    positives[:] = np.bincount(cell, times * outcome, count.size)


def _times(start: np.uint64, n: int) -> np.ndarray:
    """Return how often each of n rows is drawn."""
    state, times, left = np.array([start]), np.zeros(n, np.int32), n
    for first in range(0, n, BLOCK):
        rows = min(BLOCK, n - first)
        left = count_block(state, left, rows, n - first - rows, times[first:], 0, 0)
    return times


@without_numba(_pairs_in_arrays)
@jit
def _pairs(start: np.uint64, cell: np.ndarray, outcome: np.ndarray, count: np.ndarray, positives: np.ndarray) -> None:
    """Draw rows with their outcomes; count those at each distinct prediction."""
    count[:] = 0.0
    positives[:] = 0.0
    state = np.array([start])
    times = np.empty(BLOCK, np.int32)
    left = cell.size
    for first in range(0, cell.size, BLOCK):
        rows = min(BLOCK, cell.size - first)
        times[:] = 0
        left = count_block(state, left, rows, cell.size - first - rows, times, 0, 0)
        if cell.size == count.size:  # no ties: this loop becomes vector code
            for i in range(rows):
                t = np.float64(times[i])
                count[first + i] = t
                positives[first + i] = t * outcome[first + i]
        else:
            for i in range(rows):
                t = np.float64(times[i])
                count[cell[first + i]] += t
                positives[cell[first + i]] += t * outcome[first + i]


def _sums_in_arrays(
    start: np.uint64, cell: np.ndarray, added: np.ndarray, origin: np.ndarray, total: np.ndarray
) -> None:
    total[:] = origin + np.bincount(cell, _times(start, cell.size) * added, total.size)


@without_numba(_sums_in_arrays)
@jit
def _sums(start: np.uint64, cell: np.ndarray, added: np.ndarray, origin: np.ndarray, total: np.ndarray) -> None:
    """Draw rows; add up in `total` what they add at each distinct prediction, beside `origin`."""
    for j in range(total.size):
        total[j] = origin[j]
    state = np.array([start])
    times = np.empty(BLOCK, np.int32)
    left = cell.size
    for first in range(0, cell.size, BLOCK):
        rows = min(BLOCK, cell.size - first)
        times[:] = 0
        left = count_block(state, left, rows, cell.size - first - rows, times, 0, 0)
        if cell.size == total.size:  # no ties: this loop becomes vector code
            for i in range(rows):
                total[first + i] += np.float64(times[i]) * added[first + i]
        else:
            for i in range(rows):
                total[cell[first + i]] += np.float64(times[i]) * added[first + i]


@jit
def _relabelled_rows(
    start: np.uint64,
    cell: np.ndarray,
    threshold: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Draw rows and an outcome each time that a row is drawn."""
    count[:] = 0.0
    positives[:] = 0.0
    n = cell.size
    state = np.array([start])
    outcome = np.empty(LARGE_BLOCK, np.uint32)
    drawn = np.empty(2 * LARGE_BLOCK, np.int32)  # draws of each row of the block with outcome 0, and with outcome 1
    left = n
    for first in range(0, n, LARGE_BLOCK):
        rows = min(LARGE_BLOCK, n - first)
        draws = left if first + rows == n else int(binomial(state, float(left), rows / (n - first)))
        left -= draws
        drawn[:] = 0
        for done in range(0, draws, LARGE_BLOCK):
            block = min(LARGE_BLOCK, draws - done)
            _redraw(state[0], threshold[first : first + rows], outcome[:block])
            state[0] += np.uint64(block) * GOLDEN
            for i in range(block):
                drawn[outcome[i]] += np.int32(1)
        for i in range(rows):
            j = cell[first + i]
            count[j] += np.float64(drawn[2 * i] + drawn[2 * i + 1])
            positives[j] += np.float64(drawn[2 * i + 1])


def _rows_and_labels_in_arrays(z: np.uint64, threshold: np.ndarray, outcome: np.ndarray) -> None:
    row, rest = parted(words(z, 0, outcome.size), threshold.size)
    outcome[:] = row << 1 | (rest >> np.uint64(1) < threshold[row])


@without_numba(_rows_and_labels_in_arrays)
@jit
def _redraw(z: np.uint64, threshold: np.ndarray, outcome: np.ndarray) -> None:
    """Draw rows and an outcome for each; write twice the row plus the outcome."""
    size = np.uint64(threshold.size) & LOW_HALF
    for i in range(outcome.size):
        z += GOLDEN
        w = mix(z)
        low = (w & LOW_HALF) * size
        high = (w >> np.uint64(32)) * size + (low >> np.uint64(32))
        rest = (high << np.uint64(32)) | (low & LOW_HALF)
        row = high >> np.uint64(32)
        outcome[i] = np.uint32(row << np.uint64(1)) | np.uint32((rest >> np.uint64(1)) < threshold[row])


@jit
def _cells(
    start: np.uint64,
    count: np.ndarray,
    probability: np.ndarray,
    count_r: np.ndarray,
    positives_r: np.ndarray,
) -> None:
    """Draw the numbers of rows and of positive rows at each distinct prediction, one after the other."""
    state = np.empty(1, np.uint64)
    state[0] = start
    left = 0.0
    for j in range(count.size):
        left += count[j]
    unseen = left
    for j in range(count.size):
        count_r[j] = left if j == count.size - 1 else binomial(state, left, count[j] / unseen)
        left -= count_r[j]
        unseen -= count[j]
        positives_r[j] = binomial(state, count_r[j], probability[j])
