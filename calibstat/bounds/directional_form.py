"""Linear forms of multiclass predictions: their low end, and how they are drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibstat.bounds.linear_form import Allowance, Form, Norm, upper_quantile
from calibstat.bounds.score_bound import ScoreBound

STEP = 20.0  # of many dimensions noise is large beside a small error: a smaller step takes it for one


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionalForm(Form):
    """A seminorm of sums over multiclass predictions, whose low end is that of the directional bootstrap.

    Attributes
    ----------
    estimate : float
        The measure, ``norm(theta)``.
    theta : ndarray
        The sums.
    norm : callable
        The seminorm, over the last axis.
    largest : float
        The most that one row may add to a sum with weights that are allowed.
    """

    estimate: float
    theta: np.ndarray
    norm: Norm
    largest: float

    def moves(self, theta: np.ndarray) -> Any:
        return (self.norm(self.theta + STEP * (theta - self.theta)) - self.estimate) / STEP

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        row, score = self.by_row(), ScoreBound.of_rows(tail).times(self.largest)
        centred = row - row.mean()
        below = Allowance.of(score, float((centred**2).sum()), float((centred**3).sum()), row.size)
        return self.estimate - below.extend(upper_quantile(draw(), tail))

    @abstractmethod
    def by_row(self) -> np.ndarray:
        """Return what each row adds to the sum with the weights of the data, shape (n,)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaceForm(DirectionalForm):
    """Of residuals / n summed at places: class k of row i adds to ``theta[place[i, k] + k * along]``.

    If `place` has one column, all classes share it.
    """

    place: np.ndarray
    along: int


class ByRows(Form):
    """A form that is drawn row by row: ``moves`` takes what `of_rows` returns of all resamples."""

    place: ClassVar[None] = None

    def of_rows(self, rows: np.ndarray, label: np.ndarray) -> Any:
        """Return what is needed of a resample, the drawn rows and their classes."""
        raise NotImplementedError
