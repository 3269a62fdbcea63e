"""Rows of several classes in clusters and with weights, the truth of such a population, and two models as wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.generators.multiclass_generator import MulticlassGenerator
from calibstat.generators.row_weights import Weights, find_weights

ROWS = 360


@dataclass(frozen=True)
class Rows:
    """Rows of a Dirichlet distribution of classes, in clusters and with weights if it has any."""

    concentration: tuple[float, ...] = (1.0, 1.0, 1.0)
    temperature: float = 1.0
    clusters: int | None = None
    size: str = "equal"
    share: float = 0.0
    alike: float = 0.0
    weights: str | Weights | None = None
    n: int = ROWS

    @property
    def family(self) -> MulticlassGenerator:
        """The distribution of rows without weights."""
        return dirichlet_family(self.concentration, self.temperature)

    def sample(self, rng: Any) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Return classes, predictions, and what is known of the rows by name."""
        grouped = {} if self.clusters is None else {"size": self.size, "share": self.share, "alike": self.alike}
        given: dict[str, Any] = {"clusters": self.clusters, "weights": self.weights, **grouped}
        drawn: tuple[Any, ...] = self.family.sample(self.n, rng, **given)
        y, p, *known = drawn
        named = zip(("cluster", "sample_weight"), known, strict=True)
        return y, p, {name: part for name, part in named if part is not None}


@cache
def dirichlet_family(concentration: tuple[float, ...], temperature: float) -> MulticlassGenerator:
    """Return a Dirichlet distribution of classes; made once, it finds its population once."""
    return cs.generators.dirichlet(concentration, temperature=temperature)


@cache
def truth(case: Rows, asked: tuple[tuple[str, Any], ...]) -> float:
    """Return a measure of the population in which rows count by their weights; `asked` are items of arguments."""
    family = case.family
    if case.weights is not None:
        family = cs.generators.reweighted_classes(family, find_weights(case.weights, family.n_classes))
    return float(family.truth(**dict(asked)))


def tilted(p: np.ndarray, k: int, odds: float) -> np.ndarray:
    """Return predictions with so many times the odds of class k."""
    p = p.copy()
    p[:, k] *= odds
    return np.asarray(p / p.sum(axis=1, keepdims=True))
