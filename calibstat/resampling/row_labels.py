"""Rows one by one or in units, for a block of resamples at a time: labels given the predictions, and signs of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calibstat.compiled import jit, without_numba
from calibstat.resampling.binary_labels import BLOCK
from calibstat.resampling.multiclass_labels import thresholds
from calibstat.resampling.row_sums import Column
from calibstat.resampling.schemes import Draws
from calibstat.resampling.sources import OfLabels
from calibstat.resampling.streams import GOLDEN, first_states, mix, words
from calibstat.resampling.threads import chunks, in_threads

HELD_SUMS = 2**21  # sums in cells of a block of resamples


def sums_of_row_labels(
    cell: np.ndarray,
    prediction: np.ndarray,
    cells: int,
    unit: np.ndarray,
    sample_weight: np.ndarray | None,
    statistic: OfLabels,
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample, theta the residuals / n summed in cells.

    The rows of a unit have one uniform number, below the predictions of those with outcome 1: their labels depend on
    each other as much as they can.
    """
    order = np.argsort(cell, kind="stable")  # sums are the same for any order of the rows
    cell, prediction, unit = cell[order], prediction[order], unit[order]
    weight = np.ones(cell.size) if sample_weight is None else sample_weight[order]
    expected, n = np.bincount(cell, weight * prediction, cells), float(weight.sum())
    limit = _limit(prediction)

    def of_events(start: np.ndarray) -> list[Any]:
        events = np.zeros((cells, start.size))
        _add_events(start, cell, limit, unit, weight, events)
        return [statistic((one - expected) / n) for one in np.ascontiguousarray(events.T)]

    return in_blocks_of_streams(of_events, cells, draws, stream)


