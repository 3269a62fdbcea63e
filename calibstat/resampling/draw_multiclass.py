"""Draws classes from predicted vectors, rows with classes, and rows, for measures of vectors and of every class.

A class is drawn by comparing one word with the cumulative sums of its row at 63 bits. A row whose sum is not quite 1
shares out what there is in proportion, and a class of probability 0 is never drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.predictions import Predictions
from calibstat.measures import BoundMeasure
from calibstat.measures.registry import vector_sums
from calibstat.resampling.streams import LOW_HALF, chunks, in_threads, stream, word

GUIDE_BITS = 8  # leading bits of a word that look up where among the classes to begin
LARGEST_PIECE = 2**26  # bytes that the draws of one piece of the replicates may take


def resample_vectors(
    bound: BoundMeasure,
    predictions: Predictions,
    scheme: str,
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return a measure of whole vectors for every resample."""
    prob = predictions.prob
    if scheme != "labels":
        cell = None if bound.measure.cells is None or bound.cells_move else bound.cells(prob)

        def of_rows(rows: np.ndarray, label: np.ndarray) -> float:
            if cell is None:
                return bound.of_vectors(prob[rows], label)
            return float(bound.reduce(*vector_sums(cell[rows], prob[rows], label)))

        return draw_rows(predictions, scheme, of_rows, n_resamples, key, stage, n_jobs)
    if bound.measure.cells is not None:
        cell = bound.cells(prob)
        count, _, value = vector_sums(cell, prob, predictions.label)

        def of_cells(hits: np.ndarray) -> np.ndarray:
            residual = hits.reshape(-1, *value.shape) / predictions.n - value
            return np.asarray(bound.reduce(count[None], residual, value[None]))

        place = cell[:, None] * predictions.n_classes
        return _of_hits(predictions, place, 1, value.size, of_cells, n_resamples, key, stage, n_jobs)

    def of_labels(first: int, last: int) -> np.ndarray:
        return bound.of_many(prob, draw_labels(prob, first, last, key, stage))

    pieces = chunks(n_resamples, n_jobs, LARGEST_PIECE // (8 * predictions.n))
    return np.concatenate(in_threads(of_labels, pieces, n_jobs))


def resample_classes(
    bound: BoundMeasure,
    predictions: Predictions,
    scheme: str,
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return a measure of events for each class in every resample, of shape (n_resamples, K).

    All classes of a resample see the same rows and the same draw of their classes.
    """
    if bound.measure.cells is not None and scheme == "labels":
        place, count, value = cells_of_classes(bound, predictions)

        def of_cells(hits: np.ndarray) -> np.ndarray:
            residual = hits.reshape(-1, *value.shape) / predictions.n - value
            return np.asarray(bound.reduce(count[None], residual, value[None]))

        cells = value.shape[1]
        return _of_hits(predictions, place, cells, value.size, of_cells, n_resamples, key, stage, n_jobs)
    pieces = chunks(n_resamples, 1, LARGEST_PIECE // (8 * predictions.n))
    parts = [_every_class(bound, predictions, scheme, low, high, key, stage, n_jobs) for low, high in pieces]
    return np.concatenate(parts)


def draw_rows(
    predictions: Predictions,
    scheme: str,
    statistic: Callable[[np.ndarray, np.ndarray], Any],
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return ``statistic(rows, label)`` of every resample of the rows, with new classes if the scheme is "both"."""

    def replicates(first: int, last: int) -> list[Any]:
        found = []
        for replicate in range(first, last):
            rows, label = _one_draw(predictions, scheme, key, stage, replicate)
            found.append(statistic(rows, label))
        return found

    parts = in_threads(replicates, chunks(n_resamples, n_jobs), n_jobs)
    return np.array([entry for part in parts for entry in part])


def draw_residuals(
    predictions: Predictions,
    place: np.ndarray,
    along: int,
    size: int,
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    """Return residual / n summed where `place` and `along` say, in every resample of the rows with their classes."""
    residual = np.zeros((n_resamples, size))

    def replicates(first: int, last: int) -> None:
        part = residual[first:last]
        _residuals_of_rows(key, stage, first, predictions.prob, predictions.label, place, along, part)

    in_threads(replicates, chunks(n_resamples, n_jobs), n_jobs)
    residual /= predictions.n
    return residual


def draw_labels(prob: np.ndarray, first: int, last: int, key: np.uint64, stage: int) -> np.ndarray:
    """Return the classes of replicates first..last, of shape (last - first, n)."""
    labels = np.empty((last - first, prob.shape[0]), np.int64)
    _labels(key, stage, first, prob, labels)
    return labels


def _one_draw(
    predictions: Predictions, scheme: str, key: np.uint64, stage: int, replicate: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a replicate and their classes."""
    start = np.uint64(stream(key, stage, replicate))
    rows = np.empty(predictions.n, np.int64)
    _draw_rows(start, rows)
    if scheme == "rows":
        return rows, predictions.label[rows]
    label = np.empty(predictions.n, np.int64)
    _labels_of_rows(start, predictions.prob, rows, label)
    return rows, label


def _of_hits(
    predictions: Predictions,
    place: np.ndarray,
    along: int,
    size: int,
    statistic: Callable[[np.ndarray], np.ndarray],
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int,
) -> np.ndarray:
    """Return the statistic of how often each class was drawn in each cell, for cells that do not move.

    Class k drawn in row i counts at ``place[i, k] + k * along``, or at ``place[i, 0] + k * along`` if the classes
    share their cells.
    """

    def replicates(first: int, last: int) -> np.ndarray:
        hits = np.zeros((last - first, size), np.int32)
        _hits(key, stage, first, predictions.prob, place, along, hits)
        return statistic(hits)

    pieces = chunks(n_resamples, n_jobs, LARGEST_PIECE // (16 * size))
    return np.concatenate(in_threads(replicates, pieces, n_jobs))


def cells_of_classes(bound: BoundMeasure, predictions: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cell of each row in the problem of each class, and rows and predictions / n summed in them."""
    n, classes = predictions.prob.shape
    place = np.empty((n, classes), np.int32)
    sums = bound.columns(predictions)
    if sums is not None:  # cells that depend on each prediction alone: nothing needs sorting
        for k in range(classes):
            place[:, k] = bound.cells(predictions.prob[:, k].astype(np.float64), np.ones(n))
        return place, sums[0], sums[2]
    for k in range(classes):
        value, count, cell = summary(predictions, k)
        place[:, k] = bound.cells(value, count)[cell]
    cells = int(place.max()) + 1
    count_b, value_b = np.zeros((classes, cells)), np.zeros((classes, cells))
    for k in range(classes):
        count_b[k] = np.bincount(place[:, k], minlength=cells)
        value_b[k] = np.bincount(place[:, k], predictions.prob[:, k], minlength=cells) / n
    return place, count_b, value_b


def _every_class(
    bound: BoundMeasure,
    predictions: Predictions,
    scheme: str,
    first: int,
    last: int,
    key: np.uint64,
    stage: int,
    n_jobs: int,
) -> np.ndarray:
    """Return the measure for each class in replicates first..last: class by class, so that one is sorted at a time."""
    classes = predictions.n_classes
    rows = np.empty((0, 0), np.int64)
    if scheme == "labels":
        labels = draw_labels(predictions.prob, first, last, key, stage)
    else:
        draws = [_one_draw(predictions, scheme, key, stage, replicate) for replicate in range(first, last)]
        rows, labels = (np.array(part) for part in zip(*draws, strict=True))
    found = np.empty((last - first, classes))

    def one_class(low: int, high: int) -> None:
        for k in range(low, high):
            value, count, cell = summary(predictions, k)
            held = bound.held(value, count)
            count_r, positives = count.copy(), np.empty_like(count)
            for r in range(last - first):
                if scheme == "labels":
                    _positives(labels[r], cell, k, positives)
                else:
                    _counts(rows[r], labels[r], cell, k, count_r, positives)
                found[r, k] = held.statistic(value, count_r, positives)

    in_threads(one_class, chunks(classes, n_jobs), n_jobs)
    return found


def summary(predictions: Predictions, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct predictions for one class, the rows at each, and for each row which of them it has."""
    column = predictions.prob[:, k].astype(np.float64) + 0.0
    value, cell, count = np.unique(column, return_inverse=True, return_counts=True)
    return value, count.astype(np.float64), cell.astype(np.int64)


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _thresholds(row, threshold):  # type: ignore[no-untyped-def]
    """Fill in cumulative sums times 2**63: the last class that is possible takes what rounding leaves."""
    total = 0.0
    last = 0
    for k in range(row.size):
        total += row[k]
        if row[k] > 0.0:
            last = k
    below = 0.0
    for k in range(last):
        below += row[k]
        threshold[k] = np.uint64(below / total * 2.0**63)
    for k in range(last, row.size):
        threshold[k] = np.uint64(2**63)


@jit
def _guide(threshold, guide):  # type: ignore[no-untyped-def]
    """Fill in for each beginning of a word the first class that it may be, so that a draw takes few comparisons."""
    k = 0
    for i in range(guide.size):
        while threshold[k] <= np.uint64(i) << np.uint64(63 - GUIDE_BITS):
            k += 1
        guide[i] = k


@jit
def _hits(key, stage, first, prob, place, along, hits):  # type: ignore[no-untyped-def]
    """Draw classes row by row for all replicates and count where they fall: nothing drawn is kept."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    start = np.empty(hits.shape[0], np.uint64)
    for r in range(start.size):
        start[r] = stream(key, stage, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    target = np.empty(classes, np.int64)
    for i in range(n):
        _thresholds(prob[i], threshold)
        _guide(threshold, guide)
        for k in range(classes):
            target[k] = place[i, 0 if shared else k] + k * along
        for r in range(start.size):
            u = word(start[r], i) >> np.uint64(1)
            k = guide[u >> np.uint64(63 - GUIDE_BITS)]
            while threshold[k] <= u:
                k += 1
            hits[r, target[k]] += 1


@jit
def _labels(key, stage, first, prob, labels):  # type: ignore[no-untyped-def]
    """Draw the classes of all replicates row by row."""
    n, classes = prob.shape
    start = np.empty(labels.shape[0], np.uint64)
    for r in range(start.size):
        start[r] = stream(key, stage, first + r)
    threshold = np.empty(classes, np.uint64)
    guide = np.empty(2**GUIDE_BITS, np.int64)
    for i in range(n):
        _thresholds(prob[i], threshold)
        _guide(threshold, guide)
        for r in range(start.size):
            u = word(start[r], i) >> np.uint64(1)
            k = guide[u >> np.uint64(63 - GUIDE_BITS)]
            while threshold[k] <= u:
                k += 1
            labels[r, i] = k


@jit
def _draw_rows(start, rows):  # type: ignore[no-untyped-def]
    """Draw rows with replacement, each with the upper half of the product of a word and n."""
    size = np.uint64(rows.size) & LOW_HALF
    for i in range(rows.size):
        w = word(start, i)
        low = (w & LOW_HALF) * size
        rows[i] = np.int64(((w >> np.uint64(32)) * size + (low >> np.uint64(32))) >> np.uint64(32))


@jit
def _residuals_of_rows(key, stage, first, prob, label, place, along, residual):  # type: ignore[no-untyped-def]
    """Add up one-hot class minus prediction over drawn rows; how often each was drawn is counted before."""
    n, classes = prob.shape
    shared = place.shape[1] == 1
    rows = np.empty(n, np.int64)
    times = np.empty(n, np.int32)
    for r in range(residual.shape[0]):
        _draw_rows(stream(key, stage, first + r), rows)
        times[:] = 0
        for i in range(n):
            times[rows[i]] += 1
        for i in range(n):
            if times[i] > 0:
                t = np.float64(times[i])
                for k in range(classes):
                    residual[r, place[i, 0 if shared else k] + k * along] -= t * prob[i, k]
                k = label[i]
                residual[r, place[i, 0 if shared else k] + k * along] += t


@jit
def _labels_of_rows(start, prob, rows, label):  # type: ignore[no-untyped-def]
    """Draw a class for each of the drawn rows, with the words that follow those of the rows."""
    threshold = np.empty(prob.shape[1], np.uint64)
    for i in range(rows.size):
        _thresholds(prob[rows[i]], threshold)
        u = word(start, rows.size + i) >> np.uint64(1)
        k = 0
        while threshold[k] <= u:
            k += 1
        label[i] = k


@jit
def _positives(label, cell, k, positives):  # type: ignore[no-untyped-def]
    """Count the rows of class k at each distinct prediction."""
    positives[:] = 0.0
    for i in range(label.size):
        positives[cell[i]] += np.float64(label[i] == k)


@jit
def _counts(rows, label, cell, k, count, positives):  # type: ignore[no-untyped-def]
    """Count the drawn rows, and those of class k among them, at each distinct prediction."""
    count[:] = 0.0
    positives[:] = 0.0
    for i in range(rows.size):
        j = cell[rows[i]]
        count[j] += 1.0
        positives[j] += np.float64(label[i] == k)


@jit
def signs(key, stage, replicate, n):  # type: ignore[no-untyped-def]
    """Draw n random signs: 0 for minus, 1 for plus."""
    start = np.uint64(stream(key, stage, replicate))
    found = np.empty(n, np.uint8)
    for i in range(n):
        found[i] = np.uint64(word(start, i)) >> np.uint64(63)
    return found
