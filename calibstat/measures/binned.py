"""Measures that compare mean outcome and mean prediction in bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibstat.compiled import jit
from calibstat.data.predictions import Predictions
from calibstat.measures.binary_kinds import Binned, Statistic
from calibstat.measures.cell_sums import cell_sums
from calibstat.measures.population_value import FINE, NO_EDGES, BinaryPopulation
from calibstat.measures.registry import measure

GUO = "Guo, Pleiss, Sun, Weinberger 2017, On Calibration of Modern Neural Networks, arXiv:1706.04599"
KUMAR = "Kumar, Liang, Ma 2019, Verified Uncertainty Calibration, arXiv:1909.10155"
BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"

BLOCK = 1024  # rows whose bins are found together; they stay in the first-level cache
CLASS_BLOCK = 32  # classes whose bins are found together
MANY_BINS = 4096  # more of them and sorting is as fast
MOST_BINS = 2**52  # beyond it edges b / B of different b may be the same double

Strategy = str | Sequence[float]
Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, residuals / n and predictions / n in each bin
NO_CUTS = ", which is no ascending sequence of cuts from 0 to 1 either"


def is_unbinned(n_bins: Any) -> bool:
    """Whether the option `n_bins` asks for level sets: every distinct prediction is a cell of its own."""
    return n_bins is None or (isinstance(n_bins, str) and n_bins == "unbinned")


def number_of_bins(n_bins: Any, n: float) -> int:
    """Turn the option `n_bins` into a number; "cube_root" is the smallest B with B**3 >= n."""
    if isinstance(n_bins, str) and n_bins == "cube_root":
        bins = round(n ** (1 / 3))
        return bins + (bins**3 < n)
    number = isinstance(n_bins, int | float | np.integer | np.floating) and not isinstance(n_bins, bool)
    if not (number and 1 <= n_bins <= MOST_BINS and n_bins == int(n_bins)):
        raise ValueError(
            "expected n_bins to be a whole number from 1 to 2**52, 'cube_root', or None for level sets where they are "
            f"known; found {n_bins!r}"
        )
    return int(n_bins)


@jit
def bin_of(v: float, bins: int) -> float:
    """Return b if (b / B, (b + 1) / B] holds v, the first bin closed at 0: the one place that says which bin it is.

    Edges are b / B as a double. v B rounds, but only the edge nearest to it can be in doubt, and v is compared with
    that. A float within 0 to B - 1 for any v, without branches, so that a loop over it becomes vector code.
    """
    edge = math.floor(v * bins + 0.5)
    b = edge if v > edge / bins else edge - 1.0
    b = b if b > 0.0 else 0.0
    return b if b < bins - 1.0 else bins - 1.0


@jit
def bin_numbers(value: np.ndarray, bins: int) -> np.ndarray:
    """Return the equal-width bin of each value, from 0 to B - 1."""
    found = np.empty(value.size, np.int64)
    for j in range(value.size):
        found[j] = np.int64(bin_of(np.float64(value[j]), bins))
    return found


def uniform_cells(value: np.ndarray, count: np.ndarray, *, n_bins: int | str | None = 15) -> np.ndarray:
    """Return the cell of each prediction, in any order: bins of equal width, or level sets.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0. Of more than `MANY_BINS` only those that hold predictions
    are numbered, in their order.
    """
    if is_unbinned(n_bins):
        return _ranks(value)
    bins = number_of_bins(n_bins, count.sum())
    number = bin_numbers(value, bins)
    return _ranks(number) if bins > MANY_BINS else number


def _ranks(key: np.ndarray) -> np.ndarray:
    """Number the distinct keys from 0, in their order."""
    step = key[1:] != key[:-1]
    if np.all(key[1:] >= key[:-1]):  # as the predictions of a sample are: nothing needs sorting
        return np.concatenate([[0], np.cumsum(step)])
    return np.unique(key, return_inverse=True)[1].reshape(-1)


def bin_cells(
    value: np.ndarray, count: np.ndarray, *, n_bins: int | str | None = 15, strategy: Strategy = "uniform"
) -> np.ndarray:
    """Return the cell of each prediction: equal widths, as near equal numbers of rows as ties allow, or given cuts."""
    check_bins(n_bins, strategy)
    if not isinstance(strategy, str):
        return np.searchsorted(cuts_of(strategy), value)
    if strategy == "uniform" or is_unbinned(n_bins):
        return uniform_cells(value, count, n_bins=n_bins)
    return _quantile_cells(count, number_of_bins(n_bins, count.sum()))


def check_bins(n_bins: Any, strategy: Any = "uniform") -> None:
    """Raise unless these options say how to cut bins."""
    if not isinstance(strategy, str):
        cuts_of(strategy)
    elif strategy not in ("uniform", "quantile"):
        raise ValueError(f"expected strategy 'uniform' or 'quantile', found {strategy!r}{NO_CUTS}")
    if not is_unbinned(n_bins):
        number_of_bins(n_bins, 1)


def cuts_of(strategy: Any) -> np.ndarray:
    """Return explicit cuts, each the end of a cell to which it belongs."""
    cuts = np.asarray(strategy)
    numbers = cuts.ndim == 1 and (cuts.size == 0 or cuts.dtype.kind in "iuf")
    if not (numbers and np.all((cuts >= 0) & (cuts <= 1)) and np.all(cuts[1:] > cuts[:-1])):
        raise ValueError(f"expected strategy 'uniform' or 'quantile', found {strategy!r}{NO_CUTS}")
    return cuts.astype(np.float64)


def held_bins(
    value: np.ndarray, count: np.ndarray, n_bins: int | str | None, strategy: Strategy = "uniform"
) -> dict[str, Any]:
    """Return the options that keep the bins where these rows cut them.

    That is the number of bins where it depends on that of the rows, and the largest prediction of each quantile but the
    last.
    """
    if is_unbinned(n_bins) or not isinstance(strategy, str):
        return {}
    held = {"n_bins": number_of_bins(n_bins, count.sum())} if isinstance(n_bins, str) else {}
    if strategy == "uniform":
        return held
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    return {**held, "strategy": tuple(value[:-1][cell[1:] != cell[:-1]].tolist())}


def fixed_number_of_bins(n_bins: Any) -> int:
    """Turn the option `n_bins` into a number, or raise where it depends on that of rows, which a population has not."""
    if isinstance(n_bins, str) and n_bins == "cube_root":
        raise ValueError(f"expected a number of bins, found {n_bins!r}, which depends on the number of rows")
    return number_of_bins(n_bins, math.nan)


def population_edges(n_bins: int | str | None, strategy: Strategy = "uniform") -> tuple[np.ndarray, str]:
    """Return where bins of a population end: predictions ("uniform"), or shares of the population ("quantile")."""
    if not isinstance(strategy, str):
        return cuts_of(strategy), "uniform"
    if is_unbinned(n_bins) or (bins := fixed_number_of_bins(n_bins)) > FINE:
        return NO_EDGES, "uniform"  # the nodes are so many cells themselves
    return np.arange(1, bins) / bins, strategy


@jit
def _quantile_cells(count: np.ndarray, bins: int) -> np.ndarray:
    """Cut after the value whose cumulative count is nearest to b n / B, the smaller of two; drop repeated cuts.

    Targets that can only repeat a cut are stepped over, so that many bins take no longer than many values.
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


