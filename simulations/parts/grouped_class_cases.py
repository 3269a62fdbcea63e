"""Random cases of several classes whose rows have weights or come in clusters, for the search for failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from calibstat.generators.distributions import Random

from .cases import CLUSTERS, LARGEST_CLUSTER, MOST_IN_CLUSTERS, SEEN_CLUSTERS, Arguments, Case, near
from .class_cases import SMALLEST, Classes, Vectors, few_vectors, random_second, simplex
from .populations import MASSES, log_uniform, noise, shifted
from .whole_clusters import whole

HEAVIEST = 4.0  # times the lightest, without the noise
SPREADS = 0.0, 0.5, 1.0  # coefficients of variation of the noise in weights


def noisy(random: Random, spread: float, rows: int) -> np.ndarray:
    """Return gamma variables of mean 1, or ones where there is no noise."""
    return random.gamma(1 / spread**2, spread**2, rows) if spread else np.ones(rows)


@dataclass(frozen=True)
class WeightedClasses(Classes):
    """Rows whose weights depend on the predicted vector and on the class, times noise."""

    factor: Vectors
    spread: float

    @classmethod
    def trial(cls) -> WeightedClasses:
        plain = {field.name: getattr(Classes.trial(), field.name) for field in fields(Classes)}
        return cls(**plain, factor=((1.0, 2.0, 1.0), (3.0, 1.0, 1.0)), spread=0.5)

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> WeightedClasses:
        one = Classes.random(random, unbounded)
        plain = {field.name: getattr(one, field.name) for field in fields(Classes)}
        shape = np.array(one.prob).shape
        by = random.choice(3)  # of nothing, the vector, or the vector and the class
        many = shape if by == 2 else (shape[0], 1)
        factor = np.exp(random.uniform(0, np.log(HEAVIEST), many)) if by else np.ones(many)
        rounded = np.round(factor * np.ones(shape), 2)
        return cls(**plain, factor=tuple(map(tuple, rounded.tolist())), spread=float(random.choice(SPREADS)))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        prob, factor = np.array(self.prob), np.array(self.factor)
        for label, point in self._drawn(random, count):
            weight = factor[point, label] * noisy(random, self.spread, label.size)
            yield (label, prob[point]), {"sample_weight": weight}

    @cached_property
    def _generator(self) -> few_vectors:
        """The population in which rows count by their weights."""
        joint = np.array(self.mass)[:, None] * np.array(self.chance) * np.array(self.factor)
        mass = joint.sum(axis=1)
        chance = joint / mass[:, None]
        return few_vectors(tuple(mass.tolist()), tuple(map(tuple, chance.tolist())), self.prob)


@dataclass(frozen=True)
class ClassesInClusters(Case):
    """Clusters of 1 to 3 kinds, which differ in size; in a share of them one number of the cluster decides all classes.

    All rows of a kind have the same predicted vector, and weights that are noise, or none if `spread` is 0.
    """

    n: int  # clusters
    mass: tuple[int, ...]
    size: tuple[int, ...]
    alike: float
    chance: Vectors
    prob: Vectors
    spread: float

    @classmethod
    def trial(cls) -> ClassesInClusters:
        vectors = ((0.6, 0.2, 0.2), (0.2, 0.5, 0.3))
        return cls(40, (1, 1), (2, 5), 0.5, vectors, vectors, 0.5)

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> ClassesInClusters:
        n, kinds, classes = int(log_uniform(random, *CLUSTERS)), int(random.integers(1, 4)), int(random.choice([3, 5]))
        probability = np.maximum(random.dirichlet(np.full(kinds, 1.5)), SEEN_CLUSTERS / n)
        mass = np.rint(MASSES * probability).astype(int)
        probability = mass / mass.sum()
        size = np.rint(log_uniform(random, 1, LARGEST_CLUSTER, kinds))
        size = np.maximum(1, np.floor(size * min(1, MOST_IN_CLUSTERS / (n * probability @ size)))).astype(int)
        prob = np.maximum(random.dirichlet(np.full(classes, random.choice([0.2, 1, 4])), kinds), SMALLEST)
        unit = noise(prob, n * probability[:, None] * np.ones(classes))
        certain = np.eye(classes)[prob.argmax(axis=1)]
        errors = [prob, prob + 2 * unit * random.normal(size=prob.shape), certain]
        chance = np.maximum(np.choose(random.choice(3, (kinds, 1), p=[0.4, 0.4, 0.2]), errors), 0) + 1e-9
        alike, spread = float(random.choice([0, 0.6, 0.8, 1])), float(random.choice(SPREADS))
        return cls(n, tuple(mass.tolist()), tuple(size.tolist()), alike, simplex(chance), simplex(prob), spread)

    def moved(self, random: Random) -> Self:
        return replace(
            self,
            n=near(random, self.n, CLUSTERS),
            chance=simplex(shifted(random, np.array(self.chance), 0.2)),
        )

    @property
    def _probability(self) -> np.ndarray:
        mass = np.maximum(self.mass, SEEN_CLUSTERS / self.n * sum(self.mass))
        return np.asarray(mass / mass.sum())

    def _drawn(self, random: Random) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Return the class and the kind of each row, and what is known of it by name."""
        kind = random.choice(len(self.mass), self.n, p=self._probability)
        cluster = np.repeat(np.arange(self.n), np.array(self.size)[kind])
        together = random.random(self.n) < self.alike
        drawn = np.where(together[cluster], random.random(self.n)[cluster], random.random(cluster.size))
        below = np.array(self.chance).cumsum(axis=1)[kind[cluster], :-1]
        label = (drawn[:, None] > below).sum(axis=1)
        weights = {"sample_weight": noisy(random, self.spread, cluster.size)} if self.spread else {}
        return label, kind[cluster], {"cluster": whole(cluster), **weights}

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        prob = np.array(self.prob)
        for _ in range(count):
            label, kind, known = self._drawn(random)
            yield (label, prob[kind]), known

    def _of_rows(self, prob: Vectors) -> few_vectors:
        rows = self._probability * np.array(self.size)
        return few_vectors(tuple(rows.tolist()), self.chance, prob)

    @cached_property
    def _generator(self) -> few_vectors:
        return self._of_rows(self.prob)

    def value(self, name: str, options: dict[str, Any]) -> float:
        return self._generator.truth(name, **options)


@dataclass(frozen=True)
class PairOfClassesInClusters(ClassesInClusters):
    """Two models of several classes on the same clusters."""

    second: Vectors
    compares: ClassVar[bool] = True

    @classmethod
    def trial(cls) -> PairOfClassesInClusters:
        one = ClassesInClusters.trial()
        plain = {field.name: getattr(one, field.name) for field in fields(ClassesInClusters)}
        return cls(**plain, second=one.prob[::-1])

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> PairOfClassesInClusters:
        one = ClassesInClusters.random(random, unbounded)
        second = random_second(random, np.array(one.prob), np.array(one.chance))
        plain = {field.name: getattr(one, field.name) for field in fields(ClassesInClusters)}
        return cls(**plain, second=simplex(second))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        first, second = np.array(self.prob), np.array(self.second)
        for _ in range(count):
            label, kind, known = self._drawn(random)
            yield (label, {"A": first[kind], "B": second[kind]}), known

    def value(self, name: str, options: dict[str, Any]) -> float:
        return super().value(name, options) - self._of_rows(self.second).truth(name, **options)
