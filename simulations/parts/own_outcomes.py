"""Two models with outcomes of their own on the same rows, of a few confidences: laws, errors and dependence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.generators.distributions import Random

CONFIDENCES = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])
LAWS = {  # shares of the confidences, of mean .68 and .90
    "low": np.array([0.24, 0.24, 0.20, 0.14, 0.10, 0.05, 0.03]),
    "high": np.array([0.01, 0.03, 0.06, 0.14, 0.24, 0.24, 0.28]),
}
BANDWIDTH = 0.2
ALIKE = 0.5  # share of the rows in which both confidences are at the same place of their laws
DEPENDENCE = -1.0, 0.0, 1.0  # of both outcomes given the confidences: as rarely, and as often, the same as can be


@dataclass(frozen=True)
class Model:
    """A model: the law of its confidences, and by how much these are too high; 0 if it is calibrated."""

    law: str
    over: float

    def chance(self, confidence: np.ndarray) -> np.ndarray:
        """Return the chance to be right at these confidences."""
        return np.clip(confidence - self.over, 0, 1)

    def square(self, bandwidth: float) -> float:
        """Return the squared kernel error in the population."""
        gap = LAWS[self.law] * (self.chance(CONFIDENCES) - CONFIDENCES)
        return float(gap @ np.exp(-abs(CONFIDENCES[:, None] - CONFIDENCES) / bandwidth) @ gap)


def as_wrong(model: Model, law: str, way: int) -> Model:
    """Return the model of a law whose confidences are too high, or if `way` is -1 too low, and its error the same."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        found = Model(law, way * middle).square(BANDWIDTH) < model.square(BANDWIDTH)
        low, high = (middle, high) if found else (low, middle)
    return Model(law, way * low)


LEVEL = {  # pairs whose errors are equal
    "both over by .1": (Model("low", 0.1), as_wrong(Model("low", 0.1), "high", 1)),
    "over by .1, and under": (Model("low", 0.1), as_wrong(Model("low", 0.1), "low", -1)),
    "both calibrated": (Model("low", 0.0), Model("high", 0.0)),
}
POWER = {
    "calibrated, over by .1": (Model("high", 0.0), Model("high", 0.1)),
    "over by .05, by .15": (Model("high", 0.05), Model("high", 0.15)),
    "over by .1, by .2": (Model("low", 0.1), Model("low", 0.2)),
}


@dataclass(frozen=True)
class TwoModels:
    """Two models on the same rows, whose outcomes depend on each other by as much."""

    one: Model
    other: Model
    dependence: float

    def draw(self, random: Random, n: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return outcomes and confidences of both models in n rows, by their names."""
        u, v = random.random((2, n))
        v = np.where(random.random(n) < ALIKE, u, v)
        confidence = [
            CONFIDENCES[np.searchsorted(np.cumsum(LAWS[model.law])[:-1], x, "right")]
            for model, x in ((self.one, u), (self.other, v))
        ]
        p, q = self.one.chance(confidence[0]), self.other.chance(confidence[1])
        w = random.random((2, n))
        first = w[0] < p
        tied = random.random(n) < abs(self.dependence)
        second = np.where(tied, w[0] if self.dependence > 0 else 1 - w[0], w[1]) < q
        outcomes = {"A": first.astype(float), "B": second.astype(float)}
        return outcomes, {"A": confidence[0], "B": confidence[1]}
