"""The alternatives of the power study: fixed, with their distributions of predictions and rows, before the test ran.

The test that `calibration_test` makes by default was chosen on other alternatives, distributions and numbers of rows.
These were written down, and how far each is from calibrated decided by the rule of `amplitude` and the tests `OLD`,
before it was run on any of them.

Predictions v of n rows are drawn once. An alternative has a shape h over the rows, and the outcome of a row has the
log-odds logit(v) + a h. Predictions of 0 and 1 stay right. Rows that share a prediction have its mean probability.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from calibstat import Sample
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing

SEED = 20341
ROWS = (100, 1000, 5000), (60, 400, 2500)  # every alternative has both, on other distributions
DISTRIBUTIONS_OF_EACH = 3, 2

TARGET = 0.8  # power of the best of the tests below
OLD = (
    "ece", "ece, quantile", "ece, l2", "ece_debiased", "average_ce", "ks", "kuiper", "smooth_ce", "random_interval_ce",
    "mcb", "kernel_ce", "smooth_ece", "brier", "log_loss", "t_cal", "cox",
)  # fmt: skip
SEARCH_SETS = 200  # data sets of each power while an amplitude is looked for, other than those of the study
STEP = 1.5
HALVINGS = 4
LARGEST = 8.0  # amplitude: log-odds


@dataclass(frozen=True)
class Rows:
    """Fixed predictions: ascending, with their ranks in (0, 1), and their log-odds, as they are and standardised."""

    value: np.ndarray
    rank: np.ndarray
    logit: np.ndarray
    score: np.ndarray

    @classmethod
    def of(cls, value: np.ndarray) -> Rows:
        """Return the rows; equal predictions have the mean of their ranks."""
        from scipy.special import logit
        from scipy.stats import rankdata

        value = np.sort(value)
        open_ = (value > 0) & (value < 1)
        log_odds = logit(np.clip(value, value[open_].min(), value[open_].max()))
        score = (log_odds - log_odds[open_].mean()) / log_odds[open_].std()
        return cls(value, (rankdata(value) - 0.5) / value.size, log_odds, score)


Shape = Callable[[Rows, Random], np.ndarray]


def waves(number: float) -> Shape:
    """Return waves over the ranks."""
    return lambda rows, _: np.sin(2 * np.pi * number * rows.rank + 0.7)


def between(low: float, high: float) -> Shape:
    """Return a group of neighbouring rows whose outcomes are more frequent."""
    return lambda rows, _: np.where((rows.rank > low) & (rows.rank < high), 1.0, 0.0)


def random_curve(rank: np.ndarray, size: np.ndarray, random: Random) -> np.ndarray:
    """Return a sum of cosines of frequency 0, 1/2, 1, ... with normal coefficients of these sizes."""
    k = np.arange(size.size)
    return np.cos(np.pi * np.outer(rank, k)) @ (size * random.normal(size=size.size))


def uneven_blocks(rows: Rows, random: Random) -> np.ndarray:
    """Return 25 blocks of unequal widths, each too high or too low at random."""
    ends = np.sort(random.random(24))
    return np.where(random.random(25) < 0.5, -1.0, 1.0)[np.searchsorted(ends, rows.rank)]


def hidden_group(rows: Rows, random: Random, share: float, shape: np.ndarray) -> np.ndarray:
    """Return a shape on a random share of the rows."""
    return np.where(random.random(rows.rank.size) < share, shape, 0.0)


SMOOTH: Mapping[str, Shape] = {
    "tilt by rank": lambda rows, _: rows.rank - 0.5,
    "over-confident about the mean": lambda rows, _: -rows.score,
    "flat below the 30 % quantile": lambda rows, _: np.maximum(np.quantile(rows.logit, 0.3) - rows.logit, 0.0),
    "bent log-odds": lambda rows, _: rows.score**2 - 1,
    "saturated log-odds": lambda rows, _: np.tanh(1.5 * rows.score) - 0.8 * rows.score,
    "fewer events, under-confident": lambda rows, _: 0.5 * rows.score - 0.5,
    "upper end": lambda rows, _: rows.rank**6,
    "lower end": lambda rows, _: -((1 - rows.rank) ** 6),
    "outer sixths": lambda rows, _: 1.0 * (rows.rank > 5 / 6) - (rows.rank < 1 / 6),
    "bad group, 55 to 80 %": between(0.55, 0.8),
    "1.5 waves": waves(1.5),
    "hidden group of 7 %": lambda rows, random: hidden_group(rows, random, 0.07, np.ones_like(rows.rank)),
    "hidden group of 15 %, over-confident": lambda rows, random: hidden_group(rows, random, 0.15, -rows.score),
    "intercept and slope of a small fit": lambda rows, random: random.normal() + random.normal() * rows.score,
    "random smooth curve": lambda rows, random: random_curve(rows.rank, np.arange(1, 8) ** -1.5, random),
}
FINE: Mapping[str, Shape] = {
    "4 waves": waves(4),
    "8.5 waves": waves(8.5),
    "17 waves": waves(17),
    "30 waves": waves(30),
    "9 waves of the prediction": lambda rows, _: np.sin(2 * np.pi * 9 * rows.value + 0.7),
    "8 waves that fade": lambda rows, _: np.exp(-3 * rows.rank) * np.sin(2 * np.pi * 8 * rows.rank),
    "falling chirp": lambda rows, _: np.sin(2 * np.pi * 12 * (1 - rows.rank) ** 2),
    "bad group, 37 to 40 %": between(0.37, 0.4),
    "three bad groups of 2 %": lambda rows, random: (
        between(0.1, 0.12)(rows, random) - between(0.51, 0.53)(rows, random) + between(0.82, 0.84)(rows, random)
    ),
    "comb of 12": lambda rows, _: np.where(12 * rows.rank % 1 < 1 / 6, 1.0, 0.0),
    "25 uneven blocks": uneven_blocks,
    "random rough curve": lambda rows, random: random_curve(rows.rank, np.r_[0, np.arange(1, 49) ** -0.5], random),
    "every other tenth of the prediction": lambda rows, _: np.where(10 * rows.value % 1 < 0.5, 1.0, -1.0),
    "top 1.5 %": between(0.985, 1),
}
SHAPES: Mapping[str, Shape] = {**SMOOTH, **FINE}


def logistic(log_odds: np.ndarray) -> np.ndarray:
    """Return probabilities."""
    from scipy.special import expit

    return np.asarray(expit(log_odds))


DISTRIBUTIONS: Mapping[str, Callable[[int, Random], np.ndarray]] = {
    "centred": lambda n, random: random.beta(4, 4, n),
    "rare, 3 %": lambda n, random: logistic(random.normal(-4, 1.2, n)),
    "forest of 25": lambda n, random: random.binomial(25, random.beta(0.8, 0.8, n)) / 25,
    "forest of 500": lambda n, random: random.binomial(500, random.beta(1.2, 0.5, n)) / 500,
    "seven scores": lambda n, random: random.choice(
        [0.04, 0.11, 0.23, 0.42, 0.58, 0.81, 0.93], n, p=[0.25, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05]
    ),
    "three clusters": lambda n, random: logistic(random.choice([-2, 0.3, 2.2], n) + random.normal(0, 0.25, n)),
    "near 1": lambda n, random: 1 - random.beta(0.4, 6, n),
    "whole per cent": lambda n, random: np.round(random.beta(1.3, 1.3, n), 2),
}


@dataclass(frozen=True)
class Design:
    """Fixed predictions, and the names of the alternatives that are asked about on them."""

    distribution: str
    n: int
    alternatives: tuple[str, ...]

    def seed(self, use: int) -> np.random.SeedSequence:
        """Return the seed of one use of random numbers."""
        return np.random.SeedSequence([SEED, list(DISTRIBUTIONS).index(self.distribution), self.n, use])

    def rows(self) -> Rows:
        """Draw the predictions."""
        n, random = drawing(self.n, self.seed(0))
        return Rows.of(DISTRIBUTIONS[self.distribution](n, random))

    def shape(self, alternative: str, rows: Rows) -> np.ndarray:
        """Return the shape of an alternative over the rows; 0 where the prediction is 0 or 1."""
        _, random = drawing(self.n, self.seed(1 + list(SHAPES).index(alternative)))
        return np.where((rows.value > 0) & (rows.value < 1), SHAPES[alternative](rows, random), 0.0)

    def shapes(self, rows: Rows) -> dict[str, np.ndarray]:
        """Return the shapes of the alternatives; not those that change no row, as in a group between few values."""
        found = {each: self.shape(each, rows) for each in self.alternatives}
        return {each: shape for each, shape in found.items() if shape.any()}


def designs() -> list[Design]:
    """Return all designs: three distributions at random for each alternative with some n, two others with other n."""
    _, random = drawing(1, SEED)
    names = list(DISTRIBUTIONS)
    pairs = set()
    for alternative in SHAPES:
        order = random.permutation(len(names))
        first, second = DISTRIBUTIONS_OF_EACH
        for place, numbers in ((order[:first], ROWS[0]), (order[first : first + second], ROWS[1])):
            pairs |= {(names[k], n, alternative) for k in place for n in numbers}
    return [
        Design(name, n, tuple(each for each in SHAPES if (name, n, each) in pairs))
        for n in sorted(ROWS[0] + ROWS[1])
        for name in names
    ]


def truth(rows: Rows, shape: np.ndarray, amplitude: float) -> np.ndarray:
    """Return the probability of outcome 1 at each distinct prediction."""
    chance = np.where(shape == 0, rows.value, logistic(rows.logit + amplitude * shape))
    _, place, count = np.unique(rows.value, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, chance) / count)


def amplitude(best: Callable[[float], float], rows: Rows, shape: np.ndarray) -> float:
    """Return the amplitude at which the best of the old tests has about the power aimed at.

    `best` is the largest of their powers on data sets that the study does not use again. From the amplitude that is 3
    standard errors of the best estimate of it, steps by a factor, then halvings of the logarithm; the largest amplitude
    if that does not suffice.
    """
    information = float(rows.value * (1 - rows.value) @ shape**2)
    start = min(3 / np.sqrt(max(information, 1e-12)), LARGEST)
    low = high = start
    if best(start) >= TARGET:
        low = start / STEP
        while best(low) >= TARGET:
            low, high = low / STEP, low
    else:
        while high < LARGEST:
            low, high = high, min(STEP * high, LARGEST)
            if best(high) >= TARGET:
                break
        else:
            return LARGEST
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if best(middle) >= TARGET else (middle, high)
    return float(np.sqrt(low * high))


def sample_of(rows: Rows) -> Sample:
    """Return the predictions as a sample, with outcomes that nothing looks at."""
    return Sample.from_rows(np.zeros(rows.value.size, np.int64), rows.value)


def kind(alternative: str) -> str:
    """Return whether an alternative is smooth or fine."""
    return "smooth" if alternative in SMOOTH else "fine"
