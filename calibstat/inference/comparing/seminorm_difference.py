"""Upper bounds of the difference of two seminorms: the largest bound for any fixed weights of the first one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.resampling import Draws
from calibstat.residuals.stack import Stack

_ASCENT_STEPS = 4  # at most, from each start
_ASCENT_STARTS = 8  # resamples from whose best weights the steps begin, beside the best weights of the data
_LEAST_CLIMB = 1e-4  # the least share by which a step has to raise the bound


@dataclass(frozen=True, eq=False)
class DrawnModel:
    """The interval of a model with its directional bootstrap, and the measure of G* where no weights are known.

    `stack` holds the models on the same rows, drawn together, of which this one is the `index`-th.
    """

    interval: SeminormInterval
    stack: Stack
    index: int
    directional: np.ndarray
    norm: np.ndarray

    @property
    def table(self) -> TableOfRows:
        """The table of the model."""
        return self.stack.tables[self.index]

    @property
    def estimate(self) -> float:
        """The measure."""
        return self.interval.estimate

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows


def drawn_together(
    models: Sequence[tuple[SeminormInterval, TableOfRows]], draws: Draws, stage: int
) -> list[DrawnModel]:
    """Return models on the same rows, intervals with their tables, with the directional bootstrap by the same draws."""
    intervals, tables = zip(*models, strict=True)
    known = [interval.witness(interval.theta) is not None for interval in intervals]

    def directional(thetas: list[np.ndarray]) -> np.ndarray:
        drawn = np.zeros((len(thetas[0]), len(intervals), 2))
        for m, (interval, theta) in enumerate(zip(intervals, thetas, strict=True)):
            noise = theta - interval.theta
            drawn[:, m, 0] = interval.derivative(noise)
            if not known[m]:
                drawn[:, m, 1] = interval.value(noise)
        return drawn

    stack = Stack(tables, draws, stage)
    drawn = stack.resampled(directional)
    return [
        DrawnModel(interval, stack, m, drawn[:, m, 0] + interval.missing_bias(drawn[:, m, 0]), drawn[:, m, 1])
        for m, interval in enumerate(intervals)
    ]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Fixed weights of one model: their sums in the data / n, the moments of n times them, and their noise, (B, W)."""

    value: np.ndarray
    variance: np.ndarray
    third: np.ndarray
    directional: np.ndarray


@dataclass(frozen=True, eq=False)
class SeminormDifference:
    """The upper end of the measure of one model less the measure of another."""

    one: DrawnModel
    other: DrawnModel
    candidates: Candidates
    ordered: np.ndarray  # the draws of D* - <G*, w>, descending

    @classmethod
    def of(cls, one: DrawnModel, other: DrawnModel, tail: float) -> SeminormDifference:
        """Look for the weights of the first model with the largest bounds at this tail."""
        candidates = _candidates(one, other, tail)
        noise = other.directional[:, None] - candidates.directional
        return cls(one, other, candidates, np.sort(noise, axis=0)[::-1])

    @property
    def n_draws(self) -> int:
        """Number of resamples."""
        return len(self.ordered)

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most.

        Statement and argument: docs/proofs.md, section 7.
        """
        a, b, candidates = self.one.interval, self.other.interval, self.candidates
        place = np.clip(tail * (self.n_draws + 1), 1, self.n_draws) - 1  # as of "weibull" quantiles
        first = int(place)
        last = min(first + 1, self.n_draws - 1)
        noise = self.ordered[first] + (place - first) * (self.ordered[last] - self.ordered[first])
        skewness = a.score(tail).skewness(candidates.variance, candidates.third) / self.one.table.n
        below = _skewness_below(b, tail) / self.other.table.n
        return float((candidates.value + noise + skewness).max()) - b.estimate + below


def _skewness_below(interval: SeminormInterval, tail: float) -> float:
    """Return what they add to the lower bound of the sum with the weights of the data."""
    weight, score, moments = interval.witness(interval.theta), interval.score(tail), interval.table.moments
    if weight is None:
        return score.cap * score.k
    sums = moments.of(weight)
    return float(score.skewness(sums.variance, -moments.central_third(sums)))


def _candidates(one: DrawnModel, other: DrawnModel, tail: float) -> Candidates:
    """Return the weights that may have the largest bound: of the data, none, and what a few steps upwards find.

    value + z sd(D* - <G*, w>) is convex in the weights w, so that the weights best for its slope never lower it.
    """
    interval, table = one.interval, one.table
    start = interval.witness(interval.theta)
    if start is None:  # -<G*, w> is at most the measure of G*, and no weights have more skewness than this
        unknown = np.array([np.inf])
        return Candidates(np.array([interval.estimate]), np.zeros(1), unknown, -one.norm[:, None])
    climb = _Climb(one, other, tail)
    visited = [np.zeros_like(start), *climb.visited(start)]
    moments = np.array([table.moments.of(weight) for weight in visited])
    directional = one.stack.means([partial(table.by_row, weight) for weight in visited])
    return Candidates(moments[:, 0] / table.n, moments[:, 1], moments[:, 2], directional)


class _Climb:
    """Steps to weights with a larger bound, by the covariances of D* and of the sums of one model."""

    def __init__(self, one: DrawnModel, other: DrawnModel, tail: float) -> None:
        self.one, self.interval, self.table = one, one.interval, one.table
        self.score = self.interval.score(tail)
        self.variance = float(other.directional.var())
        self.shared = self.table.at_cells(one.stack.covariance_with(other.directional))

    def at(self, weight: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return about how large the bound is, z / sd X of X = D* - <G*, w>, and the covariance of X and G*."""
        table, centred = self.table, self.table.by_unit(weight)
        variance = self.variance - 2 * float(self.shared @ weight) + float(centred @ centred) / table.n**2
        spread = float(np.sqrt(max(variance, np.finfo(float).tiny)))
        total, variance, third = table.moments.of(weight)
        skewness = float(self.score.skewness(variance, third))
        bound = total / table.n + self.score.z * spread + skewness / table.n
        return bound, self.score.z / spread, self.shared - table.at_cells(centred) / table.n

    def visited(self, start: np.ndarray) -> list[np.ndarray]:
        """Return all weights on the way up from these, and from other starts."""
        theta, shared = self.interval.theta, self.shared
        _, slope, covariance = self.at(start)
        starts = [
            theta - slope * covariance,
            theta - slope * shared,
            theta - 4 * slope * shared,
            -slope * shared,
            *(2 * self.one.stack.first(self.one.index, _ASCENT_STARTS) - theta),
        ]
        seen = {start.tobytes(): start}
        for measure in starts:
            highest = -np.inf
            for _ in range(_ASCENT_STEPS):
                weight = self.interval.witness(measure)
                assert weight is not None
                if weight.tobytes() in seen:
                    break
                seen[weight.tobytes()] = weight
                bound, slope, covariance = self.at(weight)
                if bound <= highest + _LEAST_CLIMB * abs(highest):
                    break
                highest, measure = bound, theta - slope * covariance
        return list(seen.values())
