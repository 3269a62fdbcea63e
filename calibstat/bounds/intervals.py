"""Honest intervals: of seminorms of sums, and of functions of them.

theta holds the residuals of the data summed at distinct predictions or in cells, divided by n. The measure is a
seminorm of theta: the largest sum of w * theta for any weights w that it allows. Let theta* be the sums of a resample
and G* = theta* - theta. The low end takes the bias of the seminorm near zero from the directional bootstrap, (||theta +
step G*|| - ||theta||) / step. The high end is the largest upper bound of a sum for any fixed weights: the weights that
are best in the population are fixed, so that it needs no correction for having looked for the largest. "Honest" means
coverage of at least the nominal level wherever the truth is, near calibration too (Li 1989, Honest confidence regions
for nonparametric regression, Annals of Statistics 17). docs/evidence/proofs has statements and proofs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calibstat.bounds.norms import Norm
from calibstat.bounds.residual_tables import Table
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.resampling import Draws

CLASSES_STEP = 20.0  # of many dimensions noise is large beside a small error: a smaller step takes it for one


class Interval(ABC):
    """The honest interval of a measure: its estimate, and how the ends follow from resamples and from moments.

    Attributes
    ----------
    estimate : float
        The measure.
    is_mean : bool
        Whether it is a mean of losses, of which no value means calibration.
    is_bounded : bool
        Whether what a row adds is bounded, also in rows that were not observed.
    has_own_floor : bool
        Whether the high end of an error allows for a lucky sample by itself.
    condition : str
        What the high end supposes of the calibration curve, in words that follow "if"; empty if nothing.
    void : str
        How the rows contradict the condition of the high end, which is then no bound; empty if they do not.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def estimate(self) -> float: ...
        @property
        def condition(self) -> str: ...
        @property
        def void(self) -> str: ...

    else:
        condition = void = ""

    is_mean: ClassVar[bool] = False
    is_bounded: bool = True
    has_own_floor: ClassVar[bool] = False

    @property
    def proven(self) -> Interval:
        """The interval with a high end that is a theorem for any number of rows, where one is known."""
        raise NotImplementedError("no proven high end is known")

    def high_of_calibrated(self, tail: float) -> float | None:
        """Return the high end that a calibrated model would have on these rows, if an interval states it."""
        return None

    def resampled(self, draws: Draws) -> np.ndarray:
        """Return what the low end needs of all resamples of the rows, along the first axis."""
        raise NotImplementedError

    @abstractmethod
    def high(self, tail: float) -> float:
        """Return the high end, which is below the population value with probability `tail` at most."""

    @abstractmethod
    def low(self, tail: float, draws: Draws) -> float:
        """Return the low end, which is to be above the population value with probability `tail` at most."""


