"""Statistics of labels in one pass over the predictions, for a block of resamples at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.compiled import first_calls, jit


class OnePass(ABC):
    """A function of the residuals of drawn labels that holds a few numbers of each resample.

    It is made for the predictions of a sample. The state of a resample has length `size` and begins with zeros.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def size(self) -> int: ...

    @abstractmethod
    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        """Add the residuals / n at these distinct predictions, shape (rows, B), to the state, shape (size, B)."""

    @abstractmethod
    def result(self, state: np.ndarray) -> np.ndarray:
        """Return the statistic of each resample along the first axis, given the state after all predictions."""

    def of(self, residual: np.ndarray) -> Any:
        """Return the statistic of residuals / n at all predictions, along the last axis."""
        columns = np.atleast_2d(residual).T
        state = np.zeros((self.size, columns.shape[1]))
        self.add(state, slice(None), columns)
        result = self.result(state)
        return result if residual.ndim > 1 else result[0]


@dataclass(frozen=True, eq=False)
class WeightedSum(OnePass):
    """The number `constant` plus the sum of weight times residual, weights of shape (m,)."""

    weight: np.ndarray
    constant: float
    size = 1

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        add_weighted(state[0], self.weight[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        return np.asarray(self.constant + state[0])


@dataclass(frozen=True, eq=False)
class SumsInCells(OnePass):
    """The residuals summed over cells, shape (B, size); `cell`, shape (m,), numbers the cell of each prediction."""

    cell: np.ndarray
    size: int

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        _add_in_cells(state, self.cell[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        return state.T


def _weighted_in_arrays(total: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> None:
    for w, of_draws in zip(weight.tolist(), residual, strict=True):
        total += w * of_draws


@first_calls(lambda total, weight, _: weight.size * (1e-6 + 1e-9 * total.size), _weighted_in_arrays)
@jit
def add_weighted(total: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> None:
    """Add weight times residual to the total of each resample."""
    for j in range(weight.size):
        w = weight[j]
        for b in range(total.size):
            total[b] += w * residual[j, b]


def _cells_in_arrays(state: np.ndarray, cell: np.ndarray, residual: np.ndarray) -> None:
    for c, of_draws in zip(cell.tolist(), residual, strict=True):
        state[c] += of_draws


@first_calls(lambda _, cell, residual: 1e-6 * cell.size + 1e-9 * residual.size, _cells_in_arrays)
@jit
def _add_in_cells(state: np.ndarray, cell: np.ndarray, residual: np.ndarray) -> None:
    """Add the residuals of each cell."""
    for j in range(cell.size):
        total = state[cell[j]]
        for b in range(total.size):
            total[b] += residual[j, b]


def _shared_in_arrays(state: np.ndarray, value: np.ndarray, residual: np.ndarray) -> None:
    x = value * (len(state) - 1)
    i = np.minimum(x.astype(np.int64), len(state) - 2)
    for place, weight, of_draws in zip(i.tolist(), (x - i).tolist(), residual, strict=True):
        part = weight * of_draws
        state[place] += of_draws - part
        state[place + 1] += part


@first_calls(lambda state, value, residual: 3e-6 * value.size + 3e-9 * residual.size, _shared_in_arrays)
@jit
def share(state: np.ndarray, value: np.ndarray, residual: np.ndarray) -> None:
    """Share residuals between the two nearest points of a grid on [0, 1], one for each number of the state."""
    intervals = state.shape[0] - 1
    for j in range(value.size):
        x = value[j] * intervals
        i = min(int(x), intervals - 1)
        lower = state[i]
        upper = state[i + 1]
        weight = x - i
        for b in range(lower.size):
            part = weight * residual[j, b]
            upper[b] += part
            lower[b] += residual[j, b] - part
