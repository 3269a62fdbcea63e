"""Resampled sums over cells and classes of multiclass predictions, without storing the draws."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit, short_calls
from calibstat.resampling.multiclass_labels import FEW_CLASSES, GUIDE_BITS, draw_classes, thresholds
from calibstat.resampling.multiclass_pairs import draw_rows
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import ClassCells, OfLabels
from calibstat.resampling.streams import first_state
from calibstat.resampling.threads import announced_pieces, chunks, of_draws

BLOCK, TILE = 64, 32  # resamples and rows that are added up together: their counts stay in the cache of the core
ROWS_SUBTRACTED = 8  # rows that are added up in one step if they are in the same cell
MOST_HELD = 2**22  # counts of rows, or sums in cells, of a block of resamples


def labels_of_vectors(source: ClassCells, scheme: Labels, statistic: OfLabels, draws: Draws, stream: int) -> np.ndarray:
    """Return the statistic of the number of draws of each class in each cell; cells are fixed."""
    chance = scheme.chances(source.predictions.prob)
    block = max(BLOCK, MOST_HELD // source.cells) if source.predictions.n_classes > FEW_CLASSES else BLOCK

    def replicates(first: int, last: int) -> np.ndarray:
        observed = np.zeros((source.cells, last - first), np.int32)
        for a, b in _rows(chance, last - first):
            _labels_in_cells(draws.key, stream, first, a, chance[a:b], source.index[a:b], source.stride, observed)
        drawn = [np.ascontiguousarray(observed[:, i : i + BLOCK].T) for i in range(0, last - first, BLOCK)]
        return np.concatenate([statistic(part) for part in drawn])

    pieces = chunks(draws.n, draws.n_jobs, block)
    return np.concatenate(announced_pieces(replicates, pieces, draws.n_jobs, of_draws(draws.n, source.predictions)))


def pairs_of_vectors(source: ClassCells, statistic: OfLabels, draws: Draws, stream: int) -> np.ndarray:
    """Return the statistic of the residuals / n summed in each cell, in the pairs bootstrap.

    Rows are outside and the resamples of a block inside, so that the predictions are read once for all of these.
    """
    predictions = source.predictions
    block = max(min(BLOCK, MOST_HELD // max(predictions.n, source.cells)), 1)

    def replicates(first: int, last: int) -> np.ndarray:
        times = np.zeros((last - first, predictions.n), np.uint8)
        theta = np.zeros((source.cells, times.shape[0]))
        _count_rows(draws.key, stream, first, times)
        for a, b in _rows(predictions.prob, times.shape[0] * predictions.n_classes):
            rows = predictions.prob[a:b], predictions.label[a:b], source.index[a:b]
            _add_residuals(np.ascontiguousarray(times[:, a:b]), *rows, source.stride, theta)
        theta = np.ascontiguousarray(theta.T)
        theta /= predictions.n
        return statistic(theta)

    pieces = chunks(draws.n, draws.n_jobs, block)
    return np.concatenate(announced_pieces(replicates, pieces, draws.n_jobs, of_draws(draws.n, predictions)))


def _rows(prob: np.ndarray, steps: int) -> list[tuple[int, int]]:
    """Cut rows, each of which takes so many steps, or one for each class, into pieces of whole tiles."""
    n, classes = prob.shape
    pieces = short_calls(-(-n // TILE), TILE * max(steps, classes))
    return [(TILE * first, min(TILE * last, n)) for first, last in pieces]


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _labels_in_cells(
    key: np.uint64,
    stream: int,
    first: int,
    begin: int,
    prob: np.ndarray,
    index: np.ndarray,
    stride: int,
    observed: np.ndarray,
) -> None:
    """Draw the classes of rows from `begin` on for all replicates and count them in cells, shape (cells, B).

    Draws are not stored. The counts of a cell lie together, and one row looks up a few cells for all replicates.
    """
    n, classes = prob.shape
    shared = index.shape[1] == 1
    start = np.empty(observed.shape[1], np.uint64)
    for r in range(start.size):
        start[r] = first_state(key, stream, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    words = np.empty(start.size, np.uint64)
    label = np.empty(start.size, np.int64)
    for i in range(n):
        thresholds(prob[i], threshold)
        draw_classes(start, begin + i, threshold, guide, words, label)
        for r in range(start.size):
            k = label[r]
            observed[index[i, 0 if shared else k] + k * stride, r] += 1


@jit
def _count_rows(key: np.uint64, stream: int, first: int, times: np.ndarray) -> None:
    """Count how often each row is drawn in each resample, shape (B, n), in bytes as `UnitCounts` does."""
    rows = np.empty(times.shape[1], np.int64)
    for r in range(times.shape[0]):
        draw_rows(first_state(key, stream, first + r), rows)
        for i in range(rows.size):
            times[r, rows[i]] += np.uint8(1)


@jit
def _add_residuals(
    times: np.ndarray, prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, residual: np.ndarray
) -> None:
    """Add up one-hot class minus prediction over drawn rows, shape (cells, B): some rows, class by class."""
    n, classes = prob.shape
    resamples = times.shape[0]
    shared = index.shape[1] == 1
    drawn = np.empty((TILE, resamples))
    for begin in range(0, n, TILE):
        rows = min(TILE, n - begin)
        for r in range(resamples):
            for i in range(rows):
                drawn[i, r] = times[r, begin + i]
        for k in range(classes):
            for first in range(0, rows, ROWS_SUBTRACTED):
                last = min(first + ROWS_SUBTRACTED, rows)
                cell = index[begin + first, 0 if shared else k] + k * stride
                alike = last - first == ROWS_SUBTRACTED
                j = begin + first
                while alike and j < begin + last:
                    alike = index[j, 0 if shared else k] + k * stride == cell and label[j] != k
                    j += 1
                if alike:
                    _subtract(drawn[first:last], prob[begin + first : begin + last, k], residual[cell])
                    continue
                for i in range(first, last):
                    v = np.float64(prob[begin + i, k])
                    total = residual[index[begin + i, 0 if shared else k] + k * stride]
                    for r in range(resamples):
                        total[r] -= drawn[i, r] * v
                    if label[begin + i] == k:
                        for r in range(resamples):
                            total[r] += drawn[i, r]


@jit
def _subtract(drawn: np.ndarray, value: np.ndarray, total: np.ndarray) -> None:
    """Subtract the products of eight rows and their values, in the order of the rows; each sum is read once."""
    s, t, u, v, w, x, y, z = drawn[0], drawn[1], drawn[2], drawn[3], drawn[4], drawn[5], drawn[6], drawn[7]
    a, b, c, d = np.float64(value[0]), np.float64(value[1]), np.float64(value[2]), np.float64(value[3])
    e, f, g, h = np.float64(value[4]), np.float64(value[5]), np.float64(value[6]), np.float64(value[7])
    for r in range(total.size):
        some = total[r] - s[r] * a - t[r] * b - u[r] * c - v[r] * d
        total[r] = some - w[r] * e - x[r] * f - y[r] * g - z[r] * h
