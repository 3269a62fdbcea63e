"""The base of tables of residuals that draw themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.bounds.norms import Norm
from calibstat.resampling import Draws, Stage
from calibstat.resampling.one_pass import OnePass

OfTheta = Callable[[Any], Any]  # of sums over the last axis, or of an iterator over the sums of each class


class Residuals(ABC):
    """A table of residuals that draws itself."""

    @abstractmethod
    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        """Return ``of(theta)`` of every resample of the units, drawn with replacement, along the first axis."""

    def moved(self, norm: Norm, origin: np.ndarray, step: float, draws: Draws) -> np.ndarray:
        """Return the norm of origin + step * (theta - origin) of every resample."""
        return self.resampled(lambda theta: norm.value(origin + step * (theta - origin)), draws)

    def in_one_pass(self, statistic: OnePass, draws: Draws) -> np.ndarray:
        """Return a statistic in one pass over the sums at distinct predictions, of every resample."""
        return self.resampled(statistic.of, draws)