def sums_of_class_labels(
    cell: np.ndarray,
    prob: np.ndarray,
    cells: int,
    unit: np.ndarray,
    sample_weight: np.ndarray | None,
    statistic: OfLabels,
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return ``statistic(theta)`` of every resample, theta the residuals / n of all classes summed in cells.

    `cell` and `prob` have shape (n, K). The rows of a unit have one uniform number, and each has the first class at
    which its cumulated probabilities exceed the number.
    """
    weight = np.ones(unit.size) if sample_weight is None else sample_weight
    expected = sum(np.bincount(cell[:, k], weight * prob[:, k], cells) for k in range(prob.shape[1]))
    n, cell = float(weight.sum()), np.ascontiguousarray(cell)

    def of_classes(start: np.ndarray) -> list[Any]:
        events = np.zeros((cells, start.size))
        _add_classes(start, cell, prob, unit, weight, events)
        return [statistic((one - expected) / n) for one in np.ascontiguousarray(events.T)]

    return in_blocks_of_streams(of_classes, cells, draws, stream)


def sums_of_signs(
    columns: Sequence[Column],
    cells: int,
    unit: np.ndarray,
    statistic: Callable[[np.ndarray], Any],
    draws: Draws,
    stream: int,
) -> np.ndarray:
    """Return ``statistic(sums)`` of all resamples, which keep or change the sign of all that a unit adds.

    A column says in which of `cells` each row adds how much, and `sums`, shape (B, cells), add this up.
    """
    units = int(unit.max()) + 1

    def of_signs(start: np.ndarray) -> np.ndarray:
        signs, sums = np.empty(units, np.uint64), np.zeros((cells, start.size))
        draw_signs(start, signs)
        for cell, contribution in columns:
            _add_signed(signs, unit, cell, contribution, sums)
        return np.asarray(statistic(np.ascontiguousarray(sums.T)))

    return in_blocks_of_streams(of_signs, cells, draws, stream)


def in_blocks_of_streams(statistic: Callable[[np.ndarray], Any], cells: int, draws: Draws, stream: int) -> np.ndarray:
    """Return the statistic of the streams of all resamples, as many at a time as there is room for their sums."""
    block = max(min(BLOCK, HELD_SUMS // cells), 1)

    def replicates(first: int, last: int) -> np.ndarray:
        starts = (first_states(draws.key, stream, r, min(r + block, last)) for r in range(first, last, block))
        return np.concatenate([np.asarray(statistic(start)) for start in starts])

    return np.concatenate(in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs))


def _limit(probability: np.ndarray) -> np.ndarray:
    """Return how many of the numbers (k + 1/2) / 2**53 are below each probability: the product is exact."""
    whole = np.floor(probability * 2.0**53)
    return (whole + (probability * 2.0**53 - whole > 0.5)).astype(np.uint64)


# --- kernels ---------------------------------------------------------------------------------------------------------


def _events_in_arrays(
    start: np.ndarray, cell: np.ndarray, limit: np.ndarray, unit: np.ndarray, weight: np.ndarray, events: np.ndarray
) -> None:
    drawn = words(start, 0, int(unit.max()) + 1)[unit] >> np.uint64(11)
    np.add.at(events, cell, np.where(drawn < limit[:, None], weight[:, None], 0.0))


@without_numba(_events_in_arrays)
@jit
def _add_events(
    start: np.ndarray, cell: np.ndarray, limit: np.ndarray, unit: np.ndarray, weight: np.ndarray, events: np.ndarray
) -> None:
    """Add up the weights of the rows of each cell whose prediction is above the uniform number of their unit."""
    for i in range(cell.size):
        step = (np.uint64(unit[i]) + np.uint64(1)) * GOLDEN
        one = weight[i]
        most = limit[i]
        total = events[cell[i]]
        for b in range(start.size):
            total[b] += one if (mix(start[b] + step) >> np.uint64(11)) < most else 0.0


@jit
def _add_classes(
    start: np.ndarray, cell: np.ndarray, prob: np.ndarray, unit: np.ndarray, weight: np.ndarray, events: np.ndarray
) -> None:
    """Add up the weights of rows in the cell of their class, which is drawn by the word of their unit."""
    threshold = np.empty(prob.shape[1], np.uint64)
    for i in range(unit.size):
        thresholds(prob[i], threshold)
        step = (np.uint64(unit[i]) + np.uint64(1)) * GOLDEN
        for b in range(start.size):
            u = mix(start[b] + step) >> np.uint64(1)
            k = 0
            while threshold[k] <= u:
                k += 1
            events[cell[i, k], b] += weight[i]


def _signs_in_arrays(start: np.ndarray, signs: np.ndarray) -> None:
    plus = words(start, 0, signs.size) >> np.uint64(63)
    signs[:] = (plus << np.arange(start.size, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)


@without_numba(_signs_in_arrays)
@jit
def draw_signs(start: np.ndarray, signs: np.ndarray) -> None:
    """Draw the sign of each unit in a block of resamples: bit b is 1 for plus in resample b."""
    step = np.uint64(0)
    for u in range(signs.size):
        step += GOLDEN
        bits = np.uint64(0)
        for b in range(start.size):
            bits |= (mix(start[b] + step) >> np.uint64(63)) << np.uint64(b)
        signs[u] = bits


def signs_of(bits: np.ndarray, n: int) -> np.ndarray:
    """Return 1.0 or -1.0 for the first n bits of each number."""
    return (bits[:, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1)) * 2.0 - 1.0


def _signed_in_arrays(
    signs: np.ndarray, unit: np.ndarray, cell: np.ndarray, contribution: np.ndarray, sums: np.ndarray
) -> None:
    np.add.at(sums, cell, contribution[:, None] * signs_of(signs[unit], sums.shape[1]))


@without_numba(_signed_in_arrays)
@jit
def _add_signed(
    signs: np.ndarray, unit: np.ndarray, cell: np.ndarray, contribution: np.ndarray, sums: np.ndarray
) -> None:
    """Add up what rows add in their cells, with the sign of their unit in each resample."""
    for i in range(unit.size):
        bits = signs[unit[i]]
        plus = contribution[i]
        minus = -plus
        total = sums[cell[i]]
        for b in range(total.size):
            total[b] += plus if (bits >> np.uint64(b)) & np.uint64(1) else minus
