"""Linear forms of measures, from which honest intervals are computed: seminorms of sums, and means of losses.

theta holds the residuals of the data summed at distinct predictions or in cells, divided by n. The measure is a
seminorm of theta: the largest sum of w * theta for any weights w that it allows. Let theta* be that of a resample and
G* = theta* - theta. The low end takes the bias of the seminorm near zero from the directional bootstrap, (||theta +
step G*|| - ||theta||) / step. The high end is the largest upper bound of a sum for any fixed weights: the weights that
are best in the population are fixed, so that it needs no correction for having looked for the largest. "Honest" means
coverage of at least the nominal level wherever the truth is, near calibration too (Li 1989, Honest confidence regions
for nonparametric regression, Annals of Statistics 17). The docs page "How intervals are made" has statements and
proofs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from calibstat.bounds.moments import JointMoments, Moments, SeparableMoments
from calibstat.bounds.score_bound import ScoreBound
from calibstat.data.sample import Sample

Norm = Callable[[np.ndarray], Any]  # of sums over the last axis
Witness = Callable[[np.ndarray], np.ndarray | None]  # of sums, the weights of the largest one
Highest = Callable[[Moments, ScoreBound], float]  # the largest bound of a sum for any fixed weights, in rows
Losses = Callable[[], np.ndarray]  # that rows may have, shape (n, K)
Order = np.ndarray | slice  # in which rows are put before they are summed
WIDE_STEP = 3.0  # without an exact test a smaller step takes the bias of a calibrated model for an error


class Rows(NamedTuple):
    """Outcomes 0 and 1 and predictions of rows, and their weights if they have any, each of shape (n,)."""

    outcome: np.ndarray
    prediction: np.ndarray
    weight: np.ndarray | None = None

    def taken(self, order: Order) -> Rows:
        """Return the rows in this order."""
        weight = None if self.weight is None else self.weight[order]
        return Rows(self.outcome[order], self.prediction[order], weight)


class Form(ABC):
    """The linear form of a measure: its estimate, and how an honest interval follows from resamples."""

    estimate: float
    is_mean: ClassVar[bool] = False  # a mean of losses: no value of it means calibration
    is_bounded: bool = True  # what a row adds is bounded, also in rows that were not observed

    def moves(self, theta: np.ndarray) -> Any:
        """Return what the interval needs from resampled sums, over the last axis."""
        raise NotImplementedError

    @abstractmethod
    def high(self, tail: float) -> float:
        """Return the high end, which is below the population value with probability `tail` at most."""

    @abstractmethod
    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        """Return the low end; ``draw()`` returns the moves of all resamples."""


@dataclass(frozen=True)
class Allowance:
    """The allowance of a lower end: a normal part, and a part for the skewness of the estimate.

    Resamples do not know of rows that were not observed: where all of a group have the event, each resample has it too.
    And they reflect the skewness: of one rare event a resample may lose that one, but the next sample may hold four.
    """

    normal: float
    skewness: float

    @classmethod
    def of(cls, score: ScoreBound, variance: float, third: float, n: float) -> Self:
        """Return it for a sum over n rows with this variance and third moment."""
        normal = score.z * float(np.sqrt(max(variance, 0.0)))
        return cls(normal / n, float(score.skewness(variance, -third)) / n)

    def extend(self, reach: float) -> float:
        """Return how far the low end lies below the estimate, where resamples say `reach`."""
        return max(reach, self.normal) + self.skewness


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearForm(Form):
    """A seminorm of sums over distinct predictions or cells.

    Attributes
    ----------
    estimate : float
        The measure.
    theta : ndarray, shape (n_cells,)
        The sums divided by n.
    norm, witness : callable
        ``norm(theta)``, the measure, over the last axis, and ``witness(theta)``, the weights of the largest sum, or
        None where they are not known.
    step : float
        The step of the directional bootstrap.
    moments : Moments
        How sums vary.
    highest : callable
        ``highest(moments, score)``, the largest bound of a sum for any fixed weights, in rows.
    cell : ndarray or None
        The cell of each distinct prediction; None if each is a cell by itself.
    largest_weight : float
        The largest absolute weight that is allowed.
    other_high : callable or None
        ``other_high(tail)``, another high end, which counts where it is the lower one.
    """

    estimate: float
    theta: np.ndarray
    norm: Norm
    witness: Witness
    step: float
    moments: Moments
    highest: Highest
    cell: np.ndarray | None = None
    largest_weight: float = 1.0
    other_high: Callable[[float], float] | None = None

    def score(self, tail: float) -> ScoreBound:
        """Return the upper bound of a sum with weights that the measure allows, exceeded with probability `tail`."""
        return self.moments.score(tail).times(self.largest_weight)

    def directional(self, step: np.ndarray) -> Any:
        """Return the directional bootstrap of the measure, from G* over the last axis."""
        return (self.norm(self.theta + self.step * step) - self.estimate) / self.step

    def moves(self, theta: np.ndarray) -> Any:
        step = theta - self.theta
        del theta  # as long as the data
        return self.directional(step)

    def missing_bias(self, directional: np.ndarray) -> float:
        """Return by how much the directional bootstrap understates the bias of the measure."""
        return 0.0

    def reach(self, drawn: np.ndarray, tail: float) -> float:
        """Return how far the estimate may lie above the measure, from the moves of all resamples.

        Statement and argument: docs/proofs.md, section 3.
        """
        return upper_quantile(drawn + self.missing_bias(drawn), tail)

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        return self.estimate - self.below(tail).extend(self.reach(draw(), tail))

    def below(self, tail: float) -> Allowance:
        """Return how far the sum with the weights of the data may lie above its mean.

        Statement and argument: docs/proofs.md, section 3.
        """
        score, weight = self.score(tail), self.witness(self.theta)
        if weight is None:  # the worst
            variance, third = self.moments.largest()
            return Allowance.of(score, variance, -third, self.moments.n)
        sums = self.moments.of(weight)
        return Allowance.of(score, sums.variance, self.moments.central_third(sums), self.moments.n)

    def high(self, tail: float) -> float:
        high = self.highest(self.moments, self.moments.score(tail)) / self.moments.n
        return high if self.other_high is None else min(high, self.other_high(tail))


@dataclass(frozen=True, eq=False)
class MappedForm(Form):
    """An estimate whose limit is a function of that of another measure: its interval is that of the other.

    ``function`` is applied to the ends. It does not decrease from 0 on. Resamples are those of the other form.
    """

    estimate: float
    other: Any
    function: Callable[[float], float] = float

    @property
    def cell(self) -> np.ndarray | None:
        """The cell of each distinct prediction, of a form over predictions."""
        return cast("np.ndarray | None", self.other.cell)

    @property
    def place(self) -> np.ndarray | None:
        """The place of each row and class, of a form of several classes."""
        return cast("np.ndarray | None", self.other.place)

    def of_rows(self, rows: np.ndarray, label: np.ndarray) -> Any:
        """Return what is needed of a resample, of a form that is drawn row by row."""
        return self.other.of_rows(rows, label)

    def moves(self, theta: np.ndarray) -> Any:
        return self.other.moves(theta)

    def high(self, tail: float) -> float:
        return float(self.function(self.other.high(tail)))

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        return float(self.function(max(self.other.low(draw, tail), 0.0)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RowForm(LinearForm):
    """A linear form row by row, for weights, clusters and models on the same rows.

    Row i adds residual[i], times its weight if rows have weights, at cell[i]. `unit` numbers the cluster of each row
    from 0; None if each row is a cluster by itself. `prediction` holds that of each row.
    """

    cell: np.ndarray
    residual: np.ndarray
    prediction: np.ndarray
    unit: np.ndarray | None = None
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.cell)

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.n_rows if self.weight is None else float(self.weight.sum())

    @property
    def added(self) -> np.ndarray:
        """The contribution of each row to its cell."""
        return self.residual if self.weight is None else self.residual * self.weight

    def in_units(self, unit: np.ndarray) -> Self:
        """Return the form with its rows in clusters."""
        moments = JointMoments(self.cell, self.added, unit, self.theta.size, self.weight)
        return replace(self, unit=unit, moments=moments, step=max(self.step, WIDE_STEP))


def upper_quantile(drawn: np.ndarray, tail: float) -> float:
    """Return the quantile that a further draw exceeds with probability `tail`."""
    return float(np.quantile(drawn, 1 - tail, method="weibull"))


def smallest(holds: Callable[[float], bool], low: float, high: float, tolerance: float) -> float:
    """Return the smallest number for which a monotone condition holds, between `low` and `high`, where it holds."""
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# --- seminorms of the residual measure -------------------------------------------------------------------------------


def of_seminorm(
    norm: Callable[[np.ndarray], float], witness: Witness, highest: Highest, step: float, sample: Sample
) -> LinearForm:
    """Return the form over distinct predictions, where ``norm(residual)`` is that of residuals divided by n."""
    return LinearForm(
        estimate=float(norm(sample.residual)),
        theta=sample.residual,
        norm=_over_last_axis(norm),
        witness=witness,
        step=step,
        moments=SeparableMoments.of_sample(sample),
        highest=highest,
    )


def rows_of_seminorm(form: LinearForm, rows: Rows, value: np.ndarray) -> RowForm:
    """Return the form row by row: each row adds its residual at its prediction, one of `value`."""
    cell, residual, weight = np.searchsorted(value, rows.prediction), rows.outcome - rows.prediction, rows.weight
    moments = form.moments if weight is None else SeparableMoments.of_rows(cell, residual, value.size, weight)
    theta = np.bincount(cell, residual) / cell.size if weight is None else moments.total / moments.n
    return RowForm(
        estimate=float(form.norm(theta)),
        theta=theta,
        norm=form.norm,
        witness=form.witness,
        step=form.step,
        moments=moments,
        highest=form.highest,
        cell=cell,
        residual=residual,
        prediction=rows.prediction,
        weight=weight,
    )


def _over_last_axis(norm: Callable[[np.ndarray], float]) -> Norm:
    def over_last_axis(theta: np.ndarray) -> Any:
        if theta.ndim == 1:
            return norm(theta)
        return np.apply_along_axis(lambda part: norm(part.copy()), -1, theta)

    return over_last_axis
