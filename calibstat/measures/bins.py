"""Bins of predictions: rules, cuts, the bin of each prediction, and sums in bins."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.data.cell_sums import cell_sums
from calibstat.data.checks import is_among, is_number, short
from calibstat.data.predictions import Predictions
from calibstat.data.single_precision import edges_for, is_single
from calibstat.data.validation import good_in_arrays
from calibstat.measures.kinds.population_value import NO_EDGES, POPULATION_BINS

BLOCK = 1024  # rows whose bins are computed together; they stay in the first-level cache
BINNED_BLOCK = 32  # classes whose bins are computed together
MANY_BINS = 4096  # with more bins sorting is as fast
MOST_BINS = 2**52  # with more bins edges b / B of different b may be the same double

ROWS_OF_A_BIN = re.compile("([1-9][0-9]{0,15}) rows")

Strategy = str | Sequence[float]
Single = bool | None  # True, or None
Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, residuals / n and predictions / n in each bin
STRATEGIES = ("uniform", "quantile", "tree")
EXPECTED_STRATEGY = f"expected strategy {', '.join(map(repr, STRATEGIES))}"
TREE_ROWS = 100  # in a cell of a tree, from which on it is split
NEAR_MEAN, OF_SINGLE = 1e-9, 2.0**-23  # relative; rounding must not decide on which side of a mean a prediction is
NO_CUTS = ", which is not an ascending sequence of cuts from 0 to 1 either"


def is_unbinned(n_bins: object) -> bool:
    """Whether the option `n_bins` means level sets: every distinct prediction is a cell by itself."""
    return n_bins is None or (isinstance(n_bins, str) and n_bins == "unbinned")


def number_of_bins(n_bins: object, n: float) -> int:
    """Return the number of bins that the option `n_bins` means for n rows.

    "cube_root" is the smallest B with B**3 >= n, and "100 rows" the largest B with 100 B <= n, but at least 1.
    """
    if type(n_bins) is int and 1 <= n_bins <= MOST_BINS:
        return n_bins
    if isinstance(n_bins, str) and n_bins == "cube_root":
        bins = round(n ** (1 / 3))
        return bins + (bins**3 < n)
    if isinstance(n_bins, str) and (rows := ROWS_OF_A_BIN.fullmatch(n_bins)):
        return max(int(n // int(rows[1])), 1)
    if not (is_number(n_bins) and 1 <= n_bins <= MOST_BINS and n_bins == int(n_bins)):
        raise ValueError(
            "expected n_bins to be a whole number from 1 to 2**52, 'cube_root', the rows of a bin, such as '100 rows', "
            f"or None for level sets where they are known; found {short(n_bins)}"
        )
    return int(n_bins)


@first_calls()
@jit
def bin_of(v: float, bins: int, single: Single = None) -> float:
    """Return b such that (b / B, (b + 1) / B] holds v, with the first bin closed at 0: the only definition of a bin.

    Edges are b / B as a double, or if predictions are `single` rounded to single precision, as `edges_for` says; None
    stands for no, because then the compiler leaves the rounding out. Rounding of v B can only matter at the nearest
    edge, with which v is compared. The result is a float from 0 to B - 1 for any v, without branches, so that a loop
    over it becomes vector code.
    """
    edge = math.floor(v * bins + 0.5)
    end = edge / bins if single is None else np.float64(np.float32(edge / bins))
    b = edge if v > end else edge - 1.0
    b = b if b > 0.0 else 0.0
    return b if b < bins - 1.0 else bins - 1.0


def bin_numbers(value: np.ndarray, bins: int) -> np.ndarray:
    """Return the equal-width bin of each value, from 0 to B - 1."""
    number = np.empty(value.size, np.int64)
    _number(value, bins, number, is_single(value) or None)
    return number


def _numbers_in_arrays(value: np.ndarray, bins: int, number: np.ndarray, single: Single = None) -> None:
    value = value.astype(np.float64)
    edge = np.floor(value * bins + 0.5)
    end = (edge / bins).astype(np.float32) if single else edge / bins
    number[:] = np.clip(np.where(value > end, edge, edge - 1.0), 0.0, bins - 1.0)


@first_calls(1e-8, _numbers_in_arrays)
@jit
def _number(value: np.ndarray, bins: int, number: np.ndarray, single: Single = None) -> None:
    """Fill in the bins."""
    for j in range(value.size):
        number[j] = np.int64(bin_of(np.float64(value[j]), bins, single))


def uniform_cells(value: np.ndarray, count: np.ndarray, *, n_bins: int | str | None = 15) -> np.ndarray:
    """Return the cell of each prediction, in any order: bins of equal width, or level sets.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0. With more than `MANY_BINS` only bins that hold predictions
    are numbered, in order.
    """
    if is_unbinned(n_bins):
        return _ranks(value)
    bins = number_of_bins(n_bins, count.sum())
    number = bin_numbers(value, bins)
    return _ranks(number) if bins > MANY_BINS else number


def _ranks(key: np.ndarray) -> np.ndarray:
    """Number the distinct keys from 0, in ascending order."""
    step = key[1:] != key[:-1]
    if np.all(key[1:] >= key[:-1]):  # as the predictions of a sample are: nothing needs sorting
        return np.concatenate([[0], np.cumsum(step)])
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def bin_cells(
    value: np.ndarray, count: np.ndarray, *, n_bins: int | str | None = 15, strategy: Strategy = "uniform"
) -> np.ndarray:
    """Return the cell of each prediction: bins of equal width, of nearly equal numbers of rows, of a tree, or cuts."""
    check_bins(n_bins, strategy)
    if not isinstance(strategy, str):
        return np.searchsorted(edges_for(value, cuts_of(strategy)), value)
    if strategy == "uniform" or is_unbinned(n_bins):
        return uniform_cells(value, count, n_bins=n_bins)
    if strategy == "tree":
        return tree_cells(value, count)
    return _quantile_cells(count, number_of_bins(n_bins, count.sum()))


def tree_cells(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the cell of each distinct ascending prediction in a tree grown on these rows.

    A cell of at least `TREE_ROWS` rows is split at its mean prediction, which goes to the low side, as
    `simplex_cells.grow_tree` splits vectors, unless a side would be empty.
    """
    starts, waiting, near = list[int](), [(0, value.size)], OF_SINGLE if is_single(value) else NEAR_MEAN
    while waiting:
        first, last = waiting.pop()
        rows = count[first:last]
        if (total := rows.sum()) >= TREE_ROWS:
            mean = rows @ value[first:last] / total * (1 + near)
            middle = first + int(np.searchsorted(value[first:last], mean, "right"))
            if first < middle < last:
                waiting += [(middle, last), (first, middle)]  # the low side comes first
                continue
        starts.append(first)
    return np.cumsum(np.bincount(starts, minlength=value.size)) - 1


