"""Populations on which packages are judged, and the true values of what their intervals are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import calibstat as cs

ROWS, PIECES = 10**6, 10  # of ten million predictions, whose true probabilities are known
SEED = 20901


@dataclass(frozen=True)
class Population:
    """Predictions of a law that are calibrated or wrong in one way."""

    law: str
    wrong: str

    @property
    def classes(self) -> bool:
        """Whether it is of three classes."""
        return self.law.startswith("three classes")

    @property
    def kind(self) -> str:
        """Return the kind under which it is counted."""
        if self.wrong != "calibrated":
            return "three classes, wrong" if self.classes else self.wrong
        named = {"rare": "calibrated, rare", "ten values": "calibrated, tied", "three values": "calibrated, tied"}
        return "three classes, calibrated" if self.classes else named.get(self.law, "calibrated")

    @property
    def model(self) -> Any:
        """Return the generator."""
        if self.classes:
            alpha = {"uniform": (1, 1, 1), "one rare": (3, 3, 0.3), "near a corner": (0.4, 0.4, 0.4)}
            shape = alpha[self.law.partition(", ")[2]]
            return cs.generators.dirichlet(shape, temperature=1.0 if self.wrong == "calibrated" else 1.5)
        law = laws()[self.law]
        if self.wrong == "calibrated":
            return cs.generators.calibrated(law)
        if self.wrong == "shifted":
            return cs.generators.shift(0.5, law)
        return cs.generators.temperature(1.3 if self.wrong == "over-confident" else 0.8, law)


def laws() -> Mapping[str, Any]:
    """Return the laws of predictions of one event."""
    from scipy.stats import beta

    return {
        "uniform": "uniform",
        "near 0 and 1": beta(0.5, 0.5),
        "mean .29": beta(2, 5),
        "rare": beta(1, 49),
        "ten values": [(k + 0.5) / 10 for k in range(10)],
        "three values": [0.1, 0.5, 0.8],
    }


def populations() -> list[Population]:
    """Return thirty populations."""
    wrong = ("calibrated", "over-confident", "under-confident", "shifted")
    found = [Population(law, each) for law in laws() for each in wrong]
    shapes = ("uniform", "one rare", "near a corner")
    return found + [Population(f"three classes, {s}", w) for s in shapes for w in ("calibrated", "over-confident")]


@cache
def truth(population: Population, estimand: str, pieces: int = PIECES) -> float:
    """Return the true value of an estimand: 0 of calibrated models, else from ten million predictions."""
    if population.wrong == "calibrated":
        return 0.0
    seeds = np.random.SeedSequence([SEED, *repr(population).encode()]).spawn(pieces)
    known = [_rows(population, seed, "predicted class" in estimand) for seed in seeds]
    value, chance = (np.concatenate(each) for each in zip(*known, strict=True))
    if estimand.startswith("smooth_ece"):
        sample = cs.Sample.from_counts(*_in_cells(value, chance))
        return float(cs.estimate(sample, measure="smooth_ece"))
    if estimand == "l2 over equal masses":
        values = np.unique(value[:10_000])
        edges = values if values.size < 100 else np.quantile(value, np.arange(1, 15) / 15)
        return _binned(value, chance, np.searchsorted(edges, value), 2)
    bins = 10 if "ten bins" in estimand else 15
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    closed_below = "[a, b)" in estimand
    cell = np.searchsorted(inner, value, side="right") if closed_below else np.searchsorted(inner, value)
    return _binned(value, chance, cell, 1)


def _rows(population: Population, seed: np.random.SeedSequence, predicted_class: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions and the true probabilities of what they predict: of outcome 1, or of the predicted class."""
    model = population.model
    _, prob = model.sample(ROWS, rng=seed)
    if population.classes:
        top = prob.argmax(axis=1)[:, None]
        return tuple(np.take_along_axis(each, top, axis=1)[:, 0] for each in (prob, model.conditional(prob)))  # type: ignore[return-value]
    chance = model.curve(prob)
    if not predicted_class:
        return prob, chance
    return np.where(prob >= 0.5, prob, 1 - prob), np.where(prob >= 0.5, chance, 1 - chance)


def _binned(value: np.ndarray, chance: np.ndarray, cell: np.ndarray, power: int) -> float:
    rows, error = np.bincount(cell), np.bincount(cell, chance - value)
    full = rows > 0
    return float((np.abs(error[full] / rows[full]) ** power @ rows[full] / value.size) ** (1 / power))


def _in_cells(value: np.ndarray, chance: np.ndarray, cells: int = 200_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean prediction, rows and expected outcomes of narrow cells; level sets stay as they are."""
    cell = np.minimum((value * cells).astype(np.int64), cells - 1)
    rows = np.bincount(cell, minlength=cells)
    full = rows > 0
    return (
        np.bincount(cell, value, cells)[full] / rows[full],
        rows[full].astype(float),
        np.bincount(cell, chance, cells)[full],
    )
