"""Learners of binary outcomes, and populations of which the chance of every row is known.

A learner takes a random generator, features and outcomes and returns a function from features to predictions. Plain
numpy, but for trees and neighbours, which are those of scikit-learn, and maps, which are those of calibstat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibstat.generators.distributions import Random
from calibstat.recalibration import HistogramBinning, IsotonicRegression, Recalibrator

Predict = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[Random, np.ndarray, np.ndarray], Predict]
EDGE = 1e-6  # predictions are at least so far from 0 and 1


def sigmoid(t: np.ndarray) -> np.ndarray:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(t, -30, 30))))


def logit(p: np.ndarray) -> np.ndarray:
    """Return log-odds."""
    return np.asarray(np.log(p) - np.log1p(-p))


# --- populations ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Population:
    """Normal features that are alike, and log-odds that are linear in them or bend.

    Attributes
    ----------
    features : int
        Their number; the first three matter most.
    constant : float
        Log-odds in the middle.
    alike : float
        Correlation of any two features.
    bend : float
        Factor of the square of the first feature less 1, in log-odds.
    """

    features: int
    constant: float = 0.0
    alike: float = 0.0
    bend: float = 0.0

    def draw(self, random: Random, n: int) -> np.ndarray:
        """Return the features of n rows."""
        own = random.normal(size=(n, self.features))
        return np.sqrt(1 - self.alike) * own + np.sqrt(self.alike) * random.normal(size=(n, 1))

    def chance(self, x: np.ndarray) -> np.ndarray:
        """Return the chance of outcome 1 of rows."""
        slope = np.zeros(self.features)
        slope[:3] = 0.9, -0.6, 0.3
        return sigmoid(self.constant + x @ slope + self.bend * (x[:, 0] ** 2 - 1))


@dataclass(frozen=True)
class Scored:
    """Predictions of a model to be mapped, as only feature: the chances are those of log-odds times a slope.

    `middle` is the mean of the log-odds of the predictions.
    """

    slope: float = 1.0
    middle: float = 0.0

    def draw(self, random: Random, n: int) -> np.ndarray:
        """Return the predictions of n rows."""
        return sigmoid(self.middle + 1.5 * random.normal(size=(n, 1)))

    def chance(self, x: np.ndarray) -> np.ndarray:
        """Return the chance of outcome 1 of rows."""
        return sigmoid(self.slope * logit(x[:, 0]))


@dataclass(frozen=True)
class Uniform:
    """One uniform feature, in which the chance is linear."""

    def draw(self, random: Random, n: int) -> np.ndarray:
        """Return the feature of n rows."""
        return random.random((n, 1))

    def chance(self, x: np.ndarray) -> np.ndarray:
        """Return the chance of outcome 1 of rows."""
        return 0.2 + 0.6 * x[:, 0]


# --- learners ---------------------------------------------------------------------------------------------------------


def logistic(random: Random, x: np.ndarray, y: np.ndarray, *, penalty: float = 1e-4, balanced: bool = False) -> Predict:
    """Fit logistic regression by Newton's method, with a quadratic penalty of the slopes; classes may be balanced."""
    design = np.column_stack([np.ones(len(x)), x])
    shrink = np.full(design.shape[1], penalty)
    shrink[0] = 1e-6
    weight = np.ones(y.size)
    if balanced:
        weight = np.where(y == 1, y.size / (2 * max(y.sum(), 1)), y.size / (2 * max((1 - y).sum(), 1)))
    slope = np.zeros(design.shape[1])
    for _ in range(15):
        p = sigmoid(design @ slope)
        pull = design.T @ (weight * (y - p)) - shrink * slope
        step = np.linalg.solve((design.T * (weight * p * (1 - p))) @ design + np.diag(shrink), pull)
        slope = slope + step / max(1.0, np.abs(step).max() / 2)
        if np.abs(step).max() < 1e-6:
            break
    return lambda x: sigmoid(slope[0] + x @ slope[1:])


def known(random: Random, x: np.ndarray, y: np.ndarray, *, population: Any) -> Predict:
    """Fit nothing: predictions are the chances."""
    predict: Predict = population.chance
    return predict


def naive_bayes(random: Random, x: np.ndarray, y: np.ndarray, *, repeated: int = 1) -> Predict:
    """Fit normal features that are independent given the outcome, each of them so many times."""
    base = logit(np.clip(y.mean(), 0.5 / y.size, 1 - 0.5 / y.size))
    mean = np.stack([x[y == k].mean(axis=0) if (y == k).any() else x.mean(axis=0) for k in (0, 1)])
    spread = np.sqrt(np.stack([((x[y == k] - mean[k]) ** 2).mean(axis=0) if (y == k).sum() > 1 else x.var(axis=0)
                               for k in (0, 1)])) + 0.01  # fmt: skip

    def log_density(x: np.ndarray, k: int) -> np.ndarray:
        return np.asarray((-(((x - mean[k]) / spread[k]) ** 2) / 2 - np.log(spread[k])).sum(axis=1))

    return lambda x: sigmoid(base + repeated * (log_density(x, 1) - log_density(x, 0)))


def mapped(random: Random, x: np.ndarray, y: np.ndarray, *, kind: Callable[[], Recalibrator]) -> Predict:
    """Fit a map of the predictions that are the only feature."""
    fitted = kind().fit(x[:, 0], y)
    return lambda x: np.asarray(fitted.predict_proba(x[:, 0]))


