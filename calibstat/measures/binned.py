"""Measures that compare mean outcome and mean prediction in bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.registry import BinnedInterval, HonestRecipe, cell_sums, measure

GUO = "Guo, Pleiss, Sun, Weinberger 2017, On Calibration of Modern Neural Networks, arXiv:1706.04599"
KUMAR = "Kumar, Liang, Ma 2019, Verified Uncertainty Calibration, arXiv:1909.10155"
BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"

BLOCK = 1024  # rows whose bins are found together; they stay in the first-level cache
CLASS_BLOCK = 32  # classes whose bins are found together
MANY_BINS = 4096  # more of them and sorting is as fast


def number_of_bins(n_bins: int | str, n: float) -> int:
    """Turn the option `n_bins` into a number; "cube_root" is the smallest B with B**3 >= n."""
    if isinstance(n_bins, str):
        if n_bins != "cube_root":
            raise ValueError(f"expected n_bins to be a whole number of at least 1 or 'cube_root', found {n_bins!r}")
        bins = round(n ** (1 / 3))
        return bins + (bins**3 < n)
    if isinstance(n_bins, bool) or n_bins != int(n_bins) or n_bins < 1:
        raise ValueError(f"expected n_bins to be a whole number of at least 1 or 'cube_root', found {n_bins!r}")
    return int(n_bins)


def uniform_cells(value: np.ndarray, count: np.ndarray, *, n_bins: int | str = 15) -> np.ndarray:
    """Return the equal-width bin of each prediction: bin b of B is ((b - 1)/B, b/B], the first closed at 0."""
    return _uniform_cells(value, number_of_bins(n_bins, count.sum()))


def bin_cells(value: np.ndarray, count: np.ndarray, *, n_bins: int | str = 15, strategy: str = "uniform") -> np.ndarray:
    """Return the bin of each prediction: equal widths, or as near equal numbers of rows as ties allow."""
    if strategy == "uniform":
        return uniform_cells(value, count, n_bins=n_bins)
    if strategy != "quantile":
        raise ValueError(f"expected strategy 'uniform' or 'quantile', found {strategy!r}")
    return _quantile_cells(count, number_of_bins(n_bins, count.sum()))


def cells_move(*, strategy: str = "uniform") -> bool:
    """Whether resampling rows moves the bins: quantile bins follow the predictions."""
    return strategy == "quantile"


@jit
def _uniform_cells(value, bins):  # type: ignore[no-untyped-def]
    """Return ceil(v B) - 1 within 0 to B - 1, in one pass."""
    cell = np.empty(value.size, np.int64)
    for j in range(value.size):
        cell[j] = min(max(math.ceil(value[j] * bins) - 1.0, 0.0), bins - 1.0)
    return cell


@jit
def _quantile_cells(count, bins):  # type: ignore[no-untyped-def]
    """Cut after the value whose cumulative count is nearest to b n / B, the smaller of two; drop repeated cuts."""
    m = count.size
    n = count.sum()
    cell = np.zeros(m, np.int64)
    j = 0
    below = 0.0  # cumulative count before value j
    last = 0  # first value after the last cut
    used = 0
    for b in range(1, bins):
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
    for i in range(last, m):
        cell[i] = used
    return cell


def row_sums(
    y: np.ndarray, p: np.ndarray, *, n_bins: int | str = 15, strategy: str = "uniform"
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sums in bins straight from rows, or None where quantiles need them sorted or a row is bad."""
    return uniform_row_sums(y, p, n_bins=n_bins) if strategy == "uniform" else None


