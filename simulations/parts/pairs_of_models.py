"""Random pairs of models on rows of a few kinds, with equal squared kernel errors or not, and small changes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.generators.distributions import Random

from .populations import log_uniform
from .squares_of_kinds import PairOfKinds, PairOfOwnOutcomes

MOST_KINDS = 8
BANDWIDTHS = 0.05, 0.2, 1.0
ROWS = 20, 100_000
HALVINGS = 60


def random_rows(random: Random) -> int:
    """Draw a number of rows."""
    return round(float(log_uniform(random, *ROWS)))


def random_pair(random: Random, n: int) -> PairOfKinds:
    """Draw kinds of rows, from sure and rare to common, and predictions from right to within noise to far off.

    Rare kinds are expected in .3 to 6 rows. The second model shares the predictions of the first for some kinds, has
    them permuted, or knows the outcomes.
    """
    m = int(random.integers(1, MOST_KINDS + 1))
    probability = random.dirichlet(np.full(m, log_uniform(random, 0.2, 5)))
    rare = random.random(m) < random.choice([0, 0.3])
    rare[0] = False
    probability = np.where(rare, log_uniform(random, 0.3, 6, m) / n, probability)
    probability = probability / probability.sum()
    sort = random.integers(0, 4, m)
    chance = np.choose(
        sort, [np.zeros(m), np.ones(m), random.random(m), log_uniform(random, 1e-3, 0.5, m)]
    )  # never, always, any, rare
    chance = np.where(random.random(m) < 0.3, 1 - chance, chance)
    first, second = (_predictions(random, chance, probability * n) for _ in range(2))
    second = np.where(random.random(m) < random.choice([0, 0.4]), first, second)
    if random.random() < 0.1:
        second = random.permutation(first)
    if random.random() < 0.1:
        second = np.round(chance)
    return PairOfKinds(probability, chance, first, second, float(random.choice(BANDWIDTHS)))


def _predictions(random: Random, chance: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Draw predictions that are right, off by some standard errors or anything, or one number for all kinds."""
    error = np.sqrt(np.maximum(chance * (1 - chance), 1e-3) / np.maximum(rows, 1))
    off = log_uniform(random, 0.3, 60) * random.normal(size=chance.size) * error
    kind = random.integers(0, 4, chance.size)
    value = np.choose(kind, [chance, chance + off, random.random(chance.size), np.round(random.random(chance.size))])
    if random.random() < 0.15:
        value = np.full(chance.size, value.mean())
    return np.clip(value, 0, 1)


def changed(random: Random, pair: PairOfKinds) -> PairOfKinds:
    """Change the parts of a pair a little."""
    size = float(log_uniform(random, 0.01, 0.5))
    probability = pair.probability * np.exp(random.normal(0, size, pair.chance.size))

    def moved(part: np.ndarray) -> np.ndarray:
        inside = (part > 0) & (part < 1) & (random.random(part.size) < 0.5)
        spread = size * np.minimum(part, 1 - part)
        return np.clip(np.where(inside, part + random.normal(0, 1, part.size) * spread, part), 0, 1)

    chance, first, second = (moved(part) for part in (pair.chance, pair.first, pair.second))
    other = replace(pair, probability=probability / probability.sum(), chance=chance, first=first, second=second)
    if not isinstance(other, PairOfOwnOutcomes):
        return other
    dependence = np.clip(other.dependence + size * random.normal(size=chance.size), -1, 1)
    return replace(other, other_chance=moved(other.other_chance), dependence=dependence)


def made_equal(pair: PairOfKinds) -> PairOfKinds | None:
    """Move the predictions of the model with the larger error towards the chances until both errors are equal.

    None if both are right, or both are alike.
    """
    one, other = pair.squares()
    if min(one, other) <= 0 or np.array_equal(pair.first, pair.second):
        return None
    if one < other:
        pair = _swapped(pair)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = (low + high) / 2
        value = pair.chance + share * (pair.first - pair.chance)
        moved = replace(pair, first=value)
        low, high = (low, share) if moved.difference > 0 else (share, high)
    value = pair.chance + (low + high) / 2 * (pair.first - pair.chance)
    return replace(pair, first=value)


def _swapped(pair: PairOfKinds) -> PairOfKinds:
    """Return the models in the other order."""
    other = replace(pair, first=pair.second, second=pair.first)
    if isinstance(other, PairOfOwnOutcomes):
        return replace(other, chance=other.other_chance, other_chance=other.chance)
    return other


def random_pair_of_own_outcomes(random: Random, n: int) -> PairOfOwnOutcomes:
    """Draw kinds of rows in which a second model has outcomes of its own, sure, rare or any, or those of the first."""
    pair = random_pair(random, n)
    m = pair.chance.size
    sort = random.integers(0, 4, m)
    chance = np.choose(
        sort, [pair.chance, np.round(random.random(m)), random.random(m), log_uniform(random, 1e-3, 0.5, m)]
    )
    second = _predictions(random, chance, pair.probability * n)
    second = np.where(random.random(m) < random.choice([0, 0.4]), pair.first, second)
    dependence = np.choose(random.integers(0, 4, m), [-np.ones(m), np.zeros(m), np.ones(m), random.uniform(-1, 1, m)])
    return PairOfOwnOutcomes(
        pair.probability, pair.chance, pair.first, second, pair.bandwidth, other_chance=chance, dependence=dependence
    )