def platt(random: Random, x: np.ndarray, y: np.ndarray) -> Predict:
    """Fit a line of log-odds, which is Platt scaling."""
    fitted = logistic(random, logit(x), y, penalty=1e-6)
    return lambda x: fitted(logit(x))


def corrected_twice(random: Random, x: np.ndarray, y: np.ndarray) -> Predict:
    """Fit a line of log-odds and go twice as far as it says."""
    fitted = platt(random, x, y)
    return lambda x: sigmoid(2 * logit(fitted(x)) - logit(x[:, 0]))


def given(random: Random, x: np.ndarray, y: np.ndarray) -> Predict:
    """Fit nothing: predictions are those given."""
    return lambda x: x[:, 0]


def constant(random: Random, x: np.ndarray, y: np.ndarray) -> Predict:
    """Fit the share of outcome 1."""
    share = float(y.mean())
    return lambda x: np.full(len(x), share)


def calibrated_cut(random: Random, x: np.ndarray, y: np.ndarray) -> Predict:
    """Choose the cut of `Uniform` that splits the outcomes best; the two parts have their true means."""
    order = np.argsort(x[:, 0])
    events, rows = np.cumsum(y[order])[:-1], np.arange(1, y.size)
    gain = (events - rows * y.mean()) ** 2 / (rows * (1 - rows / y.size))
    cut = float(x[order[int(gain.argmax())], 0])
    return lambda x: np.where(x[:, 0] <= cut, 0.2 + 0.3 * cut, 0.5 + 0.3 * cut)


def of_scikit_learn(random: Random, x: np.ndarray, y: np.ndarray, *, name: str, selected: int = 0) -> Predict:
    """Fit a model of scikit-learn to all features, or to those that are most alike to the outcome."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    seed = int(random.integers(2**31))
    model: Any = {
        "forest": partial(RandomForestClassifier, 40, min_samples_leaf=5, random_state=seed),
        "boosting": partial(GradientBoostingClassifier, n_estimators=40, max_depth=2, random_state=seed),
        "tree": partial(DecisionTreeClassifier, min_samples_leaf=10, random_state=seed),
        "neighbours": partial(KNeighborsClassifier, 25),
    }[name]()
    used = np.arange(x.shape[1])
    if selected:
        used = np.argsort(-np.abs((x - x.mean(axis=0)).T @ (y - y.mean())))[:selected]
    fitted = model.fit(x[:, used], y)
    return lambda x: np.clip(fitted.predict_proba(x[:, used])[:, 1], EDGE, 1 - EDGE)


FIVE, TWENTY = Population(5), Population(20)
RARE, RARE_TWENTY = Population(5, -3.0), Population(20, -2.4)
RIDGE = partial(logistic, penalty=60.0)
RELATED, CURVED = Population(5, alike=0.4), Population(10, bend=0.5)
OVER, RARE_SCORED, FEW_EVENTS = Scored(0.6), Scored(middle=-3.2), Scored(middle=-4.5)
isotonic, histogram = partial(mapped, kind=IsotonicRegression), partial(mapped, kind=HistogramBinning)
LEARNERS: dict[str, tuple[Any, Learner]] = {
    "logistic, 5 features": (FIVE, logistic),
    "logistic, 20 features": (TWENTY, logistic),
    "logistic, prevalence .08": (RARE, logistic),
    "logistic, bent truth": (CURVED, logistic),
    "ridge": (TWENTY, RIDGE),
    "naive Bayes": (RELATED, naive_bayes),
    "Platt": (OVER, platt),
    "isotonic": (OVER, isotonic),
    "histogram": (OVER, histogram),
    "histogram, prevalence .03": (FEW_EVENTS, histogram),
    "naive Bayes, features 3 times": (RELATED, partial(naive_bayes, repeated=3)),
    "logistic, balanced classes": (RARE, partial(logistic, balanced=True)),
    "Platt, corrected twice": (OVER, corrected_twice),
    "forest": (CURVED, partial(of_scikit_learn, name="forest")),
    "forest, 3 features selected": (CURVED, partial(of_scikit_learn, name="forest", selected=3)),
    "boosting": (CURVED, partial(of_scikit_learn, name="boosting")),
    "tree": (CURVED, partial(of_scikit_learn, name="tree")),
    "neighbours": (FIVE, partial(of_scikit_learn, name="neighbours")),
    "always calibrated": (Uniform(), calibrated_cut),
    "logistic at its truth": (FIVE, partial(known, population=FIVE)),
}
SMOOTH = (
    *list(LEARNERS)[:5],
    "Platt",
    "isotonic",
    "histogram",
    "histogram, prevalence .03",
)  # whose fits the mirror is for
PAIRS: dict[str, tuple[Any, Learner, Learner]] = {
    "Platt of calibrated predictions": (Scored(), given, platt),
    "Platt": (OVER, given, platt),
    "isotonic": (OVER, given, isotonic),
    "histogram": (OVER, given, histogram),
    "logistic and ridge": (TWENTY, logistic, RIDGE),
    "logistic and ridge, prevalence .12": (RARE_TWENTY, logistic, RIDGE),
    "logistic and naive Bayes": (RELATED, logistic, naive_bayes),
    "constant, prevalence .08": (RARE_SCORED, given, constant),
    "histogram of calibrated predictions, prevalence .08": (RARE_SCORED, given, histogram),
}
RARE_PAIRS = list(PAIRS)[-2:]  # too rare for training sets of 100 rows
