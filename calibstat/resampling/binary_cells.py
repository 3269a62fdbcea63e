"""Resampled sums over the cells of a binary sample, by the cheapest kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.resampling.binary_labels import cost_of_labels, labels_in_one_pass, threshold
from calibstat.resampling.binary_pairs import LARGE_BLOCK, few_ties, pairs_of_sample
from calibstat.resampling.one_pass import SumsInCells
from calibstat.resampling.poisson_binomial import pmf_cost, pmfs_of_positives
from calibstat.resampling.schemes import Consistency, Draws, Labels, OfRows, Pairs
from calibstat.resampling.sources import CellSums, InOnePass, WeightedCellSums
from calibstat.resampling.streams import (
    GOLDEN,
    LOW_HALF,
    binomial,
    binomials,
    first_states,
    mix,
    mixed,
    parted,
    uniform,
    word,
    words,
)
from calibstat.resampling.threads import chunks, in_threads, joined, small_chunks
from calibstat.resampling.weighted_rows import resamples_of_weighted_rows

OUTCOME_BIT = np.uint64(62)  # bit of the outcome in a packed row, above the prediction in multiples of 2**-50
VALUE_BITS = np.uint64(2**62 - 1)
GUIDE_BITS = 9  # leading bits of a word that index the table of starting points in a cumulative distribution
WORTH_A_THREAD = 1e7  # multiplications; fewer take less time than starting a thread
LARGEST_TABLE = 2**24  # sums in all cells of all resamples; beyond it resamples are reduced one at a time
ROWS_OF_A_CELL = 10  # rows whose outcomes are drawn in the time of one inversion
PREDICTIONS = 256  # in a cell, on average, that are drawn by themselves where each has many rows
MANY_PREDICTIONS, FEW_PREDICTIONS = 1024, 16  # in a cell: of more than the first, rows are drawn by the second
STORED_SUMS = 2**20  # sums of one sample, at most, that are kept for another statistic of the same draws
LARGEST_PMF = 5.0  # multiplications that take the time of one unit of drawing, about a nanosecond

Sums = tuple[np.ndarray, np.ndarray, np.ndarray]
Distributions = tuple[int, np.ndarray, np.ndarray, np.ndarray]  # of the positives of the cells from one on
_last: WeakKeyDictionary[Sample, tuple[tuple[Any, ...], np.ndarray, Sums]] = WeakKeyDictionary()
OfSums = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def labels_in_cells(source: CellSums, scheme: Labels, statistic: OfSums, draws: Draws, stream: int) -> np.ndarray:
    """Return ``statistic(count, residual, value)`` of all draws of labels; shared arrays have a single row."""
    sample = source.sample
    if _fits(source, draws) and not _few_rows_each(source):
        cost = pmf_cost(source.cell, sample.value, sample.count)
        if cost <= LARGEST_PMF * draws.total * cost_of_labels(sample.count):
            n_jobs = draws.n_jobs if cost > WORTH_A_THREAD else 1
            return np.asarray(statistic(*_from_distributions(source, scheme, draws, stream, n_jobs)))
    return labels_row_by_row(source, scheme, statistic, draws, stream)


def labels_row_by_row(
    source: CellSums | WeightedCellSums, scheme: Labels, statistic: OfSums, draws: Draws, stream: int
) -> np.ndarray:
    """Return the statistic of all draws of the labels of rows, which may have weights, as many as there is room for.

    Where all have outcome 1 and were certain to, the residual is 0 to the last digit.
    """
    sample = source.sample
    sums = SumsInCells(source.cell, source.size)
    pieces = -(-draws.n // max(LARGEST_TABLE // source.size, 1))
    parts = []
    for first, last in pairwise(draws.n * i // pieces for i in range(pieces + 1)):
        some = draws.part(first, last, stream)

        def drawn(some: Draws = some) -> Sums:
            count_b, _, value_b = cell_sums(source.cell, *sample.arrays)
            residual = labels_in_one_pass(InOnePass(sample), scheme, sums, some, stream)
            return count_b[None], residual, value_b[None]

        known = scheme.truth is None  # else it is no part of what a scheme is compared by
        parts.append(np.asarray(statistic(*(_kept(source, (scheme, some, stream), drawn) if known else drawn()))))
    return joined(parts)


def _kept(source: CellSums | WeightedCellSums, asked: tuple[Any, ...], draw: Callable[[], Sums]) -> Sums:
    """Return the sums of draws, which are kept for another statistic of the same ones if they are not too many."""
    known = _last.get(source.sample)
    if known is not None and known[0] == asked and np.array_equal(known[1], source.cell):
        return known[2]
    sums = draw()
    for each in sums:
        each.flags.writeable = False  # they are the same for all statistics
    if max(each.size for each in sums) <= STORED_SUMS:
        _last[source.sample] = asked, source.cell, sums
    return sums


def pairs_in_cells(
    source: CellSums, scheme: Pairs | Consistency, statistic: OfSums, draws: Draws, stream: int
) -> np.ndarray:
    """Return the statistic of all resamples of rows."""
    by_row = few_ties(source.sample)
    if by_row and _fits(source, draws) and source.cell.size <= MANY_PREDICTIONS * source.size:
        sums = _kept(source, (scheme, draws, stream), lambda: _by_row(source, scheme, draws, stream))
        return np.asarray(statistic(*sums))
    few = with_few_predictions(source, FEW_PREDICTIONS if by_row else PREDICTIONS)
    return _one_at_a_time(pairs_of_sample, few, scheme, statistic, draws, stream)


def with_few_predictions(source: CellSums, predictions: int) -> CellSums:
    """Return the same sums, with neighbours in a cell put together at their mean if a cell has very many predictions.

    The sums of a cell keep their means. Of predictions spread over B equal cells their variances change by less than
    1 / (12 (B predictions)**2) a row, beside p (1 - p): 6e-9 for B = 15 and 256 predictions, 1.4e-6 for 16.
    """
    value, count, positives = source.sample.arrays
    together = value.size // (predictions * source.size)
    if together < 2:
        return source
    inside = np.diff(source.cell, prepend=-1) == 0
    first = np.flatnonzero(~inside | (np.arange(value.size) % together == 0))
    rows = np.add.reduceat(count, first)
    mean = np.add.reduceat(count * value, first) / rows
    return CellSums(Sample(mean, rows, np.add.reduceat(positives, first)), source.cell[first])


def pairs_in_weighted_cells(
    source: WeightedCellSums, scheme: OfRows, statistic: OfSums, draws: Draws, stream: int
) -> np.ndarray:
    """Return the statistic of all resamples of rows with weights."""
    return _one_at_a_time(resamples_of_weighted_rows, source, scheme, statistic, draws, stream)


def _fits(source: CellSums | WeightedCellSums, draws: Draws) -> bool:
    """Whether there is room for the sums in all cells of all resamples."""
    return source.size * draws.total <= LARGEST_TABLE


def _few_rows_each(source: CellSums) -> bool:
    """Whether each distinct prediction is a cell, of few rows: no distribution has to be computed, nor compiled."""
    return source.size == source.cell.size and source.sample.n <= ROWS_OF_A_CELL * source.size


def _one_at_a_time(
    driver: Callable[..., np.ndarray],
    source: CellSums | WeightedCellSums,
    scheme: OfRows,
    statistic: OfSums,
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return the statistic of resamples that are drawn one at a time: of all their sums at once where these fit."""
    of_arrays = partial(cell_sums, source.cell)
    if _fits(source, draws):
        sums = driver(source.sample, scheme, of_arrays, draws, stream)
        return np.asarray(statistic(sums[:, 0], sums[:, 1], sums[:, 2]))
    return driver(source.sample, scheme, lambda *arrays: statistic(*of_arrays(*arrays)), draws, stream)


