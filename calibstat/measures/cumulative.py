"""Measures of the cumulative sum of residuals, such as Kolmogorov-Smirnov: no bins, no bandwidth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibstat.bounds.moments import Moments
from calibstat.bounds.tail_bound import TailBound
from calibstat.compiled import first_calls, jit
from calibstat.data.sample import Sample
from calibstat.in_order import first_largest, first_smallest, without_rounding
from calibstat.measures.kinds.binary_kinds import Seminorm
from calibstat.measures.kinds.one_sided import OneSided
from calibstat.measures.kinds.registry import measure
from calibstat.resampling.one_pass import OnePass

ARRIETA = "Arrieta-Ibarra et al. 2022, Metrics of calibration for probabilistic predictions, arXiv:2205.09680"
GUPTA = "Gupta et al. 2021, Calibration of Neural Networks using Splines, arXiv:2006.12800"


@jit
def _extremes(residual: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest partial sum, the empty one included."""
    low = 0.0
    high = 0.0
    total = 0.0
    for j in range(residual.size):
        total += residual[j]
        low = min(low, total)
        high = max(high, total)
    return low, high


@jit
def _add_sums(state: np.ndarray, residual: np.ndarray) -> None:
    """Go on with the partial sums of each resample, the first number, and their smallest and largest."""
    total = state[0]
    low = state[1]
    high = state[2]
    for j in range(residual.shape[0]):
        for b in range(total.size):
            now = total[b] + residual[j, b]
            smallest = low[b]
            largest = high[b]
            if now < smallest:  # `min` and `max` of a loop over resamples do not become vector code
                smallest = now
            if now > largest:
                largest = now
            total[b] = now
            low[b] = smallest
            high[b] = largest


