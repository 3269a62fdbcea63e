"""The ends of honest intervals of one problem, and the floor of the high end: what a calibrated model would show."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.data.views import Rarest
from calibstat.inference.p_values import largest_p_value
from calibstat.inference.problems.problem import Posed
from calibstat.resampling import Draws, Stream
from calibstat.resampling.quantiles import quantiles

FIRST = 99  # resamples that are looked at before the others are drawn, and of which a calibrated model is told
ROUNDING = 1e-12
FEW_EVENTS = 10  # of either outcome, below which a result says so
FEW_ABOVE = 28  # of them above an end; if half of all resamples are above it, there are so few in 1 of 100,000 cases


@dataclass(frozen=True, eq=False)
class HonestEnds:
    """The ends of honest intervals of one problem, at any level.

    Attributes
    ----------
    posed : Posed
        The problem, or its rows in clusters.
    interval : Interval
        The honest interval.
    draws : Draws
        The resamples, the same for all ends.
    """

    posed: Posed
    interval: Interval
    draws: Draws

    @classmethod
    def of(cls, posed: Posed, draws: Draws) -> Self:
        """Return the ends of a problem in canonical order, or of its rows in clusters."""
        return cls(posed, posed.honest(), draws)

    def low(self, alpha: float) -> float:
        """Return the low end: of an error 0 unless the test of calibration by the same measure rejects.

        Statement and argument: docs/evidence/proofs/low-end.md.
        """
        low = self.interval.low(alpha / 2, self.draws)
        if self.interval.is_mean:
            return low
        if low > 0:  # the gate: a low end above 0 denies calibration, so the exact test has to deny it too
            nulls = self.posed.null_draws(self.draws, self.if_calibrated)
            low = 0.0 if largest_p_value(self.posed.statistic(), nulls)[0] > alpha / 2 else low
        return max(low, 0.0)

    def high(self, alpha: float) -> float:
        """Return the high end: of an error not below the median of the estimates if calibrated."""
        bound = self.interval.high(alpha / 2)
        floor = self.floor(bound)
        return bound if floor is None else floor

    def floor(self, bound: float) -> float | None:
        """Return the median of the estimates if calibrated where it lies above a bound of an error, else None.

        If few of the first ones lie above the bound, the others are not drawn.

        Statement and argument: docs/evidence/proofs/floor.md.
        """
        if self.interval.is_mean or self.interval.has_own_floor:
            return None
        if self.draws.n > FIRST and self.known is None and np.count_nonzero(self._first > bound) <= FEW_ABOVE:
            return None
        return self.median if self.median > bound else None

    @property
    def known(self) -> float | None:
        """The median of the estimates if calibrated, None unless an end needed them."""
        return self.median if "if_calibrated" in vars(self) else None

    @cached_property
    def if_calibrated(self) -> np.ndarray:
        """The estimates on labels drawn independently from the predictions, as in the labels-only test."""
        return self._draw_labels(self.draws)

    @cached_property
    def median(self) -> float:
        """The median of the estimates if calibrated."""
        return float(quantiles(self.if_calibrated, 0.5))

    @property
    def noise_floor(self) -> float | None:
        """The median of the estimates if calibrated, of the first ones unless an end needed all; None of a mean."""
        if self.interval.is_mean:
            return None
        return self.median if self.known is not None or self.draws.n <= FIRST else float(quantiles(self._first, 0.5))

    @cached_property
    def _first(self) -> np.ndarray:
        return first_if_calibrated(self._draw_labels, self.draws)

    @cached_property
    def _draw_labels(self) -> Callable[[Draws], np.ndarray]:
        return self.posed.drawer_of_labels()


def first_if_calibrated(draw_labels: Callable[[Draws], np.ndarray], draws: Draws) -> np.ndarray:
    """Return the first estimates on labels drawn independently from the predictions."""
    return draw_labels(draws.part(0, min(FIRST, draws.n), Stream.LABELS))


class NoInterval(ValueError):
    """No such interval is known of this measure, on these rows or with clusters."""


class TooFewEvents(NoInterval):
    """The mean of a loss without bounds, of which too few events were observed to know anything of it."""


def need_events(rarest: Rarest, title: str) -> None:
    """Raise if an interval of a loss without bounds rests on few events."""
    if rarest.count < FEW_EVENTS:
        raise TooFewEvents(
            f"no honest interval is known for {title} of few events, because a row that was not observed "
            f"may have any loss: expected at least {FEW_EVENTS} {rarest.counted} of each outcome, but {rarest}; "
            "clip= bounds the loss"
        )


def exceeds(one: float, other: float) -> bool:
    """Whether a number lies above another by more than rounding."""
    return one > other and not math.isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING)
