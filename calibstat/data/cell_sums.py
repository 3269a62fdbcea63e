"""Sums of observations, residuals and predictions in cells."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import first_calls, jit


def cell_sums(
    cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums in each cell of rows, residuals / n and predictions / n."""
    sums = np.zeros((3, cell[-1] + 1))
    n = _add_up(cell, value, count, positives, sums)
    count_b, positives_b, value_b = sums
    return count_b, (positives_b - value_b) / n, value_b / n


def _added_in_arrays(
    cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, sums: np.ndarray
) -> float:
    for total, each in zip(sums, (count, positives, count * value), strict=True):
        total += np.bincount(cell, each, total.size)
    return float(np.cumsum(sums[0])[-1])


@first_calls(4e-9, _added_in_arrays)
@jit
def _add_up(cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, sums: np.ndarray) -> float:
    """Add up rows, positives and predictions in each cell, and return the number of rows."""
    for j in range(cell.size):
        b = cell[j]
        sums[0, b] += count[j]
        sums[1, b] += positives[j]
        sums[2, b] += count[j] * value[j]
    n = 0.0
    for b in range(sums.shape[1]):
        n += sums[0, b]
    return n


def vector_sums(
    cell: np.ndarray, prob: np.ndarray, label: np.ndarray, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums in each cell of rows, and for each class of residuals / n and predictions / n.

    Rows may have a weight; then n is the sum of the weights.
    """
    weight = np.ones(label.size) if sample_weight is None else sample_weight
    return tuple(_vector_sums(cell, prob, label, weight, float(weight.sum())))  # type: ignore[return-value]


@jit
def _vector_sums(
    cell: np.ndarray, prob: np.ndarray, label: np.ndarray, weight: np.ndarray, n: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums over rows with weights, whose sum is n."""
    rows, classes = prob.shape
    cells = 0
    for b in cell:
        cells = max(cells, b + 1)
    count = np.zeros(cells)
    value = np.zeros((cells, classes))
    residual = np.zeros((cells, classes))
    for i in range(rows):
        b = cell[i]
        count[b] += weight[i]
        for k in range(classes):
            value[b, k] += weight[i] * prob[i, k]
        residual[b, label[i]] += weight[i]
    for b in range(cells):
        for k in range(classes):
            residual[b, k] = (residual[b, k] - value[b, k]) / n
            value[b, k] /= n
    return count, residual, value