@dataclass(frozen=True)
class _PartialSums(OnePass):
    """The largest absolute partial sum, or with `between` the largest difference of two."""

    between: bool
    size = 3

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        _add_sums(state, residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        _, low, high = state
        return high - low if self.between else np.maximum(high, -low)


def _one_side_in_arrays(state: np.ndarray, residual: np.ndarray, sign: float) -> None:
    beginning, most, end, within = state
    for x in sign * residual:
        beginning += x
        np.maximum(most, beginning, out=most)
        np.maximum(end + x, 0.0, out=end)
        np.maximum(within, end, out=within)


@first_calls(lambda _, residual, __: 4e-6 * len(residual) + 4e-9 * residual.size, _one_side_in_arrays)
@jit
def _add_one_side(state: np.ndarray, residual: np.ndarray, sign: float) -> None:
    """Go on with sums of sign times residual: up to here, the largest up to any place, and from any place to here.

    And the largest of these. Each step never falls where a residual rises, to the last bit: the largest sum up to the
    end, as the difference of two sums, could.
    """
    beginning, most, end, within = state[0], state[1], state[2], state[3]
    for j in range(residual.shape[0]):
        for b in range(beginning.size):
            x = sign * residual[j, b]
            now = beginning[b] + x
            last = end[b] + x
            if last < 0.0:
                last = 0.0
            if now > most[b]:
                most[b] = now
            if last > within[b]:
                within[b] = last
            beginning[b] = now
            end[b] = last


@dataclass(frozen=True)
class _OneSide(OnePass):
    """The largest sum of sign times residual over beginnings and ends of the range, or `between` any two places."""

    sign: float
    between: bool
    size = 4

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        _add_one_side(state, residual, self.sign)

    def result(self, state: np.ndarray) -> np.ndarray:
        _, most, end, within = state
        return within if self.between else np.maximum(most, end)


def _curve(residual: np.ndarray) -> np.ndarray:
    """Return the partial sums of the residuals, from the empty one on."""
    return np.append(0.0, np.cumsum(residual))


BLOCKS = (
    100  # three ends of each: the reach is then within .5 % of that over all intervals, and within .01 % on average
)
END_SUMS = 2e7  # numbers that the sums of clusters up to all ends may hold


def _ends(moments: Moments) -> np.ndarray:
    """Return how many predictions lie below each end of the intervals that are looked at, ascending."""
    curve = _curve(moments.total)
    blocks = max(min(BLOCKS, int(END_SUMS / moments.numbers_per_sum / 3)), 2)
    if curve.size <= 3 * blocks:
        return np.arange(curve.size)
    sums = np.cumsum(np.append(0.0, moments.variances()))
    first = np.unique(np.searchsorted(sums, np.linspace(0, sums[-1], blocks, endpoint=False)))
    part = list(zip(first, np.append(first[1:], curve.size), strict=True))
    lowest, highest = ([a + int(f(curve[a:b])) for a, b in part] for f in (first_smallest, first_largest))
    return np.unique(np.concatenate([first, lowest, highest, [0, curve.size - 1]]))


def _cumulative(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
    """Return the curve of partial sums, for `detail`."""
    return {"cumulative": np.cumsum((positives - count * value) / count.sum())}


@measure(
    "ks",
    title="Kolmogorov–Smirnov calibration error",
    formula=r"\max_t \Bigl|\frac1n \sum_{i:\,v_i \le t} (y_i - v_i)\Bigr|",
    reference=GUPTA,
    bounds=(0, 1),
    slow_above=500_000,
    symmetric=False,
)
class KS(Seminorm):
    """The largest absolute sum of residuals over predictions up to some threshold, divided by n.

    No options. It has no bins and no bandwidth, and is most sensitive to a shift or a slope. Sums start at 0, so it
    changes when outcomes and predictions are reversed (`kuiper` does not). It jumps when two predictions with
    opposite errors merge. Cost: one sort of the rows, then one pass.
    """

    weak = True

    step = 2.0

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _PartialSums(between=False)

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound over all thresholds and both signs; the empty sum is one of them.

        Statement and argument: docs/evidence/proofs/seminorm.md.
        """
        sums = moments.prefixes()
        return max(
            float((each.total + tail_bound.reach(each.variance, each.up)).max()) for each in (sums, sums.negative)
        )

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        low, high = _extremes(residual)
        return max(high, -low)

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return 1 or -1 up to the largest partial sum, of equal ones the first, and 0 after it."""
        curve = without_rounding(_curve(residual))
        end = int(first_largest(np.abs(curve)))
        witness = np.zeros(value.size)
        witness[:end] = np.sign(curve[end])
        return witness

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return super().detail(value, count, positives) | _cumulative(value, count, positives)


@measure(
    "kuiper",
    title="Kuiper calibration error (ECCE-R)",
    formula=r"\max_{s \le t} \Bigl|\frac1n \sum_{i:\,s \le v_i \le t} (y_i - v_i)\Bigr|",
    reference=ARRIETA,
    bounds=(0, 1),
    slow_above=500_000,
)
class Kuiper(Seminorm):
    """The largest absolute sum of residuals over an interval of predictions, divided by n.

    No options. It has no bins and no bandwidth. It is at least the Kolmogorov–Smirnov error and at most the unbinned
    calibration error, and jumps when two predictions with opposite errors merge. Cost: one sort of the rows, then one
    pass.
    """

    weak = True

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _PartialSums(between=True)

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound over intervals and both signs: the difference [j, i] is [i, j] with signs changed.

        Of many predictions not all are ends of intervals, but of each block of equal variance the first, the lowest
        and the highest point of the curve.

        Statement and argument: docs/evidence/proofs/seminorm.md.
        """
        sums = moments.between(_ends(moments))
        return float((sums.total + tail_bound.reach(sums.variance, sums.up)).max())

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        low, high = _extremes(residual)
        return high - low

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return 1 or -1 between the two extreme partial sums, of equal ones the first, and 0 outside."""
        curve = without_rounding(_curve(residual))
        low, high = int(first_smallest(curve)), int(first_largest(curve))
        witness = np.zeros(value.size)
        witness[min(low, high) : max(low, high)] = 1.0 if low < high else -1.0
        return witness

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return super().detail(value, count, positives) | _cumulative(value, count, positives)


class OneSidedSums(OneSided):
    """The largest sum of residuals to one side over beginnings and ends of the range, or `between` any two places."""

    between: ClassVar[bool]

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _OneSide(self.sign, self.between)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return float(_OneSide(self.sign, self.between).of((positives - count * value) / count.sum()))

    def largest(self, sample: Sample) -> slice:
        curve = without_rounding(_curve(self.sign * sample.residual * sample.count.sum()))  # in events
        if self.between:
            last = int(first_largest(curve - np.minimum.accumulate(curve)))
            return slice(int(first_smallest(curve[: last + 1])), last)
        first, last = int(first_smallest(curve)), int(first_largest(curve))
        return slice(0, last) if curve[last] >= curve[-1] - curve[first] else slice(first, curve.size - 1)


class OneSidedKS(OneSidedSums, of=KS):
    """Over beginnings and ends: one side of a measure whose sums begin at either end."""

    between = False


class OneSidedKuiper(OneSidedSums, of=Kuiper):
    """Over all intervals."""

    between = True
