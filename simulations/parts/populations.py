"""Random binary populations for the search for failures: few predictions, or a curve, and small changes of them.

Every number is rounded when it is made, so that a population can be written as text and made again from it exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calibstat import generators
from calibstat.generators.distributions import Random

MOST_ATOMS = 8
GRID = 200  # predictions of a curve
MASSES = 10_000  # masses are whole numbers, about so large in total
DIGITS = 5
SMALLEST = 1e-4  # predictions that are not 0 or 1 are this far from both


class Points(NamedTuple):
    """Probabilities of the predictions, chances of outcome 1 given each, and the predictions, all of shape (m,)."""

    probability: np.ndarray
    chance: np.ndarray
    prediction: np.ndarray

    @property
    def generator(self) -> generators.domain:
        """The generator of this population, which knows its true values."""
        return generators.domain(*(column.tolist() for column in self))


def rounded(values: np.ndarray) -> tuple[float, ...]:
    """Return numbers with few digits."""
    return tuple(float(f"{value:.{DIGITS}g}") for value in np.atleast_1d(values))


def log_uniform(random: Random, low: float, high: float, size: int | None = None) -> Any:
    """Draw numbers whose logarithms are uniform."""
    return np.exp(random.uniform(np.log(low), np.log(high), size))


def inner(prediction: np.ndarray) -> np.ndarray:
    """Return predictions moved away from 0 and 1."""
    return np.clip(prediction, SMALLEST, 1 - SMALLEST)


def shifted(random: Random, probability: np.ndarray, size: float) -> np.ndarray:
    """Return probabilities with normal noise added to their log-odds; 0 and 1 stay."""
    from scipy.special import expit, logit

    ends = (probability <= 0) | (probability >= 1)
    return np.where(ends, probability, expit(logit(inner(probability)) + random.normal(0, size, probability.shape)))


def noise(prediction: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return about the standard error of the observed frequency at each prediction, of so many rows."""
    rows = np.maximum(rows, 1)
    return np.sqrt(np.maximum(prediction * (1 - prediction), 1 / rows) / rows)


@dataclass(frozen=True)
class Atoms:
    """Few predictions, each with its mass and the chance of outcome 1."""

    mass: tuple[int, ...]
    chance: tuple[float, ...]
    prediction: tuple[float, ...]

    @cached_property
    def points(self) -> Points:
        """The population as arrays."""
        mass = np.array(self.mass, np.float64)
        return Points(mass / mass.sum(), np.array(self.chance), np.array(self.prediction))

    def moved(self, random: Random, n: int) -> Atoms:
        """Return a population beside this one: other masses, and errors changed by about the noise of n rows."""
        probability, chance, prediction = self.points
        mass = np.maximum(1, np.rint(np.array(self.mass) * np.exp(random.normal(0, 0.2, chance.size)))).astype(int)
        if random.random() < 0.5:
            prediction = shifted(random, prediction, 0.2)
        certain = (chance == 0) | (chance == 1)
        step = random.normal(0, 0.5, chance.size) * noise(chance, n * probability)
        chance = np.where(certain, chance, np.clip(chance + step, 0, 1))
        return Atoms(tuple(mass.tolist()), rounded(chance), rounded(prediction))

    def without_ends(self, least: float) -> Atoms:
        """Return the population without predictions of 0 and 1, and without those less probable than a least one.

        No more are kept than can each be twice as probable; those which are rarer are made so.
        """
        kept = max(1, min(len(self.mass), int(0.5 / least)))
        mass = np.array(self.mass[:kept])
        mass = np.maximum(mass, int(np.ceil(2 * least * mass.sum())))  # the sum is at most twice as large then
        return Atoms(tuple(mass.tolist()), self.chance[:kept], rounded(inner(np.array(self.prediction[:kept]))))


@dataclass(frozen=True)
class Curve:
    """Many predictions from a beta distribution; the chance follows a wave beside the diagonal.

    With ``scale`` "logit" the wave, over the share of rows with smaller predictions, is added to the log-odds; with
    "share" it is a share of the room that the prediction leaves to 0 and 1, over the predictions.
    """

    shape: tuple[float, ...]
    offset: float
    amplitude: float
    waves: float
    phase: float
    scale: str

    @cached_property
    def points(self) -> Points:
        """The population as arrays."""
        from scipy.special import betaincinv, expit, logit

        share = (np.arange(GRID) + 0.5) / GRID
        prediction = inner(betaincinv(*self.shape, share))
        if self.scale == "logit":
            wave = self.amplitude * np.sin(2 * np.pi * (self.waves * share + self.phase))
            chance = expit(logit(prediction) + self.offset + wave)
        else:
            wave = np.sin(2 * np.pi * (self.waves * prediction + self.phase))
            chance = prediction + min(self.amplitude, 1) * np.minimum(prediction, 1 - prediction) * wave
        return Points(np.full(GRID, 1 / GRID), chance, prediction)

    def moved(self, random: Random, n: int) -> Curve:
        """Return a curve beside this one."""
        factor = np.exp(random.normal(0, 0.2, 4))
        shape = rounded(np.array(self.shape) * factor[:2])
        numbers = np.array([self.offset, self.amplitude, self.phase]) * [*factor[2:], 1] + [
            0,
            0,
            random.normal(0, 0.05),
        ]
        offset, amplitude, phase = rounded(numbers)
        return Curve(shape, offset, amplitude, self.waves, phase, self.scale)


