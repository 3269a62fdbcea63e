"""Finite populations of predictions, outcomes and a judge's answers, and rows of which few have an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random

ATOMS = 100


@dataclass(frozen=True, eq=False)
class Population:
    """Predictions with shares and chances of outcome 1, and the answers of a judge.

    `value`, `share` and `chance` have shape (K,). `answer`, shape (K, 2, L), holds the chance of each of the L `levels`
    given prediction and outcome; `levels` has shape (K, L).
    """

    value: np.ndarray
    share: np.ndarray
    chance: np.ndarray
    answer: np.ndarray
    levels: np.ndarray

    @cached_property
    def _law(self) -> np.ndarray:
        of_outcome = np.stack([1 - self.chance, self.chance], axis=1) * self.share[:, None]
        return np.cumsum((of_outcome[:, :, None] * self.answer).ravel())

    def sample(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return outcomes, predictions and answers of so many rows."""
        kind = np.searchsorted(self._law, random.random(n) * self._law[-1], side="right")
        atom, rest = np.divmod(kind, 2 * self.levels.shape[1])
        outcome, level = np.divmod(rest, self.levels.shape[1])
        return outcome.astype(np.float64), self.value[atom], self.levels[atom, level]

    def truth(self, measure: str, other: Callable[[np.ndarray], np.ndarray] = np.asarray) -> float:
        """Return the population value of a measure, of these predictions or of others that are a function of them."""
        value = other(self.value)
        order = np.argsort(value)
        v, w, c = value[order], self.share[order], self.chance[order]
        return float(cs.estimate(cs.Sample.from_counts(v, w, w * c), measure=measure))


def logit(p: np.ndarray) -> np.ndarray:
    """Return the log-odds."""
    return np.asarray(np.log(p) - np.log1p(-p))


def expit(x: np.ndarray) -> np.ndarray:
    """Return the probability of these log-odds."""
    return np.asarray(1 / (1 + np.exp(-x)))


UNIFORM = (np.arange(ATOMS) + 0.5) / ATOMS
SHARP = np.sin(np.pi / 2 * UNIFORM) ** 2
RARE = 0.16 * UNIFORM
FIVE = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
MODELS: Mapping[str, tuple[np.ndarray, np.ndarray]] = {
    "calibrated": (UNIFORM, UNIFORM),
    "temperature 1.5": (UNIFORM, expit(logit(UNIFORM) / 1.5)),
    "shift .4": (UNIFORM, expit(logit(UNIFORM) - 0.4)),
    "sharp, temperature 1.5": (SHARP, expit(logit(SHARP) / 1.5)),
    "wave": (UNIFORM, UNIFORM + 0.15 * UNIFORM * (1 - UNIFORM) * 4 * np.sin(4 * np.pi * UNIFORM)),
    "rare, half of it": (RARE, RARE / 2 + 0.03),
    "five predictions": (FIVE, np.array([0.2, 0.25, 0.5, 0.8, 0.85])),
    "log-odds times 3": (expit(3 * logit(UNIFORM)), UNIFORM),
}
OTHERS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {  # predictions of another model of the same rows
    "sharper": lambda value: expit(1.5 * logit(value)),
    "lower": lambda value: expit(logit(value) - 0.8),
    "nearly the same": lambda value: 0.02 + 0.96 * value,
}


