"""Limits of an outcome probability that does not decrease with the prediction, and whether they contradict it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.data.sample import Sample
from calibstat.digits import settled

LIMIT_CELLS = 512
LIMIT_ALPHA = 0.05  # of rejecting that a curve does not decrease


@dataclass(frozen=True, eq=False)
class MonotoneLimits:
    """Limits of the curve, each from one interval of cells.

    Attributes
    ----------
    first_value, last_value : ndarray, shape (cells,)
        The smallest and the largest prediction of each cell.
    low : ndarray, shape (cells,)
        A lower limit of the curve from the last prediction of each cell on.
    high : ndarray, shape (cells,)
        An upper limit of the curve up to the first prediction of each cell.
    """

    first_value: np.ndarray
    last_value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def monotone_limits(sample: Sample, alpha: float) -> MonotoneLimits:
    """Return limits that all hold at once with probability 1 - alpha, if the curve does not decrease."""
    value, count, positives = sample.arrays
    first = cell_starts(sample)
    start, stop, miss = intervals(first.size, alpha)

    def rows_of(each: np.ndarray) -> np.ndarray:
        before = np.append(0.0, np.add.reduceat(each, first).cumsum())
        return before[stop] - before[start]

    rows, ones = rows_of(count), rows_of(positives)
    low, high = np.zeros(first.size), np.ones(first.size)
    np.maximum.at(low, stop - 1, lower_limit(ones, rows, miss))
    np.minimum.at(high, start, 1 - lower_limit(rows - ones, rows, miss))
    return MonotoneLimits(value[first], value[np.append(first[1:], value.size) - 1], low, high)


def falls(sample: Sample) -> str:
    """Say where the curve falls, if that is certain at a level of 5 %; nothing if it is not."""
    limits = monotone_limits(sample, LIMIT_ALPHA)
    before = np.maximum.accumulate(limits.low)[:-1]
    after = np.minimum.accumulate(limits.high[::-1])[::-1][1:]
    if not (before > after).any():
        return ""
    at = int((before - after).argmax())
    up_to, beyond = limits.last_value[at], limits.first_value[at + 1]
    return (
        f"the outcome is more likely at some prediction up to {settled(up_to):.3g} than at some from "
        f"{settled(beyond):.3g} on "
        f"(level {LIMIT_ALPHA:g})"
    )


def lower_limit(positives: np.ndarray, rows: np.ndarray, miss: float | np.ndarray) -> np.ndarray:
    """Return the lower limit of Clopper and Pearson (1934), too high with at most the probability `miss`.

    The upper limit is 1 minus the lower one of the negatives.
    """
    from scipy.special import betaincinv

    some = positives > 0
    return np.where(some, betaincinv(np.where(some, positives, 1), rows - positives + 1, miss), 0.0)


def cell_starts(sample: Sample) -> np.ndarray:
    """Cut the predictions into cells, never between equal ones; return the index of the first prediction of each.

    About 6 n^(1/3) cells, a power of two, have equal shares of rows and of information: half and half, because rows
    alone leave few cells to the events of a rare outcome and information alone few to the rows of a flat curve.
    """
    cells = min(LIMIT_CELLS, 2 ** round(np.log2(6 * sample.n ** (1 / 3))))
    cell = np.ceil(information_share(sample.value, sample.count).cumsum() * cells - 1e-9)
    return np.flatnonzero(np.diff(cell, prepend=-1))


def information_share(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the share of each distinct prediction in rows and in information, half and half."""
    information = count * value * (1 - value)
    weight = count / count.sum() + information / max(information.sum(), 1e-300)
    return np.asarray(weight / weight.sum())


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
