"""Errors of predictions that all have one direction, errors that have both, and the power of tests against them.

Predictions are drawn once and fixed, and all data sets of an error share the draws of the null distribution. The size
of an error is found by halving on data sets of its own: the best of all tests, of one side and of two, has a power of
about .8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibstat import Sample
from calibstat.data.checked_rows import Data
from calibstat.data.words.side import Side
from calibstat.generators.simulator import drawing
from calibstat.inference.problems.pose import OfOneSide, problem_of
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Labels, Stream, key_of
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row

from .kinds_of_predictions import PREDICTIONS, log_odds_of, logistic
from .laws_of_one_side import MEASURES
from .tests_on_offer import ByMeasure, Drawing

LEVEL = 0.05
TARGET = 0.8
HALVINGS = 8
SEARCHED = 300  # data sets of each step of the search for the size
ONE, TWO = "one side", "two sides"
TWO_SIDED = ("omnibus", "mean", "ks", "ece")

Shape = Callable[[np.ndarray, float], np.ndarray]


class Error(NamedTuple):
    """A side that is asked about, a kind of predictions and their number, and the true probabilities by the size."""

    side: Side
    predictions: str
    n: int
    largest: float
    shape: Shape


def moved(where: Callable[[np.ndarray], np.ndarray]) -> Shape:
    """Return log-odds that are moved by so much of the size."""
    return lambda v, size: logistic(log_odds_of(v) + size * where(v))


def rank(v: np.ndarray) -> np.ndarray:
    """Return the ranks of ascending predictions, from 0 to 1."""
    return (np.arange(v.size) + 0.5) / v.size


def between(v: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return 1 for predictions in a range, else 0."""
    return ((v > low - 1e-9) & (v < high + 1e-9)).astype(np.float64)


def slope_beyond(v: np.ndarray, start: float, size: float, above: bool) -> np.ndarray:
    """Return probabilities whose log-odds lie closer to a start, by a share, on one side of it."""
    odds, zero = log_odds_of(v), float(log_odds_of(np.array(start)))
    return np.where((v > start) == above, logistic(zero + (1 - size) * (odds - zero)), v)


DIRECTED: Mapping[str, Error] = {
    "all log-odds": Error("over", "logit-normal", 500, 2, moved(lambda v: -np.ones_like(v))),
    "all log-odds, rare": Error("under", "rare, 3 %", 1000, 2, moved(lambda v: np.ones_like(v))),
    "top fifth": Error("over", "logit-normal", 500, 4, moved(lambda v: -1.0 * (rank(v) > 0.8))),
    "a bump about 0.6": Error("over", "uniform", 1000, 4, moved(lambda v: -np.exp(-(((v - 0.6) / 0.12) ** 2) / 2))),
    "flat slope above 0.6": Error(
        "over", "confidences from 0.5 to 1", 600, 1, lambda v, size: slope_beyond(v, 0.6, size, True)
    ),
    "flat slope below 0.3": Error("under", "Beta(0.6, 1.5)", 800, 1, lambda v, size: slope_beyond(v, 0.3, size, False)),
    "a power of the prediction": Error("over", "uniform", 1000, 1, lambda v, size: v ** (1 + size)),
    "a root of the prediction": Error("under", "two groups of scores", 600, 3, lambda v, size: v ** (1 / (1 + size))),
    "one grade of five": Error(
        "under", "five grades", 2000, 5, lambda v, size: v * (1 + size * between(v, 0.03, 0.03))
    ),
    "two grades of six": Error("under", "six grades", 1500, 3, lambda v, size: v * (1 + size * between(v, 0.04, 0.08))),
    "4 % of rows about 0.8": Error(
        "over", "logit-normal", 1000, 8, moved(lambda v: -1.0 * ((rank(v) > 0.6) & (rank(v) < 0.64)))
    ),
    "every tenth row": Error("over", "uniform", 1000, 9, moved(lambda v: -1.0 * (np.arange(v.size) % 10 == 0))),
    "rare, by a factor": Error("under", "rare, 3 %", 1500, 3, lambda v, size: np.minimum(v * (1 + size), 1)),
    "rare, top twentieth": Error(
        "under", "rare, 3 %", 2000, 6, lambda v, size: np.minimum(v * (1 + size * (rank(v) > 0.95)), 1)
    ),
    "a hole from 0.4 to 0.5": Error("over", "uniform", 1000, 8, moved(lambda v: -between(v, 0.4, 0.5))),
    "confidence 0.95 alone": Error(
        "over", "confidences in steps of 5 %", 800, 1, lambda v, size: v - size * between(v, 0.95, 0.95)
    ),
    "confidences drawn to 0.5": Error(
        "over", "confidences in steps of 5 %", 300, 1, lambda v, size: np.where(v < 1, v - size * (v - 0.5), v)
    ),
    "every fourth of 20 ranges": Error(
        "over", "uniform", 2000, 4, moved(lambda v: -1.0 * ((20 * v).astype(np.int64) % 4 == 1))
    ),
    "lowest tenth, near both ends": Error(
        "under", "Beta(0.3, 0.3)", 500, 1, lambda v, size: np.minimum(v + size * (rank(v) < 0.1), 1)
    ),
    "most in the middle": Error("under", "logit-normal", 400, 1, lambda v, size: v + size * v * (1 - v)),
}
BOTH: Mapping[str, Error] = {
    "too far apart": Error("over", "logit-normal", 500, 1, lambda v, size: logistic((1 - size) * log_odds_of(v))),
    "too close together": Error("under", "uniform", 800, 3, lambda v, size: logistic((1 + size) * log_odds_of(v))),
    "halves, lower too high": Error("over", "uniform", 1000, 3, moved(lambda v: np.sign(v - 0.5))),
    "one wave": Error("over", "Beta(0.6, 1.5)", 1000, 4, moved(lambda v: np.sin(2 * np.pi * rank(v)))),
    "three waves": Error("under", "uniform", 1500, 4, moved(lambda v: np.sin(6 * np.pi * rank(v)))),
    "grades, two up and two down": Error(
        "under", "six grades", 2000, 1,
        lambda v, size: v * (1 + size * between(v, 0.02, 0.04) - size / 2 * between(v, 0.08, 0.16)),
    ),
}  # fmt: skip
ERRORS = {**DIRECTED, **BOTH}