def _is_uniform(strategy: Strategy) -> bool:
    return isinstance(strategy, str) and strategy == "uniform"


def uniform_row_sums(y: np.ndarray, p: np.ndarray, *, n_bins: int | str | None = 15) -> Sums | None:
    """Return the sums in equal-width bins straight from rows, or None where a row is bad."""
    if is_unbinned(n_bins):
        return None
    bins = number_of_bins(n_bins, p.size)
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, bins))
    bad = _row_sums(y, p, bins, sums)
    return None if bad else (sums[0], sums[1], sums[2])


@jit
def _row_sums(y: np.ndarray, p: np.ndarray, bins: int, sums: np.ndarray) -> bool:
    """Fill in rows, residuals / n and predictions / n summed in each bin; return whether a row is bad.

    The first loop over a block has no branches and becomes vector code; a bad prediction still lands in some bin.
    """
    good = True
    cell = np.empty(BLOCK, np.int32)
    rows = np.zeros(2 * bins, np.int64)
    value = np.zeros(2 * bins)
    for start in range(0, p.size, BLOCK):
        y_block = y[start : start + BLOCK]
        p_block = p[start : start + BLOCK]
        for i in range(p_block.size):
            v = p_block[i]
            good &= (v >= 0.0) & (v <= 1.0) & ((y_block[i] == 0) | (y_block[i] == 1))
            b = bin_of(v, bins)
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


