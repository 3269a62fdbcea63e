"""Interval calibration errors: over the best intervals of predictions, or random ones of a given width."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.checks import is_number
from calibstat.in_order import first_smallest
from calibstat.measures.kinds.binary_kinds import Bracket, Seminorm, Statistic
from calibstat.measures.kinds.population_value import POPULATION_BINS, BinaryPopulation
from calibstat.measures.kinds.registry import measure
from calibstat.measures.smooth_ce import SmoothCE

BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"

BLOCK = 64  # candidates that share a lower bound; and blocks that share one


# --- the best intervals ----------------------------------------------------------------------------------------------


@jit
def _cheapest(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[float, np.ndarray]:
    """Return n times the cost of the cheapest intervals, and for each j the start of the last interval of the first j.

    With R and S the running sums of rows and residuals, the cheapest intervals of the first j values cost

        f_j = min over i < j of  f_i + |S_j - S_i| + (R_j - R_i) (v_j - v_{i+1}),

    the last interval holding the values i + 1 to j. Any i <= e costs at least

        max(min(f_i - S_i) + S_j, min(f_i + S_i) - S_j) + (R_j - R_e) (v_j - v_{e+1}),

    so a block of candidates up to e, or a block of blocks, is skipped if this is no better than the best found so far.
    """
    m = value.size
    rows, residual, cost = np.zeros((3, m + 1))
    start = np.zeros(m + 1, np.int64)
    block_up, block_down = np.full((2, m // BLOCK + 1), np.inf)  # min of f - S and of f + S over candidates so far
    super_up, super_down = np.full((2, m // BLOCK**2 + 1), np.inf)
    block_up[0] = block_down[0] = super_up[0] = super_down[0] = 0.0
    for j in range(1, m + 1):
        v = value[j - 1]
        r = rows[j - 1] + count[j - 1]
        s = residual[j - 1] + (positives[j - 1] - count[j - 1] * v)
        best = np.inf
        first = 0
        for large in range((j - 1) // BLOCK**2, -1, -1):  # the nearest are the most likely
            e = min((large + 1) * BLOCK**2, j) - 1
            if max(super_up[large] + s, super_down[large] - s) + (r - rows[e]) * (v - value[e]) >= best:
                continue
            for small in range(e // BLOCK, large * BLOCK - 1, -1):
                e = min((small + 1) * BLOCK, j) - 1
                if max(block_up[small] + s, block_down[small] - s) + (r - rows[e]) * (v - value[e]) >= best:
                    continue
                for i in range(e, small * BLOCK - 1, -1):
                    c = cost[i] + abs(s - residual[i]) + (r - rows[i]) * (v - value[i])
                    if c < best:
                        best = c
                        first = i
        rows[j], residual[j], cost[j], start[j] = r, s, best, first
        small = j // BLOCK
        block_up[small] = min(block_up[small], best - s)
        block_down[small] = min(block_down[small], best + s)
        large = j // BLOCK**2
        super_up[large] = min(super_up[large], best - s)
        super_down[large] = min(super_down[large], best + s)
    return cost[m], start


def _best_partition(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
    """Return the best partition, one entry for each interval: its ends, rows, and its part of the value.

    `residual` is the sum of residuals over n, `cost` is abs(residual) + width * count / n, and the costs add up to the
    value.
    """
    start = _cheapest(value, count, positives)[1]
    ends = [value.size]
    while ends[-1] > 0:
        ends.append(int(start[ends[-1]]))
    first = np.array(ends[:0:-1])
    last = np.array(ends[-2::-1]) - 1
    n = count.sum()
    rows, residual = np.add.reduceat(count, first), np.add.reduceat(positives - count * value, first) / n
    width = value[last] - value[first]
    return {
        "low": value[first],
        "high": value[last],
        "width": width,
        "count": rows,
        "residual": residual,
        "cost": np.abs(residual) + width * rows / n,
    }


@measure(
    "interval_ce",
    title="Interval calibration error",
    formula=r"\min_{\mathcal I} \sum_{I \in \mathcal I} \Bigl|\frac1n \sum_{i:\,v_i \in I} (y_i - v_i)\Bigr|"
    r" + \frac{n_I}{n}\,\mathrm{width}(I)",
    reference=BLASIOK,
    bounds=(0, 1),
    slow_above=10_000,
    resamples=99,
    no_interval="it is a minimum over partitions, below which estimates lie on average",
)
class IntervalCE(Statistic):
    """The least sum of binned calibration error and average width of a row's bin, over all ways to cut [0, 1].

    No options. It is an upper bound on the distance from calibration, at most 4 times the square root of the lower
    distance. Equal predictions stay in one interval, so it jumps up where two predictions of different intervals
    become equal. In samples from a calibrated continuous distribution it goes to 0 like n**(-1/3).

    Exact, by a dynamic programme that passes over blocks of candidates which cannot be best. Cost: one sort of the
    rows, then on ordinary data about m**1.3 steps for m distinct predictions (about a second for a million). The worst
    case is m**2 steps: large counts whose residuals alternate in sign and shrink are such data, on which 40,000
    predictions take a second instead of a hundredth.
    """

    plugs_in = True

    def population_value(self, population: BinaryPopulation) -> float:
        return self.plug_in(
            population, np.arange(1, POPULATION_BINS) / POPULATION_BINS
        )  # the ends of its intervals are rounded to nodes

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return float(_cheapest(value, count, positives)[0]) / count.sum()

    def bracket(self, n: float) -> Bracket:
        return bracket_by_intervals(n)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return _best_partition(value, count, positives)


# --- random intervals of one width -----------------------------------------------------------------------------------


@jit
def _windows(value: np.ndarray, residual: np.ndarray, width: float) -> float:
    """Return the integral over t of abs(residual in [t, t + width)), divided by the width.

    A shift r in [0, width) has the intervals [t, t + width) with t = r, r +- width, ..., so that over all shifts each t
    comes once. The window holds values i to k - 1: value k enters at t = v_k - width, and value i leaves after t = v_i.
    Values are subtracted from each other before the width is, so that no width is too small.
    """
    total = 0.0
    inside = 0.0
    i = 0
    k = 0
    v = value[0]  # the last change was at v - lag
    lag = width
    while i < value.size:
        before, lag_before = v, lag
        entering = k < value.size and value[k] - value[i] <= width
        v, lag = (value[k], width) if entering else (value[i], 0.0)
        total += abs(inside) * ((v - before) - (lag - lag_before))
        if entering:
            inside += residual[k]
            k += 1
        else:
            i += 1
            inside = inside - residual[i - 1] if i < k else 0.0  # exactly 0 if empty, despite rounding
    return total / width


@jit
def _windows_witness(value: np.ndarray, residual: np.ndarray, width: float) -> np.ndarray:
    """Return for each value the mean sign of the residual in the windows that hold it, by the same steps."""
    change = np.zeros(value.size + 1)  # of the integrated sign, from each value to the next
    inside = 0.0
    i = 0
    k = 0
    v = value[0]
    lag = width
    while i < value.size:
        before, lag_before = v, lag
        entering = k < value.size and value[k] - value[i] <= width
        v, lag = (value[k], width) if entering else (value[i], 0.0)
        signed = np.sign(inside) * ((v - before) - (lag - lag_before))
        change[i] += signed
        change[k] -= signed
        if entering:
            inside += residual[k]
            k += 1
        else:
            i += 1
            inside = inside - residual[i - 1] if i < k else 0.0
    return np.cumsum(change[:-1]) / width


def _random(value: np.ndarray, residual: np.ndarray, width: float) -> float:
    """Return the expected sum; width 0 stands for the limit, the sum over single predictions, which is the largest."""
    unbinned = float(np.abs(residual).sum())
    return min(_windows(value, residual, width), unbinned) if width > 0 else unbinned  # above it by rounding only


def _witness(value: np.ndarray, residual: np.ndarray, width: float) -> np.ndarray:
    """Return the weights in [-1, 1], up to rounding, whose sum with the residuals is the value."""
    return np.clip(_windows_witness(value, residual, width), -1, 1) if width > 0 else np.sign(residual)


@measure(
    "random_interval_ce",
    title="Random interval calibration error",
    formula=r"\mathbb E_{r \sim U[0, \varepsilon)} \sum_j"
    r" \Bigl|\frac1n \sum_{i:\,v_i \in [r + j\varepsilon,\, r + (j + 1)\varepsilon)} (y_i - v_i)\Bigr|",
    reference=BLASIOK,
    bounds=(0, 1),
    continuous=True,
    slow_above=100_000,
)
class RandomIntervalCE(Seminorm):
    """The mean, over all shifts of a grid of bins of one width, of the binned L1 calibration error.

    Option: `width`, above 0 and at most 1.

    The mean over shifts is exact, not random. Unlike `ece` it is continuous, because there are no fixed edges. It does
    not decrease when the width is halved, and with the width added it is at least `interval_ce`. Errors of opposite
    sign much closer than the width nearly cancel. Cost: one sort of the rows, then one pass.
    """

    weak = True

    step = 20.0  # of many windows each adds a bias, which smaller steps take from one bad window for an error

    width: float = 0.1

    def check(self) -> None:
        if not (is_number(self.width) and 0 < self.width <= 1):
            raise ValueError(f"expected a width above 0 and at most 1, found {self.width!r}")

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        return _random(value, residual, float(self.width))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return for each prediction the mean, over shifts, of the sign of the residual in its interval."""
        return _witness(value, residual, float(self.width))


