"""The ends of honest intervals of one problem, and the floor of the high end: what a calibrated model would show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from calibstat.bounds.linear_form import Form
from calibstat.inference.problems.drawable import Drawable
from calibstat.inference.problems.problem import Problem
from calibstat.resampling import Draws, Stage
from calibstat.resampling.quantiles import quantiles

FIRST = 24  # resamples that are looked at before the others are drawn
FEW = 2  # of them above an end; if half of all resamples are above it, there are so few in 1 of 50,000 cases


@dataclass(frozen=True, eq=False)
class HonestEnds:
    """The ends of honest intervals of one problem, at any level.

    Attributes
    ----------
    drawn : Drawable
        What is drawn from.
    form : Form
        The linear form of its measure.
    draws : Draws
        The resamples, the same for all ends.
    """

    drawn: Drawable
    form: Form
    draws: Draws

    @classmethod
    def of(cls, problem: Problem, draws: Draws) -> Self:
        """Return the ends of a problem of independent rows."""
        drawn = problem.drawn_from("confidence_interval")
        return cls(drawn, drawn.linear_form(), draws)

    def low(self, alpha: float) -> float:
        """Return the low end: of an error 0 unless the test of calibration by the same measure rejects.

        Statement and argument: docs/proofs.md, section 3.
        """
        low = self.form.low(lambda: self.drawn.draw_form(self.form, self.draws), alpha / 2)
        if self.form.is_mean:
            return low
        if low > 0:  # the gate: a low end above 0 denies calibration, so the exact test has to deny it too
            pvalue = self.drawn.pvalue_if_calibrated(self.draws, lambda: self.if_calibrated)
            low = 0.0 if pvalue > alpha / 2 else low
        return max(low, 0.0)

    def high(self, alpha: float) -> float:
        """Return the high end: of an error not below the median of the estimates if calibrated."""
        bound = self.form.high(alpha / 2)
        floor = self.floor(bound)
        return bound if floor is None else floor

    def floor(self, bound: float) -> float | None:
        """Return the median of the estimates if calibrated where it lies above a bound of an error, else None.

        If few of the first ones lie above the bound, the others are not drawn.

        Statement and argument: docs/proofs.md, section 11.
        """
        if self.form.is_mean:
            return None
        if self.draws.n > FIRST and self.known is None and np.count_nonzero(self._first > bound) <= FEW:
            return None
        return self.median if self.median > bound else None

    @property
    def known(self) -> float | None:
        """The median of the estimates if calibrated, None unless an end needed them."""
        return self.median if "if_calibrated" in vars(self) else None

    @cached_property
    def if_calibrated(self) -> np.ndarray:
        """The estimates on labels drawn independently from the predictions, as in the labels-only test."""
        return self.drawn.draw_calibrated(self.draws)

    @cached_property
    def median(self) -> float:
        """The median of the estimates if calibrated."""
        return float(quantiles(self.if_calibrated, 0.5))

    @cached_property
    def _first(self) -> np.ndarray:
        return self.drawn.draw_calibrated(self.draws.part(0, FIRST, Stage.LABELS))
