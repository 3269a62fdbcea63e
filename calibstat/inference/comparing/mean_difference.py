"""Upper bounds of the difference of two mean losses: score bounds of the rows' differences, or of two samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, OfMean, RowLosses
from calibstat.bounds.tail_bound import TailBound
from calibstat.inference.comparing.differences import zero_if_rounding


def of_same_rows(one: RowLosses, other: RowLosses, same_outcomes: bool) -> OfMean:
    """Return the mean difference of the losses of two models in each row.

    Statement and argument: docs/evidence/proofs/differences.md.
    """
    return row_differences(one, other, same_outcomes).interval


def row_differences(one: RowLosses, other: RowLosses, same_outcomes: bool) -> RowLosses:
    """Return the differences of the losses of two models in each row, and those that each row may have."""
    scale = max(abs(one.estimate), abs(other.estimate))

    def possible() -> np.ndarray:
        losses = one.possible(), other.possible()
        if not same_outcomes:  # each model has its own, such as hits of its most likely class
            losses = losses[0].max(axis=1, keepdims=True), losses[1].min(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            difference = losses[0] - losses[1]
        difference[np.isnan(difference)] = np.inf  # both infinite: any difference
        return zero_if_rounding(difference, scale)

    difference = zero_if_rounding(one.loss - other.loss, scale)
    bounds = one.bounds[0] - other.bounds[1], one.bounds[1] - other.bounds[0]
    return one.of_differences(difference, possible, bounds)


@dataclass(frozen=True, eq=False)
class MeansOfSamples:
    """The difference of the mean losses of two samples of independent rows."""

    one: MeanInterval
    other: MeanInterval

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most.

        Statement and argument: docs/evidence/proofs/differences.md.
        """
        from scipy.special import stdtrit

        one, other = self.one, self.other
        if one.is_one_row or other.is_one_row:
            return one.high(tail) - other.low(tail)
        most = max((one.most - one.estimate) / one.n, (other.estimate - other.least) / other.n)
        if np.isinf(most):
            return most
        variance = one.variance / one.n**2 + other.variance / other.n**2
        third = one.third / one.n**3 - other.third / other.n**3
        tail_bound = TailBound(float(stdtrit(min(one.n, other.n) - 1, 1 - tail))).times(most)
        return one.estimate - other.estimate + float(tail_bound.reach(variance, third))
