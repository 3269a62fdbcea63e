"""Random limits of cross-validation as n grows: learners that see errors with noise, and how often upper ends miss.

The models of the folds correct what the other folds show of a starting model's errors `start`; what they leave is mu,
to which `off` is added, an error that they do not see. K folds have independent noise each, and the ends see the mean.
A data set is one draw of normal vectors, so that a search of limits costs a thousandth of one of populations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibstat.generators.distributions import Random

from .ends_in_the_limit import Ends, place_of_quantile

FOLDS = 2, 5, 10
MOST_CELLS = 15
PART = 1000  # data sets that are drawn at a time
NEARLY = 0.97  # times the quantile of the noise, below which no quantile about another centre lies (Anderson)
Arrays = dict[str, np.ndarray]
Correct = Callable[[np.ndarray, np.ndarray, Arrays], np.ndarray]  # of what is seen, given spreads and parameters


@dataclass(frozen=True, eq=False)
class Limit:
    """A starting model's errors in cells, and a learner that corrects them.

    Attributes
    ----------
    learner : str
        A key of `LEARNERS`.
    folds : int
        K.
    parts : dict
        Arrays over the cells: `gap` between predictions, log `spread` of the noise, errors `start` and `off` in units
        of it, and the parameters of the learner.
    """

    learner: str
    folds: int
    parts: Arrays

    @property
    def spread(self) -> np.ndarray:
        """The standard deviations of the noise."""
        return np.exp(self.parts["spread"])

    def ends(self, measure: str) -> Ends:
        """Return the upper ends by a measure."""
        return Ends(measure, np.cumsum(np.abs(self.parts["gap"])), self.spread)

    def draws(self, random: Random, data_sets: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the errors of the models and what is seen, some data sets at a time."""
        spread, folds = self.spread, self.folds
        start, off = self.parts["start"] * spread, self.parts["off"] * spread
        correct = LEARNERS[self.learner]
        for begin in range(0, data_sets, PART):
            shape = min(PART, data_sets - begin), folds, spread.size
            noise = np.sqrt(folds) * spread * random.normal(size=shape)
            mean = noise.mean(axis=1, keepdims=True)
            others = (folds * mean - noise) / (folds - 1)
            error = off + start - correct(start + others, spread, self.parts).mean(axis=1)
            yield error, error + mean[:, 0]


