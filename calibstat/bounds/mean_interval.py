"""Score intervals of means of losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.bounds.joint_moments import sums_of_units
from calibstat.bounds.observed_clusters import ClusterMean
from calibstat.bounds.residual_tables import Order, RowTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.clipping import advice
from calibstat.data.clusters import OBSERVED, ROWS_ALONE, Unseen
from calibstat.data.sample import Sample
from calibstat.inner_product import inner
from calibstat.resampling import Draws

NO_BOUNDS = -np.inf, np.inf
Losses = Callable[[], np.ndarray]  # that rows may have, shape (n, K)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanInterval(Interval):
    """A mean of losses, with the variance and the third moment of their sum.

    `least` and `most` are the smallest and the largest loss that a row may have, and `size` the numbers of rows of
    clusters, or the weights of rows or clusters; None if rows are independent and have no weights. `hides` are the
    sizes of what was not observed, if not `size`.

    Statement and argument: docs/evidence/proofs/mean-losses.md.
    """

    is_mean: ClassVar[bool] = True
    estimate: float
    variance: float
    third: float
    n: float
    least: float
    most: float
    title: str
    is_bounded: bool
    size: np.ndarray | None = None
    hides: np.ndarray | None = None

    @property
    def is_one_row(self) -> bool:
        """Whether one row, or one cluster, is all there is, which says nothing of how losses vary."""
        return self.units < 2

    def high(self, tail: float) -> float:
        if self.is_one_row:
            return self.most if self.is_bounded else np.inf
        if np.isinf(self.most):
            return self.most
        return self.estimate + self._reach(self.most - self.estimate, self.third, tail)

    def low(self, tail: float, draws: Draws | None = None) -> float:
        if self.is_one_row:
            return self.least if self.is_bounded else -np.inf
        return self.estimate - self._reach(self.estimate - self.least, -self.third, tail)

    @property
    def units(self) -> int:
        """The number of independent units."""
        return int(self.n) if self.size is None else self.size.size

    def plain(self, tail: float) -> tuple[float, float]:
        """Return the ends of Student's interval, without skewness and units that were not observed."""
        from scipy.special import stdtrit

        error = float(stdtrit(self.units - 1, 1 - tail)) * float(np.sqrt(self.variance)) / self.n
        return self.estimate - error, self.estimate + error

    def tipping_factor(self, tail: float, value: float = 0.0) -> None:
        """Return nothing, as what is absent may be as extreme as a loss can be."""

    def with_moments(self, variance: float, third: float) -> Self:
        """Return the mean where the variance and the third moment of the sum are others."""
        return replace(self, variance=variance, third=third)

    def _reach(self, largest: float, third: float, tail: float) -> float:
        from scipy.special import stdtrit

        tail_bound = (
            TailBound(float(stdtrit(self.n - 1, 1 - tail)))
            if self.size is None
            else TailBound.of_units(self.size, tail, self.hides)
        )
        return float(tail_bound.times(largest).reach(self.variance, third)) / self.n


OfMean = MeanInterval | ClusterMean  # of rows or units of which any may be absent, or of clusters like those observed


