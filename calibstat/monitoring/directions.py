"""The ways to be wrong that a monitor looks for, and the evidence of rows for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibstat.compiled import jit
from calibstat.data.views import forbidden
from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.digits import settled
from calibstat.inference.deviation import SLOPE, SLOPE_WORDS

SIZES = (0.1, 0.2, 0.4, 0.8)  # of shifts
SLOPES = (1 / 2, 2 / 3, 0.8, 1.25, 1.5, 2.0)


@dataclass(frozen=True)
class Direction:
    """An alternative to calibration: logit q = shift + slope * logit v where low <= v < high, and q = v elsewhere.

    v is the prediction, q the probability of outcome 1. Calibration is shift 0, slope 1.
    """

    weight: float
    shift: float = 0.0
    slope: float = 1.0
    low: float = 0.0
    high: float = 1.0

    @property
    def everywhere(self) -> bool:
        """Whether it acts on the whole range."""
        return self.low == 0 and self.high == 1

    @property
    def sign(self) -> float:
        """Above 0 if it says that predictions are too low, below 0 if too high, and 0 if that depends on them."""
        return self.shift or (self.slope - 1) * (self.low + self.high - 1)  # logit v has one sign on half of the range

    def __str__(self) -> str:
        where = "" if self.everywhere else f" from {self.low:g} to {self.high:g}"
        words = [_too_low(self.shift)] if self.shift else []
        if self.slope != 1:
            kind = SLOPE_WORDS[SLOPE[int(self.slope > 1)]]
            words.append(f"{kind}, with true log-odds about {settled(self.slope):.2g} times the predicted ones")
        return f"predictions{where} {' and '.join(words)}"

    def beside(self, gap: float, ratios: np.ndarray) -> str:
        """Say the same of rows with this mean of observed minus predicted, and these log-likelihood ratios.

        A slope is a shift where all predictions lie on one side of 1/2, so that it is an addition there; and no word
        is said alone that contradicts the gap.
        """
        often = "more often than" if gap > 0 else "less often than" if gap < 0 else "as often as"
        observed = f"outcome 1 observed {often} predicted"
        if self.slope != 1 and self.everywhere and not _on_both_sides(ratios):
            shift = f", {'raised' if self.shift > 0 else 'lowered'} by about {abs(self.shift):g}" if self.shift else ""
            return (
                f"{observed}, as if true log-odds were about {settled(self.slope):.2g} times the predicted ones{shift}"
            )
        if self.sign * gap < 0:
            return f"{observed}; the nearest alternative: {self}"
        return str(self)


def _on_both_sides(ratios: np.ndarray) -> bool:
    """Whether predictions lie on both sides of 1/2: a direction of a quarter without predictions has the ratio 0.

    It is asked of both sides only, which alone have slopes over the whole range.
    """
    found = {d.high <= 0.5 for d, ratio in zip(DIRECTIONS, ratios, strict=True) if not d.everywhere and ratio}
    return len(found) == 2


def _too_low(by: float) -> str:
    return f"too {'low' if by > 0 else 'high'} by about {abs(by):g} on the log-odds scale"


def _both_sides() -> Iterable[Direction]:
    """Return the 34 directions of both sides. Any weights fixed beforehand, with sum 1, keep a monitor's promises."""
    shifts = [Direction(0.4 / 8, shift=sign * size) for size in SIZES for sign in (1, -1)]
    slopes = [Direction(0.3 / 6, slope=slope) for slope in SLOPES]
    both = [Direction(0.1 / 4, shift=shift, slope=slope) for shift in (0.4, -0.4) for slope in (2 / 3, 1.5)]
    return *shifts, *slopes, *both, *_quarters(0.2, (1, -1))


def _one_side(sign: float) -> Iterable[Direction]:
    """Return the 18 directions with no q below the prediction (sign 1), or none above it (sign -1).

    A slope crosses the predictions at 1/2, and so it acts on one half alone.
    """
    shifts = [Direction(0.5 / 4, shift=sign * size) for size in SIZES]
    halves = [Direction(0.25 / 6, slope=slope, low=low, high=low + 0.5) for low in (0.5, 0.0) for slope in SLOPES]
    return *shifts, *_quarters(0.25, (sign,)), *(half for half in halves if half.sign * sign > 0)


def _quarters(weight: float, signs: tuple[float, ...]) -> list[Direction]:
    """Return shifts in one quarter of the range each, which share a weight."""
    shifts = [(i / 4, sign * size) for i in range(4) for size in (0.4, 0.8) for sign in signs]
    return [Direction(weight / len(shifts), shift, low=low, high=low + 0.25) for low, shift in shifts]


class Directions:
    """The directions that a monitor looks for, as they are and as the numbers that compiled functions take."""

    def __init__(self, each: Iterable[Direction]) -> None:
        self.each = tuple(each)
        self.table = np.array([(d.shift, d.slope, d.low, d.high) for d in self.each])
        self.log_weights = np.log([d.weight for d in self.each])


DIRECTIONS_OF: dict[Side | None, Directions] = {
    None: Directions(_both_sides()),
    **{side: Directions(_one_side(sign)) for side, sign in MORE_EVENTS.items()},
}
DIRECTIONS, TABLE = DIRECTIONS_OF[None].each, DIRECTIONS_OF[None].table


def log_likelihood_ratios(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, side: Side | None = None
) -> np.ndarray:
    """Return log(likelihood if the direction is true / likelihood if calibrated), of each one of a side.

    The arrays are of a `Sample`. Predictions 0 and 1 are left out: no finite log-odds lead away from them, and
    `impossible` counts what contradicts them.
    """
    return _log_likelihood_ratios(DIRECTIONS_OF[side].table, value, count, positives)


def impossible(value: np.ndarray, count: np.ndarray, positives: np.ndarray, side: Side | None = None) -> int:
    """Return the number of outcomes that had probability 0; with a side those that are evidence for it."""
    return int(forbidden(value, positives, count - positives, side).sum())


@jit
def _log_likelihood_ratios(
    table: np.ndarray, value: np.ndarray, count: np.ndarray, positives: np.ndarray
) -> np.ndarray:
    """Add up, for each direction, positives * log(q / v) + (count - positives) * log((1 - q) / (1 - v)).

    With d = logit q - logit v and t = log(1 + v (exp(d) - 1)) these logarithms are d - t and -t. From 1/2 on the same
    is written in 1 - v and -d, so that nothing cancels and nothing overflows.
    """
    total = np.zeros(table.shape[0])
    for j in range(value.size):
        v = value[j]
        if v <= 0.0 or v >= 1.0:
            continue
        # 2 v - 1 is exact from 1/4 on, where log(v / (1 - v)) would cancel near 1/2
        logit = np.log1p((2.0 * v - 1.0) / (1.0 - v)) if v >= 0.25 else np.log(v / (1.0 - v))
        for g in range(table.shape[0]):
            if not table[g, 2] <= v < table[g, 3]:
                continue
            d = table[g, 0] + (table[g, 1] - 1.0) * logit
            if d == 0.0:
                continue
            if v < 0.5:
                total[g] += positives[j] * d - count[j] * np.log1p(v * np.expm1(d))
            else:
                total[g] -= (count[j] - positives[j]) * d + count[j] * np.log1p((1.0 - v) * np.expm1(-d))
    return total
