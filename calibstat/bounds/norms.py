"""Norms of sums in cells: their value, the weights that attain it, and an upper bound from moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calibstat.bounds.moments import Moments
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.sample import Sample

CLUSTERS_STEP = 3.0  # without an exact test a smaller step takes the bias of a calibrated model for an error


class Norm(ABC):
    """A seminorm of sums in cells: the largest weighted sum for any weights that it allows.

    Attributes
    ----------
    step : float
        The step of the directional bootstrap of rows; clusters take `joint_step`.
    largest_weight : float
        The largest absolute weight that is allowed.
    cell : ndarray or None
        The cell of each distinct prediction; None if each is a cell by itself.
    of_outcomes : bool
        Whether the sums are shares of rows at each prediction with outcome 0, and then with outcome 1, and not
        residuals.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def step(self) -> float: ...
        @property
        def largest_weight(self) -> float: ...

    else:
        largest_weight = 1.0

    cell: np.ndarray | None = None
    of_outcomes: bool = False

    @property
    def joint_step(self) -> float:
        """The step of clusters."""
        return max(self.step, CLUSTERS_STEP)

    @property
    def one_pass(self) -> Any:
        """The norm as one pass over the predictions, a `OnePass`, or None if it is not one."""
        return None

    def table_of_rows(self, rows: LabelledRows, sample: Sample, unit: np.ndarray | None) -> RowTable:
        """Return the table of rows of which this is the summary, in clusters `unit` if they are numbered."""
        return RowTable.of_rows(rows, sample, self.cell, unit)

    def sums_of(
        self, place: np.ndarray, places: int, outcome: np.ndarray, prediction: np.ndarray, weight: np.ndarray | None
    ) -> np.ndarray:
        """Return the sums of rows, divided by n; `place` numbers their predictions, of which `places` are distinct."""
        residual = outcome - prediction
        if weight is None:
            return np.bincount(place, residual, places) / place.size
        return np.bincount(place, weight * residual, places) / weight.sum()

    @abstractmethod
    def value(self, theta: np.ndarray) -> Any:
        """Return the norm of sums over the last axis."""

    @abstractmethod
    def witness(self, theta: np.ndarray) -> np.ndarray | None:
        """Return the weights of the largest sum, or None where they are not known."""

    def largest_unit(self, moments: Moments) -> float:
        """Return the most that a cluster adds to a sum with weights that the norm allows: the norm of its own sums.

        It is infinite of sums of outcomes, which are no residuals.
        """
        if self.of_outcomes:
            return np.inf
        cell, unit, contribution = moments.entries()
        cells = moments.total.size
        full, index = np.unique(unit * cells + cell, return_inverse=True)
        total = np.bincount(index, contribution)
        unit, cell = np.divmod(full, cells)
        begin = np.flatnonzero(np.diff(unit, prepend=-1))
        parts = zip(np.split(cell, begin[1:]), np.split(total, begin[1:]), strict=True)
        return max(self.of_cells(cells, *part) for part in parts)

    def of_cells(self, cells: int, cell: np.ndarray, total: np.ndarray) -> float:
        """Return the norm of sums in these ascending ones of so many cells, 0 in others."""
        theta = np.zeros(cells)
        theta[cell] = total
        return float(self.value(theta))

    @abstractmethod
    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound of a sum for any fixed weights, in rows."""


class OnPredictions(Protocol):
    """A seminorm of residuals at distinct ascending predictions, such as a measure."""

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        """Return the seminorm."""
        ...

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray | None:
        """Return its weights, or None."""
        ...

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound of a sum."""
        ...

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> Any:
        """Return it as one pass over the predictions, or None."""
        ...


@dataclass(frozen=True, eq=False)
class SeminormOn(Norm):
    """A seminorm of the residuals at these distinct ascending predictions."""

    seminorm: OnPredictions
    prediction: np.ndarray
    step: float

    @property
    def one_pass(self) -> Any:
        return self.seminorm.one_pass(self.prediction, np.ones(self.prediction.size), self.prediction)

    def value(self, theta: np.ndarray) -> Any:
        if theta.ndim == 1:
            return self.seminorm.norm(self.prediction, theta)
        rows = theta.reshape(-1, theta.shape[-1])
        return np.array([self.seminorm.norm(self.prediction, row.copy()) for row in rows]).reshape(theta.shape[:-1])

    def of_cells(self, cells: int, cell: np.ndarray, total: np.ndarray) -> float:
        return float(self.seminorm.norm(self.prediction[cell], total))

    def witness(self, theta: np.ndarray) -> np.ndarray | None:
        return self.seminorm.witness(self.prediction, theta)

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        return self.seminorm.upper_bound(self.prediction, moments, tail_bound)
