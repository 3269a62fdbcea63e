"""Errors and comparisons of rows in clusters by the functions of the package: norms, squares, and scores with folds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

import calibstat as cs
from calibstat import generators
from calibstat.generators.distributions import Random
from calibstat.generators.row_clusters import shared_uniform

ROWS_OF = {12: 33, 30: 20, 60: 10, 200: 5}  # rows of a cluster, by the number of clusters
ALIKE = (0.0, 0.36, 1.0)  # shares of clusters in which one uniform number decides all outcomes
MEASURES = ("ece", "ks", "kernel_ce")
WORDS = ("observed", "clusters")
MODELS = {
    "calibrated": generators.calibrated(),
    "shift .5": generators.shift(0.5),
    "temperature 1.5": generators.temperature(1.5),
}
OFF = 0.3  # by which the log-odds of two models are shifted in opposite directions: their errors are equal
FOLDS, FRESH, FEATURES = 5, 4000, 6


def ends_of_norms(random: Random, model: str, groups: int, alike: float) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the ends of the intervals of one data set, by measure and by what is supposed of absent clusters."""
    rows = MODELS[model].sample(groups * ROWS_OF[groups], random, clusters=groups, share=alike)
    found = {}
    seed = int(random.integers(2**31))
    for measure in MEASURES:
        for word in WORDS:
            clusters = cs.Clusters(rows.arguments["cluster"], unseen=word)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that there are few clusters, which is what is asked
                interval = cs.confidence_interval(
                    rows.y, rows.p, measure=measure, cluster=clusters, n_resamples=199, rng=seed
                )
            found[measure, word] = interval.low, interval.high
    return found


def ends_of_squares(random: Random, groups: int, alike: float) -> dict[str, tuple[float, float]]:
    """Return the ends of differences of the squared kernel errors of two models whose errors are equal.

    Chances are uniform, and one model is off upwards as the other one is downwards.
    """
    unit = np.repeat(np.arange(groups), ROWS_OF[groups])
    chance = random.random(unit.size)
    y = (shared_uniform(random, unit, random.random(groups) < alike) < chance).astype(np.int64)
    models = {"up": expit(logit(chance) + OFF), "down": expit(logit(chance) - OFF)}
    found = {}
    for word in WORDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            compared = cs.compare(y, models, cluster=cs.Clusters(unit, unseen=word), rng=0)
        found[word] = float(compared.low[0]), float(compared.high[0])
    return found


@dataclass(frozen=True)
class Ridge:
    """A logistic fit with a quadratic penalty, of the first features."""

    penalty: float
    features: int

    def fit(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the coefficients, the intercept first, by Newton's steps."""
        design = np.column_stack([np.ones(len(x)), x[:, : self.features]])
        penalty = np.diag([1e-3] + [self.penalty] * self.features)
        found = np.zeros(self.features + 1)
        for _ in range(12):
            chance = expit(design @ found)
            slope = design.T @ (y - chance) - penalty @ found
            found += np.linalg.solve((design * (chance * (1 - chance))[:, None]).T @ design + penalty, slope)
        return found

    def predict(self, found: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the chances at these features."""
        return np.asarray(expit(found[0] + x[:, : self.features] @ found[1:]))


PAIR = {"all features": Ridge(1.0, FEATURES), "two features, penalised": Ridge(10.0, 2)}


def drawn(random: Random, groups: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features, chances and uniform numbers of rows in clusters that share a part of the first three features."""
    unit = np.repeat(np.arange(groups), rows)
    x = random.standard_normal((unit.size, FEATURES))
    x[:, :3] = 0.8 * x[:, :3] + 0.6 * random.standard_normal((groups, 3))[unit]
    slope = np.array([0.8, 0.5, 0.2, 0.2, 0.1, 0.0])
    own = 0.5 * random.standard_normal(groups)[unit]  # of the cluster, which no model knows
    return x, expit(-1.0 + x @ slope + own), unit


def ends_of_folds(random: Random, groups: int, repeats: int) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the ends of a difference of Brier scores out of folds, Student's of its clusters, and the true value."""
    x, chance, unit = drawn(random, groups, ROWS_OF[groups])
    y = (random.random(unit.size) < chance).astype(np.int64)
    fresh, true, _ = drawn(random, FRESH, 1)
    folds = np.stack([random.permutation(np.arange(groups) % FOLDS)[unit] for _ in range(repeats)], axis=1)
    models = {name: np.empty((unit.size, repeats)) for name in PAIR}
    scores = dict.fromkeys(PAIR, 0.0)
    for name, learner in PAIR.items():
        for r in range(repeats):
            for k in range(FOLDS):
                left = folds[:, r] == k
                found = learner.fit(x[~left], y[~left])
                models[name][left, r] = learner.predict(found, x[left])
                value = learner.predict(found, fresh)
                scores[name] += float((value**2 - 2 * value * true).mean()) / (FOLDS * repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        given = (y, models) if repeats > 1 else (y, {name: value[:, 0] for name, value in models.items()})
        compared = cs.compare(*given, measure="brier", folds=folds if repeats > 1 else folds[:, 0], cluster=unit, rng=0)
    one, other = (scores[name] for name in PAIR)
    each = np.subtract(*(((value - y[:, None]) ** 2).mean(axis=1) for value in models.values()))
    return (float(compared.low[0]), float(compared.high[0])), student(np.bincount(unit, each), unit), one - other


def student(total: np.ndarray, unit: np.ndarray) -> tuple[float, float]:
    """Return Student's interval of a mean over clusters, taken as if no row had helped to predict another one."""
    from .kept_means import width_of_t

    size = np.bincount(unit).astype(np.float64)
    mean, half = float(total.sum() / size.sum()), float(width_of_t(total[None], size)[0] / 2)
    return mean - half, mean + half
