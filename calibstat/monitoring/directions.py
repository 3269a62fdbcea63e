"""The ways to be wrong that a monitor looks for, and the evidence of rows for each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.compiled import jit
from calibstat.digits import settled
from calibstat.inference.deviation import SLOPE, SLOPE_WORDS


@dataclass(frozen=True)
class Direction:
    """An alternative to calibration: logit q = shift + slope * logit v, and + local if low <= v < high.

    v is the prediction, q the probability of outcome 1. Calibration is shift 0, slope 1, local 0.
    """

    weight: float
    shift: float = 0.0
    slope: float = 1.0
    low: float = 0.0
    high: float = 1.0
    local: float = 0.0

    def __str__(self) -> str:
        if self.local:
            return f"predictions from {self.low:g} to {self.high:g} {_too_low(self.local)}"
        words = [_too_low(self.shift)] if self.shift else []
        if self.slope != 1:
            kind = SLOPE_WORDS[SLOPE[int(self.slope > 1)]]
            words.append(f"{kind}, with true log-odds about {settled(self.slope):.2g} times the predicted ones")
        return f"predictions {' and '.join(words)}"

    def beside(self, gap: float, ratios: np.ndarray) -> str:
        """Say the same of rows with this mean of observed minus predicted, and these log-likelihood ratios.

        A slope is a shift where all predictions lie on one side of 1/2, so that it is an addition there; and no word
        is said alone that contradicts the gap.
        """
        often = "more often than" if gap > 0 else "less often than" if gap < 0 else "as often as"
        observed = f"outcome 1 observed {often} predicted"
        if self.slope != 1 and not _on_both_sides(ratios):
            shift = f", {'raised' if self.shift > 0 else 'lowered'} by about {abs(self.shift):g}" if self.shift else ""
            return (
                f"{observed}, as if true log-odds were about {settled(self.slope):.2g} times the predicted ones{shift}"
            )
        if (self.shift or self.local) * gap < 0:
            return f"{observed}; the nearest alternative: {self}"
        return str(self)


def _on_both_sides(ratios: np.ndarray) -> bool:
    """Whether predictions lie on both sides of 1/2: a direction of a quarter without predictions has the ratio 0."""
    found = {d.high <= 0.5 for d, ratio in zip(DIRECTIONS, ratios, strict=True) if d.local and ratio}
    return len(found) == 2


def _too_low(by: float) -> str:
    return f"too {'low' if by > 0 else 'high'} by about {abs(by):g} on the log-odds scale"


def _directions() -> tuple[Direction, ...]:
    """Return the 34 directions. Any weights fixed beforehand, with sum 1, keep the promises of a monitor."""
    shifts = [Direction(0.4 / 8, shift=sign * size) for size in (0.1, 0.2, 0.4, 0.8) for sign in (1, -1)]
    slopes = [Direction(0.3 / 6, slope=slope) for slope in (1 / 2, 2 / 3, 0.8, 1.25, 1.5, 2.0)]
    both = [Direction(0.1 / 4, shift=shift, slope=slope) for shift in (0.4, -0.4) for slope in (2 / 3, 1.5)]
    quarters = [
        Direction(0.2 / 16, low=i / 4, high=(i + 1) / 4, local=sign * size)
        for i in range(4)
        for size in (0.4, 0.8)
        for sign in (1, -1)
    ]
    return (*shifts, *slopes, *both, *quarters)


DIRECTIONS = _directions()
TABLE = np.array([(d.shift, d.slope, d.low, d.high, d.local) for d in DIRECTIONS])
LOG_WEIGHTS = np.log([d.weight for d in DIRECTIONS])


def log_likelihood_ratios(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return log(likelihood if the direction is true / likelihood if calibrated), shape (34,), of a `Sample`'s arrays.

    Predictions 0 and 1 are left out: no finite log-odds lead away from them, and `impossible` counts what contradicts
    them.
    """
    return _log_likelihood_ratios(TABLE, value, count, positives)


def impossible(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> int:
    """Return the number of outcomes that had probability 0."""
    return int(positives[value == 0].sum() + (count - positives)[value == 1].sum())


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
            d = table[g, 0] + (table[g, 1] - 1.0) * logit
            if table[g, 2] <= v < table[g, 3]:
                d += table[g, 4]
            if d == 0.0:
                continue
            if v < 0.5:
                total[g] += positives[j] * d - count[j] * np.log1p(v * np.expm1(d))
            else:
                total[g] -= (count[j] - positives[j]) * d + count[j] * np.log1p((1.0 - v) * np.expm1(-d))
    return total