class DirectionalInterval(Interval):
    """A seminorm of sums, whose low end is of the directional bootstrap.

    Attributes
    ----------
    theta : ndarray
        The sums.
    step : float
        The step of the directional bootstrap.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def theta(self) -> np.ndarray: ...
        @property
        def step(self) -> float: ...

    @abstractmethod
    def value(self, theta: np.ndarray) -> Any:
        """Return the seminorm over the last axis."""

    @abstractmethod
    def below(self, tail: float) -> Allowance:
        """Return how far the sum with the weights of the data may lie above its mean.

        Statement and argument: docs/evidence/proofs/low-end.md.
        """

    def directional(self, theta: np.ndarray) -> Any:
        """Return the directional bootstrap of the measure, from resampled sums over the last axis."""
        noise = theta - self.theta
        del theta  # as long as the data
        return self.derivative(noise)

    def derivative(self, noise: np.ndarray) -> Any:
        """Return the directional bootstrap of the measure, from G* over the last axis, which is overwritten."""
        noise *= self.step  # as long as the data
        noise += self.theta
        return (self.value(noise) - self.estimate) / self.step

    def missing_bias(self, derivative: np.ndarray) -> float:
        """Return by how much the directional bootstrap understates the bias of the measure."""
        return 0.0

    def reach(self, resampled: np.ndarray, tail: float) -> float:
        """Return how far the estimate may lie above the measure, from what `resampled` returns.

        Statement and argument: docs/evidence/proofs/low-end.md.
        """
        return upper_quantile(resampled + self.missing_bias(resampled), tail)

    def low(self, tail: float, draws: Draws) -> float:
        return self.estimate - self.below(tail).extend(self.reach(self.resampled(draws), tail))


class ComparableInterval(DirectionalInterval):
    """A seminorm of sums that says which weights attain it, so that models can be compared by it."""

    @abstractmethod
    def witness(self, theta: np.ndarray) -> np.ndarray | None:
        """Return the weights of the largest sum, None where they are not known."""

    @abstractmethod
    def tail_bound(self, tail: float) -> TailBound:
        """Return the upper bound of a sum with weights that the norm allows, exceeded with probability `tail`."""


@dataclass(frozen=True, eq=False)
class SeminormInterval(ComparableInterval):
    """A norm on the sums of a table."""

    norm: Norm
    table: Table

    @cached_property
    def estimate(self) -> float:
        return float(self.norm.value(self.theta))

    @property
    def theta(self) -> np.ndarray:
        return self.table.theta

    @property
    def step(self) -> float:
        return self.norm.step if self.table.units_are_rows else self.norm.joint_step

    def resampled(self, draws: Draws) -> np.ndarray:
        norms = self.table.moved(self.norm.value, self.norm.one_pass, self.theta, self.step, draws)
        return (norms - self.estimate) / self.step

    def check(self) -> None:
        """Raise if no honest interval is known for such rows."""

    @cached_property
    def value(self) -> Callable[[np.ndarray], Any]:
        return self.norm.value

    def witness(self, theta: np.ndarray) -> np.ndarray | None:
        return self.norm.witness(theta)

    def tail_bound(self, tail: float) -> TailBound:
        return self._of_units(tail).times(self.norm.largest_weight)

    def _of_units(self, tail: float) -> TailBound:
        """Return the bound of a sum with weights in [-1, 1], where absent clusters add what the table supposes."""
        return self.table.tail_bound(tail, lambda: self._largest_unit)

    @cached_property
    def _largest_unit(self) -> float:
        """The most that an observed cluster adds to a sum with weights in [-1, 1] that the norm allows."""
        return self.norm.largest_unit(self.table.moments) / self.norm.largest_weight

    def below(self, tail: float) -> Allowance:
        tail_bound, weight, moments = self.tail_bound(tail), self.witness(self.theta), self.table.moments
        if weight is None:  # the worst
            variance, third = moments.largest()
            return Allowance.of(tail_bound, variance, -third, moments.n)
        sums = moments.of(weight)
        return Allowance.of(tail_bound, sums.variance, moments.central_third(sums), moments.n)

    def high(self, tail: float) -> float:
        moments = self.table.moments
        return self.norm.upper_bound(moments, self._of_units(tail)) / moments.n


@dataclass(frozen=True, eq=False)
class MappedInterval(Interval):
    """An estimate whose limit is a function of another measure, with the function of the other interval's ends.

    ``function`` does not decrease from 0 on.
    """

    estimate: float
    other: Interval
    function: Callable[[float], float] = float

    def high(self, tail: float) -> float:
        return float(self.function(max(self.other.high(tail), 0.0)))

    def low(self, tail: float, draws: Draws) -> float:
        return float(self.function(max(self.other.low(tail, draws), 0.0)))


def upper_quantile(numbers: np.ndarray, tail: float) -> float:
    """Return the quantile that a further draw exceeds with probability `tail`."""
    return float(np.quantile(numbers, 1 - tail, method="weibull"))


def smallest(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Return the smallest number for which a monotone condition holds, between `low` and `high`, where it holds."""
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
