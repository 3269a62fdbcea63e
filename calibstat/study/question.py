"""The base class of the questions of a study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import product
from typing import Any, ClassVar

import numpy as np

from calibstat.data.checks import quoted
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.in_order import without_rounding
from calibstat.measures.kinds.registry import MEASURES
from calibstat.study.engine import Data, models_of

Row = dict[str, Any]
Entry = tuple[Any, dict[str, Any]]  # the name of a measure, or one that is not registered itself, and its options

NO_MODELS = (
    "expected models, a mapping from name to a generator that says the truth of the model, beside a sample(n, rng) "
    "that returns predictions by name; found none"
)


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

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """The models of every generator, by name; a generator of one model is itself, under its label."""
        return {label: dict(models_of(generator) or {label: generator}) for label, generator in self.generators.items()}

    @property
    def takes_several(self) -> bool | None:
        """Whether generators have to be of several models on the same rows, or must not; None if both will do."""
        return False

    def check(self) -> None:
        """Raise if the question does not suit this grid."""
        for label, generator in self.generators.items():
            several = models_of(generator)
            enough = {None: True, False: several is None, True: several is not None and len(several) > 1}
            if not enough[self.takes_several]:
                found = "one model" if several is None else f"models {quoted(several)}"
                raise ValueError(f"{self.expected_models}; found {label!r} of {found}")

    @property
    def expected_models(self) -> str:
        """The generators that are expected, in words."""
        number = "several models on the same rows" if self.takes_several else "one model each"
        return f"expected generators of {number} for question {self.name!r}"

    @property
    def note(self) -> str:
        """A warning to the user before the run, or no text."""
        return ""

    def attempt(self, data: Data) -> None:
        """Raise if the question cannot be answered, as for these data, which suit every measure."""
        self.ask(data, np.random.SeedSequence(0))

    @abstractmethod
    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers for one data set."""

    def truths_of(self, data: Data, generator: str) -> list[float]:
        """Return the true values that depend on the data set; raise if it is of models that the generator keeps."""
        if isinstance(data, tuple) and models_of(self.generators[generator]) is None:
            raise ValueError(f"{NO_MODELS} of generator {generator!r}")
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

    def truth_of(self, label: str, model: str) -> Callable[..., float]:
        """Return the function of a model that says population values; raise if it has none.

        A value within 1e-9 of 0 is 0: quadrature and solvers miss it by what other processors round in other ways.
        """
        found = self.models[label][model]
        if not hasattr(found, "truth"):
            of = f"generator {label!r}" if found is self.generators[label] else f"model {model!r} of {label!r}"
            raise ValueError(f"expected truth(measure, **options) of {of}, found none")

        @wraps(found.truth)
        def truth(*measure: object, **options: object) -> float:
            return float(without_rounding(found.truth(*measure, **options)))

        return truth


def of_one_model(data: Data) -> Sample | Predictions:
    """Return the data of one model; raise if there are several."""
    if isinstance(data, tuple):
        raise ValueError(NO_MODELS)
    return data


def rate_of(name: str, observed: np.ndarray) -> Row:
    """Return a count with its rate and the exact (Clopper–Pearson) limits of the rate."""
    from statsmodels.stats.proportion import proportion_confint

    number = int(observed.sum())
    low, high = proportion_confint(number, observed.size, method="beta")
    return {name: number, "rate": number / observed.size, "low": float(low), "high": float(high)}
