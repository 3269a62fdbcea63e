"""Partitions of the probability simplex into cells: a grid of equal bins, or a tree grown on the predictions."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit
from calibstat.data.checks import is_among, is_number, short
from calibstat.measures.bins import bin_numbers, uniform_cells

# Rounding depends on the order of the rows and must not decide a split: variances this near are tied, and a row this
# near above the mean counts as at the mean. Sums of up to 10 million rows are that exact.
_NEAR_CELL = 1e-9
_MEAN_ROUNDING = 2.0**-23  # relative, of a mean of equal predictions on the edge of a bin, in single precision too

SPLIT_FIELDS = [("coordinate", np.int64), ("threshold", np.float64), ("low", np.int64), ("high", np.int64)]


def grid_cells(prob: np.ndarray, *, n_bins: int | str | None = 15) -> np.ndarray:
    """Return the cell of each row in a grid: rows share one if each of their coordinates falls in the same bin.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0; None for level sets, the distinct vectors. Only cells that
    hold rows are numbered, in the order of their bins. With two classes only the second coordinate is used: the first
    is the same, except for rounding and points on an edge, which would become separate cells.
    """
    n, n_classes = prob.shape
    rows = np.array([n])
    code = np.zeros(n, np.int64)
    codes = 1  # all codes are below it
    for k in range(1 if n_classes == 2 else 0, n_classes):
        bin_of_row = uniform_cells(prob[:, k].astype(np.float64), rows, n_bins=n_bins)
        bins = int(bin_of_row.max()) + 1
        if codes * bins >= 2**63:
            code = np.unique(code, return_inverse=True)[1]
            codes = int(code.max()) + 1
        code = code * bins + bin_of_row
        codes *= bins
    return np.unique(code, return_inverse=True)[1]


def grid_boxes(mean: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends of the coordinates in the cells of a grid, given a mean of rows of each."""
    number = np.stack([bin_numbers(column * (1 - _MEAN_ROUNDING), n_bins) for column in mean.T], axis=1)
    return number / n_bins, (number + 1) / n_bins


def tree_boxes(tree: np.ndarray, cells: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends of the coordinates in the cells of a tree, which has its splits in order."""
    low, high = np.zeros((cells, n_classes)), np.ones((cells, n_classes))
    within = {0: (np.zeros(n_classes), np.ones(n_classes))}
    for k, (coordinate, threshold, *sides) in enumerate(tree.tolist()):
        below, above = within.pop(k)
        ends = below.copy(), above.copy()
        ends[0][coordinate] = ends[1][coordinate] = threshold
        for side, box in zip(sides, ((below, ends[1]), (ends[0], above)), strict=True):
            if side >= 0:
                within[side] = box
            else:
                low[~side], high[~side] = box
    return low, high


def check_tree(threshold: str, min_size: int) -> None:
    """Raise a ValueError unless these options define a tree."""
    if not is_among(threshold, ("mean", "median")):
        raise ValueError(f"expected threshold 'mean' or 'median', found {short(threshold)}")
    if not (is_number(min_size) and 1 <= min_size < math.inf and min_size == int(min_size)):
        raise ValueError(f"expected min_size to be a whole number of at least 1, found {short(min_size)}")


def grow_tree(prob: np.ndarray, *, threshold: str = "mean", min_size: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each row in a tree grown on these rows, and the tree.

    A cell of at least `min_size` rows is split along its coordinate of largest variance (the first of several) at
    the mean or median of that coordinate, rows up to the threshold to the low side; it is not split if a side would be
    empty. Variances within a relative 1e-9 of each other are equal, and a coordinate within 1e-9 of the mean is at it,
    so that the order of the rows does not matter. Cells are numbered from low to high.

    The tree is an array of its splits, the first one first and each before those below it, with the fields
    "coordinate", "threshold", "low" and "high"; the last two are the number of the split that comes next on that side,
    or ~c, which is negative, if it is cell c. An empty array means a single cell.
    """
    check_tree(threshold, min_size)
    least = int(min(min_size, prob.shape[0] + 1))  # more than all rows: one cell
    cell, coordinate, at, side = _grow(prob, least, threshold == "median")
    tree = np.empty(at.size, SPLIT_FIELDS)
    tree["coordinate"], tree["threshold"], tree["low"], tree["high"] = coordinate, at, side[:, 0], side[:, 1]
    return cell, tree


@jit
def _grow(prob: np.ndarray, min_size: int, median: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the cell of each row, and coordinate, threshold and the two sides of each split."""
    n = prob.shape[0]
    row = np.arange(n)  # each cell holds a stretch of it
    spare = np.empty(n, np.int64)
    cell = np.empty(n, np.int64)
    cells = 0
    # every split leaves rows on both sides, so there are fewer splits, and pending cells, than rows
    coordinate = np.empty(n, np.int64)
    threshold = np.empty(n)
    side = np.empty((n, 2), np.int64)
    splits = 0
    # begin and end of a pending cell, and the side of the split it came from: 2 * split + side
    begin = np.empty(n, np.int64)
    stop = np.empty(n, np.int64)
    source = np.empty(n, np.int64)
    begin[0], stop[0], source[0] = 0, n, -1
    last = 0
    while last >= 0:
        first, end, origin = begin[last], stop[last], source[last]
        last -= 1
        low = 0
        if end - first >= min_size:
            k, at = _widest(prob, row[first:end])
            if median:
                at = _median(prob, row[first:end], k)
            low = _part(prob, row[first:end], k, at, spare)
        whole = low == 0 or low == end - first
        if origin >= 0:
            side[origin // 2, origin % 2] = ~cells if whole else splits
        if whole:
            cell[row[first:end]] = cells
            cells += 1
        else:
            coordinate[splits] = k
            threshold[splits] = at
            last += 1
            begin[last], stop[last], source[last] = first + low, end, 2 * splits + 1
            last += 1  # the low side comes first
            begin[last], stop[last], source[last] = first, first + low, 2 * splits
            splits += 1
    return cell, coordinate[:splits], threshold[:splits], side[:splits]


@jit
def _widest(prob: np.ndarray, row: np.ndarray) -> tuple[int, float]:
    """Return the coordinate of largest variance among these rows, and its mean, widened by `_NEAR_CELL`."""
    n_classes = prob.shape[1]
    mean = np.zeros(n_classes)
    for i in row:
        for k in range(n_classes):
            mean[k] += prob[i, k]
    mean /= row.size
    variance = np.zeros(n_classes)
    for i in row:
        for k in range(n_classes):
            variance[k] += (prob[i, k] - mean[k]) ** 2
    widest = 0
    for k in range(n_classes):
        if variance[k] > variance[widest] * (1.0 + _NEAR_CELL):
            widest = k
    return widest, mean[widest] * (1.0 + _NEAR_CELL)


@jit
def _median(prob: np.ndarray, row: np.ndarray, k: int) -> float:
    """Return the median of coordinate k among these rows."""
    value = np.empty(row.size)
    for i in range(row.size):
        value[i] = prob[row[i], k]
    return np.median(value)


@jit
def _part(prob: np.ndarray, row: np.ndarray, k: int, at: float, spare: np.ndarray) -> int:
    """Put the rows with coordinate k of at most `at` first, in a stable order; return their number."""
    low = 0
    high = 0
    for i in row:
        if prob[i, k] <= at:
            row[low] = i
            low += 1
        else:
            spare[high] = i
            high += 1
    for i in range(high):
        row[low + i] = spare[i]
    return low
