"""Smooth calibration error: the largest mean of residuals weighted by a 1-Lipschitz function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.moments import Moments
from calibstat.bounds.norms import SeminormOn
from calibstat.bounds.residual_tables import SummaryTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.compiled import jit, without_numba
from calibstat.data.sample import Sample
from calibstat.in_order import without_rounding
from calibstat.measures.kinds.binary_kinds import Seminorm
from calibstat.measures.kinds.registry import measure
from calibstat.resampling import Draws
from calibstat.resampling.one_pass import OnePass, share

REFERENCE = (
    "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886; "
    "Kakade, Foster 2004, Deterministic Calibration and Nash Equilibrium, doi:10.1007/978-3-540-27819-1_3"
)

# Why one heap is enough. Let S_j be the partial sums of the residuals, S_m >= 0 their end (else change all signs) and
# d_j the step from prediction j to the next. Predictions lie in [0, 1], so no 1-Lipschitz weight varies by more than 1:
# lift it until its maximum is 1, which costs nothing because S_m >= 0, and the bound -1 is never met. The dual of what
# is left is a least absolute deviation from the partial sums of a curve that rises from 0 to S_m:
#
#     error = S_m + min over 0 <= G_1 <= ... <= G_{m-1} <= S_m of sum_j d_j |S_j - G_j|,
#
# an isotonic regression (Rote 2019, doi:10.4230/OASIcs.SOSA.2019.1). Its dynamic programme keeps in a heap the places
# where the cost of the curve so far changes its slope; they never move. The heap has four children to each entry, side
# by side, and so half the levels of a binary one.


@jit
def _rise(heap: np.ndarray, i: int, key: float, mass: float) -> None:
    """Insert an entry at place i of a heap and move it up while its key is larger; the largest key is at 0."""
    while i > 0:
        parent = (i - 1) >> 2
        if heap[parent, 0] >= key:
            break
        heap[i, 0] = heap[parent, 0]
        heap[i, 1] = heap[parent, 1]
        i = parent
    heap[i, 0] = key
    heap[i, 1] = mass


@jit
def _sink(heap: np.ndarray, size: int, key: float, mass: float) -> None:
    """Insert an entry at the head of a heap of this size and move it down while a child is larger."""
    i = 0
    while 4 * i + 1 < size:
        child = 4 * i + 1
        largest = heap[child, 0]
        for other in range(child + 1, min(child + 4, size)):
            if heap[other, 0] > largest:
                child = other
                largest = heap[other, 0]
        if largest <= key:
            break
        heap[i, 0] = largest
        heap[i, 1] = heap[child, 1]
        i = child
    heap[i, 0] = key
    heap[i, 1] = mass


@jit
def _fit_rising(value: np.ndarray, curve: np.ndarray) -> tuple[float, np.ndarray]:
    """Fit a curve that rises from 0 to the end of this one, which is at least 0: return error and ends.

    The best fit of the points up to j ends at `highest[j]`, or as near below it as later points allow. Each point adds
    twice its weight at its own place and takes its weight from the highest keys; what they are lowered by is the error.
    """
    end = curve[-1]
    heap = np.empty((curve.size, 2))  # key, mass
    highest = np.empty(curve.size)
    highest[-1] = end
    size = 0
    error = end
    for j in range(curve.size - 1):
        left = value[j + 1] - value[j]
        mass = 2.0 * left
        place = min(max(curve[j], 0.0), end)
        error += left * abs(curve[j] - place)
        while left > 0.0 and size > 0 and heap[0, 0] > place:
            taken = min(left, heap[0, 1])
            error += taken * (heap[0, 0] - place)
            heap[0, 1] -= taken
            left -= taken
            if heap[0, 1] == 0.0:
                size -= 1
                _sink(heap, size, heap[size, 0], heap[size, 1])
        mass -= left
        if size > 0 and heap[0, 0] == place:
            heap[0, 1] += mass
        elif place > 0.0 and mass > 0.0:
            _rise(heap, size, place, mass)
            size += 1
        highest[j] = heap[0, 0] if size > 0 else 0.0
    return error, highest


@jit
def _largest_weight(value: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Return the largest 1-Lipschitz function up to 1 that falls fully where `above` is positive, rises where negative.

    One pass upwards and one downwards find the shortest path to each point, the tightest of its upper bounds.
    """
    weight = np.ones(value.size)
    for j in range(value.size - 1):
        step = value[j + 1] - value[j]
        weight[j + 1] = min(1.0, weight[j] + (-step if above[j] > 0.0 else step))
    for j in range(value.size - 2, -1, -1):
        step = value[j + 1] - value[j]
        weight[j] = min(weight[j], weight[j + 1] + (-step if above[j] < 0.0 else step))
    return weight