def check_bins(n_bins: object, strategy: object = "uniform") -> None:
    """Raise a ValueError unless these options define bins."""
    if not isinstance(strategy, str):
        cuts_of(strategy)
    elif not is_among(strategy, STRATEGIES):
        raise ValueError(f"{EXPECTED_STRATEGY}, found {short(strategy)}{NO_CUTS}")
    if not is_unbinned(n_bins):
        number_of_bins(n_bins, 1)


def cuts_of(strategy: object) -> np.ndarray:
    """Return explicit cuts as an array; each cut is the end of a cell and belongs to it."""
    cuts = np.asarray(strategy)
    numbers = cuts.ndim == 1 and (cuts.size == 0 or cuts.dtype.kind in "iuf")
    if not (numbers and np.all((cuts >= 0) & (cuts <= 1)) and np.all(cuts[1:] > cuts[:-1])):
        raise ValueError(f"{EXPECTED_STRATEGY}, found {strategy!r}{NO_CUTS}")
    return cuts.astype(np.float64)


def fixed_bins(
    value: np.ndarray, count: np.ndarray, n_bins: int | str | None, strategy: Strategy = "uniform"
) -> dict[str, Any]:
    """Return the options that keep the bins of these rows.

    These are the number of bins, if it depends on the number of rows, and as cuts the largest prediction of each
    quantile, or cell of a tree, but the last.
    """
    if is_unbinned(n_bins) or not isinstance(strategy, str):
        return {}
    fixed = {"n_bins": number_of_bins(n_bins, count.sum())} if isinstance(n_bins, str) else {}
    if strategy == "uniform":
        return fixed
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    return {**fixed, "strategy": tuple(value[:-1][cell[1:] != cell[:-1]].tolist())}


def fixed_number_of_bins(n_bins: object) -> int:
    """Return the number of bins of a population; raise if `n_bins` depends on the number of rows."""
    if isinstance(n_bins, str):
        number_of_bins(n_bins, 1)  # another word is another error
        raise ValueError(f"expected a number of bins, found {short(n_bins)}, which depends on the number of rows")
    return number_of_bins(n_bins, math.nan)