def uniform_row_sums(
    y: np.ndarray, p: np.ndarray, *, n_bins: int | str = 15
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sums in equal-width bins straight from rows, or None where a row is bad."""
    bins = number_of_bins(n_bins, p.size)
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, bins))
    bad = _row_sums(y, p, bins, sums)
    return None if bad else (sums[0], sums[1], sums[2])


@jit
def _row_sums(y, p, bins, sums):  # type: ignore[no-untyped-def]
    """Fill in rows, residuals / n and predictions / n summed in each bin; return whether a row is bad.

    The first loop over a block has no branches and becomes vector code; a bad prediction still lands in some bin.
    """
    good = True
    last = bins - 1.0
    cell = np.empty(BLOCK, np.int32)
    rows = np.zeros(2 * bins, np.int64)
    value = np.zeros(2 * bins)
    for start in range(0, p.size, BLOCK):
        y_block = y[start : start + BLOCK]
        p_block = p[start : start + BLOCK]
        for i in range(p_block.size):
            v = p_block[i]
            good &= (v >= 0.0) & (v <= 1.0) & ((y_block[i] == 0) | (y_block[i] == 1))
            b = math.ceil(v * bins) - 1.0
            b = b if b > 0.0 else 0.0
            b = b if b < last else last
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


def column_sums(
    prob: np.ndarray, label: np.ndarray, *, n_bins: int | str = 15, strategy: str = "uniform"
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sums in bins for every class straight from rows, or None where sorting is needed or as fast."""
    return uniform_column_sums(prob, label, n_bins=n_bins) if strategy == "uniform" else None


def uniform_column_sums(
    prob: np.ndarray, label: np.ndarray, *, n_bins: int | str = 15
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the sums in equal-width bins for every class, each of shape (K, bins), in one pass over the rows.

    None if there are so many bins that one class at a time should be sorted.
    """
    bins = number_of_bins(n_bins, prob.shape[0])
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, prob.shape[1], bins))
    _column_sums(prob, label, sums)
    return sums[0], sums[1], sums[2]


@jit
def _column_sums(prob, label, sums):  # type: ignore[no-untyped-def]
    """Fill in rows, residuals / n and predictions / n summed in each bin of each class.

    Of many classes most have a probability in the first bin, and whole blocks of them are added up as vectors.
    """
    n, classes = prob.shape
    bins = sums.shape[2]
    last = bins - 1.0
    cell = np.empty(CLASS_BLOCK, np.int32)
    rows = np.zeros((classes, bins), np.int32)
    first = np.zeros(classes)
    for i in range(n):
        for start in range(0, classes, CLASS_BLOCK):
            row = prob[i, start : start + CLASS_BLOCK]
            beyond = np.int32(0)
            for k in range(row.size):
                b = math.ceil(np.float64(row[k]) * bins) - 1.0
                b = b if b > 0.0 else 0.0
                cell[k] = np.int32(b if b < last else last)
                beyond |= cell[k]
            if beyond == 0:
                for k in range(row.size):
                    first[start + k] += row[k]
                continue
            for k in range(row.size):
                rows[start + k, cell[k]] += 1
                sums[2, start + k, cell[k]] += row[k]
    for i in range(n):
        k = label[i]
        b = min(max(math.ceil(np.float64(prob[i, k]) * bins) - 1.0, 0.0), last)
        sums[1, k, int(b)] += 1.0
    for k in range(classes):
        rows[k, 0] += n - rows[k].sum()
        sums[2, k, 0] += first[k]
        for b in range(bins):
            sums[0, k, b] = rows[k, b]
            sums[1, k, b] = (sums[1, k, b] - sums[2, k, b]) / n
            sums[2, k, b] /= n


def _power(norm: str | float) -> float:
    """Turn the option `norm` into the power p of an Lp error."""
    named = {"l1": 1.0, "l2": 2.0, "max": np.inf}
    if isinstance(norm, str):
        if norm not in named:
            raise ValueError(f"expected norm 'l1', 'l2', 'max' or a number of at least 1, found {norm!r}")
        return named[norm]
    if not norm >= 1:
        raise ValueError(f"expected norm 'l1', 'l2', 'max' or a number of at least 1, found {norm!r}")
    return float(norm)


def _gaps(count: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of the rows and absolute mean residual in each bin; an empty bin has share 0 and gap 0."""
    share = count / count.sum(axis=-1, keepdims=True)
    return share, np.abs(np.divide(residual, share, out=np.zeros_like(residual), where=count > 0))


def ece_detail(
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    *,
    n_bins: int | str = 15,
    strategy: str = "uniform",
) -> dict[str, Any]:
    """Return the table behind a binned error: one entry for each bin that holds rows."""
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
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


def width_detail(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, n_bins: int | str = 15
) -> dict[str, Any]:
    """Return the table of equal-width bins."""
    return ece_detail(value, count, positives, n_bins=n_bins)


def _honest_ece(*, norm: str | float = "l1") -> HonestRecipe | None:
    return BinnedInterval() if _power(norm) == 1 else None


@measure(
    "ece",
    title="Expected calibration error",
    formula=r"\Bigl(\sum_b \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr|^p\Bigr)^{1/p}",
    reference=GUO,
    bounds=(0, 1),
    cells=bin_cells,
    rows=row_sums,
    columns=column_sums,
    moving=cells_move,
    detail=ece_detail,
    honest=_honest_ece,
    sound=False,
    symmetric=False,
)
def ece(count: np.ndarray, residual: np.ndarray, value: np.ndarray, *, norm: str | float = "l1") -> Any:
    """Return the binned calibration error: the Lp mean over bins of the gap between mean outcome and mean prediction.

    Options: `n_bins`, a number or "cube_root" (the smallest B with B**3 >= n); `strategy`, "uniform" for equal widths
    or "quantile" for equal numbers of rows (equal predictions never part); `norm`, "l1", "l2", "max" (the maximum
    calibration error) or any p >= 1.

    It is biased upwards in finite samples, blind to opposite errors that cancel within a bin, and jumps when a
    prediction crosses an edge. Cost: O(n) on rows with uniform bins, else one sort.
    """
    power = _power(norm)
    if power == 1:
        return np.abs(residual).sum(axis=-1)
    share, gap = _gaps(count, residual)
    if np.isinf(power):
        return gap.max(axis=-1)
    return (share * gap**power).sum(axis=-1) ** (1 / power)


@measure(
    "ece_width",
    title="Binned calibration error plus bin width",
    formula=r"\sum_b \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr| + \frac1B",
    reference=BLASIOK,
    bounds=(0, 2),
    cells=uniform_cells,
    rows=uniform_row_sums,
    columns=uniform_column_sums,
    detail=width_detail,
    complete=False,
    symmetric=False,
)
def ece_width(count: np.ndarray, residual: np.ndarray, value: np.ndarray, *, n_bins: int | str = 15) -> Any:
    """Return the L1 error over equal-width bins plus the width of a bin, an upper bound on the upper distance.

    Option: `n_bins`, a number or "cube_root". Unlike `ece` it cannot hide an error inside a bin, at the price of never
    being below the width 1 / n_bins. Cost: O(n) on rows.
    """
    n = count.reshape(-1, count.shape[-1])[0].sum()
    return np.abs(residual).sum(axis=-1) + 1 / number_of_bins(n_bins, n)


@jit
def _squared_error(cell, value, count, positives, within):  # type: ignore[no-untyped-def]
    """Return the sum over bins of n_b / n times the squared gap minus what chance adds to it.

    `within`: chance is the variance of the residuals in the bin; else that of the outcomes alone. Bins of fewer than
    two rows say nothing about chance and are left out.
    """
    bins = cell[-1] + 1
    rows = np.zeros(bins)
    hits = np.zeros(bins)
    residual = np.zeros(bins)
    square = np.zeros(bins)
    n = 0.0
    for j in range(cell.size):
        b = cell[j]
        v = value[j]
        rows[b] += count[j]
        hits[b] += positives[j]
        residual[b] += positives[j] - count[j] * v
        square[b] += positives[j] * (1.0 - v) ** 2 + (count[j] - positives[j]) * v**2
        n += count[j]
    total = 0.0
    for b in range(bins):
        if rows[b] >= 2.0:
            gap = residual[b] / rows[b]
            rate = hits[b] / rows[b]
            spread = square[b] / rows[b] - gap**2 if within else rate * (1.0 - rate)
            total += rows[b] * (gap**2 - spread / (rows[b] - 1.0))
    return total / n


@measure(
    "ece_debiased",
    title="Debiased L2 calibration error",
    formula=r"\operatorname{sign}(x)\,|x|^{1/2},"
    r"\quad x = \sum_b \frac{n_b}{n}\Bigl[(\bar y_b - \bar v_b)^2 - \frac{s_b^2}{n_b}\Bigr]",
    reference=KUMAR,
    bounds=(-1, 1),
    detail=ece_detail,
    sound=False,
    symmetric=False,
)
def ece_debiased(
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    *,
    n_bins: int | str = 15,
    strategy: str = "uniform",
    variant: str = "unbiased",
) -> float:
    """Return the L2 binned error less the bias of its square: the signed root of an unbiased estimate of the square.

    Options: `n_bins` and `strategy` as for `ece`; `variant`, "unbiased" to subtract the variance of the residuals in
    each bin over n_b, or "kumar" for that of the outcomes, as Kumar et al. do, which is unbiased only if predictions
    are constant within bins.

    The square x is unbiased for fixed bins of at least two rows (smaller ones are left out). It can be negative, and
    the value then is -sqrt(-x): the gaps are smaller than chance makes them on average, as for about half of the
    samples of a calibrated model. The root has the unit of `ece` and keeps the order, so that p-values are those of
    the square. Opposite errors in one bin cancel. Cost: one sort of the rows, then one pass.
    """
    if variant not in ("unbiased", "kumar"):
        raise ValueError(f"expected variant 'unbiased' or 'kumar', found {variant!r}")
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    square = _squared_error(cell, value, count, positives, variant == "unbiased")
    return math.copysign(math.sqrt(abs(square)), square)