def right_with(hit: Any, pass_over: Any = None) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return a judge of answers 0 and 1 that is right with chance `hit` of outcome 1, and `pass_over` of outcome 0."""

    def answers(value: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        of_1 = np.broadcast_to(hit(value) if callable(hit) else hit, value.shape)
        of_0 = of_1 if pass_over is None else np.broadcast_to(pass_over, value.shape)
        answer = np.stack([np.stack([of_0, 1 - of_0], axis=1), np.stack([1 - of_1, of_1], axis=1)], axis=1)
        return answer, np.tile([0.0, 1.0], (value.size, 1))

    return answers


def one_answer(of: Callable[[np.ndarray], np.ndarray]) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Return a judge whose answer depends on the prediction alone."""

    def answers(value: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((value.size, 2, 1)), of(value)[:, None]

    return answers


def five_levels(value: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a judge that says one of five confidences, too sure of them."""
    of_1 = np.array([0.05, 0.1, 0.15, 0.25, 0.45])
    answer = np.tile(np.stack([of_1[::-1], of_1]), (value.size, 1, 1))
    return answer, np.tile([0.01, 0.2, 0.5, 0.8, 0.99], (value.size, 1))


def mixed(value: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a judge that moves the prediction towards the outcome, by .3 and with an error of .2."""
    levels = np.stack([np.clip(value + d, 0, 1) for d in (-0.5, -0.1, 0.1, 0.5)], axis=1)
    answer = np.tile([[0.35, 0.35, 0.15, 0.15], [0.15, 0.15, 0.35, 0.35]], (value.size, 1, 1))
    return answer, levels


JUDGES: Mapping[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "constant": one_answer(lambda value: np.full(value.size, 0.5)),
    "echo": one_answer(lambda value: value),
    "right 90 %": right_with(0.9),
    "right 98 %": right_with(0.98),
    "perfect": right_with(1.0),
    "adversarial": right_with(0.0),
    "coin below .5": right_with(lambda value: np.where(value < 0.5, 0.5, 0.95)),
    "reversed below .5": right_with(lambda value: np.where(value < 0.5, 0.05, 0.95)),
    "fails unseen": right_with(1.0, 0.985),
    "five confidences": five_levels,
    "moves the prediction": mixed,
}
USELESS = "constant", "echo"


def population(model: str, judge: str) -> Population:
    """Return the population of a model and a judge."""
    value, chance = MODELS[model]
    return Population(value, np.full(value.size, 1 / value.size), chance, *JUDGES[judge](value, chance))


def random_population(random: Random) -> Population:
    """Return a population of 1 to 60 predictions, a random curve, and a judge with random chances of its answers."""
    atoms, levels = int(np.exp(random.uniform(0, np.log(60)))), int(random.integers(2, 6))
    kind = random.integers(4)
    a, b = np.exp(random.uniform(-1.5, 1.5, 2))
    value = np.unique(np.round(random.beta(a, b, atoms), 4))
    if kind == 1:
        value = np.unique(np.append(value, random.choice([0.0, 1.0])))
    share = random.dirichlet(np.full(value.size, np.exp(random.uniform(-1, 2))))
    wrong = random.choice([0.0, 0.03, 0.1, 0.3]) * random.standard_normal(value.size)
    wrong = wrong if random.random() < 0.5 else np.abs(wrong) * random.choice([-1, 1])
    chance = np.clip(value + wrong * (random.random(value.size) < random.uniform(0.1, 1)), 0, 1)
    sharpness = np.exp(random.uniform(-2.5, 1.5))
    answer = random.dirichlet(np.full(levels, sharpness), (value.size if random.random() < 0.5 else 1, 2))
    answer = np.broadcast_to(answer, (value.size, 2, levels))
    if random.random() < 0.4:  # nearly perfect, and wrong in one direction where nobody may see it
        miss = np.exp(random.uniform(np.log(0.002), np.log(0.1)))
        answer = np.zeros((value.size, 2, levels))
        answer[:, :, 0], answer[:, :, -1] = [1 - miss, 0], [miss, 1]
    grid = np.sort(random.random((value.size, levels)), axis=1)
    grid = np.tile(np.linspace(0, 1, levels), (value.size, 1)) if random.random() < 0.5 else grid
    return Population(value, share, chance, answer, grid)


def few_labels(outcome: np.ndarray, labels: int, random: Random) -> np.ndarray:
    """Return the outcomes of a random subset, nan elsewhere."""
    kept = np.full(outcome.size, np.nan)
    chosen = random.permutation(outcome.size)[:labels]
    kept[chosen] = outcome[chosen]
    return kept
