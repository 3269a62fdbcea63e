"""The base class of the questions of a study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from calibstat.measures.kinds.registry import MEASURES
from calibstat.study.engine import Data

Row = dict[str, Any]
Entry = tuple[Any, dict[str, Any]]  # the name of a measure, or one that is not registered itself, and its options


@dataclass(frozen=True)
class Question(ABC):
    """A question about every cell of a grid. `answers` below has the shape (replicates, groups, columns)."""

    generators: Mapping[str, Any]
    n: list[int]
    measures: Mapping[str, Entry]
    methods: list[str]
    replicates: int
    n_resamples: int
    level: float

    name: ClassVar[str]
    method_choices: ClassVar[tuple[str, ...]]  # the first is the default
    default_level: ClassVar[float] = 0.95

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Pairs of generator and number of rows, in the order of the tables."""
        return list(product(self.generators, self.n))

    @property
    def columns(self) -> list[str]:
        """Names of the answers of one data set."""
        return list(self.measures)

    @property
    def modules(self) -> list[str]:
        """Names of the modules that register the measures; a measure that is not registered goes with the question."""
        return sorted({MEASURES[name].__module__ for name, _ in self.measures.values() if isinstance(name, str)})

    def check(self) -> None:  # noqa: B027 (most questions suit every grid)
        """Raise if the question does not suit this grid."""

    def attempt(self, data: Data) -> None:
        """Raise if the question cannot be answered, as for these data, which suit every measure."""
        self.ask(data, np.random.SeedSequence(0))

    @abstractmethod
    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers for one data set."""

    def truths_of(self, data: Data, generator: str) -> list[float]:
        """Return the true values that depend on the data set."""
        return []

    @abstractmethod
    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Summarise the answers of all data sets."""

    def fixed(self, generator: str, n: int, measure: str, method: str) -> Row:
        """Return the first columns of every row."""
        return {
            "question": self.name,
            "generator": generator,
            "n": n,
            "measure": measure,
            "method": method,
            "level": self.level,
            "replicates": self.replicates,
        }

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population value of every measure, for every generator."""
        return {
            (label, measure): self.truth_of(label)(name, **options)
            for label in self.generators
            for measure, (name, options) in self.measures.items()
        }

    def truth_of(self, label: str) -> Callable[..., float]:
        """Return the function of a generator that says population values; raise if it has none."""
        generator = self.generators[label]
        if not hasattr(generator, "truth"):
            raise ValueError(f"expected truth(measure, **options) of generator {label!r}, found none")
        return generator.truth


def rate_of(name: str, observed: np.ndarray) -> Row:
    """Return a count with its rate and the exact (Clopper–Pearson) limits of the rate."""
    from statsmodels.stats.proportion import proportion_confint

    number = int(observed.sum())
    low, high = proportion_confint(number, observed.size, method="beta")
    return {name: number, "rate": number / observed.size, "low": float(low), "high": float(high)}