class ByOneSide(ByMeasure):
    """The test of one side by a measure; the options are the side."""

    def statistics(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the statistic of every data set."""
        problem = problem_of(Data(self.drawing.sample), find_measure(self.measure, {}))
        posed, _ = OfOneSide(self.options["side"]).in_order(problem)
        return posed.resampler(Labels(truth), Stream.LABELS)(draws)


@dataclass(frozen=True)
class Found:
    """Asks how often tests find an error: so many draws of the null distribution, and so many data sets."""

    name: str
    n_null: int
    n_sets: int
    seed: int

    def draws(self, use: int, n: int) -> Draws:
        """Return the draws of one use of random numbers."""
        return Draws(key_of(np.random.SeedSequence([self.seed, list(ERRORS).index(self.name), use])), n)

    def rows(self) -> list[Row]:
        """Return a row for each test."""
        return list(self._rows())

    def _rows(self) -> Iterator[Row]:
        side, predictions, n, largest, shape = ERRORS[self.name]
        _, random = drawing(n, np.random.SeedSequence([self.seed, list(ERRORS).index(self.name)]))
        v = np.sort(PREDICTIONS[predictions](n, random))
        data = Drawing(Sample.from_rows(np.zeros(n, np.int64), v), self.draws(1, self.n_null))
        tests: dict[tuple[str, str], ByMeasure] = {
            (ONE, each): ByOneSide(data, each, {"side": side}) for each in MEASURES
        }
        tests |= {(TWO, each): ByMeasure(data, each, {}) for each in TWO_SIDED}
        size = half_of(lambda size: self.best(tests.values(), truth(v, shape(v, size))), largest)
        chance, fresh = truth(v, shape(v, size)), self.draws(3, self.n_sets)
        for (method, measure), test in tests.items():
            found = test.pvalues(chance, fresh) <= LEVEL
            yield {
                "question": "power" if self.name in DIRECTED else "power, both directions",
                "generator": f"{self.name}; {predictions}",
                "n": n,
                "side": side,
                "measure": measure,
                "method": method,
                "level": LEVEL,
                "replicates": self.n_sets,
                "amplitude": size,
            } | rate_of("rejections", found)

    def best(self, tests: Iterable[ByMeasure], chance: np.ndarray) -> float:
        """Return the largest power of some tests, on data sets that are not used again."""
        draws = self.draws(2, SEARCHED)
        return max(float((test.pvalues(chance, draws) <= LEVEL).mean()) for test in tests)


def truth(v: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the mean probability of outcome 1 at each distinct prediction, of ascending predictions."""
    _, place, count = np.unique(v, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, chance) / count)


def half_of(best: Callable[[float], float], largest: float) -> float:
    """Return the size at which the best test has about the power aimed at."""
    low, high = 0.0, largest
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if best(middle) >= TARGET else (middle, high)
    return high
