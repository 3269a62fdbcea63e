"""Labels of a binary sample given the predictions.

A statistic in one pass has the rows outside and a block of resamples inside. Then the residuals of some rows in all
resamples of the block stay in the cache of the core, and so does the state of the statistic: the time for a row depends
neither on how many rows there are nor on what else uses the memory.

Probabilities are compared at 63 bits, which is exact for every v of at least 2**-11 and right to 2**-63 below; v = 0
and v = 1 are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibstat.compiled import first_calls, jit, without_numba
from calibstat.data.sample import Sample
from calibstat.resampling.binomial_tables import binomial_tables, widths
from calibstat.resampling.one_pass import OnePass
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import InOnePass, OfSample, Value
from calibstat.resampling.streams import GOLDEN, binomial, first_states, mix, uniform, words
from calibstat.resampling.threads import chunks, in_threads, joined

FEW_DRAWS = 16.0  # up to this many outcomes are drawn one by one
ROW_DRAW, BINOMIAL_DRAW = 3.0, 10.0  # units of time of drawing one outcome, and the positives of many rows
BLOCK = 64  # resamples that are drawn together
TILE = 256  # distinct predictions that are drawn together
LARGEST_TILE = 2**16  # values of the binomial distributions of a tile; a wider one is drawn by rejection
LARGEST_STATE = 2**24  # numbers in the states of resamples that are drawn in one pass
MOST_HELD = 2**22  # numbers of positives, of a block of resamples, that are held for any statistic

Fill = Callable[[np.ndarray, np.ndarray], None]  # of the streams of the resamples, shape (B,), and of what is filled


def labels_of_sample(sample: Sample, scheme: Labels, statistic: OfSample, draws: Draws, stream: int) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample."""
    value, count, _ = sample.arrays
    chance = scheme.chances(value)

    def single(first: int, last: int) -> list[Value]:
        limit, positives_r, drawn = threshold(chance), np.empty_like(count), []
        for start in first_states(draws.key, stream, first, last):
            _labels_of_rows(start, limit, positives_r)
            drawn.append(statistic(value, count, positives_r))
        return drawn

    def tied(first: int, last: int) -> list[Value]:
        labels, drawn = LabelsOfSample(sample, chance, np.zeros(value.size), 1.0), []
        block = max(min(BLOCK, MOST_HELD // value.size), 1)
        for begin in range(first, last, block):
            start = first_states(draws.key, stream, begin, min(begin + block, last))
            positives = np.empty((value.size, start.size))
            for rows, fill in labels.tiles():
                fill(start, positives[rows])
            drawn += [statistic(value, count, positives_r) for positives_r in np.ascontiguousarray(positives.T)]
        return drawn

    replicates = single if count.max() == 1.0 else tied
    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def labels_in_one_pass(source: InOnePass, scheme: Labels, statistic: OnePass, draws: Draws, stream: int) -> np.ndarray:
    """Return the statistic of every resample."""
    sample = source.sample
    labels = LabelsOfSample(sample, scheme.chances(sample.value), sample.count * sample.value, float(sample.n))

    def together(starts: list[np.ndarray]) -> np.ndarray:
        states = [np.zeros((statistic.size, start.size)) for start in starts]
        room = np.empty(TILE * BLOCK)
        for rows, fill in labels.tiles():
            for start, state in zip(starts, states, strict=True):
                residual = room[: (rows.stop - rows.start) * start.size].reshape(-1, start.size)
                fill(start, residual)
                statistic.add(state, rows, residual)
        return np.concatenate([statistic.result(state) for state in states])

    def replicates(first: int, last: int) -> np.ndarray:
        starts = [first_states(draws.key, stream, b, min(b + BLOCK, last)) for b in range(first, last, BLOCK)]
        blocks = max(LARGEST_STATE // (statistic.size * BLOCK), 1)
        return joined([together(starts[i : i + blocks]) for i in range(0, len(starts), blocks)])

    return joined(in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs))


def cost_of_labels(count: np.ndarray) -> float:
    """Return the units of time of drawing the positives of every distinct prediction once."""
    few = count <= FEW_DRAWS  # the only array: there may be as many predictions as rows
    return float(ROW_DRAW * count.sum(where=few) + BINOMIAL_DRAW * (count.size - np.count_nonzero(few)))


def threshold(probability: np.ndarray) -> np.ndarray:
    """Return p * 2**63: a random 63-bit word is below it with probability p."""
    return (probability * 2.0**63).astype(np.uint64)


@dataclass(frozen=True, eq=False)
class LabelsOfSample:
    """Labels of a sample: (positives - `base`) / `scale` at each distinct prediction, for a block of resamples.

    Attributes
    ----------
    sample : Sample
        Rows that may be tied and may have weights.
    chance, base : ndarray of float64, shape (m,)
        The probability of outcome 1 at each distinct prediction, and what is subtracted there.
    scale : float
        By which the difference is divided.
    """

    sample: Sample
    chance: np.ndarray
    base: np.ndarray
    scale: float

    def tiles(self) -> Iterator[tuple[slice, Fill]]:
        """Return some distinct predictions after others, each time with what draws them.

        A row takes the word of its place. Tied predictions of more than `FEW_DRAWS` rows take one word.
        """
        sample, limit, weighted = self.sample, threshold(self.chance), self.sample.weighted
        rows = sample.count if weighted is None else np.bincount(weighted.cell).astype(np.float64)
        many = (rows > FEW_DRAWS) & (weighted is None)
        width = np.zeros(rows.size, np.int64)
        if many.any():
            width[many] = widths(rows[many], self.chance[many])
            width[width > LARGEST_TILE] = 0
        word = np.append(0, np.cumsum(np.where(many, 1.0, rows))).astype(np.int64)  # the first of each
        for part in self._parts(width):
            share = limit[part], self.base[part], self.scale, word[part.start]
            if rows[part].max() == 1:
                yield part, partial(_fill_rows, *share, sample.count[part])
            elif weighted is not None:
                yield part, partial(_fill_weighted, *share, rows[part], weighted.weight[word[part.start] :])
            else:
                tables = binomial_tables(rows[part], self.chance[part], width[part])
                yield part, partial(_fill_tied, *share, rows[part], self.chance[part], *tables)

    def _parts(self, width: np.ndarray) -> Iterator[slice]:
        """Return tiles of distinct predictions, whose tables of distributions are not too large."""
        held = np.append(0, np.cumsum(width))
        first = 0
        while first < width.size:
            last = int(np.searchsorted(held, held[first] + LARGEST_TILE, "right")) - 1
            last = min(max(last, first + 1), first + TILE, width.size)
            yield slice(first, last)
            first = last


# --- kernels ---------------------------------------------------------------------------------------------------------


def _labels_in_arrays(start: np.uint64, threshold: np.ndarray, positives: np.ndarray) -> None:
    positives[:] = words(start, 0, threshold.size) >> np.uint64(1) < threshold


@first_calls(2e-8, _labels_in_arrays)
@jit
def _labels_of_rows(start: np.uint64, threshold: np.ndarray, positives: np.ndarray) -> None:
    """Draw one outcome for each prediction: a plain loop that becomes vector code."""
    for j in range(threshold.size):
        start += GOLDEN
        positives[j] = np.float64((mix(start) >> np.uint64(1)) < threshold[j])


def _rows_in_arrays(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    weight: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    hits = words(start, place, limit.size) >> np.uint64(1) < limit[:, None]
    out[:] = np.where(hits, ((weight - base) / scale)[:, None], ((0.0 - base) / scale)[:, None])


@first_calls(lambda *arguments: 3e-8 * arguments[-1].size, _rows_in_arrays)
@jit
def _fill_rows(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    weight: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw single rows."""
    step = np.uint64(place) * GOLDEN
    for j in range(limit.size):
        step += GOLDEN
        least = limit[j]
        hit = (weight[j] - base[j]) / scale
        miss = (0.0 - base[j]) / scale
        for b in range(start.size):
            out[j, b] = hit if (mix(start[b] + step) >> np.uint64(1)) < least else miss


def _weighted_in_arrays(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    rows: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    first = 0
    for j in range(limit.size):
        one = weight[first : first + int(rows[j])]
        hits = words(start, place + first, one.size) >> np.uint64(1) < limit[j]
        total = np.cumsum(one[:, None] * hits, axis=0)[-1]  # one by one, as the base was: certain rows leave exactly 0
        out[j] = (total - base[j]) / scale
        first += one.size


@first_calls(lambda *arguments: 5e-8 * arguments[5].size * arguments[-2].size, _weighted_in_arrays)
@jit
def _fill_weighted(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    rows: np.ndarray,
    weight: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw rows with weights one by one; some have the same prediction."""
    step = np.uint64(place) * GOLDEN
    done = 0
    for j in range(limit.size):
        total = out[j]
        total[:] = 0.0
        for _ in range(int(rows[j])):
            step += GOLDEN
            one = weight[done]
            done += 1
            for b in range(start.size):
                total[b] += one if (mix(start[b] + step) >> np.uint64(1)) < limit[j] else 0.0
        for b in range(start.size):
            total[b] = (total[b] - base[j]) / scale


def _tied_in_arrays(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    rows: np.ndarray,
    chance: np.ndarray,
    low: np.ndarray,
    first: np.ndarray,
    cdf: np.ndarray,
    bits: np.ndarray,
    guide_first: np.ndarray,
    guide: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    for j in range(limit.size):
        few, distribution = rows[j] <= FEW_DRAWS, cdf[first[j] : first[j + 1]]
        drawn = words(start, place, int(rows[j]) if few else 1)
        place += len(drawn)
        if few:
            total = (drawn >> np.uint64(1) < limit[j]).sum(axis=0)
        elif distribution.size == 0:
            total = np.array([binomial(np.array([w]), rows[j], chance[j]) for w in drawn[0]])
        else:
            total = low[j] + np.searchsorted(distribution, uniform(drawn[0]) * distribution[-1])
        out[j] = (total - base[j]) / scale


@without_numba(_tied_in_arrays)
@jit
def _fill_tied(
    limit: np.ndarray,
    base: np.ndarray,
    scale: float,
    place: int,
    rows: np.ndarray,
    chance: np.ndarray,
    low: np.ndarray,
    first: np.ndarray,
    cdf: np.ndarray,
    bits: np.ndarray,
    guide_first: np.ndarray,
    guide: np.ndarray,
    start: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw the positives of tied rows: one by one if few, else by inversion of their binomial distribution.

    A distribution without a table is drawn by rejection, from words that begin with the word of its place.
    """
    state = np.empty(1, np.uint64)
    step = np.uint64(place) * GOLDEN
    for j in range(limit.size):
        total = out[j]
        if rows[j] <= FEW_DRAWS:
            total[:] = 0.0
            for _ in range(int(rows[j])):
                step += GOLDEN
                for b in range(start.size):
                    total[b] += 1.0 if (mix(start[b] + step) >> np.uint64(1)) < limit[j] else 0.0
        elif first[j] == first[j + 1]:
            step += GOLDEN
            for b in range(start.size):
                state[0] = mix(start[b] + step)
                total[b] = binomial(state, rows[j], chance[j])
        else:
            step += GOLDEN
            distribution = cdf[first[j] : first[j + 1]]
            places = guide[guide_first[j] : guide_first[j + 1]]
            whole = distribution[distribution.size - 1]
            shift = np.uint64(64 - bits[j])
            for b in range(start.size):
                w = mix(start[b] + step)
                u = (np.float64(w >> np.uint64(11)) + 0.5) * 2.0**-53 * whole
                k = places[w >> shift]
                while distribution[k] < u:
                    k += 1
                total[b] = low[j] + k
        for b in range(start.size):
            total[b] = (total[b] - base[j]) / scale
