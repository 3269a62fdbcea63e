"""Upper bounds of the difference of two seminorms: the largest bound for any fixed weights of the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from calibstat.bounds.intervals import ComparableInterval
from calibstat.bounds.residual_tables import OfTheta, TableOfRows
from calibstat.bounds.skewness import Sums
from calibstat.inference.comparing.resamples import Resamples, resamples_of
from calibstat.inner_product import inner
from calibstat.resampling import Draws

_ASCENT_STEPS = 4  # at most, from each start
_ASCENT_STARTS = 8  # resamples from whose best weights the steps begin, beside the best weights of the data
_LEAST_CLIMB = 1e-4  # the least share by which a step has to raise the bound


@dataclass(frozen=True, eq=False)
class ResampledModel:
    """The interval of a model with its directional bootstrap, and `norm`, the measure of G* where no weights are known.

    `resamples` are the resamples of all models on the same rows; `index` is the number of this model among them.
    """

    interval: ComparableInterval
    resamples: Resamples
    index: int
    directional: np.ndarray
    norm: np.ndarray

    @property
    def table(self) -> TableOfRows:
        """The table of the model."""
        return self.resamples.tables[self.index]

    @property
    def estimate(self) -> float:
        """The measure."""
        return self.interval.estimate

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @cached_property
    def witness(self) -> np.ndarray | None:
        """The weights of the largest sum of the data, None if they are not known."""
        return self.interval.witness(self.interval.theta)

    @cached_property
    def below(self) -> Sums | None:
        """The sum with these weights, with the moments that its lower bound takes."""
        if self.witness is None:
            return None
        moments = self.table.moments
        sums = moments.of(self.witness)
        return sums._replace(third=-moments.central_third(sums))


def resampled_together(
    models: Sequence[tuple[ComparableInterval, TableOfRows]], draws: Draws, stream: int
) -> list[ResampledModel]:
    """Return models on the same rows, intervals with their tables, with the directional bootstrap by the same draws."""
    intervals, tables = zip(*models, strict=True)
    values, resamples = resamples_of(tables, [*map(_directional, intervals)], draws, stream)
    return [
        ResampledModel(interval, resamples, m, value[:, 0] + interval.missing_bias(value[:, 0]), value[:, -1])
        for m, (interval, value) in enumerate(zip(intervals, values, strict=True))
    ]


def _directional(interval: ComparableInterval) -> OfTheta:
    """Return the directional bootstrap of the measure, and if no weights are known the measure of G*: (B, 1 or 2)."""
    known = interval.witness(interval.theta) is not None

    def of_sums(theta: np.ndarray) -> np.ndarray:
        noise = theta - interval.theta
        norm = [] if known else [interval.value(noise)]
        return np.stack([interval.derivative(noise), *norm], axis=-1)

    return of_sums


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

    one: ResampledModel
    other: ResampledModel
    candidates: Candidates
    ordered: np.ndarray  # the draws of D* - <G*, w>, descending

    @classmethod
    def of(cls, one: ResampledModel, other: ResampledModel, candidates: Candidates) -> SeminormDifference:
        """Put the draws in order."""
        noise = other.directional[:, None] - candidates.directional
        return cls(one, other, candidates, np.sort(noise, axis=0)[::-1])

    @property
    def n_draws(self) -> int:
        """Number of resamples."""
        return len(self.ordered)

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most.

        Statement and argument: docs/evidence/proofs/differences.md.
        """
        a, b, candidates = self.one.interval, self.other.interval, self.candidates
        place = np.clip(tail * (self.n_draws + 1), 1, self.n_draws) - 1  # as of "weibull" quantiles
        first = int(place)
        last = min(first + 1, self.n_draws - 1)
        noise = self.ordered[first] + (place - first) * (self.ordered[last] - self.ordered[first])
        skewness = a.tail_bound(tail).skewness(candidates.variance, candidates.third) / self.one.table.n
        tail_bound, sums = b.tail_bound(tail), self.other.below
        below = tail_bound.cap * tail_bound.k if sums is None else float(tail_bound.skewness(sums.variance, sums.third))
        return float((candidates.value + noise + skewness).max()) - b.estimate + below / self.other.table.n


def upper_ends(pairs: Sequence[tuple[ResampledModel, ResampledModel]], tail: float) -> list[SeminormDifference]:
    """Return the upper ends of the first model of each pair less the second, with weights looked for at this tail."""
    candidates = {(one, other): _at_worst(one) for one, other in pairs if one.witness is None}
    known = [pair for pair in pairs if pair not in candidates]
    for resamples in dict.fromkeys(one.resamples for one, _ in known):
        own = [pair for pair in known if pair[0].resamples is resamples]
        candidates |= zip(own, _candidates(resamples, own, tail), strict=True)
    return [SeminormDifference.of(*pair, candidates[pair]) for pair in pairs]


