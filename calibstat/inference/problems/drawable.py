"""The data and the measure from which tests and intervals draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.bounds.linear_form import Form
from calibstat.inference.p_values import p_value
from calibstat.resampling import Draws


class Drawable(ABC):
    """The data and the measure from which tests and intervals draw."""

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

    def draw_calibrated(self, draws: Draws) -> np.ndarray:
        """Return the statistic of every resample of labels that are drawn independently from the predictions."""
        return self.draw_null(draws)

    def pvalue_if_calibrated(self, draws: Draws, labels: Callable[[], np.ndarray] | None = None) -> float:
        """Return the p-value of the test of calibration by the same measure.

        `labels` returns the estimates of `draw_calibrated` where they are kept for more than this test.
        """
        null = self.draw_calibrated(draws) if labels is None else labels()
        return p_value(self.statistic(), null, "greater")

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
