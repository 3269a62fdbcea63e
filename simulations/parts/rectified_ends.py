"""Misses of the ends of rectified intervals, without resamples where none can change whether an end misses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.judged_rows import Judge
from calibstat.inference.designs.design_of import independent
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, judged_rows
from calibstat.inference.designs.judged.rectified_interval import judged_problem, norm_problem, rectified
from calibstat.inference.designs.judged.rectified_means import RectifiedLosses
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows
from calibstat.inference.honest_ends import HonestEnds
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class Asked:
    """A data set, of which the ends of any measure are asked."""

    rows: JudgedRows
    draws: Draws
    alpha: float = 0.05

    @classmethod
    def of(
        cls,
        y: np.ndarray,
        p: np.ndarray,
        f: np.ndarray,
        seed: int,
        resamples: int,
        *,
        inclusion: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
    ) -> Asked:
        """Check the rows."""
        data = Data(y, p, judge=Judge(f, inclusion=inclusion), cluster=cluster)
        return cls(judged_rows(data), Draws.of(seed, resamples))

    def ends(self, measure: str) -> HonestEnds:
        """Return the ends of a norm of rectified residuals."""
        problem = norm_problem(self.rows, find_measure(measure, {}))
        return HonestEnds.of(RectifiedRows.of(problem, self.rows), self.draws)

    def missed(self, measure: str, truth: float) -> tuple[bool, bool]:
        """Return whether the truth is below the low end of a norm or a mean, and above the high end."""
        posed = rectified(judged_problem(self.rows, find_measure(measure, {})), self.rows)
        if isinstance(posed, RectifiedLosses):
            low, high, _ = posed.ends(self.alpha, self.draws)
            return low > truth, high < truth
        return missed(HonestEnds.of(posed, self.draws), truth, self.alpha)

    def width(self, measure: str) -> float:
        """Return the width of the interval of a norm or a mean."""
        low, high, _ = rectified(judged_problem(self.rows, find_measure(measure, {})), self.rows).ends(
            self.alpha, self.draws
        )
        return high - max(low, 0.0)

    def ends_of_labels(self, measure: str) -> HonestEnds:
        """Return the ends of the labelled rows alone."""
        problem = judged_problem(self.rows, find_measure(measure, {}))
        return independent(self.rows.data).honest_ends(problem, self.draws)

    @cached_property
    def mean(self) -> tuple[float, float, float]:
        """The rectified mean residual, and its score bounds below and above."""
        from calibstat.inference.designs.judged.rectified_rows import rectified_table

        table = rectified_table(self.rows, np.zeros(self.rows.n, np.int64), 1)
        total, variance, third, _ = table.moments.of(np.ones(1))
        tail_bound = table.moments.tail_bound(self.alpha / 2)
        down, up = (float(tail_bound.reach(variance, sign * third)) / table.n for sign in (-1, 1))
        return total / table.n, total / table.n - down, total / table.n + up


def missed(ends: HonestEnds, truth: float, alpha: float) -> tuple[bool, bool]:
    """Return whether the truth is below the low end, and above the high end."""
    interval, above = ends.interval, False
    if (bound := interval.high(alpha / 2)) < truth:
        floor = ends.floor(bound)
        above = floor is None or floor < truth
    allowance = interval.below(alpha / 2)  # type: ignore[attr-defined]
    may_miss = interval.estimate - allowance.normal - allowance.skewness > truth
    return bool(may_miss and ends.low(alpha) > truth), bool(above)