def bracket_by_intervals(n: float) -> Bracket:
    """Return the bracket of all distances from the lower one, at least smooth_ce / 2, to the surrogate interval error.

    That is at most the error over random intervals of any width 1 / 2**k plus this width: here about n**(-1/3) / 3,
    which keeps both small (Błasiok et al. 2023, theorems 6.2, 6.11 and 7.3).
    """
    width = 2.0 ** -round(math.log2(3 * n ** (1 / 3)))
    return Bracket(SmoothCE(), 0.5, RandomIntervalCE(width=width), width=width)


# --- the best width --------------------------------------------------------------------------------------------------


def _widths(value: np.ndarray, residual: np.ndarray, precision: float) -> list[tuple[float, float]]:
    """Return widths 0, 1, 1/2, 1/4, ... with their values, as long as they can be the best.

    Values do not decrease from width 1 on, so the search ends at a value of at least the best sum of width and value.
    """
    errors = [(0.0, _random(value, residual, 0.0))]
    best, width = errors[0][1], 1.0
    while True:
        errors.append((width, _random(value, residual, width)))
        best = min(best, width + errors[-1][1])
        if errors[-1][1] >= best or width < precision:
            return errors
        width /= 2


@measure(
    "surrogate_interval_ce",
    title="Surrogate interval calibration error",
    formula=r"\inf_{k \ge 0} \bigl(\mathrm{RintCE}(2^{-k}) + 2^{-k}\bigr)",
    reference=BLASIOK,
    bounds=(0, 1),
    continuous=True,
    resolution=1 / 1024,  # the narrowest width; the limit, width 0, is not continuous
    slow_above=10_000,
    no_interval="it is a minimum over widths, below which estimates lie on average",
)
class SurrogateIntervalCE(Statistic):
    """The least sum of a width and the random interval calibration error at that width.

    Option: `precision`, above 0 and at most 1: the width is 1, 1/2, 1/4, ... down to the first below `precision`, or 0
    for their limit, where the error is the unbinned one. The value exceeds the infimum over all widths 2**-k by less
    than `precision`, and equals it if the best width is not the last.

    It is an upper bound on `interval_ce`, and within a polynomial of the distance from calibration. Cost: one sort of
    the rows, then one pass for each width.
    """

    plugs_in = True

    precision: float = 0.001

    def check(self) -> None:
        if not (is_number(self.precision) and 0 < self.precision <= 1):
            raise ValueError(f"expected a precision above 0 and at most 1, found {self.precision!r}")

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        residual = (positives - count * value) / count.sum()
        return min(width + error for width, error in _widths(value, residual, self.precision))

    def bracket(self, n: float) -> Bracket:
        return bracket_by_intervals(n)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the best width (0 for the limit), all widths tried with their errors, and the witness at the best."""
        residual = (positives - count * value) / count.sum()
        widths, errors = np.array(_widths(value, residual, self.precision)).T
        best = float(widths[first_smallest(widths + errors)])
        return {"width": best, "widths": widths, "errors": errors, "witness": _witness(value, residual, best)}