def _from_distributions(source: CellSums, scheme: Labels, draws: Draws, stream: int, n_jobs: int) -> Sums:
    """Labels only: draw the positives of each cell from their exact distribution."""
    sample, chance = source.sample, scheme.chances(source.sample.value)
    count_b, _, value_b = cell_sums(source.cell, *sample.arrays)
    residual_b = np.empty((count_b.size, draws.n))  # cell by cell, the order of drawing

    def cells(low: int, high: int) -> Distributions:
        return low, *pmfs_of_positives(low, high, source.cell, chance, sample.count)

    if not source.cache or source.cache[-1][0] is not chance:
        source.cache[:] = [(chance, in_threads(cells, chunks(count_b.size, n_jobs), n_jobs))]
    known: list[Distributions] = source.cache[-1][1]
    start = first_states(draws.key, stream, 0, draws.n)

    def pieces(first: int, last: int) -> None:
        guide = np.empty(2**GUIDE_BITS, np.int64)
        for piece in known[first:last]:
            cdfs = np.empty(piece[-1].size)
            _cells_from_distributions(start, *piece, cdfs, guide, float(sample.n), value_b, residual_b)

    in_threads(pieces, chunks(len(known), n_jobs), n_jobs)
    return count_b[None], residual_b.T, value_b[None]


