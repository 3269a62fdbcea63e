"""Random cases of several classes for the search for failures: few predicted vectors, of one model or of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from calibstat.generators.distributions import Random
from calibstat.generators.multiclass_generator import MulticlassGenerator, draw_classes
from calibstat.generators.multiclass_truth import MulticlassPopulation

from .cases import FEW_ROWS, SEEN, Arguments, Case, near
from .populations import MASSES, log_uniform, noise, shifted

Vectors = tuple[tuple[float, ...], ...]
SMALLEST = 2e-3  # predicted probability


@dataclass(frozen=True)
class few_vectors(MulticlassGenerator):
    """Few predicted vectors, each with its mass and the true probabilities of the classes."""

    mass: tuple[float, ...]
    chance: Vectors
    prob: Vectors

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        """Number of classes, K."""
        return len(self.prob[0])

    @cached_property
    def _population(self) -> MulticlassPopulation:
        prob = np.array(self.prob)
        with np.errstate(divide="ignore"):
            logarithm = np.log(prob)
        return MulticlassPopulation(np.array(self.mass, float), prob, logarithm, np.array(self.chance), True)

    def _rows(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
        found = self._population
        point = random.choice(len(self.mass), n, p=found.weight / found.weight.sum())
        return draw_classes(found.chance[point], random), found.prob[point]


def simplex(vectors: np.ndarray) -> Vectors:
    """Return probabilities of few digits, each row of which sums to 1 as the package adds."""
    whole = np.rint(vectors / vectors.sum(axis=1, keepdims=True) * 1000)
    largest = whole.argmax(axis=1)
    whole[np.arange(largest.size), largest] += 1000 - whole.sum(axis=1)
    return tuple(tuple((row / 1000).tolist()) for row in whole)


def random_rivals(random: Random) -> tuple[int, tuple[int, ...], Vectors, Vectors]:
    """Draw n, masses, chances and predictions of two vectors, so that the errors of two classes nearly tie.

    The first vector predicts class 0 too low, which is then certain; the second is wrong about the other two.
    """
    n = int(log_uniform(random, 10 * FEW_ROWS[0], FEW_ROWS[1]))
    share, short = random.uniform(0.2, 0.7), random.uniform(0.04, 0.3)
    first, low = random.uniform(0.05, 0.2), random.uniform(0.3, 0.5)
    beside = random.choice([0, 0.5, 1, -0.5]) * 0.5 / np.sqrt(n)
    error = (share * short / 2 + beside) / (1 - share)
    prob = np.array([[1 - short, short / 2, short / 2], [first, low, 1 - first - low]])
    chance = np.array([[1, 0, 0], [first, low + error, max(1 - first - low - error, 0)]])
    mass = round(MASSES * share), round(MASSES * (1 - share))
    return n, mass, simplex(chance), simplex(prob)


@dataclass(frozen=True)
class Classes(Case):
    """Independent rows of a model of 3 or 5 classes that predicts few vectors."""

    n: int
    mass: tuple[int, ...]
    chance: Vectors
    prob: Vectors

    @classmethod
    def trial(cls) -> Classes:
        vectors = ((0.6, 0.2, 0.2), (0.2, 0.5, 0.3))
        return cls(200, (1, 1), vectors, vectors)

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> Classes:
        if random.random() < 0.25:
            return cls(*random_rivals(random))
        n, classes, size = int(log_uniform(random, *FEW_ROWS)), int(random.choice([3, 5])), int(random.integers(1, 7))
        size = max(1, min(size, n // (2 * SEEN))) if unbounded else size
        least = 2 * SEEN / n if unbounded else 1e-4
        mass = np.maximum(random.dirichlet(np.full(size, random.choice([0.5, 2]))), least)
        prob = np.maximum(random.dirichlet(np.full(classes, random.choice([0.2, 1, 4])), size), SMALLEST)
        unit = noise(prob, n * mass[:, None] * np.ones(classes))
        kind = random.choice(4, (size, 1), p=[0.3, 0.4, 0.15, 0.15])
        certain = np.eye(classes)[prob.argmax(axis=1)]
        errors = [prob, prob + 2 * unit * random.normal(size=prob.shape), certain, random.dirichlet(prob[0] * 5, size)]
        chance = np.maximum(np.choose(kind, errors), 0) + 1e-9
        whole = np.maximum(1, np.rint(MASSES * mass)).astype(int)
        return cls(n, tuple(whole.tolist()), simplex(chance), simplex(prob))

    def moved(self, random: Random) -> Classes:
        n, chance = near(random, self.n, FEW_ROWS), np.array(self.chance)
        return replace(self, n=n, mass=moved_mass(random, self.mass), chance=simplex(shifted(random, chance, 0.2)))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        prob = np.array(self.prob)
        for label, point in self._drawn(random, count):
            yield (label, prob[point]), {}

    def _drawn(self, random: Random, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Return the class of each row, and which vector is predicted."""
        joint = np.array(self.mass)[:, None] * np.array(self.chance)
        for cells in random.multinomial(self.n, joint.ravel() / joint.sum(), size=count):
            point, label = np.divmod(np.repeat(np.arange(cells.size), cells), joint.shape[1])
            yield label, point

    @cached_property
    def _generator(self) -> few_vectors:
        return few_vectors(self.mass, self.chance, self.prob)

    def value(self, name: str, options: dict[str, Any]) -> float:
        return self._generator.truth(name, **options)


def moved_mass(random: Random, mass: tuple[int, ...]) -> tuple[int, ...]:
    """Return masses beside these."""
    found = np.rint(np.array(mass) * np.exp(random.normal(0, 0.2, len(mass))))
    return tuple(np.maximum(1, found).astype(int).tolist())


def random_second(random: Random, prob: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the predictions of a second model: opposite errors, the mean, or a little different."""
    choices = [2 * chance - prob, np.full(prob.shape, chance.mean(axis=0)), shifted(random, prob, 0.3)]
    return np.maximum(choices[random.choice(3, p=[0.4, 0.2, 0.4])], SMALLEST)


@dataclass(frozen=True)
class PairOfClasses(Classes):
    """Two models of several classes on the same rows."""

    second: Vectors
    compares: ClassVar[bool] = True

    @classmethod
    def trial(cls) -> PairOfClasses:
        vectors = ((0.6, 0.2, 0.2), (0.2, 0.5, 0.3))
        return cls(200, (1, 1), vectors, vectors, vectors[::-1])

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> PairOfClasses:
        one = Classes.random(random, unbounded)
        second = random_second(random, np.array(one.prob), np.array(one.chance))
        plain = {field.name: getattr(one, field.name) for field in fields(one)}
        if random.random() < 0.3:  # exchangeable models: half of the rows with the models exchanged
            both = {"mass": one.mass * 2, "chance": one.chance * 2, "prob": one.prob + simplex(second)}
            return cls(**plain | both, second=simplex(second) + one.prob)
        return cls(**plain, second=simplex(second))

    def moved(self, random: Random) -> PairOfClasses:
        n = near(random, self.n, FEW_ROWS)
        if random.random() < 0.5:
            return replace(self, n=n)
        return replace(self, n=n, chance=simplex(shifted(random, np.array(self.chance), 0.2)))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        first, second = np.array(self.prob), np.array(self.second)
        for label, point in self._drawn(random, count):
            yield (label, {"A": first[point], "B": second[point]}), {}

    def value(self, name: str, options: dict[str, Any]) -> float:
        second = few_vectors(self.mass, self.chance, self.second)
        return self._generator.truth(name, **options) - second.truth(name, **options)
