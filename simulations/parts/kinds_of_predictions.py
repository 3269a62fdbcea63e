"""Kinds of predictions that studies of one side draw: with and without ties, rare, of grades, and of exact 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from calibstat.generators.distributions import Random


def logistic(log_odds: np.ndarray) -> np.ndarray:
    """Return probabilities."""
    from scipy.special import expit

    return np.asarray(expit(log_odds))


def log_odds_of(probability: np.ndarray) -> np.ndarray:
    """Return log-odds, infinite of 0 and of 1."""
    from scipy.special import logit

    return np.asarray(logit(probability))


def in_steps(n: int, random: Random) -> np.ndarray:
    """Return confidences from .5 to 1 in steps of .05, as language models state them."""
    return np.round(20 * (0.5 + 0.5 * random.beta(3, 1, n))) / 20


def with_ends(n: int, random: Random) -> np.ndarray:
    """Return predictions of which some are 0 and some are 1."""
    kind = random.random(n)
    return np.where(kind < 0.15, 0.0, np.where(kind > 0.8, 1.0, random.beta(2, 2, n)))


PREDICTIONS: Mapping[str, Callable[[int, Random], np.ndarray]] = {
    "logit-normal": lambda n, random: logistic(random.normal(0.5, 1.5, n)),
    "Beta(0.3, 0.3)": lambda n, random: random.beta(0.3, 0.3, n),
    "U of seven scores": lambda n, random: random.choice(
        [0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99], n, p=[0.25, 0.15, 0.08, 0.04, 0.08, 0.15, 0.25]
    ),
    "five grades": lambda n, random: random.choice([0.002, 0.01, 0.03, 0.08, 0.25], n, p=[0.2, 0.3, 0.25, 0.15, 0.1]),
    "confidences in steps of 5 %": in_steps,
    "rare, 1 %": lambda n, random: random.beta(0.5, 49.5, n),
    "some 0 and 1": with_ends,
    "all 0.3": lambda n, random: np.full(n, 0.3),
    "uniform": lambda n, random: random.random(n),
    "rare, 3 %": lambda n, random: random.beta(0.8, 25.87, n),
    "six grades": lambda n, random: random.choice(
        [0.01, 0.02, 0.04, 0.08, 0.16, 0.32], n, p=[0.1, 0.2, 0.25, 0.2, 0.15, 0.1]
    ),
    "two groups of scores": lambda n, random: logistic(random.choice([-1.5, 1.2], n) + random.normal(0, 0.4, n)),
    "Beta(0.6, 1.5)": lambda n, random: random.beta(0.6, 1.5, n),
    "confidences from 0.5 to 1": lambda n, random: 0.5 + 0.5 * random.beta(2, 1.2, n),
}