def _by_row(source: CellSums, scheme: Pairs | Consistency, draws: Draws, stream: int) -> Sums:
    """Draw every row, for consistency resampling with a new label, and keep only the sums of the cells."""
    sample, redraw = source.sample, isinstance(scheme, Consistency)
    row, repeats = threshold(sample.value), sample.count
    if not redraw:
        row = np.stack([row >> np.uint64(13) | np.uint64(1) << OUTCOME_BIT, row >> np.uint64(13)], axis=1).ravel()
        repeats = np.stack([sample.positives, sample.count - sample.positives], axis=1).ravel()
    row = np.repeat(row, repeats.astype(np.int64))
    rows_b = cell_sums(source.cell, *sample.arrays)[0]
    count_b, positives_b, value_b = (np.empty((draws.n, rows_b.size)) for _ in range(3))

    def replicates(first: int, last: int) -> None:
        state = first_states(draws.key, stream, first, last)
        _rows_in_cells(state, first, rows_b, row, redraw, count_b, positives_b, value_b)

    in_threads(replicates, small_chunks(draws.n, draws.n_jobs, 8 * row.size), draws.n_jobs)
    return count_b, (positives_b - value_b) / sample.n, value_b / sample.n


# --- kernels: labels -------------------------------------------------------------------------------------------------


def _cells_in_arrays(
    start: np.ndarray,
    low: int,
    least_b: np.ndarray,
    start_b: np.ndarray,
    pmfs: np.ndarray,
    cdfs: np.ndarray,
    guide: np.ndarray,
    n: float,
    value_b: np.ndarray,
    residual_b: np.ndarray,
) -> None:
    for i, b in enumerate(range(low, low + least_b.size)):
        cdf = np.cumsum(pmfs[start_b[i] : start_b[i + 1]], out=cdfs[start_b[i] : start_b[i + 1]])
        k = np.searchsorted(cdf, uniform(words(start, b, 1)[0]) * cdf[-1])
        residual_b[b] = (least_b[i] + k) / n - value_b[b]
        guide[:] = np.searchsorted(cdf, np.arange(guide.size) / guide.size * cdf[-1])


@first_calls(lambda start, low, least_b, *_: least_b.size * (3e-5 + 7e-8 * start.size), _cells_in_arrays)
@jit
def _cells_from_distributions(
    start: np.ndarray,
    low: int,
    least_b: np.ndarray,
    start_b: np.ndarray,
    pmfs: np.ndarray,
    cdfs: np.ndarray,
    guide: np.ndarray,
    n: float,
    value_b: np.ndarray,
    residual_b: np.ndarray,
) -> None:
    """Draw the residuals of cells from `low` on by inversion, from the word that belongs to (replicate, cell).

    The leading bits of the word index a table of starting points in the cumulative distribution (Chen, Asau 1974): a
    bisection would cost a branch misprediction at every step. `cdfs` and `guide` are room for what is computed.
    """
    for i in range(least_b.size):
        b = low + i
        total = 0.0
        for k in range(start_b[i], start_b[i + 1]):
            total += pmfs[k]
            cdfs[k] = total
        cdf = cdfs[start_b[i] : start_b[i + 1]]
        k = 0
        for j in range(guide.size):
            while cdf[k] < j / guide.size * total:
                k += 1
            guide[j] = k
        for replicate in range(start.size):
            w = word(start[replicate], b)
            u = (np.float64(w >> np.uint64(11)) + 0.5) * 2.0**-53 * total
            k = guide[w >> np.uint64(64 - GUIDE_BITS)]
            while cdf[k] < u:
                k += 1
            residual_b[b, replicate] = (least_b[i] + k) / n - value_b[b]


# --- kernels: rows ---------------------------------------------------------------------------------------------------


