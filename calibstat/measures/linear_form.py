"""Linear forms of measures, from which honest intervals are computed: seminorms of sums, and means of losses.

theta holds the residuals of the data summed at distinct predictions or in cells, divided by n. The measure is a
seminorm of theta, and equals the sum of w * theta, with the witness w. Let theta* be that of a resample and G* = theta*
- theta. The low end takes the bias of the seminorm near zero from the directional bootstrap, (||theta + step G*|| -
||theta||) / step; the high end is that of a fixed weighted sum, w * theta. "Honest" means
coverage of at least the nominal level wherever the truth is, near calibration too (Li 1989, Honest confidence regions
for nonparametric regression, Annals of Statistics 17). The docs page "Intervals" shows why the usual bootstrap
intervals fail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from calibstat.data.clipping import advice
from calibstat.data.sample import Sample

Norm = Callable[[np.ndarray], Any]  # of sums over the last axis
Order = np.ndarray | slice  # in which rows are put before they are summed
WIDE_STEP = 3.0  # without an exact test a smaller step takes the bias of a calibrated model for an error


class Form(ABC):
    """The linear form of a measure: its estimate, and how an honest interval follows from resamples."""

    estimate: float
    is_mean: ClassVar[bool] = False  # a mean of losses: no value of it means calibration

    def moves(self, theta: np.ndarray) -> Any:
        """Return the numbers that the interval needs from resampled sums, over the last axis."""
        raise NotImplementedError

    @abstractmethod
    def ends(self, draw: Callable[[], np.ndarray], alpha: float) -> tuple[float, float]:
        """Return the ends of the interval of level 1 - alpha; ``draw()`` returns the moves of all resamples."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearForm(Form):
    """A seminorm of sums over distinct predictions or cells.

    Attributes
    ----------
    estimate : float
        The measure.
    theta, witness : ndarray, shape (n_cells,)
        The sums divided by n, and the weights; the witness is None where only the norm is known.
    norm : callable
        ``norm(theta)``, the measure, over the last axis.
    step, floor : float
        The step of the directional bootstrap; and the multiple of `worst_spread` below which the estimate is too small
        for the spread of the witness to be trusted.
    worst_spread : float
        The largest standard error of the sum of w * theta for any witness.
    cell : ndarray or None
        The cell of each distinct prediction; None if each is a cell by itself.
    """

    estimate: float
    theta: np.ndarray
    witness: np.ndarray | None
    norm: Norm
    step: float
    floor: float
    worst_spread: float
    cell: np.ndarray | None = None

    def directional(self, step: np.ndarray) -> Any:
        """Return the directional bootstrap of the measure, from G* over the last axis."""
        return (self.norm(self.theta + self.step * step) - self.estimate) / self.step

    def linear(self, step: np.ndarray) -> Any:
        """Return the sum of w * G*, or its lower bound where no witness is known."""
        if self.witness is None:
            return -self.norm(step)
        if step.ndim == 1:
            return step @ self.witness
        return (step * self.witness).sum(axis=-1)  # @ rounds differently for other numbers of resamples

    def moves(self, theta: np.ndarray) -> Any:
        step = theta - self.theta
        del theta  # as long as the data
        moved = self.directional(step), self.linear(step)
        return moved if step.ndim == 1 else np.stack(moved, axis=-1)  # stacking two numbers takes as long as a norm

    def missing_bias(self, directional: np.ndarray) -> float:
        """Return by how much the directional bootstrap understates the bias of the measure."""
        return 0.0

    def spread(self, drawn: np.ndarray) -> float:
        """Return the standard error of the sum of w * theta."""
        return float(drawn[:, 1].std())

    def high(self, z: float, spread: float) -> float:
        """Return the high end, z standard errors above the estimate."""
        return self.estimate + z * spread

    def ends(self, draw: Callable[[], np.ndarray], alpha: float) -> tuple[float, float]:
        from scipy.special import ndtri

        drawn = draw()
        low = self.estimate - upper_quantile(drawn[:, 0] + self.missing_bias(drawn[:, 0]), alpha / 2)
        near_zero = self.witness is None or self.estimate < self.floor * self.worst_spread
        spread = self.worst_spread if near_zero else self.spread(drawn)
        return low, self.high(float(ndtri(1 - alpha / 2)), spread)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowForm(LinearForm):
    """A linear form row by row, for clusters and for models on the same rows: row i adds residual[i] at cell[i].

    `unit` numbers the cluster of each row from 0; None if each row is a cluster by itself. `hilbert` says that the
    square of the measure is a squared norm of a Hilbert space, so that its bias is known.
    """

    cell: np.ndarray
    residual: np.ndarray
    unit: np.ndarray | None = None
    hilbert: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.cell.size

    @property
    def n_units(self) -> int:
        """Number of clusters, or of rows."""
        return self.n if self.unit is None else int(self.unit.max()) + 1

    def in_units(self, unit: np.ndarray) -> Self:
        """Return the form with its rows in clusters: a witness spreads most if all residuals of a cluster add up."""
        worst = float(np.sqrt((np.bincount(unit, np.abs(self.residual)) ** 2).sum())) / self.n
        return replace(self, unit=unit, worst_spread=worst, step=max(self.step, WIDE_STEP))

    def for_comparison(self, unit: np.ndarray | None) -> Self:
        """Return the form with a step that is large enough without an exact test."""
        return replace(self, unit=unit, step=max(self.step, WIDE_STEP))

    def spread(self, drawn: np.ndarray) -> float:
        return super().spread(drawn) * float(np.sqrt(self.n_units / (self.n_units - 1)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RowMeanForm(RowForm):
    """A mean of losses row by row; it has no bias."""

    is_mean: ClassVar[bool] = True

    def ends(self, draw: Callable[[], np.ndarray], alpha: float) -> tuple[float, float]:
        return t_interval(self.estimate, self.spread(draw()), self.n_units - 1, alpha)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanForm(Form):
    """A mean of losses, with the sum of squared deviations of the losses from it."""

    is_mean: ClassVar[bool] = True
    estimate: float
    squares: float
    n: float
    title: str

    def ends(self, draw: Callable[[], np.ndarray], alpha: float) -> tuple[float, float]:
        if self.n < 2:
            raise ValueError(f"expected at least 2 rows for an interval of {self.title}, found {self.n:g}")
        return t_interval(self.estimate, float(np.sqrt(self.squares / (self.n - 1) / self.n)), self.n - 1, alpha)


def t_interval(mean: float, standard_error: float, degrees: float, alpha: float) -> tuple[float, float]:
    """Return the ends of the t interval of a mean."""
    from scipy.special import stdtrit

    reach = float(stdtrit(degrees, 1 - alpha / 2)) * standard_error
    return mean - reach, mean + reach


def upper_quantile(drawn: np.ndarray, tail: float) -> float:
    """Return the quantile that a further draw exceeds with probability `tail`."""
    return float(np.quantile(drawn, 1 - tail, method="weibull"))


def squared_residuals(sample: Sample) -> np.ndarray:
    """Sum (y - v)**2 over the rows of each distinct prediction."""
    return sample.positives * (1 - sample.value) ** 2 + (sample.count - sample.positives) * sample.value**2


# --- seminorms of the residual measure -------------------------------------------------------------------------------


def of_seminorm(
    norm: Callable[[np.ndarray], float],
    residual: np.ndarray,
    witness: np.ndarray | None,
    step: float,
    floor: float,
    sample: Sample,
) -> LinearForm:
    """Return the form over distinct predictions, where ``norm(residual)`` is that of residuals divided by n."""
    return LinearForm(
        estimate=float(norm(residual)),
        theta=residual,
        witness=witness,
        norm=_over_last_axis(norm),
        step=step,
        floor=floor,
        worst_spread=float(np.sqrt(squared_residuals(sample).sum()) / sample.n),
    )


def rows_of_seminorm(form: LinearForm, hilbert: bool, y: np.ndarray, p: np.ndarray, value: np.ndarray) -> RowForm:
    """Return the form row by row: each row adds its residual at its prediction, one of `value`."""
    cell, residual = np.searchsorted(value, p), y - p
    theta = np.bincount(cell, residual) / cell.size
    return RowForm(
        estimate=float(form.norm(theta)),
        theta=theta,
        witness=form.witness,
        norm=form.norm,
        step=form.step,
        floor=form.floor,
        worst_spread=form.worst_spread,
        cell=cell,
        residual=residual,
        hilbert=hilbert,
    )


def _over_last_axis(norm: Callable[[np.ndarray], float]) -> Norm:
    def over_last_axis(theta: np.ndarray) -> Any:
        if theta.ndim == 1:
            return norm(theta)
        return np.apply_along_axis(lambda part: norm(part.copy()), -1, theta)

    return over_last_axis


# --- means of losses -------------------------------------------------------------------------------------------------


def of_losses(title: str, mean: float, negative: np.ndarray, positive: np.ndarray, sample: Sample) -> MeanForm:
    """Return the form of a mean over the rows of a summary, with the losses of both outcomes at each prediction."""
    squares = 0.0
    for rows, losses in ((sample.positives, positive), (sample.count - sample.positives, negative)):
        observed = rows > 0  # a certain prediction may have an infinite loss for the outcome that was not observed
        squares += float(rows[observed] @ (losses[observed] - mean) ** 2)
    return MeanForm(estimate=mean, squares=squares, n=sample.n, title=title)


def of_vector_losses(title: str, loss: np.ndarray) -> MeanForm:
    """Return the form of a mean of losses, one for each row."""
    mean = float(loss.mean())
    return MeanForm(estimate=mean, squares=float(((loss - mean) ** 2).sum()), n=loss.size, title=title)


def rows_of_losses(title: str, loss: np.ndarray, prob: np.ndarray, order: Order) -> RowMeanForm:
    """Return the form row by row: each row adds its loss to one sum. `prob`, the predictions, is for messages."""
    if not np.isfinite(loss).all():
        row = int(np.argmin(np.isfinite(loss)))
        raise ValueError(
            f"expected a finite {title}; it is infinite at row {row}, where the observed outcome had probability 0; "
            f"{advice(prob)}"
        )
    loss, cell = loss[order], np.zeros(loss.size, np.int64)
    mean = np.bincount(cell, loss) / loss.size
    return RowMeanForm(
        estimate=float(mean[0]),
        theta=mean,
        witness=np.ones(1),
        norm=lambda theta: theta[..., 0],
        step=1.0,
        floor=0.0,
        worst_spread=0.0,
        cell=cell,
        residual=loss,
    )