Binary = Atoms | Curve


def random_population(random: Random, n: int, least: float = 0.0) -> Binary:
    """Draw a population for data sets of n rows, all of whose predictions have at least that probability."""
    if least:
        return random_atoms(random, n).without_ends(least)
    return random_atoms(random, n) if random.random() < 0.8 else random_curve(random, n)


def random_atoms(random: Random, n: int, most: int = MOST_ATOMS) -> Atoms:
    """Draw few predictions with errors of all sizes, of which a quarter nearly tie two sums of residuals."""
    size = int(random.integers(1, most + 1))
    mass = np.maximum(1, np.rint(MASSES * random.dirichlet(np.full(size, random.choice([0.3, 1, 5])))))
    probability = mass / mass.sum()
    prediction = random_predictions(random, size)
    unit = noise(prediction, n * probability)
    kind = random.choice(5, size, p=[0.3, 0.35, 0.1, 0.15, 0.1])
    choices = [
        prediction,  # calibrated
        prediction + 2 * unit * random.normal(size=size),
        prediction + 0.2 * random.normal(size=size),
        np.rint(prediction),  # certain
        3 * prediction,  # predicted a third
    ]
    chance = np.clip(np.choose(kind, choices), 0, 1)
    if size > 1 and random.random() < 0.25:
        chance = rivals(random, n, probability, chance, prediction)
    return Atoms(tuple(mass.astype(int).tolist()), rounded(chance), rounded(prediction))


def random_predictions(random: Random, size: int) -> np.ndarray:
    """Draw predictions that are anywhere, rare, on the edges of bins, or near 0 and 1, and then perhaps 0 or 1."""
    style = random.choice(["anywhere", "rare", "edges", "ends"], p=[0.4, 0.3, 0.15, 0.15])
    if style == "rare":
        found = np.minimum(log_uniform(random, 1e-3, 0.5) * np.exp(random.normal(0, 1, size)), 0.9)
        return 1 - found if random.random() < 0.3 else found
    if style == "edges":
        return random.integers(1, 20, size) / 20
    if style == "ends":
        found = random.beta(0.2, 0.2, size)
        return np.where(random.random(size) < 0.2, np.rint(found), inner(found))
    return inner(random.random(size))


def rivals(random: Random, n: int, probability: np.ndarray, chance: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return chances with one certain group, and errors of the others that equal its error or twice that, nearly."""
    certain = int(random.integers(chance.size))
    chance = chance.copy()
    chance[certain] = np.rint(prediction[certain])
    error = probability[certain] * (chance[certain] - prediction[certain])
    others = np.arange(chance.size) != certain
    target = -random.choice([1, 2]) * error + random.choice([0, 0.5, 1, -0.5]) * 0.5 / np.sqrt(n)
    chance[others] = np.clip(prediction[others] + target / probability[others].sum(), 0, 1)
    return chance


def random_curve(random: Random, n: int) -> Curve:
    """Draw a curve whose errors are of the size of the noise of n rows, or larger."""
    shape = log_uniform(random, 0.2, 8, 2)
    scale = str(random.choice(["logit", "share"]))
    amplitude = random.choice([0, log_uniform(random, 1, 30) / np.sqrt(n), log_uniform(random, 0.05, 2)])
    offset = random.choice([0, random.normal() * 4 / np.sqrt(n), random.normal()])
    waves = random.choice([0.5, 1, 2, 3, 5, 7.5])
    offset, amplitude, waves, phase = rounded(np.array([offset, min(amplitude, 3), waves, random.random()]))
    return Curve(rounded(shape), offset, amplitude, waves, phase, scale)


def as_plain(population: Any) -> dict[str, Any]:
    """Return a population, or what else is a frozen dataclass, as numbers and texts by name."""
    return {"of": type(population).__name__} | asdict(population)


def from_plain(plain: Mapping[str, Any]) -> Binary:
    """Return the population that `as_plain` wrote."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items() if name != "of"}
    return {"Atoms": Atoms, "Curve": Curve}[plain["of"]](**fields)
