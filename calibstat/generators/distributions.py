"""Distributions of scores, with nodes and weights for integrals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import isfunction
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from calibstat.resampling.rng import Rng

Function = Callable[[np.ndarray], np.ndarray]
Random = np.random.Generator


class _FrozenDistribution(Protocol):
    """The methods used of a frozen `scipy.stats` distribution."""

    def ppf(self, q: ArrayLike) -> np.ndarray: ...
    def cdf(self, x: ArrayLike) -> np.ndarray: ...
    def pdf(self, x: ArrayLike) -> np.ndarray: ...
    def rvs(self, *, size: int, random_state: Random) -> np.ndarray: ...
    def support(self) -> tuple[float, float]: ...


Scores = str | Sequence[float] | np.ndarray | Mapping[float, float] | _FrozenDistribution
Seed: TypeAlias = Rng | Sequence[int]

NODES = 8  # Gauss-Legendre nodes a panel
QUADRATURE_PANELS = 512
SMALLEST_PANEL = 1e-13


@dataclass(frozen=True)
class Points:
    """A distribution on finitely many points; equally likely ones have integer weights, for exact quantiles."""

    point: np.ndarray
    weight: np.ndarray

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weight.sum())

    def draw(self, n: int, random: Random) -> np.ndarray:
        """Draw n scores."""
        below = self.weight.cumsum()
        return self.point[np.searchsorted(below / below[-1], random.random(n), "right")]

    def nodes(
        self, predict: Function, chance: Function, edge: np.ndarray, strategy: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the points and their weights."""
        return self.point, self.weight

    def reweighted(self, factor: Function) -> Points:
        """Return the distribution whose weights are multiplied by a function of the score."""
        return Points(self.point, self.weight * factor(self.point))


