"""Predictions of data sets to come: resampled from a pilot, or drawn from a generator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from calibstat import resampling
from calibstat.data.checks import check_whole
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample, need_counts
from calibstat.data.validation import as_array
from calibstat.generators.generator import Generator
from calibstat.generators.multiclass_generator import MulticlassGenerator
from calibstat.inference.power.alternatives import Alternative, GivenAlternative, GivenProbabilities, as_alternative

FuturePredictions: TypeAlias = ArrayLike | Sample | Predictions | Generator | MulticlassGenerator
PILOT = 2000  # rows of a generator that stand for its population


class FutureRows(ABC):
    """A source of the predictions of future data sets, with the alternative for them."""

    alternative: Alternative

    @abstractmethod
    def take(self, n: int, key: np.uint64) -> tuple[np.ndarray, Alternative]:
        """Draw n rows; return their predictions and the alternative for them."""

    @abstractmethod
    def pilot(self, key: np.uint64) -> tuple[Any, Alternative]:
        """Return predictions that stand for the population, and the alternative for them."""


@dataclass(frozen=True)
class FromPilot(FutureRows):
    """Rows of given predictions, with replacement; `count` are the numbers of rows of each, None for one.

    Predictions of one outcome are ascending, so that what is drawn does not depend on the order of rows.
    """

    predictions: np.ndarray
    count: np.ndarray | None
    alternative: Alternative

    def take(self, n: int, key: np.uint64) -> tuple[np.ndarray, Alternative]:
        if self.count is None:
            rows = resampling.planned_rows(key, n, len(self.predictions))
        else:
            last = np.cumsum(self.count)
            rows = np.searchsorted(last, resampling.planned_rows(key, n, int(last[-1])), "right")
        return self.predictions[rows], self.alternative.take(rows)

    def pilot(self, key: np.uint64) -> tuple[Any, Alternative]:
        if self.count is None:
            return self.predictions, self.alternative
        return Sample(self.predictions, self.count, np.zeros_like(self.count)), self.alternative


@dataclass(frozen=True)
class FromGenerator(FutureRows):
    """Independent rows of a generator."""

    generator: Generator | MulticlassGenerator
    alternative: Alternative

    def take(self, n: int, key: np.uint64) -> tuple[np.ndarray, Alternative]:
        return self.generator.sample(n, rng=int(key))[1], self.alternative

    def pilot(self, key: np.uint64) -> tuple[Any, Alternative]:
        return self.take(PILOT, key)


def is_generator(p: object) -> TypeGuard[Generator | MulticlassGenerator]:
    """Whether rows are drawn from a generator, and not from given predictions."""
    return isinstance(p, Generator | MulticlassGenerator)


def future_rows(p: FuturePredictions, alternative: GivenAlternative) -> FutureRows:
    """Return where rows come from; without an alternative a generator is its own."""
    if is_generator(p):
        chosen = as_alternative(p if alternative is None else alternative)
        if isinstance(chosen, GivenProbabilities):
            raise ValueError("expected an alternative as a function of the predictions of a generator, found an array")
        return FromGenerator(p, chosen)
    chosen = as_alternative(alternative)
    if isinstance(p, Sample):
        need_counts(p, "planning")
    array = p.value if isinstance(p, Sample) else p.prob if isinstance(p, Predictions) else as_array(p, "predictions")
    if array.ndim not in (1, 2) or len(array) == 0:
        raise ValueError(f"expected predictions of shape (n,) or (n, K), found shape {array.shape}")
    if isinstance(chosen, GivenProbabilities) and chosen.given.shape != array.shape:
        raise ValueError(f"expected true probabilities of shape {array.shape}, found shape {chosen.given.shape}")
    if isinstance(p, Sample):
        return FromPilot(array, p.count, chosen)
    if array.ndim == 2:
        return FromPilot(array, None, chosen)
    order = np.argsort(array, kind="stable")
    return FromPilot(array[order], None, chosen.take(order))


def check_rows(n: object, least: int = 1) -> int:
    """Return a number of rows; raise unless it is a whole number of at least `least`."""
    return check_whole("n", n, least)
