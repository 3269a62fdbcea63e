"""Draws outcomes of one event, rows with outcomes, and rows, as summaries or as sums over fixed cells.

Probabilities are compared at 63 bits, which is exact for every v of at least 2**-11 and right to 2**-63 below; v = 0
and v = 1 are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import Sample
from calibstat.measures import BoundMeasure
from calibstat.measures.registry import cell_sums
from calibstat.resampling.poisson_binomial import law_cost, law_of_positives
from calibstat.resampling.streams import GOLDEN, LOW_HALF, binomial, chunks, in_threads, mix, stream, word

SCHEMES = ("labels", "both", "rows")
BLOCK = 4096  # rows drawn together: their thresholds stay in the first-level cache, their fixed-point sum in 63 bits
OUTCOME_BIT = np.uint64(62)  # where a packed row keeps its outcome, above the prediction in multiples of 2**-50
FEW_DRAWS = 16.0  # outcomes that are drawn one by one
VALUE_BITS = np.uint64(2**62 - 1)
GUIDE_BITS = 9  # leading bits of a word that look up where in a cumulative law to begin
WORTH_A_THREAD = 1e7  # multiplications; fewer are done before a thread has started
LARGEST_TABLE = 2**24  # sums in all cells of all resamples; of more each resample is reduced before the next
LARGEST_LAW = 5.0  # multiplications in the time of one unit of drawing, which is about a nanosecond
ROW_DRAW, BINOMIAL_DRAW = 3.0, 80.0  # units that an outcome of a row takes, and the positives of many rows at once


def resample(
    bound: BoundMeasure, sample: Sample, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int = 1
) -> np.ndarray:
    """Return the statistic of every resample, by the cheapest sampler that this measure and sample allow.

    Cells stay where this sample makes them.
    """
    bound = bound.held(sample.value, sample.count)
    if bound.measure.cells is None:
        return draw(sample, scheme, bound.statistic, n_resamples, key, stage, n_jobs)
    cell = bound.cells(sample.value, sample.count)
    if (cell[-1] + 1) * n_resamples <= LARGEST_TABLE:
        return np.asarray(bound.reduce(*draw_cells(sample, cell, scheme, n_resamples, key, stage, n_jobs)))

    def statistic(*arrays: np.ndarray) -> float:
        return float(bound.reduce(*cell_sums(cell, *arrays)))

    return draw(sample, scheme, statistic, n_resamples, key, stage, n_jobs)


def draw(
    sample: Sample,
    scheme: str,
    statistic: Callable[..., Any],
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample. The arrays it gets are written over later."""
    value, count, positives = sample.arrays
    probability = positives / count if scheme == "rows" else value
    threshold = _threshold(probability)
    single = bool(count.max() == 1.0)
    by_row = _few_ties(sample)
    if by_row and scheme != "labels":
        cell_of_row = np.repeat(np.arange(value.size), count.astype(np.int64))
        threshold = threshold[cell_of_row]

    def replicates(first: int, last: int) -> list[Any]:
        count_r = count if scheme == "labels" else np.empty_like(count)
        positives_r = np.empty_like(count)
        found = []
        for replicate in range(first, last):
            start = np.uint64(stream(key, stage, replicate))
            if scheme == "labels":
                if single:
                    _labels_of_rows(start, threshold, positives_r)
                else:
                    _labels_of_cells(start, count, probability, threshold, positives_r)
            elif by_row:
                _rows(start, cell_of_row, threshold, count_r, positives_r)
            else:
                _cells(start, count, probability, count_r, positives_r)
            found.append(statistic(value, count_r, positives_r))
        return found

    parts = in_threads(replicates, chunks(n_resamples, n_jobs), n_jobs)
    return np.array([entry for part in parts for entry in part])


