"""What tests and intervals draw from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from calibstat.inference.p_values import p_value
from calibstat.measures.linear_form import Form
from calibstat.resampling import Draws


class Drawable(ABC):
    """What tests and intervals draw from."""

    @property
    @abstractmethod
    def n(self) -> int | float:
        """Number of rows."""

    @abstractmethod
    def statistic(self) -> Any:
        """Return the measure: one number, or one for each class."""

    @abstractmethod
    def draw_null(self, draws: Draws) -> np.ndarray:
        """Return the statistic of every resample under calibration."""

    def pvalue_if_calibrated(self, draws: Draws) -> float:
        """Return the p-value of the test of calibration by the same measure."""
        return p_value(self.statistic(), self.draw_null(draws), "greater")

    @abstractmethod
    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the statistic of every resample of the observations."""

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Leave out one row of every distinct kind; return how many rows are of that kind, and the statistics."""
        raise NotImplementedError

    @abstractmethod
    def linear_form(self) -> Form:
        """Return what the honest interval is made of."""

    @abstractmethod
    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        """Return the moves of the form in every resample of the observations."""
