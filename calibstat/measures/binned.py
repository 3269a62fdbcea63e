"""Binned calibration errors: mean outcome against mean prediction in bins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Never, Self, TypeVar

import numpy as np

from calibstat.bounds import bin_norms
from calibstat.bounds.intervals import Interval, MappedInterval
from calibstat.compiled import first_calls, jit, without_numba
from calibstat.data.checks import is_among, is_number, short
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.bins import (
    Strategy,
    Sums,
    bin_cells,
    check_bins,
    cuts_of,
    fixed_bins,
    is_unbinned,
    number_of_bins,
    population_edges,
    table_of_bins,
    uniform_cells,
    uniform_column_sums,
    uniform_row_sums,
    uniform_sorted_sums,
)
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import Binned, NotOfResiduals, Statistic
from calibstat.measures.kinds.one_sided import OneSidedCells
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure

B = TypeVar("B", bound=Statistic)
PENALTIES = ("mean", "largest")

GUO = "Guo, Pleiss, Sun, Weinberger 2017, On Calibration of Modern Neural Networks, arXiv:1706.04599"
KUMAR = "Kumar, Liang, Ma 2019, Verified Uncertainty Calibration, arXiv:1909.10155"
BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"


def _is_uniform(strategy: Strategy) -> bool:
    return isinstance(strategy, str) and strategy == "uniform"


def _power(norm: str | float) -> float:
    """Return the power p of the Lp error that the option `norm` names."""
    named = {"l1": 1.0, "l2": 2.0, "max": np.inf}
    if isinstance(norm, str):
        if norm not in named:
            raise ValueError(f"expected norm 'l1', 'l2', 'max' or a number of at least 1, found {norm!r}")
        return named[norm]
    if not (is_number(norm) and norm >= 1):
        raise ValueError(f"expected norm 'l1', 'l2', 'max' or a number of at least 1, found {norm!r}")
    return float(norm)


def _gaps(count: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of rows and the absolute mean residual of each bin; both are 0 for an empty bin."""
    share = count / count.sum(axis=-1, keepdims=True)
    return share, np.abs(np.divide(residual, share, out=np.zeros_like(residual), where=count > 0))


