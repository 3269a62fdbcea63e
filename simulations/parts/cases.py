"""Random cases for the search for failures: a population, a number of rows, and the data sets that are drawn from it.

Kinds: rows of one model, clusters, two models on the same rows or clusters, and two samples.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from calibstat import Sample, generators
from calibstat.generators.distributions import Random
from calibstat.measures.kinds.registry import find_measure

from .populations import (
    MASSES,
    Atoms,
    Binary,
    Points,
    as_plain,
    inner,
    log_uniform,
    noise,
    random_atoms,
    random_population,
    random_predictions,
    rounded,
)
from .whole_clusters import whole

ROWS = 30, 100_000
FEW_ROWS = 30, 3000  # where every row is drawn by itself
CLUSTERS = 10, 200
LARGEST_CLUSTER = 60
MOST_IN_CLUSTERS = 4000  # expected rows
SEEN = 8  # expected rows of each prediction, where a loss has no bound: a row never seen may have any
SEEN_CLUSTERS = 4  # expected clusters of each group: one never seen may hold any number of rows
Arguments = tuple[tuple[Any, ...], dict[str, Any]]  # of a verb


class Case(ABC):
    """A population and a number of rows, or of clusters."""

    compares: ClassVar[bool] = False  # two models
    n: int

    @classmethod
    @abstractmethod
    def trial(cls) -> Case:
        """Return a case of which every verb that is offered has an answer."""

    @classmethod
    @abstractmethod
    def random(cls, random: Random, unbounded: bool) -> Case:
        """Draw a case; for a loss that is `unbounded`, one in which all rows that may occur are seen."""

    @abstractmethod
    def moved(self, random: Random) -> Self:
        """Return a case beside this one."""

    @abstractmethod
    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        """Draw data sets."""

    @abstractmethod
    def value(self, name: str, options: dict[str, Any]) -> float:
        """Return the measure of the population, or the difference of two."""

    def truth(self, name: str, options: dict[str, Any], data: Arguments) -> float:
        """Return the true value of a measure; of one that makes cells, over those that these data make."""
        key = name, *options.items()
        if key not in self._known:
            self._known[key] = self.value(name, options)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[Any, float]:
        """True values that have been asked for."""
        return {}

    @property
    def text(self) -> str:
        """The case as text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        plain = {name: as_plain(each) if hasattr(each, "points") else each for name, each in plain.items()}
        return json.dumps({"case": type(self).__name__} | plain, separators=(",", ":"))


def near(random: Random, n: int, bounds: tuple[int, int]) -> int:
    """Return a number of rows beside n."""
    return int(np.clip(n * np.exp(random.normal(0, 0.3)), *bounds))


def moved_chance(random: Random, chance: tuple[float, ...], rows: np.ndarray) -> tuple[float, ...]:
    """Return chances changed by about the noise of so many rows; what is certain stays so."""
    old = np.array(chance)
    moved = np.clip(old + random.normal(0, 0.5, old.size) * noise(old, rows), 0, 1)
    return rounded(np.where((old == 0) | (old == 1), old, moved))


@dataclass(frozen=True)
class Rows(Case):
    """Independent rows of one model."""

    n: int
    population: Binary

    @classmethod
    def trial(cls) -> Self:
        return cls(60, Atoms((1, 1, 1), (0.2, 0.5, 0.7), (0.3, 0.5, 0.7)))

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> Self:
        n = int(log_uniform(random, *ROWS))
        return cls(n, random_population(random, n, SEEN / n if unbounded else 0))

    def moved(self, random: Random) -> Self:
        n = near(random, self.n, ROWS)
        return replace(self, n=n, population=self.population.moved(random, n))

    @property
    def points(self) -> Points:
        """The population as arrays."""
        return self.population.points

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        probability, chance, prediction = self.points
        rows = random.multinomial(self.n, probability, size=count)
        for number, positives in zip(rows, random.binomial(rows, chance), strict=True):
            seen = number > 0
            yield (Sample.from_counts(prediction[seen], number[seen], positives[seen]),), {}

    @cached_property
    def _generator(self) -> generators.domain:
        return self.points.generator

    def value(self, name: str, options: dict[str, Any]) -> float:
        return self._generator.truth(name, **options)

    def truth(self, name: str, options: dict[str, Any], data: Arguments) -> float:
        measure: Any = find_measure(name, options)
        if not measure.has_cells_of_data and not measure.condition:
            return super().truth(name, options, data)
        sample = data[0][0]
        options = measure.with_fixed_cells(sample.value, sample.count).options
        return self._given(sample).truth(name, **options) if measure.condition else self.value(name, options)

    def _given(self, sample: Sample) -> generators.domain:
        """Return the population with the predictions of a sample."""
        probability, chance, prediction = self.points
        value, place = np.unique(prediction, return_inverse=True)
        mean = np.bincount(place, probability * chance) / np.bincount(place, probability)
        return Points(sample.count / sample.n, mean[np.searchsorted(value, sample.value)], sample.value).generator


