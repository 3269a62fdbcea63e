"""Resampling of a binary sample: labels given the predictions, pairs of both, and consistency resampling.

Probabilities are compared at 63 bits, which is exact for every v of at least 2**-11 and right to 2**-63 below; v = 0
and v = 1 are exact.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import Sample
from calibstat.resampling.schemes import Consistency, Draws, Labels, Pairs
from calibstat.resampling.sources import OfSample, Value
from calibstat.resampling.streams import GOLDEN, LOW_HALF, binomial, mix, stream, word
from calibstat.resampling.threads import chunks, in_threads

FEW_DRAWS = 16.0  # up to this many outcomes are drawn one by one
ROW_DRAW, BINOMIAL_DRAW = 3.0, 80.0  # units of time of drawing one outcome, and the positives of many rows
BLOCK = 4096  # rows drawn together: thresholds stay in the first-level cache, fixed-point sums in 63 bits


def labels_of_sample(sample: Sample, scheme: Labels, statistic: OfSample, draws: Draws, stage: int) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample."""
    value, count, _ = sample.arrays
    chance = scheme.chances(value)
    limit = threshold(chance)
    single = bool(count.max() == 1.0)

    def replicates(first: int, last: int) -> list[Value]:
        positives_r = np.empty_like(count)
        drawn = []
        for replicate in range(first, last):
            start = np.uint64(stream(draws.key, stage, replicate))
            if single:
                _labels_of_rows(start, limit, positives_r)
            else:
                _labels_of_cells(start, count, chance, limit, positives_r)
            drawn.append(statistic(value, count, positives_r))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def cost_of_labels(count: np.ndarray) -> float:
    """Return the units of time of drawing the positives of every distinct prediction once."""
    return float(np.where(count <= FEW_DRAWS, ROW_DRAW * count, BINOMIAL_DRAW).sum())


def threshold(probability: np.ndarray) -> np.ndarray:
    """Return p * 2**63: a random 63-bit word is below it with probability p."""
    return (probability * 2.0**63).astype(np.uint64)


def pairs_of_sample(
    sample: Sample, scheme: Pairs | Consistency, statistic: OfSample, draws: Draws, stage: int
) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample."""
    value, count, positives = sample.arrays
    probability = positives / count if isinstance(scheme, Pairs) else value
    by_row = few_ties(sample)
    if by_row:
        cell_of_row = np.repeat(np.arange(value.size), count.astype(np.int64))
        limit = threshold(probability)[cell_of_row]

    def replicates(first: int, last: int) -> list[Value]:
        count_r, positives_r = np.empty_like(count), np.empty_like(count)
        drawn = []
        for replicate in range(first, last):
            start = np.uint64(stream(draws.key, stage, replicate))
            if by_row:
                _rows(start, cell_of_row, limit, count_r, positives_r)
            else:
                _cells(start, count, probability, count_r, positives_r)
            drawn.append(statistic(value, count_r, positives_r))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def few_ties(sample: Sample) -> bool:
    """Whether drawing rows one by one is cheaper than drawing the number of rows at each distinct prediction."""
    return sample.n <= 32 * sample.value.size


# --- kernels: labels --------------------------------------------------------------------------------------------------


@jit
def _labels_of_rows(start: np.uint64, threshold: np.ndarray, positives: np.ndarray) -> None:
    """Draw one outcome for each prediction: a plain loop that becomes vector code."""
    for j in range(threshold.size):
        start += GOLDEN
        positives[j] = np.float64((mix(start) >> np.uint64(1)) < threshold[j])


@jit
def _labels_of_cells(
    start: np.uint64,
    count: np.ndarray,
    probability: np.ndarray,
    threshold: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Draw the positives of each distinct prediction: row by row if few, else from the binomial distribution."""
    state = np.array([start])
    for j in range(count.size):
        if count[j] <= FEW_DRAWS:
            ones = 0
            for _ in range(int(count[j])):
                ones += (word(state[0], 0) >> np.uint64(1)) < threshold[j]
                state[0] += GOLDEN
            positives[j] = ones
        else:
            positives[j] = binomial(state, count[j], probability[j])


# --- kernels: rows ----------------------------------------------------------------------------------------------------


@jit
def _rows(
    start: np.uint64,
    cell_of_row: np.ndarray,
    threshold: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Draw rows with replacement and an outcome for each, in blocks of rows that fit in the first-level cache."""
    count[:] = 0.0
    positives[:] = 0.0
    n = cell_of_row.size
    state = np.array([start])
    outcome = np.empty(BLOCK, np.uint32)
    drawn = np.empty(2 * BLOCK, np.int32)  # how often each row of the block was drawn with outcome 0 and with outcome 1
    left = n
    for first in range(0, n, BLOCK):
        rows = min(BLOCK, n - first)
        draws = left if first + rows == n else int(binomial(state, float(left), rows / (n - first)))
        left -= draws
        drawn[:] = 0
        for done in range(0, draws, BLOCK):
            block = min(BLOCK, draws - done)
            _redraw(state[0], threshold[first : first + rows], outcome[:block])
            state[0] += np.uint64(block) * GOLDEN
            for i in range(block):
                drawn[outcome[i]] += np.int32(1)
        for i in range(rows):
            j = cell_of_row[first + i]
            count[j] += np.float64(drawn[2 * i] + drawn[2 * i + 1])
            positives[j] += np.float64(drawn[2 * i + 1])


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
    state = np.array([start])
    left = count.sum()
    unseen = left
    for j in range(count.size):
        count_r[j] = left if j == count.size - 1 else binomial(state, left, count[j] / unseen)
        left -= count_r[j]
        unseen -= count[j]
        positives_r[j] = binomial(state, count_r[j], probability[j])
