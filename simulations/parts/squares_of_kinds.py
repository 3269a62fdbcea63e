"""Bounds of differences of squared kernel errors of many data sets at once, of rows of a few kinds.

It is the recipe of `calibstat.bounds.square_bound` written a second time, with matrices over the kinds. Steps of it
can be left out, to show that they are needed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from calibstat.bounds.skewness import cancelled, share_skewed_up, unsure
from calibstat.generators.distributions import Random

STEPS = ("curvature", "quadratic", "skewness")
OneModel = tuple[np.ndarray, np.ndarray, float]  # outcomes and predictions in cells, and a sign


@dataclass(frozen=True, eq=False)
class Ends:
    """What the ends of the intervals of many data sets are made of, each of shape (B,), in units of n U."""

    n: float
    estimate: np.ndarray
    linear: np.ndarray
    quadratic: np.ndarray
    third: np.ndarray
    cancelled: np.ndarray
    curvature: np.ndarray
    most: np.ndarray
    least: np.ndarray
    plain: list[tuple[np.ndarray, np.ndarray]]  # of the residuals of each model: variance, and third moment at most

    def high(self, tail: float, without: Collection[str] = ()) -> np.ndarray:
        """Return the high ends of the difference of squares."""
        return self._end(1.0, self.most, tail, without)

    def low(self, tail: float, without: Collection[str] = ()) -> np.ndarray:
        """Return the low ends of the difference of squares."""
        return -self._end(-1.0, self.least, tail, without)

    def _end(self, sign: float, linear_part: np.ndarray, tail: float, without: Collection[str]) -> np.ndarray:
        from scipy.special import ndtri

        z = float(ndtri(1 - tail))
        k = (2 * z**2 + 4) / 3
        largest = linear_part + max(4.0, np.log(tail) ** 2 / k) / self.n
        variance = self.linear + (1 + max(z / 1.96, 1) ** 3) * self.quadratic * ("quadratic" not in without)

        def rate_of(variance: np.ndarray, third: np.ndarray | float) -> np.ndarray:
            return np.minimum((third + 2 * largest**3) / (variance + 2 * largest**2), largest)

        third = np.maximum(sign * self.third, 0) + self.cancelled
        rate = rate_of(variance, 0) + rate_of(self.linear, third) - rate_of(self.linear, 0)
        rate = np.minimum(rate, largest) * ("skewness" not in without)
        along, steepest = np.maximum(sign * self.curvature, 0), np.sqrt(self.quadratic / 2)
        unknown = unsure(np.maximum(along, steepest), along, np.sqrt(self.linear), 4 * steepest**2, z)
        skewed = np.max([_spreads(*each, z, k) ** 2 - z**2 for each in self.plain], axis=0)
        bend = (z**2 * along + skewed * unknown * ("skewness" not in without)) * ("curvature" not in without)
        return sign * self.estimate + (rate * k / 2 + bend + np.sqrt(z**2 * variance + rate**2 * k**2 / 4)) / self.n


@dataclass(frozen=True, eq=False)
class PairOfKinds:
    """Two models on rows of a few kinds: probabilities, chances of outcome 1, and both predictions, shape (m,).

    A cell is a kind with an outcome.
    """

    probability: np.ndarray
    chance: np.ndarray
    first: np.ndarray
    second: np.ndarray
    bandwidth: float = 0.2

    @cached_property
    def share(self) -> np.ndarray:
        """The probability of each kind with each outcome, shape (2 m,)."""
        return np.concatenate([self.probability * (1 - self.chance), self.probability * self.chance])

    @property
    def chances(self) -> tuple[np.ndarray, np.ndarray]:
        """The chance of outcome 1 of each model."""
        return self.chance, self.chance

    def squares(self) -> tuple[float, float]:
        """Return the squared errors of both models in the population."""
        found = []
        for chance, value in zip(self.chances, (self.first, self.second), strict=True):
            gap = self.probability * (chance - value)
            found.append(float(gap @ kernel(value, self.bandwidth) @ gap))
        return found[0], found[1]

    def fewest(self, n: int) -> float:
        """Return the fewest outcomes of a kind that a model is expected to have in n rows."""
        rates = np.array([self.probability @ chance for chance in self.chances])
        return float(n * np.minimum(rates, 1 - rates).min())

    @property
    def difference(self) -> float:
        """The squared error of the first model less that of the second in the population."""
        one, other = self.squares()
        return one - other

    @property
    def models(self) -> tuple[OneModel, OneModel]:
        """Outcomes and predictions of each model in the cells, with the sign of its squared error."""
        y = np.repeat([0.0, 1.0], self.chance.size)
        return (y, np.tile(self.first, 2), 1.0), (y, np.tile(self.second, 2), -1.0)

    def draw(self, random: Random, n: int, data_sets: int) -> np.ndarray:
        """Return numbers of rows of each kind with each outcome, shape (B, 2 m)."""
        return random.multinomial(n, self.share / self.share.sum(), data_sets).astype(np.float64)

    def alone(self, count: np.ndarray, *, first: bool) -> Ends:
        """Return what the ends of the squared error of one model are made of."""
        label, value, _ = self.models[0 if first else 1]
        return self._ends([(label, value, 1.0)], count)

    def ends(self, count: np.ndarray) -> Ends:
        """Return what the ends of these data sets are made of."""
        return self._ends(self.models, count)

    def _ends(self, models: Sequence[OneModel], count: np.ndarray) -> Ends:
        n = float(count[0].sum())
        added = np.zeros(count.shape)
        terms = np.zeros((count.shape[1], count.shape[1]))
        most, least = np.zeros((2, len(count)))
        plain = []
        skew, noise = np.zeros((2, *count.shape))
        for y, value, sign in models:
            residual, near = y - value, kernel(value, self.bandwidth)
            smoothed = (count * residual) @ near
            added = added + sign * residual * (smoothed - residual)
            terms = terms + sign * np.outer(residual, residual) * near
            up, down = unseen(value, smoothed, count > 0)
            along = sign * smoothed * np.maximum(value * (1 - value), np.finfo(float).tiny)
            skew, noise = skew + along * (1 - 2 * value), noise + np.abs(along)
            plain.append((count @ residual**2, _largest_third(count, residual, value)))
            most, least = most + (up if sign > 0 else down), least + (down if sign > 0 else up)
        estimate = (count * added).sum(axis=1) / (n * (n - 1))
        c = added / (n - 1) - estimate[:, None]
        linear = 4 * (count * c**2).sum(axis=1)
        same = np.diag(terms) ** 2
        quadratic = 2 / (n * (n - 1)) * (((count @ terms**2) * count).sum(axis=1) - count @ same)
        along = count * c
        bend = 4 * ((along @ terms) * along).sum(axis=1)
        curvature = np.where(linear > 1e-20, bend / (n * np.maximum(linear, 1e-300)), 0.0)
        third = 8 * (count * c**3).sum(axis=1)
        up = share_skewed_up(np.divide(skew, noise, out=np.zeros_like(skew), where=noise > 0))
        cubes = 8 * count * c**3
        hidden = cancelled((up * cubes).sum(axis=1), ((1 - up) * cubes).sum(axis=1))
        unseen_rows = 2 * most / n, 2 * least / n
        return Ends(n, estimate, linear, np.maximum(quadratic, 0), third, hidden, curvature, *unseen_rows, plain)


def _largest_third(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the third moment of the sum of residuals whatever its sign, in which no kind of rows hides another."""
    up = share_skewed_up(1 - 2 * value)
    rare, frequent = count @ (up * residual**3), count @ ((1 - up) * residual**3)
    return np.asarray(np.abs(rare + frequent) + cancelled(rare, frequent))


