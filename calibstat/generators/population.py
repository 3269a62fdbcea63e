"""Binary populations: integrals, the calibration curve, the distance from calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

import numpy as np

from calibstat.data.sample import Sample
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import SMALLEST_PANEL, Density, Function, Points, gauss, solve
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.population_value import NO_EDGES, Loss
from calibstat.measures.lower_and_upper_distance import best_merging

MIXTURE_CELLS = 4096  # common cells of the parts of a mixture, beside those at singular ends and edges of bins
ONE_POINT = 1e-12  # predictions this close are one point of the curve; and the tolerance of calibration
LARGEST_DOMAIN = 12  # 3**12 / 2 partitions take a third of a second
STEEPEST = 700.0  # log-odds beyond which exponentials leave the range of floats


class Family(Protocol):
    """The methods of a generator that a part of a population uses."""

    def _chance(self, t: np.ndarray) -> np.ndarray: ...
    def _log_odds(self, t: np.ndarray) -> np.ndarray: ...
    def _report(self, t: np.ndarray) -> np.ndarray: ...
    def _score(self, x: np.ndarray) -> np.ndarray: ...
    def _score_of_report(self, f: np.ndarray) -> np.ndarray: ...
    def _speed(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Part:
    """A share of the rows in which one distribution of the score t makes predictions, increasing or decreasing in t.

    `odds` multiplies the odds of outcome 1 given by the generator. The covariate of its rows is the score, or the name
    of the `group` that it is.
    """

    family: Family
    distribution: Points | Density
    distortions: tuple[Distortion, ...] = ()
    share: float = 1.0
    odds: float = 1.0
    group: str | None = None

    @property
    def continuous(self) -> Density:
        """The distribution of a part that has a density."""
        assert isinstance(self.distribution, Density)
        return self.distribution

    def chance(self, t: np.ndarray) -> np.ndarray:
        """Return the probability of outcome 1."""
        q = self.family._chance(t)
        return q if self.odds == 1 else self.odds * q / (self.odds * q + (1 - q))

    def log_odds(self, t: np.ndarray) -> np.ndarray:
        """Return the log-odds of the prediction."""
        return reduce(lambda x, distortion: distortion.apply(x), self.distortions, self.family._log_odds(t))

    def predict(self, t: np.ndarray) -> np.ndarray:
        """Return the prediction."""
        from scipy.special import expit

        # without distortion no log-odds: their rounding would miscalibrate a calibrated generator
        return expit(self.log_odds(t)) if self.distortions else self.family._report(t)

    def score(self, f: np.ndarray) -> np.ndarray:
        """Return the score with which a continuous part predicts f."""
        from scipy.special import logit

        return self.family._score(self._undo(logit(f))) if self.distortions else self.family._score_of_report(f)

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the density of the log-odds that a continuous part predicts."""
        x = self._undo(x)
        score = self.continuous
        density = score.score_density(self.family._score(x)) * self.family._speed(x) / score.total
        for distortion in self.distortions:
            density, x = density / distortion.slope(x), distortion.apply(x)
        return density

    def _undo(self, x: np.ndarray) -> np.ndarray:
        return reduce(lambda x, distortion: distortion.undo(x), reversed(self.distortions), x)

    def rate(self) -> float:
        """Return the probability of outcome 1."""
        t, weight = self.nodes()
        return float(weight @ self.chance(t) / weight.sum())

    def shifted(self, positive: float, negative: float) -> Part:
        """Return the part with rows of outcome 1 and of outcome 0 made that many times as frequent."""

        def factor(t: np.ndarray) -> np.ndarray:
            return negative + (positive - negative) * self.chance(t)

        share = self.share * float(negative + (positive - negative) * self.rate())
        reweighted = self.distribution.reweighted(factor)
        return replace(self, distribution=reweighted, share=share, odds=self.odds * positive / negative)

    def favoured(self, factor: Function) -> Part:
        """Return the part with rows made as many times as frequent as a function of the score says."""
        t, weight = self.nodes()
        share = self.share * float(weight @ factor(t) / weight.sum())
        return replace(self, distribution=self.distribution.reweighted(factor), share=share)

    def covariates(self, t: np.ndarray) -> np.ndarray:
        """Return the covariates of rows with these scores."""
        return t if self.group is None else np.full(t.shape, self.group)

    def nodes(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> tuple[np.ndarray, np.ndarray]:
        """Return scores and weights for integrals over the distribution."""
        return self.distribution.nodes(self.predict, self.chance, edge, strategy)

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return the part alone as predictions and weights."""
        t, weight = self.nodes(edge, strategy)
        return Sample.from_counts(self.predict(t), weight, weight * self.chance(t))

    def mean(self, loss: Loss) -> float:
        """Return the expected loss; on the scale of log-odds a prediction near 1 does not round to 1."""
        t, weight = self.nodes()
        odds, chance = self.log_odds(t), self.chance(t)
        log_prob = -np.logaddexp(0, np.stack([odds, -odds], axis=1))
        negative, positive = loss.outcome_losses(self.predict(t), log_prob)
        with np.errstate(invalid="ignore"):  # an infinite loss of probability 0 adds 0
            expected = np.where(chance > 0, chance * positive, 0) + np.where(chance < 1, (1 - chance) * negative, 0)
        return float(weight @ expected / weight.sum())


def _points(parts: Sequence[Part]) -> np.ndarray:
    """Return predictions, probabilities and probabilities of outcome 1 of the points of a mixture."""
    points = [np.empty((3, 0))]
    for part in parts:
        if isinstance(part.distribution, Points):
            point, weight = part.distribution.point, part.share * part.distribution.weight / part.distribution.total
            points.append(np.stack([part.predict(point), weight, weight * part.chance(point)]))
    return np.concatenate(points, axis=1)


def _position(part: Part, f: np.ndarray) -> np.ndarray:
    """Return where a continuous part predicts f, or the end that is nearer to it."""
    return np.clip(part.continuous.where(part.score(f)), part.continuous.grid[0], part.continuous.grid[-1])


def _cdf(smooth: Sequence[Part], points: np.ndarray) -> Function:
    """Return the probability of a prediction of at most f as a function."""
    parts = []
    for part in smooth:
        first, last = _position(part, np.array([0.0, 1.0]))
        parts.append((part, part.continuous.cdf(), first < last))

    def below(f: np.ndarray) -> np.ndarray:
        total = (f[:, None] >= points[0]) @ points[1]
        for part, cdf, rising in parts:
            share = cdf(_position(part, f))
            total = total + part.share * (share if rising else 1 - share)
        return total

    return below


def _cells(smooth: Sequence[Part], edge: np.ndarray) -> np.ndarray:
    """Add up continuous parts in common cells: mean prediction, probability, probability of outcome 1 of each.

    Parts that make the same prediction must meet in one point, or a norm of the residuals would not let them cancel.
    """
    ends = [part.predict(part.continuous.score(part.continuous.grid)) for part in smooth]
    edge = np.unique(np.concatenate([np.linspace(0, 1, MIXTURE_CELLS + 1), edge, *ends]))
    edge = edge[np.diff(edge, prepend=-np.inf) > SMALLEST_PANEL]
    edge[-1] = 1.0
    probability, prediction, positives = np.zeros((3, edge.size - 1))
    for part in smooth:
        position = _position(part, edge)
        s, weight = gauss(position[:-1], position[1:])
        t = part.continuous.score(s)
        weight = np.abs(weight * part.continuous.density(s))  # a falling prediction takes panels backwards
        weight *= part.share / weight.sum()
        probability += weight.sum(axis=-1)
        prediction += (weight * part.predict(t)).sum(axis=-1)
        positives += (weight * part.chance(t)).sum(axis=-1)
    full = probability > 0
    mean = prediction[full] / probability[full]
    mean = np.clip(mean, np.nextafter(edge[:-1][full], 1), edge[1:][full])  # rounding must not leave the bin
    return np.stack([mean, probability[full], np.minimum(positives, probability)[full]])


@dataclass(frozen=True)
class Population:
    """A population of predictions and binary outcomes, as a mixture of parts."""

    parts: Sequence[Part]

    @property
    def scattered(self) -> bool:
        """Whether the true probability varies among points of nearly equal prediction."""
        return False

    @property
    def finite(self) -> bool:
        """Whether there are finitely many predictions."""
        return not any(isinstance(part.distribution, Density) for part in self.parts)

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return the predictions and weights that represent the population.

        Bins end at `edge`: predictions, or for strategy "quantile" shares of the population.
        """
        if len(self.parts) == 1:
            return self.parts[0].summary(edge, strategy)
        points = _points(self.parts)
        smooth = [part for part in self.parts if isinstance(part.distribution, Density)]
        if smooth:
            if strategy == "quantile":
                edge = solve(_cdf(smooth, points), edge, np.zeros_like(edge), np.ones_like(edge))
            points = np.concatenate([points, _cells(smooth, np.concatenate([edge, points[0]]))], axis=1)
        return Sample.from_counts(*points)

    def mean(self, loss: Loss) -> float:
        """Return the expected loss; a mean over parts, because common cells would round it."""
        return sum(part.share * part.mean(loss) for part in self.parts)

    def rate(self) -> float:
        """Return the probability of outcome 1."""
        return sum(part.share * part.rate() for part in self.parts)

    @property
    def is_calibrated(self) -> bool:
        """Whether at every prediction the mean true probability, over points and parts, is the prediction."""

        def exact(pooled: Sample) -> bool:
            return bool(np.all(np.abs(pooled.positives - pooled.count * pooled.value) <= ONE_POINT * pooled.count))

        wrong = [part for part in self.parts if not exact(part.summary())]
        return not wrong or (len(wrong) > 1 and exact(Population(wrong).summary()))

    def curve(self, f: np.ndarray) -> np.ndarray:
        """Return the probability of outcome 1 given the prediction; nan where there is no prediction."""
        from scipy.special import logit

        value, probability, positives = _points(self.parts)
        near = np.abs(f[..., None] - value) <= ONE_POINT
        mass, ones = near @ probability, near @ positives
        smooth = [part for part in self.parts if isinstance(part.distribution, Density)]
        if len(smooth) == 1:
            mass, ones = np.where(mass > 0, (mass, ones), (np.ones_like(f), smooth[0].chance(smooth[0].score(f))))
        elif smooth:
            x = np.clip(logit(f), -STEEPEST, STEEPEST)  # at 0 and 1 all densities vanish; take the limit
            density = np.array([part.share * part.density(x) for part in smooth])
            chance = np.array([part.chance(part.score(f)) for part in smooth])
            mass, ones = np.where(mass > 0, (mass, ones), (density.sum(axis=0), (density * chance).sum(axis=0)))
        return np.divide(ones, mass, out=np.full(f.shape, np.nan), where=mass > 0)

    def distance(self) -> float:
        """Return the least mean |f(x) - g(x)| over perfectly calibrated g on a finite domain.

        A calibrated g equals the mean outcome on every set where it is constant. Conversely, for any partition of the
        domain the mean outcomes of its sets are calibrated, also if two means are equal. So the best g belongs to the
        best partition.
        """
        minimum = "the distance from calibration is a minimum over all partitions of the domain, "
        if not self.finite:
            raise NotImplementedError(minimum + "and a continuous score has infinitely many")
        value, probability, positives = _points(self.parts)
        if value.size > LARGEST_DOMAIN:
            reason = f"which are too many for {value.size} points (at most {LARGEST_DOMAIN})"
            raise NotImplementedError(minimum + reason)
        return best_merging(value, probability, positives)[0]


@contextmanager
def unknown_value_of(measure: Measure) -> Iterator[None]:
    """Add the name of the measure to the error that its value on a population is not known."""
    try:
        yield
    except NotImplementedError as why:
        raise NotImplementedError(f"the population value of measure {measure.name!r} is not known: {why}") from None