class RisingRows(Rows):
    """Independent rows of one model of which the outcome is never less likely at a higher prediction."""

    @cached_property
    def points(self) -> Points:
        probability, chance, prediction = self.population.points
        order = np.argsort(prediction, kind="stable")
        return Points(probability[order], np.sort(chance), prediction[order])


@dataclass(frozen=True)
class Clusters(Case):
    """Clusters of 1 to 3 kinds, which differ in size; in a share of them the outcomes are comonotone."""

    n: int  # clusters
    mass: tuple[int, ...]
    size: tuple[int, ...]
    alike: float
    chance: tuple[float, ...]
    prediction: tuple[float, ...]

    @classmethod
    def trial(cls) -> Clusters:
        return cls(40, (1, 1), (2, 5), 0.5, (0.4, 0.6), (0.4, 0.5))

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> Clusters:
        n = int(log_uniform(random, *CLUSTERS))
        kinds = int(random.integers(1, 4))
        probability = np.maximum(random.dirichlet(np.full(kinds, 1.5)), SEEN_CLUSTERS / n)
        mass = np.rint(MASSES * probability).astype(int)
        probability = mass / mass.sum()
        size = np.rint(log_uniform(random, 1, LARGEST_CLUSTER, kinds))
        size = np.maximum(1, np.floor(size * min(1, MOST_IN_CLUSTERS / (n * probability @ size))))
        prediction = inner(random_predictions(random, kinds))
        if random.random() < 0.5:
            prediction = np.full(kinds, prediction[0])
        unit = noise(prediction, n * probability)
        chances = [prediction, prediction + 2 * unit * random.normal(size=kinds), 3 * prediction, np.rint(prediction)]
        chance = np.clip(np.choose(random.choice(4, kinds, p=[0.3, 0.3, 0.2, 0.2]), chances), 0, 1)
        alike = float(random.choice([0, 0.6, 0.8, 1]))
        return cls(
            n, tuple(mass.tolist()), tuple(size.astype(int).tolist()), alike, rounded(chance), rounded(prediction)
        )

    def moved(self, random: Random) -> Self:
        n = near(random, self.n, CLUSTERS)
        return replace(self, n=n, chance=moved_chance(random, self.chance, n * self._probability))

    @property
    def _probability(self) -> np.ndarray:
        mass = np.maximum(self.mass, SEEN_CLUSTERS / self.n * sum(self.mass))
        return mass / mass.sum()

    def _drawn(self, random: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return outcomes, clusters, and the kind of each row."""
        kind = random.choice(len(self.mass), self.n, p=self._probability)
        cluster = np.repeat(np.arange(self.n), np.array(self.size)[kind])
        together = random.random(self.n) < self.alike
        drawn = np.where(together[cluster], random.random(self.n)[cluster], random.random(cluster.size))
        return (drawn < np.array(self.chance)[kind[cluster]]).astype(np.int64), cluster, kind[cluster]

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        for _ in range(count):
            y, cluster, kind = self._drawn(random)
            yield (y, np.array(self.prediction)[kind]), {"cluster": whole(cluster)}

    def _points(self, prediction: tuple[float, ...]) -> Points:
        rows = self._probability * np.array(self.size)
        return Points(rows / rows.sum(), np.array(self.chance), np.array(prediction))

    @cached_property
    def _generator(self) -> generators.domain:
        return self._points(self.prediction).generator

    def value(self, name: str, options: dict[str, Any]) -> float:
        return self._generator.truth(name, **options)


@dataclass(frozen=True)
class PairInClusters(Clusters):
    """Two models on the same clusters."""

    second: tuple[float, ...]
    compares: ClassVar[bool] = True

    @classmethod
    def trial(cls) -> PairInClusters:
        return cls(40, (1, 1), (2, 5), 0.5, (0.4, 0.6), (0.4, 0.5), (0.5, 0.5))

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> PairInClusters:
        one = Clusters.random(random, unbounded)
        first = np.array(one.prediction)
        second = inner(random_rival(random, first, np.array(one.chance), one._probability, one.n))
        plain = {field.name: getattr(one, field.name) for field in fields(one)}
        return cls(**plain, second=rounded(second))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        first, second = np.array(self.prediction), np.array(self.second)
        for _ in range(count):
            y, cluster, kind = self._drawn(random)
            yield (y, {"A": first[kind], "B": second[kind]}), {"cluster": whole(cluster)}

    def value(self, name: str, options: dict[str, Any]) -> float:
        first, second = self._generator, self._points(self.second).generator
        return first.truth(name, **options) - second.truth(name, **options)


def random_rival(random: Random, first: np.ndarray, chance: np.ndarray, probability: np.ndarray, n: int) -> np.ndarray:
    """Return the predictions of a second model: opposite errors, the mean, nearly the same, or a little different."""
    choices = [
        np.clip(2 * chance - first, 0, 1),
        np.full(first.size, probability @ chance),
        first + 1e-9 * np.arange(first.size) * (first < 0.5),
        np.clip(first + 2 * noise(first, n * probability) * random.normal(size=first.size), 0, 1),
    ]
    return choices[random.choice(4, p=[0.35, 0.15, 0.15, 0.35])]


@dataclass(frozen=True)
class Pair(Case):
    """Two models on the same rows."""

    n: int
    mass: tuple[int, ...]
    chance: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    compares: ClassVar[bool] = True

    @classmethod
    def trial(cls) -> Pair:
        return cls(60, (1, 1), (0.4, 0.6), (0.4, 0.5), (0.5, 0.5))

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> Pair:
        n = int(log_uniform(random, *FEW_ROWS))
        one = random_atoms(random, n)
        one = one.without_ends(SEEN / n) if unbounded else one
        probability, chance, first = one.points
        mass, second = one.mass, random_rival(random, first, chance, probability, n)
        if unbounded:
            second = inner(second)
        if random.random() < 0.3:  # exchangeable models: half of the rows with the models exchanged
            return cls(n, mass * 2, one.chance * 2, rounded(np.r_[first, second]), rounded(np.r_[second, first]))
        return cls(n, mass, one.chance, one.prediction, tuple(second.tolist()))

    def moved(self, random: Random) -> Pair:
        n = near(random, self.n, FEW_ROWS)
        if random.random() < 0.5:
            return replace(self, n=n)
        return replace(self, n=n, chance=moved_chance(random, self.chance, n * self._probability))

    @property
    def _probability(self) -> np.ndarray:
        return np.array(self.mass) / sum(self.mass)

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        first, second = np.array(self.first), np.array(self.second)
        for _ in range(count):
            point = random.choice(first.size, self.n, p=self._probability)
            y = (random.random(self.n) < np.array(self.chance)[point]).astype(np.int64)
            yield (y, {"A": first[point], "B": second[point]}), {}

    @cached_property
    def _generators(self) -> list[generators.domain]:
        chance = np.array(self.chance)
        return [Points(self._probability, chance, np.array(each)).generator for each in (self.first, self.second)]

    def value(self, name: str, options: dict[str, Any]) -> float:
        first, second = self._generators
        return first.truth(name, **options) - second.truth(name, **options)


@dataclass(frozen=True)
class Samples(Case):
    """Two samples of different rows, of one population or of two."""

    n: int
    m: int
    first: Binary
    second: Binary
    compares: ClassVar[bool] = True

    @classmethod
    def trial(cls) -> Samples:
        return cls(60, 40, Rows.trial().population, Rows.trial().population)

    @classmethod
    def random(cls, random: Random, unbounded: bool) -> Samples:
        n, m = (int(each) for each in log_uniform(random, *FEW_ROWS, 2))
        least = SEEN / min(n, m) if unbounded else 0
        first = random_population(random, n, least)
        return cls(n, m, first, first if random.random() < 0.5 else random_population(random, m, least))

    def moved(self, random: Random) -> Samples:
        n, m = (near(random, each, FEW_ROWS) for each in (self.n, self.m))
        first = self.first.moved(random, n)
        return Samples(n, m, first, first if self.first == self.second else self.second.moved(random, m))

    def draws(self, random: Random, count: int) -> Iterator[Arguments]:
        for _ in range(count):
            drawn = {}
            for name, n, population in (("A", self.n, self.first), ("B", self.m, self.second)):
                probability, chance, prediction = population.points
                point = random.choice(prediction.size, n, p=probability)
                drawn[name] = (random.random(n) < chance[point]).astype(np.int64), prediction[point]
            yield (drawn,), {}

    @cached_property
    def _generators(self) -> list[generators.domain]:
        return [each.points.generator for each in (self.first, self.second)]

    def value(self, name: str, options: dict[str, Any]) -> float:
        first, second = self._generators
        return first.truth(name, **options) - second.truth(name, **options)