def uniform_column_sums(predictions: Predictions, *, n_bins: int | str | None = 15) -> Sums | None:
    """Return the sums in equal-width bins for every class, each of shape (K, bins), in one pass over the rows.

    None if there are so many bins that one class at a time should be sorted.
    """
    if is_unbinned(n_bins):
        return None
    prob = predictions.prob
    bins = number_of_bins(n_bins, prob.shape[0])
    if bins > MANY_BINS:
        return None
    sums = np.zeros((3, prob.shape[1], bins))
    _column_sums(prob, predictions.label, sums)
    return sums[0], sums[1], sums[2]


@jit
def _column_sums(prob: np.ndarray, label: np.ndarray, sums: np.ndarray) -> None:
    """Fill in rows, residuals / n and predictions / n summed in each bin of each class.

    Of many classes most have a probability in the first bin, and whole blocks of them are added up as vectors.
    """
    n, classes = prob.shape
    bins = sums.shape[2]
    cell = np.empty(CLASS_BLOCK, np.int32)
    rows = np.zeros((classes, bins), np.int32)
    first = np.zeros(classes)
    for i in range(n):
        for start in range(0, classes, CLASS_BLOCK):
            row = prob[i, start : start + CLASS_BLOCK]
            beyond = np.int32(0)
            for k in range(row.size):
                cell[k] = np.int32(bin_of(np.float64(row[k]), bins))
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
        sums[1, k, np.int64(bin_of(np.float64(prob[i, k]), bins))] += 1.0
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


@dataclass(frozen=True, kw_only=True)
class UniformBins(Binned):
    """A measure over bins of equal width."""

    n_bins: int | str | None = 15

    def check(self) -> None:
        check_bins(self.n_bins)

    @property
    def is_weak(self) -> bool:
        return not is_unbinned(self.n_bins)

    def population_edges(self) -> tuple[np.ndarray, str]:
        return population_edges(self.n_bins)

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return uniform_cells(value, count, n_bins=self.n_bins)

    def row_sums(self, y: np.ndarray, p: np.ndarray) -> Sums | None:
        return uniform_row_sums(y, p, n_bins=self.n_bins)

    def column_sums(self, predictions: Predictions) -> Sums | None:
        return uniform_column_sums(predictions, n_bins=self.n_bins)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return table_of_bins(self.cells(value, count), value, count, positives)


@measure(
    "ece",
    title="Expected calibration error",
    formula=r"\Bigl(\sum_b \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr|^p\Bigr)^{1/p}",
    reference=GUO,
    bounds=(0, 1),
    sound=False,
    symmetric=False,
)
class ECE(Binned):
    """The binned calibration error: the Lp mean over bins of the gap between mean outcome and mean prediction.

    Options: `n_bins`, a number, "cube_root" (the smallest B with B**3 >= n), or None or "unbinned" for level sets, in
    which every distinct prediction is a cell of its own; `strategy`, "uniform" for equal widths, "quantile" for equal
    numbers of rows (equal predictions never part), or ascending cuts between cells, each belonging to the cell below
    it, and then `n_bins` does not matter; `norm`, "l1", "l2", "max" (the maximum calibration error) or any p >= 1.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0, with edges as doubles. A float32 prediction is taken as its
    exact binary value and not as its shortest decimal: 0.2 as float32 is above 1/5, so it is in the second of five
    bins, 0.2 as float64 in the first. Quantile cells stay where the sample cut them when rows are resampled, so
    intervals speak of the error over the cells that these rows make; the value of a population without a
    sample is that over its own quantiles.

    Unbinned it estimates E|E[y | v] - v| (Błasiok et al. 2023, definition 1.1) where predictions repeat. Where they do
    not, each row is alone in its cell, and the value is the mean of |y - v| whatever the calibration.

    It is biased upwards in finite samples, blind to opposite errors that cancel within a bin, and jumps when a
    prediction crosses an edge. Cost: O(n) on rows with uniform bins, else one sort, however many bins there are.
    """

    n_bins: int | str | None = 15
    strategy: Strategy = "uniform"
    norm: str | float = "l1"

    def check(self) -> None:
        check_bins(self.n_bins, self.strategy)
        _power(self.norm)

    @property
    def is_l1(self) -> bool:
        return _power(self.norm) == 1

    @property
    def is_coarse(self) -> bool:
        return self.is_l1 and not is_unbinned(self.n_bins)

    @property
    def is_weak(self) -> bool:
        return not (is_unbinned(self.n_bins) and isinstance(self.strategy, str))

    def population_edges(self) -> tuple[np.ndarray, str]:
        return population_edges(self.n_bins, self.strategy)

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy)

    def row_sums(self, y: np.ndarray, p: np.ndarray) -> Sums | None:
        return uniform_row_sums(y, p, n_bins=self.n_bins) if _is_uniform(self.strategy) else None

    def column_sums(self, predictions: Predictions) -> Sums | None:
        return uniform_column_sums(predictions, n_bins=self.n_bins) if _is_uniform(self.strategy) else None

    def held(self, value: np.ndarray, count: np.ndarray) -> Self:
        return self.with_options(held_bins(value, count, self.n_bins, self.strategy))

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> Any:
        power = _power(self.norm)
        if power == 1:
            return np.abs(residual).sum(axis=-1)
        share, gap = _gaps(count, residual)
        if np.isinf(power):
            return gap.max(axis=-1)
        return (share * gap**power).sum(axis=-1) ** (1 / power)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return table_of_bins(self.cells(value, count), value, count, positives)