def _denoised(value: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the curve of partial sums, the curve without turns that it is denoised to, and the witness.

    The witness falls where the partial sums are above the denoised curve, rises where they are below it, and is 1 where
    that curve rises (if outcomes are fewer than predicted on average, all with the other sign): it weighs residuals
    most where they add up to the mean residual, and less where errors of both signs are neighbours.
    """
    curve = np.cumsum(residual)
    sign = -1.0 if without_rounding(curve[-1]) < 0 else 1.0
    _, highest = _fit_rising(value, sign * curve)
    denoised = np.minimum.accumulate(highest[::-1])[::-1]
    witness = _largest_weight(value, without_rounding(sign * curve - denoised, 1e-4))  # they differ by less than a row
    return curve, sign * denoised, sign * witness


# Why a coarse grid bounds the sums of all weights. Let w be 1-Lipschitz and u the line through its values at the ends
# of an interval of the grid, of width h = 1 / _GRID_STEPS. Sums of residuals times u are sums of residuals shared
# linearly between the ends. w - u is 0 at both ends, and its slope differs by a constant from one of at most 1: its
# sum is, by parts, minus the integral of this slope times the partial sums of the interval less their mean, which
# removes the constant. So it is at most the integral of the distance of the partial sums from their mean. Squares: |w
# - u| <= h / 2 and w**2 <= u**2 + h, and u**2 is at most the line through the squares at the ends.
#
# The largest sum of total * w + squares * w**2 over weights at the grid is exact. It is convex in w, so that it is
# largest at a vertex of the polytope |w| <= 1, |w_{c+1} - w_c| <= h. There steps of h link each weight to one at 1 or
# -1 (else a group of weights could move both ways), so that it is a multiple of h.

_GRID_STEPS = 512  # intervals of the grid of predictions; of weights there are twice as many


@jit
def _on_grid(value: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, float]:
    """Share masses between the nearest points of the grid, and return what is left to add for 1-Lipschitz weights."""
    out = np.zeros(_GRID_STEPS + 1)
    left = 0.0
    j = 0
    for c in range(_GRID_STEPS):
        first = j
        mean = 0.0  # of the partial sums over the interval, in units of its width
        while j < value.size and (value[j] * _GRID_STEPS < c + 1 or c == _GRID_STEPS - 1):
            upper = value[j] * _GRID_STEPS - c
            out[c] += (1.0 - upper) * mass[j]
            out[c + 1] += upper * mass[j]
            mean += (1.0 - upper) * mass[j]
            j += 1
        at = 0.0
        total = 0.0
        for i in range(first, j):
            upper = value[i] * _GRID_STEPS - c
            left += (upper - at) * abs(total - mean)
            total += mass[i]
            at = upper
        if j > first:
            left += (1.0 - at) * abs(total - mean)
    return out, left / _GRID_STEPS


def _largest_in_arrays(total: np.ndarray, squares: np.ndarray, slope: int) -> float:
    weight = np.arange(-_GRID_STEPS, _GRID_STEPS + 1) / _GRID_STEPS
    best = np.pad(np.zeros(weight.size), 1, constant_values=-np.inf)
    for one, square in zip(total, squares, strict=True):
        for _ in range(slope):
            best[1:-1] = np.maximum(np.maximum(best[:-2], best[1:-1]), best[2:])
        best[1:-1] += weight * (one + weight * square)
    return float(best.max())


@without_numba(_largest_in_arrays)
@jit
def _largest_sum(total: np.ndarray, squares: np.ndarray, slope: int) -> float:
    """Return the largest sum of total * w + squares * w**2 over `slope`-Lipschitz weights w in [-1, 1] at the grid."""
    levels = 2 * _GRID_STEPS + 1
    best = np.zeros(levels + 2)  # sums so far, by the weight at the last point
    best[0] = best[-1] = -np.inf
    near = best.copy()
    for c in range(total.size):
        for _ in range(slope):
            for i in range(1, levels + 1):
                near[i] = max(max(best[i - 1], best[i]), best[i + 1])
            best, near = near, best
        for i in range(1, levels + 1):
            w = (i - 1 - _GRID_STEPS) / _GRID_STEPS
            best[i] += w * (total[c] + w * squares[c])
    return best.max()


PIECE_ENDS = np.arange(2**14 + 1) / 2**14  # ends of pieces on which weights are linear
MANY_ROWS = 2**16  # predictions, above which the low end is of such weights


def _error(value: np.ndarray, residual: np.ndarray) -> float:
    """Return the largest sum of residuals times a 1-Lipschitz function up to 1."""
    curve = np.cumsum(residual)
    return float(_fit_rising(value, curve if curve[-1] >= 0 else -curve)[0])


@dataclass(frozen=True, eq=False)
class _ErrorOnGrid(OnePass):
    """The largest sum with 1-Lipschitz weights that are linear between the points of the grid."""

    value: np.ndarray
    size = PIECE_ENDS.size

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        share(state, self.value[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        return np.array([_error(PIECE_ENDS, each) for each in state.T])


class ManyPredictions(SeminormInterval):
    """The interval of many predictions, whose low end is of weights that are linear between the points of a grid.

    Such weights are 1-Lipschitz too: the largest sum with them is at most the measure, also in the population. It is
    smaller by at most the mean over the grid of how far the partial sums of a piece lie from their mean.

    Statement and argument: docs/evidence/proofs/low-end.md.
    """

    norm: SeminormOn

    @cached_property
    def smaller(self) -> SeminormInterval:
        """The interval of the largest sum with linear weights."""
        return SeminormInterval(SeminormOn(_PiecewiseLinear(), self.norm.prediction, self.step), self.table)

    def low(self, tail: float, draws: Draws) -> float:
        return self.smaller.low(tail, draws)


@measure(
    "smooth_ce",
    title="Smooth calibration error",
    formula=r"\max_{w \text{ 1-Lipschitz},\ |w| \le 1} \frac1n \sum_i (y_i - v_i)\,w(v_i)",
    reference=REFERENCE,
    bounds=(0, 1),
    continuous=True,
    slow_above=100_000,
)
class SmoothCE(Seminorm):
    """The largest mean of residuals weighted by a function of the prediction with slope and size at most 1.

    No options: no bins and no bandwidth. It is consistent with the distance from calibration, at most twice the lower
    distance and at least half of it, and does not jump when predictions move a little; it is at most the unbinned
    calibration error.

    Exact. Cost: one sort of the rows, then O(m log m) for m distinct predictions, in the worst case: usually less than
    the sort.
    """

    weak = True

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        return _error(value, residual)

    def interval(self, sample: Sample) -> SeminormInterval:
        """Return the interval; of many predictions its low end is of weights that are linear between points."""
        kind = SeminormInterval if sample.value.size <= MANY_ROWS else ManyPredictions
        return kind(self.norm_on(sample.value, sample.count), SummaryTable.of_sample(sample))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        return _denoised(value, residual)[2]

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return a bound of the largest bound over all weights: the least over lines above the reach.

        Statement and argument: docs/evidence/proofs/smooth-ce.md.
        """
        first, second, thirds = moments.majorant()
        total, left = _on_grid(value, first)
        squares, _ = _on_grid(value, second)
        largest_third = 0.0
        for cubes, cubes_left in (_on_grid(value, third) for third in thirds):
            # the cube of a weight has a slope of 3 at most
            largest_third += _largest_sum(cubes, np.zeros_like(cubes), 3) + 3 * cubes_left
        most = float(second.sum())
        lines = zip(*tail_bound.lines(most, largest_third), strict=True)
        return left + min(
            _largest_sum(total, slope * squares, 1) + slope * most / _GRID_STEPS + height for slope, height in lines
        )

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the witness, the curve of partial sums, and the curve without turns that it is denoised to."""
        curve, denoised, witness = _denoised(value, (positives - count * value) / count.sum())
        return {"witness": witness, "cumulative": curve, "denoised": denoised}


class _PiecewiseLinear(SmoothCE):
    """The largest mean with weights that are linear between the points of the grid."""

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        return float(_ErrorOnGrid(value).of(residual))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        shared = np.zeros((PIECE_ENDS.size, 1))
        share(shared, value, residual[:, None])
        return np.interp(value, PIECE_ENDS, _denoised(PIECE_ENDS, shared[:, 0])[2])

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _ErrorOnGrid(value)
