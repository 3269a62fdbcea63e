"""Outcomes that are allowed by "no prediction is too high", or too low, and the tests of one side asked about them.

The laws are written down for "no prediction is too high": a row has outcome 1 with at least its predicted probability,
after whatever came before. For the other side they are applied to outcome 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.data.words.side import Side
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.study.engine import Models

from .kinds_of_predictions import PREDICTIONS, log_odds_of, logistic

MEASURES = ("omnibus", "mean", "ks", "kuiper", "ece")
SIDES: tuple[Side, Side] = ("over", "under")
RIGHT, AFTER_FAILURES = "right", "raised after failures"
FIRST = 8  # kinds of predictions whose level is asked about; the others are for power

WAYS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    RIGHT: lambda v: v,
    "all raised": lambda v: logistic(log_odds_of(v) + 0.3),
    "half raised": lambda v: np.where(np.arange(v.size) % 2 == 0, np.minimum(v + 0.1, 1), v),
    "raised most where small": lambda v: v**0.8,
}


def outcomes(v: np.ndarray, way: str, random: Random) -> np.ndarray:
    """Draw outcomes of rows that have outcome 1 with probabilities of at least v."""
    number = random.random(v.size)
    if way != AFTER_FAILURES:
        return number < WAYS[way](v)
    happened = np.zeros(v.size, bool)
    before = True
    for i, (chance, one) in enumerate(zip(v.tolist(), number.tolist(), strict=True)):
        before = one < (chance if before else (1 + chance) / 2)
        happened[i] = before
    return happened


@dataclass(frozen=True)
class Allowed:
    """Data sets of a kind of predictions, with outcomes of a law that the null hypothesis of a side allows."""

    predictions: str
    way: str
    n: int
    side: Side
    weights: bool = False
    n_resamples: int = 199
    stop_after: int | None = None
    measures: tuple[str, ...] = MEASURES

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        more = ", weights" * self.weights + f", stop_after={self.stop_after}" * (self.stop_after is not None)
        return f"{self.predictions}, {self.way}{more}"

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions and perhaps weights, which depend on the predictions alone."""
        n, random = drawing(n, rng)
        p = PREDICTIONS[self.predictions](n, random)
        over = self.side == "over"
        happened = outcomes(p if over else 1 - p, self.way, random)
        columns = {"prediction": p}
        if self.weights:
            columns["weight"] = random.exponential(size=n) * (1 + p)
        return (happened == over).astype(np.int64), columns

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-value of each measure."""
        y, columns = data
        given = {"sample_weight": columns["weight"]} if self.weights else {}
        given |= {"stop_after": self.stop_after, "n_resamples": self.n_resamples, "side": self.side, "rng": rng}
        return [cs.calibration_test(y, columns["prediction"], measure=each, **given).pvalue for each in self.measures]


def allowed(quick: bool) -> Iterator[Allowed]:
    """Return all that is asked: predictions that are right, and ones that are right or wrong in the other direction."""
    kinds = list(PREDICTIONS)[:FIRST]
    numbers = [30] if quick else [30, 100, 1000]
    for kind, n, side in product(kinds[:2] if quick else kinds, numbers, SIDES):
        yield Allowed(kind, RIGHT, n, side)
    ways = [*list(WAYS)[1:], AFTER_FAILURES]
    for k, (way, kind) in enumerate(product(ways, kinds[4:5] if quick else (kinds[0], kinds[3], kinds[4], kinds[6]))):
        yield Allowed(kind, way, 100, SIDES[k % 2])
    yield Allowed(kinds[0], RIGHT, 100, "over", weights=True)
    if not quick:
        yield Allowed(kinds[4], RIGHT, 100, "under", weights=True)
        yield Allowed(kinds[5], RIGHT, 1000, "under", weights=True)
        yield Allowed(kinds[0], AFTER_FAILURES, 100, "over", weights=True)
    yield Allowed(kinds[2], RIGHT, 100, "over", n_resamples=1999, stop_after=20)
    if not quick:
        yield Allowed(kinds[0], AFTER_FAILURES, 100, "under", n_resamples=1999, stop_after=20)