def draw_cells(
    sample: Sample, cell: np.ndarray, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return count, residual / n and prediction / n summed in every cell, each of shape (n_resamples, n_cells).

    `cell` is ascending, as predictions are, and does not change between resamples. What all resamples share has one
    row only.
    """
    cost = law_cost(cell, sample.value, sample.count) if scheme == "labels" else np.inf
    if cost <= LARGEST_LAW * n_resamples * _cost_of_drawing(sample.count):
        return _draw_cells_from_laws(sample, cell, n_resamples, key, stage, n_jobs if cost > WORTH_A_THREAD else 1)
    if scheme != "labels" and _few_ties(sample):
        return _draw_cells_by_row(sample, cell, scheme, n_resamples, key, stage, n_jobs)
    sums = draw(sample, scheme, partial(cell_sums, cell), n_resamples, key, stage, n_jobs)
    return sums[:, 0], sums[:, 1], sums[:, 2]


def _draw_cells_from_laws(
    sample: Sample, cell: np.ndarray, n_resamples: int, key: np.uint64, stage: int, n_jobs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels only: one draw from the exact law of each cell's positives."""
    count_b, _, value_b = cell_sums(cell, *sample.arrays)
    residual_b = np.empty((count_b.size, n_resamples))  # cell by cell, as it is drawn

    def cells(low: int, high: int) -> None:
        _cells_from_laws(key, stage, low, high, cell, sample.value, sample.count, float(sample.n), value_b, residual_b)

    in_threads(cells, chunks(count_b.size, n_jobs), n_jobs)
    return count_b[None], residual_b.T, value_b[None]


def _draw_cells_by_row(
    sample: Sample, cell: np.ndarray, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, with new labels if the scheme is "both": every row is drawn and only the sums of the cells are kept."""
    row, repeats = _threshold(sample.value), sample.count
    if scheme == "rows":
        row = np.stack([row >> np.uint64(13) | np.uint64(1) << OUTCOME_BIT, row >> np.uint64(13)], axis=1).ravel()
        repeats = np.stack([sample.positives, sample.count - sample.positives], axis=1).ravel()
    row = np.repeat(row, repeats.astype(np.int64))
    rows_b = cell_sums(cell, *sample.arrays)[0]
    count_b, positives_b, value_b = (np.empty((n_resamples, rows_b.size)) for _ in range(3))

    def replicates(first: int, last: int) -> None:
        _rows_in_cells(key, stage, first, last, rows_b, row, scheme == "both", count_b, positives_b, value_b)

    in_threads(replicates, chunks(n_resamples, n_jobs), n_jobs)
    return count_b, (positives_b - value_b) / sample.n, value_b / sample.n


def _cost_of_drawing(count: np.ndarray) -> float:
    """Return the units that drawing the positives of every distinct prediction takes once."""
    return float(np.where(count <= FEW_DRAWS, ROW_DRAW * count, BINOMIAL_DRAW).sum())


def _few_ties(sample: Sample) -> bool:
    """Whether drawing the rows one by one is cheaper than drawing how many fall on each distinct prediction."""
    return sample.n <= 32 * sample.value.size


def _threshold(probability: np.ndarray) -> np.ndarray:
    """Return p * 2**63, which a 63-bit word is below with probability p."""
    return (probability * 2.0**63).astype(np.uint64)


# --- kernels: labels -------------------------------------------------------------------------------------------------


@jit
def _labels_of_rows(start, threshold, positives):  # type: ignore[no-untyped-def]
    """Draw one outcome for each prediction: the plain loop that the compiler turns into vector code."""
    for j in range(threshold.size):
        start += GOLDEN
        positives[j] = np.float64((mix(start) >> np.uint64(1)) < threshold[j])


@jit
def _labels_of_cells(start, count, probability, threshold, positives):  # type: ignore[no-untyped-def]
    """Draw the positives of each distinct prediction: row by row if few, else from the binomial law."""
    state = np.array([start])
    for j in range(count.size):
        if count[j] <= FEW_DRAWS:
            hits = 0
            for _ in range(int(count[j])):
                hits += (word(state[0], 0) >> np.uint64(1)) < threshold[j]
                state[0] += GOLDEN
            positives[j] = hits
        else:
            positives[j] = binomial(state, count[j], probability[j])


@jit
def _cells_from_laws(key, stage, low, high, cell, value, count, n, value_b, residual_b):  # type: ignore[no-untyped-def]
    """Draw the residuals of cells low..high by inversion, from the word that belongs to (replicate, cell).

    A table tells from the leading bits of the word where to start in the law (Chen, Asau 1974): a search by halves
    would cost a misprediction of the processor at every step.
    """
    start = np.empty(residual_b.shape[1], np.uint64)
    for replicate in range(start.size):
        start[replicate] = stream(key, stage, replicate)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    last = 0
    for b in range(low, high):
        while last < cell.size and cell[last] < b:
            last += 1
        first = last
        while last < cell.size and cell[last] == b:
            last += 1
        least, law = law_of_positives(value[first:last], count[first:last])
        for k in range(1, law.size):
            law[k] += law[k - 1]
        total = law[law.size - 1]
        k = 0
        for i in range(guide.size):
            while law[k] < i / guide.size * total:
                k += 1
            guide[i] = k
        for replicate in range(start.size):
            w = word(start[replicate], b)
            u = (np.float64(w >> np.uint64(11)) + 0.5) * 2.0**-53 * total
            k = guide[w >> np.uint64(64 - GUIDE_BITS)]
            while law[k] < u:
                k += 1
            residual_b[b, replicate] = (least + k) / n - value_b[b]


# --- kernels: rows ---------------------------------------------------------------------------------------------------


@jit
def _rows(start, cell_of_row, threshold, count, positives):  # type: ignore[no-untyped-def]
    """Draw rows with replacement and an outcome for each, in blocks of rows that the first-level cache holds."""
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
def _redraw(z, threshold, outcome):  # type: ignore[no-untyped-def]
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
def _cells(start, count, probability, count_r, positives_r):  # type: ignore[no-untyped-def]
    """Draw how many rows fall on each distinct prediction and how many of them are positive, cell by cell."""
    state = np.array([start])
    left = count.sum()
    unseen = left
    for j in range(count.size):
        count_r[j] = left if j == count.size - 1 else binomial(state, left, count[j] / unseen)
        left -= count_r[j]
        unseen -= count[j]
        positives_r[j] = binomial(state, count_r[j], probability[j])


@jit
def _rows_in_cells(key, stage, first, last, total, row, redraw, count_b, positives_b, value_b):  # type: ignore[no-untyped-def]
    """Draw rows for replicates first..last, and outcomes if `redraw`, and keep only the sums in each cell."""
    n = row.size
    state = np.empty(1, np.uint64)
    for replicate in range(first, last):
        state[0] = stream(key, stage, replicate)
        left = n
        begin = 0
        for b in range(total.size):
            rows = int(total[b])
            draws = left if begin + rows == n else int(binomial(state, float(left), rows / (n - begin)))
            left -= draws
            hits = 0
            value = 0.0
            for done in range(0, draws, BLOCK):
                block = min(BLOCK, draws - done)
                if redraw:
                    hits_block, value_block = _sum_redrawn(state[0], block, row[begin : begin + rows])
                else:
                    hits_block, value_block = _sum_rows(state[0], block, row[begin : begin + rows])
                state[0] += np.uint64(block) * GOLDEN
                hits += np.int64(hits_block)
                value += np.float64(value_block) * 2.0**-50
            count_b[replicate, b] = draws
            positives_b[replicate, b] = hits
            value_b[replicate, b] = value
            begin += rows


# The two sums add whole multiples of 2**-50, so that vector code adds them to the same number on any machine. They are
# two functions because the compiler makes vector code of such a loop only if nothing in it branches.


@jit
def _sum_redrawn(z, draws, row):  # type: ignore[no-untyped-def]
    """Draw rows and an outcome for each; `row` holds thresholds. Return the positives and the sum of predictions."""
    size = np.uint64(row.size) & LOW_HALF
    hits = np.uint64(0)
    value = np.uint64(0)
    for _ in range(draws):
        z += GOLDEN
        w = mix(z)
        low = (w & LOW_HALF) * size
        high = (w >> np.uint64(32)) * size + (low >> np.uint64(32))
        rest = (high << np.uint64(32)) | (low & LOW_HALF)
        threshold = row[high >> np.uint64(32)]
        hits += np.uint64((rest >> np.uint64(1)) < threshold)
        value += threshold >> np.uint64(13)
    return hits, value


@jit
def _sum_rows(z, draws, row):  # type: ignore[no-untyped-def]
    """Draw rows; `row` holds predictions and, above them, outcomes. Return the positives and the sum of predictions."""
    size = np.uint64(row.size) & LOW_HALF
    hits = np.uint64(0)
    value = np.uint64(0)
    for _ in range(draws):
        z += GOLDEN
        w = mix(z)
        high = (w >> np.uint64(32)) * size + (((w & LOW_HALF) * size) >> np.uint64(32))
        code = row[high >> np.uint64(32)]
        hits += code >> OUTCOME_BIT
        value += code & VALUE_BITS
    return hits, value