def population_edges(n_bins: int | str | None, strategy: Strategy = "uniform") -> tuple[np.ndarray, str]:
    """Return where bins of a population end: predictions ("uniform"), or shares of the population ("quantile")."""
    if not isinstance(strategy, str):
        return cuts_of(strategy), "uniform"
    if strategy == "tree" and not is_unbinned(n_bins):
        raise NotImplementedError("a tree is grown on rows, and a population has none")
    if is_unbinned(n_bins) or (bins := fixed_number_of_bins(n_bins)) > POPULATION_BINS:
        return NO_EDGES, "uniform"  # each node is a cell by itself
    return np.arange(1, bins) / bins, strategy


@jit
def _quantile_cells(count: np.ndarray, bins: int) -> np.ndarray:
    """Cut after the value whose cumulative count is nearest to b n / B, the smaller of two; drop repeated cuts.

    Targets that can only repeat a cut are skipped, so that many bins take no longer than many values.
    """
    m = count.size
    n = count.sum()
    cell = np.zeros(m, np.int64)
    j = 0
    below = 0.0  # cumulative count before value j
    last = 0  # first value after the last cut
    used = 0
    b = 1
    while b < bins and j < m:
        target = b * n / bins
        while j < m and below + count[j] <= target:
            below += count[j]
            j += 1
        # below is the largest cumulative count up to target; the next one is below + count[j]
        cut = j
        if j < m and below + count[j] - target < target - below:
            cut = j + 1
        if cut > last:
            for i in range(last, cut):
                cell[i] = used
            if cut < m:
                used += 1
            last = cut
        b += 1
        if j < m:  # the next cut needs a target beyond the middle of two cumulative counts
            middle = below + count[j] / 2.0 if cut == j else below + count[j]
            b = max(b, int(middle * bins / n * (1.0 - 1e-15)) - 1)
    for i in range(last, m):
        cell[i] = used
    return cell


def uniform_row_sums(y: np.ndarray, p: np.ndarray, *, n_bins: int | str | None = 15) -> Sums | None:
    """Return the sums in equal-width bins of unsorted rows; None if a row is invalid or sorting is better."""
    if is_unbinned(n_bins):
        return None
    bins = number_of_bins(n_bins, p.size)
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, bins))
    room = np.empty(BLOCK, np.int32), np.zeros(2 * bins, np.int64), np.zeros(2 * bins)
    bad = _row_sums(y, p, bins, sums, *room, is_single(p) or None)
    return None if bad else (sums[0], sums[1], sums[2])


def _row_sums_in_arrays(
    y: np.ndarray,
    p: np.ndarray,
    bins: int,
    sums: np.ndarray,
    cell: np.ndarray,
    rows: np.ndarray,
    value: np.ndarray,
    single: Single = None,
) -> bool:
    for start in range(0, p.size, BLOCK):
        here = slice(start, start + BLOCK)
        number = np.empty(p[here].size, np.int64)
        _numbers_in_arrays(p[here], bins, number, single)
        cell[: number.size] = 2 * number + (y[here] == 1)
        rows += np.bincount(cell[: number.size], minlength=rows.size)
        value[:] = np.bincount(cell[: number.size], p[here], value.size)
        sums[2] += value[::2] + value[1::2]
    sums[0] = rows[::2] + rows[1::2]
    sums[1] = (rows[1::2] - sums[2]) / p.size
    sums[2] /= p.size
    return not good_in_arrays(y, p)


@first_calls(lambda y, p, *_: 2e-3 + 5e-8 * p.size, _row_sums_in_arrays)
@jit
def _row_sums(
    y: np.ndarray,
    p: np.ndarray,
    bins: int,
    sums: np.ndarray,
    cell: np.ndarray,
    rows: np.ndarray,
    value: np.ndarray,
    single: Single = None,
) -> bool:
    """Fill in rows, residuals / n and predictions / n summed in each bin; return whether a row is invalid.

    The first loop over a block has no branches and becomes vector code; an invalid prediction falls in some bin. The
    bins of a block, and rows and predictions of each bin and outcome, are room for what is computed.
    """
    good = True
    for start in range(0, p.size, BLOCK):
        y_block = y[start : start + BLOCK]
        p_block = p[start : start + BLOCK]
        for i in range(p_block.size):
            v = p_block[i]
            good &= (v >= 0.0) & (v <= 1.0) & ((y_block[i] == 0) | (y_block[i] == 1))
            b = bin_of(v, bins, single)
            cell[i] = np.int32(2.0 * b + (1.0 if y_block[i] == 1 else 0.0))
        value[:] = 0.0  # a sum for each block: one running sum would lose digits over many rows
        for i in range(p_block.size):
            rows[cell[i]] += 1
            value[cell[i]] += p_block[i]
        for b in range(bins):
            sums[2, b] += value[2 * b] + value[2 * b + 1]
    for b in range(bins):
        sums[0, b] = rows[2 * b] + rows[2 * b + 1]
        sums[1, b] = (rows[2 * b + 1] - sums[2, b]) / p.size
        sums[2, b] /= p.size
    return not good


