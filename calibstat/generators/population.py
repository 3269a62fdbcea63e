"""The law of predictions and outcomes, in parts: integrals, the calibration curve and the distance from calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import numpy as np

from calibstat.data.sample import Sample
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import SMALLEST_PANEL, Density, Function, Points, gauss, solve
from calibstat.measures.distances import best_merging

CELLS = 4096  # in which parts of a mixture are added up, besides those that singular ends and bins need
SAME = 1e-12  # predictions this close are one point of the curve, and a calibrated one is this close to its chance
NO_EDGES = np.empty(0)
LARGEST_DOMAIN = 12  # 3**12 / 2 splittings take a third of a second
STEEPEST = 700.0  # log-odds beyond which exponentials leave the range of floats


class Family(Protocol):
    """What a part asks of the family that it comes from."""

    def _chance(self, t: np.ndarray) -> np.ndarray: ...
    def _log_odds(self, t: np.ndarray) -> np.ndarray: ...
    def _report(self, t: np.ndarray) -> np.ndarray: ...
    def _score(self, x: np.ndarray) -> np.ndarray: ...
    def _score_of_report(self, f: np.ndarray) -> np.ndarray: ...
    def _speed(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Part:
    """A share of the rows in which one law of the score t makes predictions, increasing or decreasing in t.

    `odds` multiplies the odds that the family gives outcome 1.
    """

    family: Family
    law: Any  # Points or Density
    distortions: tuple[Distortion, ...] = ()
    share: float = 1.0
    odds: float = 1.0

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

        # to log-odds and back rounds, and a calibrated family would no longer be so
        return expit(self.log_odds(t)) if self.distortions else self.family._report(t)

    def score(self, f: np.ndarray) -> np.ndarray:
        """Return the score with which a continuous part predicts f."""
        from scipy.special import logit

        return self.family._score(self._undo(logit(f))) if self.distortions else self.family._score_of_report(f)

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the density of the log-odds that a continuous part predicts."""
        x = self._undo(x)
        density = self.law.score_density(self.family._score(x)) * self.family._speed(x) / self.law.total
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
        """Return the part after rows of outcome 1 and of outcome 0 became that many times as frequent."""

        def factor(t: np.ndarray) -> np.ndarray:
            return negative + (positive - negative) * self.chance(t)

        share = self.share * float(negative + (positive - negative) * self.rate())
        return replace(self, law=self.law.reweighted(factor), share=share, odds=self.odds * positive / negative)

    def nodes(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> tuple[np.ndarray, np.ndarray]:
        """Return scores and weights that stand for the law in integrals."""
        return self.law.nodes(self.predict, self.chance, edge, strategy)

    def population(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return the part alone as predictions and weights."""
        t, weight = self.nodes(edge, strategy)
        return Sample.from_counts(self.predict(t), weight, weight * self.chance(t))

    def log_loss(self) -> float:
        """Average the log loss on the scale of log-odds, on which a prediction near 1 does not round to 1."""
        t, weight = self.nodes()
        odds, chance = self.log_odds(t), self.chance(t)
        with np.errstate(invalid="ignore"):  # no chance of an infinite loss is no loss
            positive = np.where(chance > 0, chance * np.logaddexp(0, -odds), 0)
            negative = np.where(chance < 1, (1 - chance) * np.logaddexp(0, odds), 0)
        return float(weight @ (positive + negative) / weight.sum())


def population(parts: Sequence[Part], edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
    """Return predictions and weights on which measures take their population values.

    Bins end at `edge`: predictions, or for strategy "quantile" shares of the law.
    """
    if len(parts) == 1:
        return parts[0].population(edge, strategy)
    points = _points(parts)
    smooth = [part for part in parts if isinstance(part.law, Density)]
    if smooth:
        if strategy == "quantile":
            edge = solve(_cdf(smooth, points), edge, np.zeros_like(edge), np.ones_like(edge))
        points = np.concatenate([points, _cells(smooth, np.concatenate([edge, points[0]]))], axis=1)
    return Sample.from_counts(*points)


def is_calibrated(parts: Sequence[Part]) -> bool:
    """Whether chances are predictions on average over all points, and all parts, that make a prediction."""

    def exact(pooled: Sample) -> bool:
        return bool(np.all(np.abs(pooled.positives - pooled.count * pooled.value) <= SAME * pooled.count))

    wrong = [part for part in parts if not exact(part.population())]
    return not wrong or (len(wrong) > 1 and exact(population(wrong)))


def _points(parts: Sequence[Part]) -> np.ndarray:
    """Return predictions, probabilities and probabilities of outcome 1 of the points of a mixture."""
    found = [np.empty((3, 0))]
    for part in parts:
        if isinstance(part.law, Points):
            weight = part.share * part.law.weight / part.law.total
            found.append(np.stack([part.predict(part.law.point), weight, weight * part.chance(part.law.point)]))
    return np.concatenate(found, axis=1)


def _position(part: Part, f: np.ndarray) -> np.ndarray:
    """Return where a continuous part predicts f, or the end that is nearer to it."""
    return np.clip(part.law.where(part.score(f)), part.law.grid[0], part.law.grid[-1])


def _cdf(smooth: Sequence[Part], points: np.ndarray) -> Function:
    """Return the probability of a prediction of at most f as a function."""
    laws = []
    for part in smooth:
        first, last = _position(part, np.array([0.0, 1.0]))
        laws.append((part, part.law.cdf(), first < last))

    def below(f: np.ndarray) -> np.ndarray:
        total = (f[:, None] >= points[0]) @ points[1]
        for part, cdf, rising in laws:
            share = cdf(_position(part, f))
            total = total + part.share * (share if rising else 1 - share)
        return total

    return below


def _cells(smooth: Sequence[Part], edge: np.ndarray) -> np.ndarray:
    """Add up continuous parts in common cells: mean prediction, probability, probability of outcome 1 of each.

    Parts that make the same prediction must meet in one point, or a norm of the residuals would not let them cancel.
    """
    ends = [part.predict(part.law.score(part.law.grid)) for part in smooth]
    edge = np.unique(np.concatenate([np.linspace(0, 1, CELLS + 1), edge, *ends]))
    edge = edge[np.diff(edge, prepend=-np.inf) > SMALLEST_PANEL]
    edge[-1] = 1.0
    probability, prediction, positives = np.zeros((3, edge.size - 1))
    for part in smooth:
        position = _position(part, edge)
        s, weight = gauss(position[:-1], position[1:])
        t = part.law.score(s)
        weight = np.abs(weight * part.law.density(s))  # a falling prediction takes panels backwards
        weight *= part.share / weight.sum()
        probability += weight.sum(axis=-1)
        prediction += (weight * part.predict(t)).sum(axis=-1)
        positives += (weight * part.chance(t)).sum(axis=-1)
    full = probability > 0
    mean = prediction[full] / probability[full]
    mean = np.clip(mean, np.nextafter(edge[:-1][full], 1), edge[1:][full])  # rounding must not leave the bin
    return np.stack([mean, probability[full], np.minimum(positives, probability)[full]])


def curve(parts: Sequence[Part], f: np.ndarray) -> np.ndarray:
    """Return the probability of outcome 1 given the prediction; nan where no prediction is."""
    from scipy.special import logit

    value, probability, positives = _points(parts)
    near = np.abs(f[..., None] - value) <= SAME
    mass, hits = near @ probability, near @ positives
    smooth = [part for part in parts if isinstance(part.law, Density)]
    if len(smooth) == 1:
        mass, hits = np.where(mass > 0, (mass, hits), (np.ones_like(f), smooth[0].chance(smooth[0].score(f))))
    elif smooth:
        x = np.clip(logit(f), -STEEPEST, STEEPEST)  # at 0 and 1 all densities vanish; take the limit
        density = np.array([part.share * part.density(x) for part in smooth])
        chance = np.array([part.chance(part.score(f)) for part in smooth])
        mass, hits = np.where(mass > 0, (mass, hits), (density.sum(axis=0), (density * chance).sum(axis=0)))
    return np.divide(hits, mass, out=np.full(f.shape, np.nan), where=mass > 0)


def distance(parts: Sequence[Part]) -> float:
    """Return the least mean |f(x) - g(x)| of a perfectly calibrated g on a finite domain.

    If g is calibrated then on every set where it is constant it is the mean outcome of that set; and whichever way the
    domain is cut into sets, giving each its mean outcome is calibrated, also if two means are equal. So the best g is
    that of the best partition.
    """
    if any(isinstance(part.law, Density) for part in parts):
        raise NotImplementedError("the distance from calibration is a minimum over all ways to cut the domain into "
                                  "sets, and a continuous score has infinitely many")  # fmt: skip
    value, probability, positives = _points(parts)
    size = value.size
    if size > LARGEST_DOMAIN:
        raise NotImplementedError(f"the distance from calibration is a minimum over all ways to cut the domain into "
                                  f"sets, which are too many for {size} points (at most {LARGEST_DOMAIN})")  # fmt: skip
    return best_merging(value, probability, positives)[0]