class Density:
    """A continuous distribution of t = score(s), where s has a density on the span of `grid`, a first set of panels.

    Here s is t itself. A density need not integrate to 1; `total` is its integral.
    """

    @property
    def grid(self) -> np.ndarray:
        """Ends of panels, on each of which the density is smooth."""
        return _graded()

    def score(self, s: np.ndarray) -> np.ndarray:
        """Return the score t at s."""
        return s

    def where(self, t: np.ndarray) -> np.ndarray:
        """Return s at the score t, the inverse of `score`."""
        return t

    def density(self, s: np.ndarray) -> np.ndarray:
        """Return the density of s."""
        raise NotImplementedError

    def score_density(self, t: np.ndarray) -> np.ndarray:
        """Return the density of t."""
        return self.density(t)

    def draw(self, n: int, random: Random) -> np.ndarray:
        """Draw n scores."""
        raise NotImplementedError

    def reweighted(self, factor: Function) -> Density:
        """Return the distribution whose density is multiplied by a function of the score."""
        return _Reweighted(self, factor)

    @property
    def total(self) -> float:
        """The integral of the density."""
        s, weight = gauss(self.grid[:-1], self.grid[1:])
        return float((weight * self.density(s)).sum())

    def cdf(self) -> Function:
        """Return the distribution function of s: sums over whole panels and quadrature on the last one."""
        s, weight = gauss(self.grid[:-1], self.grid[1:])
        ends = np.concatenate([[0.0], np.cumsum((weight * self.density(s)).sum(axis=-1))])

        def below(s: np.ndarray) -> np.ndarray:
            panel = np.clip(np.searchsorted(self.grid, s, "right") - 1, 0, self.grid.size - 2)
            inside, weight = gauss(self.grid[panel], s)
            return (ends[panel] + (weight * self.density(inside)).sum(axis=-1)) / ends[-1]

        return below

    def nodes(
        self, predict: Function, chance: Function, edge: np.ndarray, strategy: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Gauss-Legendre nodes and weights on panels within which no bin ends and no residual changes sign.

        Partial sums of residuals are then monotone within a panel, so that their extremes are at the ends of panels,
        where they are exact: suprema over intervals (KS, Kuiper) and unbinned norms have no discretisation error.
        """

        def prediction(s: np.ndarray) -> np.ndarray:
            return predict(self.score(s))

        def residual(s: np.ndarray) -> np.ndarray:
            return chance(self.score(s)) - prediction(s)

        sign = np.sign(residual(self.grid))
        (cross,) = np.nonzero(sign[1:] * sign[:-1] < 0)
        crossing = solve(residual, 0.0, self.grid[cross], self.grid[cross + 1])
        ends = np.full(edge.shape, self.grid[0]), np.full(edge.shape, self.grid[-1])
        # predictions are monotone in the score, up or down, so the same shares of the mass cut both
        edge = solve(self.cdf() if strategy == "quantile" else prediction, edge, *ends)
        cut = np.sort(np.concatenate([self.grid, crossing, edge]))
        cut = cut[np.diff(cut, prepend=-np.inf) > SMALLEST_PANEL]  # or rounding could put nodes into a wrong bin
        s, weight = gauss(cut[:-1], cut[1:])
        return self.score(s.ravel()), (weight * self.density(s)).ravel()


@dataclass(frozen=True)
class Uniform(Density):
    """The uniform distribution on [0, 1], on panels that also end at multiples of 1 / `pieces`."""

    pieces: int = 1

    @property
    def grid(self) -> np.ndarray:
        """Ends of panels, none of them narrower than rounding."""
        cut = np.union1d(_graded(), np.arange(self.pieces + 1) / self.pieces)
        return cut[np.diff(cut, prepend=-np.inf) > SMALLEST_PANEL]

    def density(self, s: np.ndarray) -> np.ndarray:
        """Return 1."""
        return np.ones_like(s)

    def draw(self, n: int, random: Random) -> np.ndarray:
        """Draw n scores."""
        return random.random(n)


@dataclass(frozen=True)
class Frozen(Density):
    """A frozen scipy.stats distribution; s is the probability below t, of density 1 however steep the density of t."""

    distribution: _FrozenDistribution

    def score(self, s: np.ndarray) -> np.ndarray:
        """Return the quantile."""
        return np.asarray(self.distribution.ppf(s))

    def where(self, t: np.ndarray) -> np.ndarray:
        """Return the probability below t."""
        return np.asarray(self.distribution.cdf(t))

    def density(self, s: np.ndarray) -> np.ndarray:
        """Return 1."""
        return np.ones_like(s)

    def score_density(self, t: np.ndarray) -> np.ndarray:
        """Return the density of t."""
        return np.asarray(self.distribution.pdf(t))

    def draw(self, n: int, random: Random) -> np.ndarray:
        """Draw n scores."""
        return self.distribution.rvs(size=n, random_state=random)


@dataclass(frozen=True)
class _Reweighted(Density):
    """A distribution whose density is multiplied by a function of the score; it draws no rows."""

    base: Density
    factor: Function

    @property
    def grid(self) -> np.ndarray:
        return self.base.grid

    def score(self, s: np.ndarray) -> np.ndarray:
        return self.base.score(s)

    def where(self, t: np.ndarray) -> np.ndarray:
        return self.base.where(t)

    def density(self, s: np.ndarray) -> np.ndarray:
        return self.base.density(s) * self.factor(self.base.score(s))

    def score_density(self, t: np.ndarray) -> np.ndarray:
        return self.base.score_density(t) * self.factor(t)


def gauss(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss-Legendre nodes and weights for the integral from each `low` to each `high`, along a last axis."""
    x, w = _rule()
    half = (high - low)[..., None] / 2
    return low[..., None] + half * (1 + x), half * w


def solve(function: Function, target: float | np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return where a function, monotone from each `low` to each `high`, equals the target, by bisection."""
    rising = function(high) > function(low)
    for _ in range(64):
        middle = (low + high) / 2
        beyond = (function(middle) > target) == rising
        last = low, high
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        if np.array_equal(low, last[0]) and np.array_equal(high, last[1]):  # there are no numbers between them
            break
    return high


def find_distribution(distribution: Scores) -> Points | Density:
    """Return the distribution on [0, 1] given by the argument `distribution` of a generator, or raise."""
    if isinstance(distribution, Mapping):
        point, weight = (np.array(list(part), np.float64) for part in (distribution.keys(), distribution.values()))
        if not (np.all((weight > 0) & (weight <= 1)) and abs(weight.sum() - 1) < 1e-9):
            raise ValueError(f"expected positive probabilities that sum to 1, found {list(weight)}")
        return _on_unit_interval(point, weight)
    if isinstance(distribution, str):
        if distribution != "uniform":
            raise ValueError(f"expected 'uniform', a frozen scipy.stats distribution or values, found {distribution!r}")
        return Uniform()
    if _is_distribution(distribution):
        low, high = distribution.support()
        if low < 0 or high > 1:
            raise ValueError(f"expected a distribution on [0, 1], found one on [{low:g}, {high:g}]")
        return Frozen(distribution)
    return _on_unit_interval(*np.unique(np.asarray(distribution, np.float64), return_counts=True))


def describe(value: Any) -> str:
    """Return the repr of an argument, and for a distribution or a function one that is the same in every process."""
    if not (hasattr(value, "ppf") and hasattr(value, "pdf")):
        return str(value.__name__) if isfunction(value) else repr(value)
    from scipy import stats

    family = getattr(value, "dist", value)
    name = str(getattr(family, "name", None))
    if hasattr(stats, name) and isinstance(family, type(getattr(stats, name))):
        given = [repr(float(v)) for v in value.args] + [f"{k}={float(v)!r}" for k, v in value.kwds.items()]
        return f"{name}({', '.join(given)})"
    # user-defined: only its values are known
    return f"{type(family).__name__}(percentiles={value.ppf(np.arange(1, 100) / 100).tolist()})"


def _is_distribution(value: object) -> TypeGuard[_FrozenDistribution]:
    return hasattr(value, "ppf") and hasattr(value, "pdf")


def _on_unit_interval(point: np.ndarray, weight: np.ndarray) -> Points:
    if point.ndim != 1 or not point.size or not np.all((point >= 0) & (point <= 1)):
        raise ValueError(f"expected at least one value, and all from 0 to 1, found {point.tolist()}")
    return Points(point, weight.astype(np.float64))


@cache
def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(NODES)


@cache
def _graded() -> np.ndarray:
    """Cut [0, 1] into equal panels, halved again and again towards both ends, where logarithms are singular."""
    steps = 0.5 ** np.arange(2, 41)
    return np.unique(np.concatenate([np.linspace(0, 1, QUADRATURE_PANELS + 1), steps, 1 - steps]))
