"""Confidence band of an outcome probability that does not decrease with the prediction."""

from __future__ import annotations

import numpy as np

from calibstat.data.sample import Sample
from calibstat.inference.bands.confidence_bands import lower_limit
from calibstat.inference.bands.reliability_bands import Band, Bins, Steps
from calibstat.resampling import Draws

MOST_CELLS = 512


def monotone_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return the band that holds all of the curve P(Y = 1 | v), if it does not decrease, with this probability.

    The positives among n rows with predictions from u to v are stochastically between Binomial(n, P(Y = 1 | u)) and
    Binomial(n, P(Y = 1 | v)). So the lower Clopper-Pearson limit of any such interval of predictions holds for the
    curve from v on, and its upper limit up to u. The band is the best of the limits of a family of intervals chosen
    from the predictions alone, whose probabilities of a miss sum to 1 - level.
    """
    value, count, positives = bins.sample.arrays
    if bins.sample.weighted is not None:
        raise ValueError("expected rows without sample_weight for band='monotone', found rows with weights")
    first = cell_starts(bins.sample)
    first_value, last_value = value[first], value[np.append(first[1:], value.size) - 1]
    start, stop, miss = intervals(first.size, 1 - level)

    def rows_of(each: np.ndarray) -> np.ndarray:
        before = np.append(0.0, np.add.reduceat(each, first).cumsum())
        return before[stop] - before[start]

    rows, ones = rows_of(count), rows_of(positives)
    low, high = np.zeros(first.size), np.ones(first.size)
    np.maximum.at(low, stop - 1, lower_limit(ones, rows, miss))
    np.minimum.at(high, start, 1 - lower_limit(rows - ones, rows, miss))
    cells = Steps(last_value, np.maximum.accumulate(low), np.ones(first.size))
    above = Steps(first_value, np.zeros(first.size), np.minimum.accumulate(high[::-1])[::-1])
    corner = np.unique(np.concatenate((first_value, last_value)))
    return Band(steps=Steps(corner, cells.at(corner)[0], above.at(corner)[1]))


def cell_starts(sample: Sample) -> np.ndarray:
    """Cut the predictions into cells, never between equal ones; return the index of the first prediction of each.

    About 6 n^(1/3) cells, a power of two, have equal shares of rows and of information: half and half, because rows
    alone leave few cells to the events of a rare outcome and information alone few to the rows of a flat curve.
    """
    value, count, _ = sample.arrays
    cells = min(MOST_CELLS, 2 ** round(np.log2(6 * sample.n ** (1 / 3))))
    information = count * value * (1 - value)
    weight = count / sample.n + information / max(information.sum(), 1e-300)
    cell = np.ceil(weight.cumsum() / weight.sum() * cells - 1e-9)
    return np.flatnonzero(np.diff(cell, prepend=-1))


def intervals(cells: int, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return intervals of cells, from `start` up to before `stop`, and the miss allowed to each end of each.

    Lengths 1, 2, 3, 4, 6, 8, 12, ... and all cells share alpha / 2 equally, and each shares it among its intervals,
    which start every quarter of their length.
    """
    lengths = {length << k for k in range(cells.bit_length()) for length in (2, 3) if length << k < cells} | {1, cells}
    parts = []
    for length in sorted(lengths):
        start = np.unique(np.append(np.arange(0, cells - length + 1, max(1, length // 4)), cells - length))
        parts.append((start, start + length, np.full(start.size, alpha / 2 / len(lengths) / start.size)))
    start, stop, miss = (np.concatenate(part) for part in zip(*parts, strict=True))
    return start, stop, miss