def _rows_in_arrays(
    state: np.ndarray,
    first: int,
    total: np.ndarray,
    row: np.ndarray,
    redraw: bool,
    count_b: np.ndarray,
    positives_b: np.ndarray,
    value_b: np.ndarray,
) -> None:
    here = slice(first, first + state.size)
    left, begin = np.full(state.size, float(row.size)), 0
    for b, rows in enumerate(total.astype(np.int64).tolist()):
        whole = begin + rows == row.size
        draws = left.copy() if whole else binomials(state, left, rows / (row.size - begin))
        left -= draws
        count_b[here, b] = draws
        positives_b[here, b] = value_b[here, b] = 0.0
        for done in range(0, int(draws.max(initial=0.0)), LARGE_BLOCK):
            block = np.clip(draws.astype(np.int64) - done, 0, LARGE_BLOCK)
            end = np.cumsum(block)
            steps = (np.arange(1, end[-1] + 1) - np.repeat(end - block, block)).astype(np.uint64)
            place, rest = parted(mixed(np.repeat(state, block) + steps * GOLDEN), rows)
            code = row[begin + place]
            one, value = code >> OUTCOME_BIT, code & VALUE_BITS
            if redraw:
                one, value = (rest >> np.uint64(1) < code).astype(np.uint64), code >> np.uint64(13)
            for each, scale, sums in ((one, 1.0, positives_b), (value, 2.0**-50, value_b)):
                upto = np.append(np.uint64(0), np.cumsum(each))  # differences are right though it wraps around
                sums[here, b] += (upto[end] - upto[end - block]) * scale
            state += block.astype(np.uint64) * GOLDEN
        begin += rows


@first_calls(lambda state, first, total, row, *_: 7e-8 * state.size * (row.size + 20.0 * total.size), _rows_in_arrays)
@jit
def _rows_in_cells(
    state: np.ndarray,
    first: int,
    total: np.ndarray,
    row: np.ndarray,
    redraw: bool,
    count_b: np.ndarray,
    positives_b: np.ndarray,
    value_b: np.ndarray,
) -> None:
    """Draw rows for replicates from `first` on, and outcomes if `redraw`; keep only the sums in each cell."""
    n = row.size
    for r in range(state.size):
        replicate = first + r
        z = state[r : r + 1]
        left = n
        begin = 0
        for b in range(total.size):
            rows = int(total[b])
            draws = left if begin + rows == n else int(binomial(z, float(left), rows / (n - begin)))
            left -= draws
            ones = np.int64(0)
            value = 0.0
            for done in range(0, draws, LARGE_BLOCK):
                block = min(LARGE_BLOCK, draws - done)
                if redraw:
                    ones_block, value_block = _sum_rows_and_labels(z[0], block, row[begin : begin + rows])
                else:
                    ones_block, value_block = _sum_rows(z[0], block, row[begin : begin + rows])
                z[0] += np.uint64(block) * GOLDEN
                ones += np.int64(ones_block)
                value += np.float64(value_block) * 2.0**-50
            count_b[replicate, b] = draws
            positives_b[replicate, b] = ones
            value_b[replicate, b] = value
            begin += rows


# Both kernels add integer multiples of 2**-50, so that the order of summation, which vector code changes, does not
# matter. They are two functions because such a loop becomes vector code only without branches.


@jit
def _sum_rows_and_labels(z: np.uint64, draws: int, row: np.ndarray) -> tuple[np.uint64, np.uint64]:
    """Draw rows and an outcome for each; `row` holds thresholds. Return the positives and the sum of predictions."""
    size = np.uint64(row.size) & LOW_HALF
    ones = np.uint64(0)
    value = np.uint64(0)
    for _ in range(draws):
        z += GOLDEN
        w = mix(z)
        low = (w & LOW_HALF) * size
        high = (w >> np.uint64(32)) * size + (low >> np.uint64(32))
        rest = (high << np.uint64(32)) | (low & LOW_HALF)
        threshold = row[high >> np.uint64(32)]
        ones += np.uint64((rest >> np.uint64(1)) < threshold)
        value += threshold >> np.uint64(13)
    return ones, value


@jit
def _sum_rows(z: np.uint64, draws: int, row: np.ndarray) -> tuple[np.uint64, np.uint64]:
    """Draw rows; `row` holds predictions and, above them, outcomes. Return the positives and the sum of predictions."""
    size = np.uint64(row.size) & LOW_HALF
    ones = np.uint64(0)
    value = np.uint64(0)
    for _ in range(draws):
        z += GOLDEN
        w = mix(z)
        high = (w >> np.uint64(32)) * size + (((w & LOW_HALF) * size) >> np.uint64(32))
        code = row[high >> np.uint64(32)]
        ones += code >> OUTCOME_BIT
        value += code & VALUE_BITS
    return ones, value