def uniform_sorted_sums(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, n_bins: int | str | None = 15
) -> Sums | None:
    """Return the sums in equal-width bins of distinct ascending predictions; None if only full bins are numbered."""
    if is_unbinned(n_bins):
        return None
    bins = number_of_bins(n_bins, count.sum() if isinstance(n_bins, str) else math.nan)
    if bins > MANY_BINS:
        return None
    single = is_single(value) or None
    sums = np.zeros((3, int(bin_of(value[-1], bins, single)) + 1))
    n = _sorted_sums(value, count, positives, bins, sums, single)
    return sums[0], (sums[1] - sums[2]) / n, sums[2] / n


@first_calls()
@jit
def _sorted_sums(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, bins: int, sums: np.ndarray, single: Single = None
) -> float:
    """Add up as `cell_sums` does, and return the number of rows; the end of each bin is searched."""
    m = value.size
    n = 0.0
    start = 0
    while start < m:
        b = np.int64(bin_of(value[start], bins, single))
        inside = start
        end = m
        while end - inside > 1:
            middle = (inside + end) // 2
            if bin_of(value[middle], bins, single) > b:
                end = middle
            else:
                inside = middle
        for j in range(start, end):
            sums[0, b] += count[j]
            sums[1, b] += positives[j]
            sums[2, b] += count[j] * value[j]
        n += sums[0, b]
        start = end
    return n


def uniform_column_sums(predictions: Predictions, *, n_bins: int | str | None = 15) -> Sums | None:
    """Return the sums in equal-width bins for every class, each of shape (K, bins), in one pass over the rows.

    None if there are so many bins that it is better to sort one class at a time.
    """
    if is_unbinned(n_bins):
        return None
    prob = predictions.prob
    bins = number_of_bins(n_bins, prob.shape[0])
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, prob.shape[1], bins))
    _column_sums(prob, predictions.label, sums, is_single(prob) or None)
    return sums[0], sums[1], sums[2]


@jit
def _column_sums(prob: np.ndarray, label: np.ndarray, sums: np.ndarray, single: Single = None) -> None:
    """Fill in rows, residuals / n and predictions / n summed in each bin of each class.

    With many classes most probabilities are in the first bin, and whole blocks of them are added up as vectors.
    """
    n, classes = prob.shape
    bins = sums.shape[2]
    cell = np.empty(BINNED_BLOCK, np.int32)
    rows = np.zeros((classes, bins), np.int32)
    first = np.zeros(classes)
    edge = 1.0 / bins if single is None else np.float64(np.float32(1.0 / bins))  # of the first bin
    for i in range(n):
        for start in range(0, classes, BINNED_BLOCK):
            row = prob[i, start : start + BINNED_BLOCK]
            beyond = False
            for k in range(row.size):
                beyond |= row[k] > edge
            if not beyond:
                for k in range(row.size):
                    first[start + k] += row[k]
                continue
            for k in range(row.size):
                cell[k] = np.int32(bin_of(np.float64(row[k]), bins, single))
            for k in range(row.size):
                rows[start + k, cell[k]] += 1
                sums[2, start + k, cell[k]] += row[k]
    for i in range(n):
        k = label[i]
        sums[1, k, np.int64(bin_of(np.float64(prob[i, k]), bins, single))] += 1.0
    for k in range(classes):
        rows[k, 0] += n - rows[k].sum()
        sums[2, k, 0] += first[k]
        for b in range(bins):
            sums[0, k, b] = rows[k, b]
            sums[1, k, b] = (sums[1, k, b] - sums[2, k, b]) / n
            sums[2, k, b] /= n


def table_of_bins(cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
    """Return the table behind a binned error: one entry for each bin that holds rows."""
    count_b, residual_b, value_b = cell_sums(cell, value, count, positives)
    full = count_b > 0
    share = count_b[full] / count.sum()
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    last = np.append(first[1:], cell.size) - 1
    return {
        "n_bins_used": int(full.sum()),
        "low": value[first],
        "high": value[last],
        "count": count_b[full],
        "mean_prediction": value_b[full] / share,
        "frequency": (value_b[full] + residual_b[full]) / share,
    }