@measure(
    "ece_width",
    title="Binned calibration error plus bin width",
    formula=r"\sum_b \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr| + \frac1B",
    reference=BLASIOK,
    bounds=(0, 2),
    complete=False,
    symmetric=False,
)
class ECEWidth(UniformBins):
    """The L1 error over equal-width bins plus the width of a bin, an upper bound on the upper distance.

    Option: `n_bins` as for `ece`; level sets, None, have no width. Unlike `ece` it cannot hide an error inside a bin,
    at the price of never being below the width 1 / n_bins. Cost: O(n) on rows.
    """

    def held(self, value: np.ndarray, count: np.ndarray) -> Self:
        return self.with_options(held_bins(value, count, self.n_bins))

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> Any:
        n = count.reshape(-1, count.shape[-1])[0].sum()
        width = 0.0 if is_unbinned(self.n_bins) else 1 / number_of_bins(self.n_bins, n)
        return np.abs(residual).sum(axis=-1) + width


@jit
def _squared_error(
    cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, within: bool
) -> float:
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
    sound=False,
    symmetric=False,
)
class ECEDebiased(Statistic):
    """The L2 binned error less the bias of its square: the signed root of an unbiased estimate of the square.

    Options: `n_bins` and `strategy` as for `ece`; `variant`, "unbiased" to subtract the variance of the residuals in
    each bin over n_b, or "kumar" for that of the outcomes, as Kumar et al. do, which is unbiased only if predictions
    are constant within bins.

    The square x is unbiased for fixed bins of at least two rows (smaller ones are left out). It can be negative, and
    the value then is -sqrt(-x): the gaps are smaller than chance makes them on average, as for about half of the
    samples of a calibrated model. The root has the unit of `ece` and keeps the order, so that p-values are those of
    the square. Opposite errors in one bin cancel. Cost: one sort of the rows, then one pass.
    """

    n_bins: int | str | None = 15
    strategy: Strategy = "uniform"
    variant: str = "unbiased"

    def check(self) -> None:
        check_bins(self.n_bins, self.strategy)
        if self.variant not in ("unbiased", "kumar"):
            raise ValueError(f"expected variant 'unbiased' or 'kumar', found {self.variant!r}")

    def population_value(self, population: BinaryPopulation) -> float:
        """Return the L2 error over the bins of the population, where no chance is left."""
        return ECE(n_bins=self.n_bins, strategy=self.strategy, norm="l2").population_value(population)

    def held(self, value: np.ndarray, count: np.ndarray) -> Self:
        return self.with_options(held_bins(value, count, self.n_bins, self.strategy))

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        cell = bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy)
        square = _squared_error(cell, value, count, positives, self.variant == "unbiased")
        return math.copysign(math.sqrt(abs(square)), square)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return table_of_bins(
            bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy), value, count, positives
        )
