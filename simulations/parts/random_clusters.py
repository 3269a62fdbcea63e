"""Populations of clusters that are drawn at random, and clusters whose predictions are wrong in five ways.

Each population has 15 to 300 clusters, of equal, geometric, log-normal, heavy-tailed or two sizes, or one giant;
predictions from rare to even, free, close or equal within clusters; rows independent, or as alike as they can be in
some clusters, all, the larger ones or those with small predictions; no weights, or weights of rows or of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calibstat.generators.distributions import Random
from calibstat.generators.row_clusters import shared_uniform
from calibstat.generators.simulator import drawing
from calibstat.study.engine import Models

SIZES = ("equal", "geometric", "lognormal", "giant", "two kinds", "pareto")
MOST_ROWS = 4000
ALIKE = {"none": 0.0, "some": 0.5, "all": 1.0, "large": 0.5, "rare": 0.5}  # shares of clusters, roughly
LEAST = 1e-4  # of predictions
KNOWN = -1  # number of the worst population of an earlier search
WORST_KIND = {"rate": 0.2313, "precision": 13.51, "within": "same", "alike": "all", "weights": "none"}

ERRORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logits .4 too low": lambda p: expit(logit(p) + 0.4),
    "temperature .6": lambda p: expit(0.6 * logit(p)),
    "wave": lambda p: np.clip(p + 0.12 * np.sin(6 * np.pi * p), 0.001, 0.999),
    "one range": lambda p: np.where((p > 0.6) & (p < 0.75), np.clip(p - 0.25, 0, 1), p),
    "tenths by turns": lambda p: np.clip(p + 0.08 * np.sign(0.5 - p) * (np.floor(10 * p) % 2 * 2 - 1), 0.001, 0.999),
}


@dataclass(frozen=True)
class Population:
    """A calibrated population of clusters that its number decides."""

    number: int
    again: bool = False  # with other data sets

    @cached_property
    def drawn(self) -> tuple[np.ndarray, dict[str, Any]]:
        """The sizes of the clusters, and what else their data sets share."""
        if self.number == KNOWN:
            return np.full(136, 25), {"sizes": "equal", **WORST_KIND}
        _, random = drawing(1, np.random.SeedSequence([77, self.number]))
        clusters = int(np.exp(random.uniform(np.log(15), np.log(300))))
        kind = str(random.choice(SIZES))
        mean = float(np.exp(random.uniform(np.log(1.5), np.log(25))))
        size = np.maximum(1, np.rint(sizes_of(kind, clusters, mean, random))).astype(int)
        while size.sum() > MOST_ROWS:
            size = np.maximum(1, size * 3 // 4)
        rate, precision = np.exp(random.uniform(np.log([0.01, 0.5]), np.log([0.5, 30])))
        within, alike, weights = (
            str(random.choice(names))
            for names in (["free", "same", "close"], list(ALIKE), ["none", "none", "rows", "clusters"])
        )
        return size, {
            "sizes": kind,
            "rate": float(rate),
            "precision": float(precision),
            "within": within,
            "alike": alike,
            "weights": weights,
        }

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return self.drawn[0].size

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.drawn[0].sum())

    @property
    def prevalence(self) -> float:
        """The mean prediction."""
        return float(self.drawn[1]["rate"])

    @property
    def alike(self) -> float:
        """The share of clusters whose rows are alike, roughly."""
        return ALIKE[self.drawn[1]["alike"]]

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        words = {name: f"{value:.2g}" if isinstance(value, float) else value for name, value in self.drawn[1].items()}
        told = ", ".join(f"{name} {value}" for name, value in words.items())
        return f"population {self.number}{' again' * self.again}: {told}"

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions, clusters and weights; `n` is the number of rows."""
        _, random = drawing(n, rng)
        size, kind = self.drawn
        unit = np.repeat(np.arange(size.size), size)
        shape = kind["precision"] * kind["rate"], kind["precision"] * (1 - kind["rate"])
        p = random.beta(*shape, unit.size) if kind["within"] == "free" else random.beta(*shape, size.size)[unit]
        p = p + (kind["within"] == "close") * 0.05 * random.normal(size=unit.size)
        p = np.clip(p, LEAST, 1 - LEAST)
        chosen = {
            "large": size > np.median(size),
            "rare": np.bincount(unit, p) / size < kind["rate"],
        }
        together = chosen.get(kind["alike"], random.random(size.size) < self.alike)
        columns = {"prediction": p, "cluster": unit}
        if kind["weights"] != "none":
            of_rows = kind["weights"] == "rows"
            weight = random.gamma(1, 1, unit.size if of_rows else size.size) + 0.01
            columns["weight"] = weight if of_rows else weight[unit]
        return (shared_uniform(random, unit, together) < p).astype(np.int64), columns


def sizes_of(kind: str, clusters: int, mean: float, random: Random) -> np.ndarray:
    """Draw the sizes of clusters of a kind, not yet whole numbers."""
    if kind == "geometric":
        return random.geometric(1 / mean, clusters)
    if kind == "lognormal":
        return mean * np.exp(random.normal(0, 1, clusters))
    if kind == "pareto":
        return mean / 2 * (1 + random.pareto(1.5, clusters))
    if kind == "two kinds":
        large = np.arange(clusters) < clusters * random.uniform(0.05, 0.5)
        return np.where(large, 8 * mean, mean / 3)
    giant = mean * clusters * random.uniform(0.2, 1) if kind == "giant" else mean
    return np.r_[np.full(clusters - 1, mean), giant]


@dataclass(frozen=True)
class Wrong:
    """Clusters of one size whose predictions are wrong in one way, equal within clusters or not."""

    clusters: int
    size: int
    alike: float
    equal: bool
    error: str

    prevalence = 0.5

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.clusters * self.size

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        where = "one prediction each, " if self.equal else ""
        return f"{self.clusters} clusters of {self.size}, {where}{self.alike:.0%} alike, {self.error}"

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions and clusters; `n` is the number of rows."""
        _, random = drawing(n, rng)
        unit = np.repeat(np.arange(self.clusters), self.size)
        p = random.beta(1.5, 1.5, self.clusters)[unit] if self.equal else random.beta(1.5, 1.5, unit.size)
        p = p.clip(0.01, 0.99)
        together = random.random(self.clusters) < self.alike
        y = shared_uniform(random, unit, together) < ERRORS[self.error](p)
        return y.astype(np.int64), {"prediction": p, "cluster": unit}


def wrong_cases() -> list[Wrong]:
    """Return eight kinds of clusters with each error."""
    kinds = [(60, 10, 0.0, False), (60, 10, 0.5, False), (60, 10, 1.0, False), (200, 5, 0.5, False)]
    kinds += [(30, 30, 0.5, False), (60, 10, 0.0, True), (60, 10, 0.5, True), (200, 5, 0.5, True)]
    return [Wrong(*kind, error) for kind in kinds for error in ERRORS]
