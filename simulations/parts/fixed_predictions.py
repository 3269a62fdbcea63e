"""Data sets that share their predictions, and predictions that are spread like a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.generators.simulator import drawing


@dataclass(frozen=True)
class FixedPredictions:
    """Independent outcomes with given probabilities; their predictions are the same in every data set."""

    prediction: np.ndarray
    chance: np.ndarray

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw the outcomes."""
        n, random = drawing(n, rng)
        return (random.random(n) < self.chance).astype(np.int64), self.prediction


@dataclass(frozen=True)
class FixedVectors:
    """Independent classes with given probabilities; their predictions are the same in every data set."""

    prediction: np.ndarray
    chance: np.ndarray

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw the classes."""
        n, random = drawing(n, rng)
        return (random.random((n, 1)) > self.chance.cumsum(axis=1)[:, :-1]).sum(axis=1), self.prediction


def quantiles(n: int, distribution: Any) -> np.ndarray:
    """Return n predictions that are spread like a distribution."""
    return distribution.ppf((np.arange(n) + 0.5) / n)