@dataclass
class Misses:
    """Of so many data sets, those in which the error lies above an end."""

    data_sets: int = 0
    as_is: int = 0
    mirror: int = 0
    triangle: int = 0

    def add(self, random: Random, limit: Limit, measure: str, data_sets: int, inner: int) -> Misses:
        """Draw more data sets; quantiles are those of `inner` draws of the noise."""
        ends = limit.ends(measure)
        noise = ends.spread * random.normal(size=(inner, ends.spread.size))
        place = place_of_quantile(inner)
        sizes = np.sort(ends.norm(noise))
        median, reach = sizes[inner // 2], sizes[place]
        for error, seen in limit.draws(random, data_sets):
            true = ends.norm(error)
            self.data_sets += true.size
            suspect = true > median  # below which no honest end lies
            true, seen = true[suspect], seen[suspect]
            above = true > ends.as_is(seen)
            self.as_is += int(above.sum())
            self.triangle += int((above & (true > ends.norm(seen) + reach)).sum())
            above &= true > NEARLY * reach
            for one, most in zip(seen[above], true[above], strict=True):
                self.mirror += int(np.count_nonzero(ends.norm(one + noise) < most) > place)
        return self


def linear(matrix: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return a matrix times what is seen."""
    return seen @ matrix.T


def fit(spread: np.ndarray, features: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return the matrix of weighted least squares on features, with a ridge penalty of each coefficient."""
    weighted = features.T / spread**2
    tiny = 1e-9 * np.trace(weighted @ features) * np.eye(features.shape[1])
    return features @ np.linalg.solve(weighted @ features + np.diag(penalty) + tiny, weighted)


def scaled(spread: np.ndarray, parts: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Return the features, in units of the noise, and the penalties, of which a half are none."""
    return spread[:, None] * parts["features"], np.maximum(parts["penalty"], 0) * parts["features"].shape[0]


def efficient(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by a weighted fit, penalised or not: what maximum likelihood and its penalised forms do."""
    return linear(fit(spread, *scaled(spread, parts)), seen)


def cell_means(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct all that is seen, as histogram maps do."""
    return seen


def isotonic(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by the monotone curve nearest to what is seen, which is near one with jumps and flat parts.

    Rows of a cell are in proportion to the variance of their sum. The curve at a cell is the largest over beginnings of
    the smallest over ends of the means between them.
    """
    weight = spread**2
    level = 8 * np.cumsum(np.abs(parts["jump"])) / spread.min() * weight  # a jump is far beyond the noise, or nothing
    total = seen + level
    sums = np.concatenate([np.zeros((*total.shape[:-1], 1)), np.cumsum(total, axis=-1)], axis=-1)
    weights = np.append(0, np.cumsum(weight))
    m = weight.size
    pooled = np.full(total.shape, -np.inf)
    for begin in range(m):
        means = (sums[..., begin + 1 :] - sums[..., begin : begin + 1]) / (weights[begin + 1 :] - weights[begin])
        least = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]  # over ends at or after a cell
        pooled[..., begin:] = np.maximum(pooled[..., begin:], least)
    return pooled * weight - level


def shrunk(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct each cell by what it shows less a threshold, as the lasso does."""
    return np.sign(seen) * np.maximum(np.abs(seen) - np.abs(parts["threshold"]) * spread, 0)


def instruments(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by a consistent fit that is not efficient, such as least squares with wrong weights: a projection."""
    features = spread[:, None] * parts["features"]
    used = (parts["instruments"] / spread[:, None]).T
    return linear(features @ np.linalg.pinv(used @ features, rcond=1e-3) @ used, seen)


def stages(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by one efficient fit and what it leaves by another, as stacked models do."""
    first = fit(spread, *scaled(spread, parts))
    second = fit(spread, spread[:, None] * parts["instruments"], np.maximum(parts["penalty"], 0))
    return linear(first + second - second @ first, seen)


def over_corrected(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by one to two times an efficient fit."""
    return (1 + np.abs(np.sin(parts["factor"][0]))) * efficient(seen, spread, parts)


def any_matrix(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by any linear map."""
    return linear(spread[:, None] * parts["matrix"] / spread, seen)


def cells_that_stand_out(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct a cell only where it stands out."""
    return np.where(np.abs(seen) > np.abs(parts["threshold"]) * spread, seen, 0)


def if_it_stands_out(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by an efficient fit only where it is significant."""
    fitted = efficient(seen, spread, parts)
    found = ((seen * fitted / spread**2).sum(axis=-1, keepdims=True)) > 4 * np.abs(parts["threshold"][0])
    return np.where(found, fitted, 0)


def rounded(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct to a grid."""
    step = (0.1 + 4 * np.abs(parts["threshold"])) * spread
    return step * np.round(seen / step)


def signs(seen: np.ndarray, spread: np.ndarray, parts: Arrays) -> np.ndarray:
    """Correct by one of two amounts, which the sign of what is seen chooses."""
    return np.abs(parts["threshold"]) * spread * np.sign(seen)


LEARNERS: dict[str, Correct] = {
    "efficient or penalised fit": efficient,
    "cell means": cell_means,
    "isotonic": isotonic,
    "lasso": shrunk,
    "inefficient fit": instruments,
    "two stages": stages,
    "over-corrected fit": over_corrected,
    "any linear map": any_matrix,
    "cells that stand out": cells_that_stand_out,
    "fit if it stands out": if_it_stands_out,
    "rounded": rounded,
    "signs": signs,
}
SMOOTH = tuple(LEARNERS)[:4]  # whose fits the mirror is for


def random_limit(random: Random, learner: str) -> Limit:
    """Draw a limit with this learner."""
    cells = int(random.integers(1, MOST_CELLS + 1))
    rank = int(random.integers(1, cells + 1))
    size = float(random.choice([0.0, 0.5, 2.0, 6.0]))
    off = float(random.choice([0.0, 0.0, 0.5, 2.0, 6.0]))
    features = random.normal(size=(cells, rank)) * np.exp(random.normal(0, random.choice([0, 1.5]), (cells, 1)))
    parts = {
        "gap": random.dirichlet(np.ones(cells + 1))[:cells],
        "spread": random.normal(0, random.choice([0.0, 0.5, 1.5]), cells),
        "start": size * random.normal(size=cells),
        "off": off * random.normal(size=cells) * (random.random(cells) < random.choice([0.3, 1.0])),
        "features": features,
        "penalty": np.exp(random.uniform(-4, 2, rank)) * (random.random(rank) < random.choice([0.0, 0.5, 1.0])),
        "instruments": features + random.choice([0.3, 1.0, 3.0]) * random.normal(size=(cells, rank)),
        "factor": random.uniform(0, np.pi / 2, 1),
        "matrix": random.choice([0.3, 1.0, 2.0]) * random.normal(size=(cells, cells)) / np.sqrt(cells),
        "threshold": random.uniform(0, random.choice([1.0, 3.0]), 1) + random.choice([0, 0.5]) * random.random(cells),
        "jump": random.random(cells) * (random.random(cells) < random.choice([0.0, 0.3, 1.0])),
    }
    if random.random() < 0.5:
        parts["matrix"] = parts["matrix"] + np.eye(cells)
    return Limit(learner, int(random.choice(FOLDS)), parts)


def changed(random: Random, limit: Limit) -> Limit:
    """Change a limit a little."""
    size = float(np.exp(random.uniform(-4, -0.5)))
    parts = {}
    for name, part in limit.parts.items():
        moved = part * np.exp(size * random.normal(size=part.shape))
        if name in ("start", "off", "features", "instruments", "matrix", "factor") and random.random() < 0.7:
            moved = moved + size * random.normal(size=part.shape)
        parts[name] = moved + size * random.normal(size=part.shape) if name == "spread" else moved
    return replace(limit, parts=parts)


@dataclass(frozen=True)
class Effort:
    """How many limits are tried, with how many data sets, and how many of the worst are asked again."""

    first: int
    rounds: int
    keep: int
    children: int
    data_sets: int
    inner: int
    worst: int
    again: int
    inner_again: int


def worst_limits(random: Random, learner: str, measure: str, effort: Effort) -> tuple[int, list[tuple[Limit, Misses]]]:
    """Search the limits in which the mirror misses most often, and return how many were tried and the worst again."""
    tried = 0
    pool: list[tuple[int, int, Limit]] = []

    def ask(limit: Limit) -> None:
        nonlocal tried
        tried += 1
        found = Misses().add(random, limit, measure, effort.data_sets, effort.inner)
        pool.append((-found.mirror, tried, limit))

    for _ in range(effort.first):
        ask(random_limit(random, learner))
    for _ in range(effort.rounds):
        pool = sorted(pool, key=lambda entry: entry[:2])[: effort.keep]
        for _, _, limit in list(pool):
            for _ in range(effort.children):
                ask(changed(random, limit))
    chosen = [limit for _, _, limit in sorted(pool, key=lambda entry: entry[:2])[: effort.worst]]
    return tried, [(limit, Misses().add(random, limit, measure, effort.again, effort.inner_again)) for limit in chosen]