def _at_worst(one: ResampledModel) -> Candidates:
    """Return bounds where no weights are known: -<G*, w> is at most the measure of G*, no skewness is larger."""
    return Candidates(np.array([one.estimate]), np.zeros(1), np.array([np.inf]), -one.norm[:, None])


def _candidates(
    resamples: Resamples, pairs: Sequence[tuple[ResampledModel, ResampledModel]], tail: float
) -> Iterator[Candidates]:
    """Yield for each pair the weights that may have the largest bound; the noise of all pairs is added up together."""
    others = list(dict.fromkeys(other for _, other in pairs))
    covariances = resamples.covariances(np.array([other.directional for other in others]))
    climbs = [_Climb(one, other, tail) for one, other in pairs]

    def addends() -> Iterator[tuple[int, np.ndarray]]:
        for climb in climbs:
            index = climb.one.index
            for weight, by_unit in climb.steps(covariances(index, others.index(climb.other))):
                yield index, resamples.addend(weight, by_unit)

    noise = resamples.noise(addends())
    last = np.cumsum([len(climb.sums) for climb in climbs])
    for climb, part in zip(climbs, np.split(noise, last[:-1], axis=1), strict=True):
        total, variance, third, _ = np.array(climb.sums).T
        yield Candidates(total / climb.one.table.n, variance, third, part)


class _Climb:
    """Steps to weights with a larger bound, by the covariances of D* and of the sums of one model, from several starts.

    value + z sd(D* - <G*, w>) is convex in the weights w, so that the weights best for its slope never lower it.
    `sums` are of all weights that were looked at.
    """

    def __init__(self, one: ResampledModel, other: ResampledModel, tail: float) -> None:
        self.one, self.other, self.interval, self.table = one, other, one.interval, one.table
        self.tail_bound = self.interval.tail_bound(tail)
        self.variance = float(other.directional.var())
        self.seen: set[bytes] = set()
        self.sums: list[Sums] = []

    def steps(self, shared: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield weights and what each unit adds with them: zero, the witness of the data, and each step of the ascents.

        `shared` is the covariance of D* with the sums of the first model.
        """
        theta, best = self.interval.theta, self.one.witness
        assert best is not None
        for weight in (np.zeros_like(best), best):
            by_unit = self.table.by_unit(weight)
            _, slope, covariance = self.at(weight, by_unit, shared)
            yield weight, by_unit
        self.is_new(best)
        for measure in self.starts(slope, covariance, shared):
            highest = -np.inf
            for _ in range(_ASCENT_STEPS):
                better = self.interval.witness(measure)
                assert better is not None
                if not self.is_new(better):
                    break
                by_unit = self.table.by_unit(better)
                bound, slope, covariance = self.at(better, by_unit, shared)
                yield better, by_unit
                if bound <= highest + _LEAST_CLIMB * abs(highest):
                    break
                highest, measure = bound, theta - slope * covariance

    def starts(self, slope: float, covariance: np.ndarray, shared: np.ndarray) -> Iterator[np.ndarray]:
        """Yield sums whose best weights are starts: one after the other, because each is as long as the predictions."""
        theta = self.interval.theta
        yield theta - slope * covariance
        yield theta - slope * shared
        yield theta - 4 * slope * shared
        yield -slope * shared
        for first in self.one.resamples.first(self.one.index, _ASCENT_STARTS):
            yield 2 * first - theta

    def is_new(self, weight: np.ndarray) -> bool:
        """Whether these weights are looked at for the first time."""
        key, before = blake2b(weight.tobytes()).digest(), len(self.seen)
        self.seen.add(key)
        return len(self.seen) > before

    def at(self, weight: np.ndarray, by_unit: np.ndarray, shared: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return about how large the bound is, z / sd X of X = D* - <G*, w>, and the covariance of X and G*."""
        table = self.table
        sums = table.moments.of(weight)
        self.sums.append(sums)
        variance = self.variance - 2 * inner(shared, weight) + inner(by_unit, by_unit) / table.n**2
        spread = float(np.sqrt(max(variance, np.finfo(float).tiny)))
        skewness = float(self.tail_bound.skewness(sums.variance, sums.third))
        bound = sums.total / table.n + self.tail_bound.z * spread + skewness / table.n
        return bound, self.tail_bound.z / spread, shared - table.at_cells(by_unit) / table.n
