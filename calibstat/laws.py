"""Laws of the hidden score behind synthetic families, and the points and weights that stand for them in integrals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

NODES = 8  # Gauss-Legendre nodes a panel
PANELS = 512
SMALLEST_PANEL = 1e-13


@dataclass(frozen=True)
class Points:
    """A law on finitely many points; equally likely ones have whole weights, so that ties of quantiles are exact."""

    point: np.ndarray
    weight: np.ndarray

    def draw(self, n: int, random: Any) -> np.ndarray:
        """Draw n scores."""
        return random.choice(self.point, n, p=self.weight / self.weight.sum())

    def nodes(self, predict: Function, chance: Function, bins: int, strategy: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the points and their weights."""
        return self.point, self.weight


@dataclass(frozen=True)
class Density:
    """A continuous law of t = score(s), where s has a density on the span of `grid`, a first set of panels."""

    grid: np.ndarray
    score: Function
    density: Function
    cdf: Function
    draw: Callable[[int, Any], np.ndarray]

    def nodes(self, predict: Function, chance: Function, bins: int, strategy: str) -> tuple[np.ndarray, np.ndarray]:
        """Return Gauss-Legendre nodes and weights on panels within which no bin ends and no residual changes sign.

        Partial sums of residuals are then monotone within a panel, so that their extremes are at the ends of panels,
        where they are exact: suprema over intervals (KS, Kuiper) and unbinned norms lose nothing to the nodes.
        """

        def prediction(s: np.ndarray) -> np.ndarray:
            return predict(self.score(s))

        def residual(s: np.ndarray) -> np.ndarray:
            return chance(self.score(s)) - prediction(s)

        sign = np.sign(residual(self.grid))
        (cross,) = np.nonzero(sign[1:] * sign[:-1] < 0)
        crossing = _solve(residual, 0.0, self.grid[cross], self.grid[cross + 1])
        edge = np.arange(1, bins) / bins
        ends = np.full(edge.shape, self.grid[0]), np.full(edge.shape, self.grid[-1])
        # predictions are monotone in the score, up or down, so the same shares of the mass cut both
        edge = _solve(self.cdf if strategy == "quantile" else prediction, edge, *ends)
        cut = np.sort(np.concatenate([self.grid, crossing, edge]))
        cut = cut[np.diff(cut, prepend=-np.inf) > SMALLEST_PANEL]  # or rounding could put nodes into a wrong bin
        x, w = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(cut)[:, None] / 2
        s = (cut[:-1, None] + half * (1 + x)).ravel()
        return self.score(s), (half * w).ravel() * self.density(s)


def _solve(function: Function, target: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Bisect: where does a function, monotone from each `low` to each `high`, take the target?"""
    rising = function(high) > function(low)
    for _ in range(64):
        middle = (low + high) / 2
        beyond = (function(middle) > target) == rising
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high


def law_of(distribution: Any) -> Points | Density:
    """Return the law on [0, 1] that the argument `distribution` of a family names, or raise."""
    if isinstance(distribution, Mapping):
        point, weight = (np.array(list(part), np.float64) for part in (distribution.keys(), distribution.values()))
        if not (np.all(weight > 0) and abs(weight.sum() - 1) < 1e-9):
            raise ValueError(f"expected positive probabilities that sum to 1, found {list(weight)}")
        return _on_unit_interval(point, weight)
    if isinstance(distribution, str):
        if distribution != "uniform":
            raise ValueError(f"expected 'uniform', a frozen scipy.stats distribution or values, found {distribution!r}")
        return Density(_graded(), same, np.ones_like, same, lambda n, random: random.random(n))
    if hasattr(distribution, "ppf") and hasattr(distribution, "pdf"):
        low, high = distribution.support()
        if low < 0 or high > 1:
            raise ValueError(f"expected a distribution on [0, 1], found one on [{low:g}, {high:g}]")
        # s is the probability below t, which has density 1 however steep the density of t is
        return Density(
            _graded(),
            lambda s: np.asarray(distribution.ppf(s)),
            np.ones_like,
            same,
            lambda n, random: distribution.rvs(size=n, random_state=random),
        )
    return _on_unit_interval(*np.unique(np.asarray(distribution, np.float64), return_counts=True))


def _on_unit_interval(point: np.ndarray, weight: np.ndarray) -> Points:
    if point.ndim != 1 or not point.size or not np.all((point >= 0) & (point <= 1)):
        raise ValueError(f"expected at least one value, and all from 0 to 1, found {point.tolist()}")
    return Points(point, weight.astype(np.float64))


def same(s: np.ndarray) -> np.ndarray:
    """Return the argument."""
    return s


def _graded() -> np.ndarray:
    """Cut [0, 1] into equal panels, halved again and again towards both ends, where logarithms are singular."""
    steps = 0.5 ** np.arange(2, 41)
    return np.unique(np.concatenate([np.linspace(0, 1, PANELS + 1), steps, 1 - steps]))