@dataclass(frozen=True, eq=False, kw_only=True)
class RowLosses:
    """The losses of rows, with their weights if they have any, and their clusters with what is supposed of others.

    ``possible()``, shape (n, K), returns the losses that each row may have; `bounds` bound the measure.
    """

    title: str
    loss: np.ndarray
    prediction: np.ndarray
    possible: Losses
    bounds: tuple[float, float]
    sample_weight: np.ndarray | None = None
    unit: np.ndarray | None = None
    unseen: Unseen | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether the loss is bounded, also of rows that were not observed."""
        return bool(np.isfinite(self.bounds).all())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.loss.size

    @property
    def table(self) -> RowTable:
        """The losses as contributions to one sum."""
        cell = np.zeros(self.loss.size, np.int64)
        return RowTable(cell, self.loss, self.prediction, 1, self.sample_weight, self.unit)

    @property
    def estimate(self) -> float:
        """The mean, as the table adds it up."""
        return float(self.table.theta[0])

    @property
    def interval(self) -> OfMean:
        """The interval of the mean."""
        loss, weight, unit = self.loss, self.sample_weight, self.unit
        if unit is None and weight is None:
            return of_vector_losses(self.title, loss, self.possible, self.bounds)
        if unit is None:
            assert weight is not None
            ends = range_of_losses(self.possible, self.bounds)
            return of_units(self.title, loss, weight, np.arange(loss.size), ends, self.is_bounded)
        assert self.unseen is not None
        # of clusters like those observed, rows lose what these rows may lose
        ends = range_of_losses(self.possible, NO_BOUNDS if self.unseen.word == OBSERVED else self.bounds)
        return of_clusters(self.title, loss, weight, unit, self.unseen, ends, self.is_bounded)

    def take(self, order: Order, unit: np.ndarray | None = None, unseen: Unseen | None = None) -> Self:
        """Return the rows in this order, in clusters `unit` of the rows in this order."""
        weight, possible = self.sample_weight, self.possible
        return replace(
            self,
            loss=self.loss[order],
            prediction=self.prediction[order],
            possible=lambda: possible()[order],
            sample_weight=None if weight is None else weight[order],
            unit=unit,
            unseen=unseen,
        )

    def of_differences(self, loss: np.ndarray, possible: Losses, bounds: tuple[float, float]) -> Self:
        """Return the same rows with other losses, such as the differences of two models."""
        return replace(self, loss=loss, possible=possible, bounds=bounds)


# --- from losses ------------------------------------------------------------------------------------------------------


def of_losses(title: str, mean: float, losses: np.ndarray, sample: Sample, bounds: tuple[float, float]) -> MeanInterval:
    """Return the interval of a mean over the rows of a summary, with the losses of outcomes 0 and 1 at predictions."""
    squares = cubes = 0.0
    for rows, loss in zip((sample.count - sample.positives, sample.positives), losses.T, strict=True):
        observed = rows > 0  # a certain prediction may have an infinite loss for the outcome that was not observed
        deviation = loss[observed] - mean
        square = rows[observed] * deviation**2
        squares += float(square.sum())
        cubes += inner(square, deviation)  # NumPy's third power takes twenty times a product
    return _of_moments(title, mean, squares, cubes, sample.n, lambda: losses, bounds)


def of_vector_losses(title: str, loss: np.ndarray, possible: Losses, bounds: tuple[float, float]) -> MeanInterval:
    """Return the interval of a mean of losses, one for each row; ``possible()`` returns those that rows may have."""
    mean = float(loss.mean())
    deviation = loss - mean
    square = deviation**2
    squares, cubes = float(square.sum()), inner(square, deviation)
    return _of_moments(title, mean, squares, cubes, loss.size, possible, bounds)


def of_counted_losses(
    title: str, loss: np.ndarray, count: np.ndarray, possible: Losses, bounds: tuple[float, float]
) -> MeanInterval:
    """Return the interval of a mean over rows of which `count` have each loss."""
    n = float(count.sum())
    mean = inner(loss, count) / n
    deviation = loss - mean
    square = count * deviation**2
    return _of_moments(title, mean, float(square.sum()), inner(square, deviation), n, possible, bounds)


def of_clusters(
    title: str,
    loss: np.ndarray,
    weight: np.ndarray | None,
    unit: np.ndarray,
    unseen: Unseen,
    ends: tuple[float, float],
    is_bounded: bool,
) -> OfMean:
    """Return the interval of a mean of losses of rows in clusters; `ends` are the least and largest loss."""
    weight = np.ones(loss.size) if weight is None else weight
    if unseen.word != OBSERVED:
        hides = weight if unseen.word == ROWS_ALONE else None
        return of_units(title, loss, weight, unit, ends, is_bounded, hides)
    total, size = np.bincount(unit, loss * weight), np.bincount(unit, weight)
    return ClusterMean.of(title, total, size, unseen.showing, ends, is_bounded)


def of_units(
    title: str,
    loss: np.ndarray,
    weight: np.ndarray,
    unit: np.ndarray,
    ends: tuple[float, float],
    is_bounded: bool,
    hides: np.ndarray | None = None,
) -> MeanInterval:
    """Return the interval of a mean of losses of rows with weights, each a unit or in one of which any may be absent.

    `ends` are the least and largest loss, and `hides` the sizes of what may be absent, if not of these units.
    """
    n = float(weight.sum())
    deviation = loss - inner(loss, weight) / n
    by_cluster, centred = (np.bincount(unit, part * weight) for part in (loss, deviation))
    sums = sums_of_units(by_cluster, centred)
    return MeanInterval(
        is_bounded=is_bounded,
        estimate=sums.total / n,
        variance=sums.variance,
        third=sums.third,
        n=n,
        least=ends[0],
        most=ends[1],
        title=title,
        size=np.bincount(unit, weight),
        hides=hides,
    )


def interval_of_weighted_mean(outcome: np.ndarray, weight: np.ndarray, tail: float) -> tuple[float, float]:
    """Return the score interval of a weighted share of outcome 1, each end of which misses with probability `tail`."""
    interval = of_units("share", outcome, weight, np.arange(outcome.size), (0.0, 1.0), True)
    return interval.low(tail), interval.high(tail)


def _of_moments(
    title: str,
    mean: float,
    squares: float,
    cubes: float,
    n: float,
    possible: Losses,
    bounds: tuple[float, float],
) -> MeanInterval:
    least, most = range_of_losses(possible, bounds)
    variance = squares * n / max(n - 1, 1)
    bounded = bool(np.isfinite(bounds).all())
    return MeanInterval(
        estimate=mean, variance=variance, third=cubes, n=n, least=least, most=most, title=title, is_bounded=bounded
    )


def range_of_losses(possible: Losses, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and the largest loss of any row: the bounds of the loss, or of the rows if infinite."""
    least, most = bounds
    return (
        least if np.isfinite(least) else float(possible().min()),
        most if np.isfinite(most) else float(possible().max()),
    )


def need_finite(title: str, loss: np.ndarray, prob: np.ndarray) -> None:
    """Raise if a row has an infinite loss, and name the row."""
    if not np.isfinite(loss).all():
        row = int(np.argmin(np.isfinite(loss)))
        raise ValueError(
            f"expected a finite {title}; it is infinite at row {row}, where the observed outcome had probability 0; "
            f"{advice(prob)}"
        )