def _spreads(variance: np.ndarray, third: np.ndarray, z: float, k: float) -> np.ndarray:
    """Return how many standard deviations the bound of a sum of residuals lies above it, an unseen event added."""
    added = np.minimum((third + 2) / (variance + 2), 1) / np.sqrt(variance + 1) * k / 2
    return np.asarray(added + np.sqrt(z**2 + added**2))


@dataclass(frozen=True, eq=False)
class PairOfOwnOutcomes(PairOfKinds):
    """Two models with outcomes of their own on rows of a few kinds: `chance` is of the first model.

    Attributes
    ----------
    other_chance : ndarray, shape (m,)
        The chance of outcome 1 of the second model.
    dependence : ndarray, shape (m,)
        Of both outcomes in a kind: from -1, as rarely both 1 as can be, over 0, independent, to 1, as often as can be.
    """

    other_chance: np.ndarray = field(kw_only=True)
    dependence: np.ndarray = field(kw_only=True)

    @property
    def chances(self) -> tuple[np.ndarray, np.ndarray]:
        """The chance of outcome 1 of each model."""
        return self.chance, self.other_chance

    @cached_property
    def share(self) -> np.ndarray:
        """The probability of each kind with outcomes (0, 0), (1, 0), (0, 1) and (1, 1), shape (4 m,)."""
        p, q = self.chances
        end = np.where(self.dependence > 0, np.minimum(p, q), np.maximum(p + q - 1, 0))
        both = p * q + abs(self.dependence) * (end - p * q)
        return np.maximum(np.concatenate([1 - p - q + both, p - both, q - both, both]), 0) * np.tile(
            self.probability, 4
        )

    @property
    def models(self) -> tuple[OneModel, OneModel]:
        """Outcomes and predictions of each model in the cells, with the sign of its squared error."""
        one, other = (np.repeat(labels, self.chance.size) for labels in ([0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]))
        return (one, np.tile(self.first, 4), 1.0), (other, np.tile(self.second, 4), -1.0)


def kernel(value: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the Laplace kernel of all pairs."""
    return np.exp(-np.abs(value[:, None] - value) / bandwidth)


def unseen(value: np.ndarray, smoothed: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the most that r f and -r f of a further row may be, from one seen prediction to the next, shape (B,)."""
    order = np.argsort(value, kind="stable")
    data_sets = len(smoothed)
    low, first, started = np.zeros(data_sets), np.zeros(data_sets), np.zeros(data_sets, bool)
    up, down = np.zeros(data_sets), np.zeros(data_sets)

    def between(v1: np.ndarray, v2: np.ndarray, f1: np.ndarray, f2: np.ndarray, where: np.ndarray) -> None:
        above, below = np.maximum(np.maximum(f1, f2), 0), np.maximum(np.maximum(-f1, -f2), 0)
        largest = np.maximum((1 - v1) * above, v2 * below)
        np.maximum(up, np.where(where, largest, 0), out=up)
        largest = np.maximum(v2 * above, (1 - v1) * below)
        np.maximum(down, np.where(where, largest, 0), out=down)

    for j in order:
        here, f = seen[:, j], smoothed[:, j]
        between(low, np.full(data_sets, value[j]), np.where(started, first, f), f, here)
        low, first, started = np.where(here, value[j], low), np.where(here, f, first), started | here
    between(low, np.ones(data_sets), first, first, started)
    return up, down