def _with_bins(measure: B, bins: dict[str, Any]) -> B:
    """Return the measure over these bins; itself if its own do not depend on the sample."""
    return replace(measure, **bins) if bins else measure


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # `Measure` has both
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

    def sorted_sums(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Sums | None:
        return uniform_sorted_sums(value, count, positives, n_bins=self.n_bins)

    def column_sums(self, predictions: Predictions) -> Sums | None:
        return uniform_column_sums(predictions, n_bins=self.n_bins)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return table_of_bins(self.cells(value, count), value, count, positives)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # `Measure` has both
class ChosenBins(UniformBins):
    """A measure over bins of equal width, of nearly equal numbers of rows, or between given cuts."""

    strategy: Strategy = "uniform"

    def check(self) -> None:
        check_bins(self.n_bins, self.strategy)

    @property
    def is_weak(self) -> bool:
        return not (is_unbinned(self.n_bins) and isinstance(self.strategy, str))

    def population_edges(self) -> tuple[np.ndarray, str]:
        return population_edges(self.n_bins, self.strategy)

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy)

    def row_sums(self, y: np.ndarray, p: np.ndarray) -> Sums | None:
        return super().row_sums(y, p) if _is_uniform(self.strategy) else None

    def sorted_sums(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Sums | None:
        return super().sorted_sums(value, count, positives) if _is_uniform(self.strategy) else None

    def column_sums(self, predictions: Predictions) -> Sums | None:
        return super().column_sums(predictions) if _is_uniform(self.strategy) else None

    def with_fixed_cells(self, value: np.ndarray, count: np.ndarray) -> Self:
        return _with_bins(self, fixed_bins(value, count, self.n_bins, self.strategy))


@measure(
    "ece",
    title="Expected calibration error",
    formula=r"\Bigl(\sum_b \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr|^p\Bigr)^{1/p}",
    reference=GUO,
    bounds=(0, 1),
    sound=False,
    symmetric=False,
)
class ECE(ChosenBins):
    """The binned calibration error: the Lp mean over bins of the gap between mean outcome and mean prediction.

    Options: `n_bins`, a number, "cube_root" (the smallest B with B**3 >= n), "100 rows" (n / 100, rounded down, but at
    least 1; or any other number of rows), or None or "unbinned" for level sets, in
    which every distinct prediction is a cell of its own; `strategy`, "uniform" for equal widths, "quantile" for equal
    numbers of rows (ties stay together), "tree" for cells grown on the predictions, of which each of at least 100 rows
    is split at its mean, or ascending cuts between cells, each belonging to the cell below it, and with the last two
    `n_bins` is ignored; `norm`, "l1", "l2", "max" (the maximum calibration error) or any p >= 1.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0, with edges as doubles. Predictions of single precision are
    compared with edges rounded like them: 0.2 as float32 lies above 1/5, and is in the first of five bins as 0.2 as
    float64 is. Quantile cells, and cells of a tree, of the data are kept when
    rows are resampled, so that intervals are for the error over these cells. The value of a population is that over its
    own quantiles; over a tree it has none.

    Unbinned it estimates E|E[y | v] - v| (Błasiok et al. 2023, definition 1.1) where predictions repeat. Where they do
    not, each row is alone in its cell, and the value is the mean of |y - v|, calibrated or not.

    It is biased upwards in finite samples, insensitive to opposite errors that cancel within a bin, and jumps when a
    prediction crosses an edge. Cost: O(n) on rows with uniform bins, else one sort, however many bins there are.
    """

    norm: str | float = "l1"

    def check(self) -> None:
        super().check()
        _power(self.norm)

    @property
    def is_l1(self) -> bool:
        return _power(self.norm) == 1

    @property
    def is_coarse(self) -> bool:
        return self.is_l1 and not is_unbinned(self.n_bins)

    @property
    def honest(self) -> Honest:
        return "norm" if self.is_l1 else "own"

    def interval(self, sample: Sample) -> Interval:
        if self.is_l1:
            return super().interval(sample)
        cell, power = self.cells(sample.value, sample.count), _power(self.norm)
        if np.isinf(power):
            return bin_norms.largest_gap(str(self), cell, sample)
        return bin_norms.of_power(str(self), cell, sample, power)

    @property
    def condition(self) -> str:
        return "" if self.is_l1 else bin_norms.CONDITION

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        power = _power(self.norm)
        if power == 1:
            return np.add.reduce(np.abs(residual), axis=-1)
        share, gap = _gaps(count, residual)
        if np.isinf(power):
            return gap.max(axis=-1)
        return (share * gap**power).sum(axis=-1) ** (1 / power)


class OneSidedGaps(OneSidedCells, of=ECE):
    """The same of bins in which the predictions are too high alone, or too low alone."""


@measure(
    "ece_width",
    title="Binned calibration error plus bin width",
    formula=r"\sum_b \frac{n_b}{n}\,\bigl(|\bar y_b - \bar v_b| + w_b\bigr)",
    reference=BLASIOK,
    bounds=(0, 2),
    complete=False,
    symmetric=False,
    no_interval="it is `ece` plus the mean width of a bin: add that to the interval of `ece`",
)
class ECEWidth(ChosenBins):
    """The L1 error over bins plus the mean width of the bins, an upper bound on the upper distance.

    Options: `n_bins` as for `ece`, for bins of equal width 1 / n_bins; level sets, None, have no width. `strategy`,
    "uniform", or ascending cuts between bins as for `ece`, and then `n_bins` is ignored: bin b is from one cut to the
    next, the first from 0, the last to 1. `penalty`, which width is added: "mean", where the width w_b of a bin counts
    by its share of the rows, or "largest", the width of the widest bin, even if it has no rows. Błasiok et al. use
    both: the mean width in definition 6.1 and equation 5, the largest in section 2.3.

    It bounds the upper distance over any cuts, because rows of a bin that all move to its mean outcome move by at most
    its gap plus its width. Unlike with `ece`, errors cannot cancel unseen inside a bin, but the value is never below
    the mean width. `interval_ce` is the least value over all cuts, with bins that end at predictions. Cost: O(n) on
    rows with equal bins, else one sort.
    """

    penalty: str = "mean"

    def check(self) -> None:
        super().check()
        if not is_among(self.penalty, PENALTIES):
            raise ValueError(f"expected penalty 'mean' or 'largest', found {short(self.penalty)}")
        if isinstance(self.strategy, str) and self.strategy != "uniform":
            reason = "widths have to be known before the rows; the ends of other bins can be given as cuts"
            raise ValueError(f"expected strategy 'uniform' or ascending cuts, found {self.strategy!r}: {reason}")

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.abs(residual).sum(axis=-1) + self._width(count)

    def _width(self, count: np.ndarray) -> float | np.ndarray:
        """Return the mean or the largest width of the bins, given the rows in each bin along the last axis."""
        if not isinstance(self.strategy, str):
            width = np.diff(cuts_of(self.strategy), prepend=0.0, append=1.0)
            if self.penalty == "largest":
                return float(width.max())
            return count @ width[: count.shape[-1]] / count.sum(axis=-1)
        if is_unbinned(self.n_bins):
            return 0.0
        return 1 / number_of_bins(self.n_bins, count.reshape(-1, count.shape[-1])[0].sum())


def _squared_in_arrays(
    cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, within: bool, sums: np.ndarray
) -> float:
    squares = positives * (1.0 - value) ** 2 + (count - positives) * value**2
    for total, added in zip(sums, (count, positives, positives - count * value, squares), strict=True):
        total += np.bincount(cell, added, total.size)
    rows, ones, residual, square = sums[:, sums[0] >= 2.0]
    gap, rate = residual / rows, ones / rows
    spread = square / rows - gap**2 if within else rate * (1.0 - rate)
    return float((rows * (gap**2 - spread / (rows - 1.0))).sum() / count.sum())


@first_calls(1e-6)
@without_numba(_squared_in_arrays)
@jit
def _squared_error(
    cell: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray, within: bool, sums: np.ndarray
) -> float:
    """Return the sum over bins of n_b / n times the squared gap less its bias; `sums` is room for four sums a bin.

    The bias is the variance in the bin over n_b, if `within` of the residuals, else of the outcomes. Bins of fewer than
    two rows are left out.
    """
    rows, ones, residual, square = sums[0], sums[1], sums[2], sums[3]
    n = 0.0
    for j in range(cell.size):
        b = cell[j]
        v = value[j]
        rows[b] += count[j]
        ones[b] += positives[j]
        residual[b] += positives[j] - count[j] * v
        square[b] += positives[j] * ((1.0 - v) * (1.0 - v)) + (count[j] - positives[j]) * (v * v)
        n += count[j]
    total = 0.0
    for b in range(rows.size):
        if rows[b] >= 2.0:
            gap = residual[b] / rows[b]
            rate = ones[b] / rows[b]
            spread = square[b] / rows[b] - gap * gap if within else rate * (1.0 - rate)
            total += rows[b] * (gap * gap - spread / (rows[b] - 1.0))
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
    """The debiased L2 binned error: the signed root of an unbiased estimate of its square.

    Options: `n_bins` and `strategy` as for `ece`; `variant`, "unbiased" to subtract the variance of the residuals in
    each bin over n_b, or "kumar" for the variance of the outcomes, as Kumar et al. do, which is unbiased only if
    predictions are constant within bins.

    The square x is unbiased for fixed bins of at least two rows (smaller ones are left out). It can be negative, and
    the value then is -sqrt(-x): the gaps are smaller than a calibrated model's are on average, as for about half
    of the samples of one. The root has the unit of `ece` and keeps the order, so that p-values are the ones of
    the square. Opposite errors in one bin cancel. Cost: one sort of the rows, then one pass.
    """

    n_bins: int | str | None = 15
    strategy: Strategy = "uniform"
    variant: str = "unbiased"

    def check(self) -> None:
        check_bins(self.n_bins, self.strategy)
        if not is_among(self.variant, ("unbiased", "kumar")):
            raise ValueError(f"expected variant 'unbiased' or 'kumar', found {short(self.variant)}")

    def population_value(self, population: BinaryPopulation) -> float:
        """Return the L2 error over the bins of the population, which has no bias."""
        return self._limit.population_value(population)

    def with_fixed_cells(self, value: np.ndarray, count: np.ndarray) -> Self:
        return _with_bins(self, fixed_bins(value, count, self.n_bins, self.strategy))

    @property
    def _limit(self) -> ECE:
        return ECE(n_bins=self.n_bins, strategy=self.strategy, norm="l2")

    @property
    def honest(self) -> Honest:
        return "own"

    def interval(self, sample: Sample) -> Interval:
        cell = self._limit.cells(sample.value, sample.count)
        return MappedInterval(self.estimate(sample), bin_norms.of_power(str(self), cell, sample, 2.0))

    @property
    def condition(self) -> str:
        return bin_norms.CONDITION

    def of_residuals(self, sample: Sample) -> Never:
        raise NotOfResiduals("the variance that it subtracts in each bin is for independent rows")

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        cell = bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy)
        sums = np.zeros((4, cell[-1] + 1))
        square = _squared_error(cell, value, count, positives, self.variant == "unbiased", sums)
        return math.copysign(math.sqrt(abs(square)), square)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return table_of_bins(
            bin_cells(value, count, n_bins=self.n_bins, strategy=self.strategy), value, count, positives
        )
