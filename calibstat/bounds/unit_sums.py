"""Sums of contributions by unit: of clusters of rows, and of rows that add one residual for each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from calibstat.bounds.skewness import STEEP, share_skewed_up
from calibstat.bounds.tail_bound import TailBound
from calibstat.compiled import jit
from calibstat.data.predictions import Predictions
from calibstat.inner_product import inner
from calibstat.resampling import ClassCells

UNIT_CELLS, CELLS_OF_A_CLASS = 256, 4  # products of at least so many cells are added up by blocks, if rows fill them
ROWS_OF_A_BLOCK = 256
LARGEST_ROW = 2.0  # a row's residuals, one for each class: absolute values add up to at most 2


class UnitSums(ABC):
    """Contributions of units in cells, as an operator X from weights of cells to sums of units, and back.

    Attributes
    ----------
    cells : int
        Number of cells.
    size : ndarray, shape (units,)
        The number of rows of each unit, or the sum of their weights.
    units_are_rows : bool
        Whether each unit is one row without a weight. Of rows third moments are taken about 0, variances are sums of
        squares without a factor, and quantiles are normal; of clusters third moments are about the mean, variances have
        the factor G / (G - 1), and quantiles are Student's. Rows with weights take the conventions of clusters here.
    inverts : bool
        Whether the bound of absolute sums is found by inversion, because each unit is one row, perhaps with a weight.
    largest_square : ndarray, shape (cells,), or 1
        The square of the most that one row may add in each cell.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def units_are_rows(self) -> bool: ...
        @property
        def cells(self) -> int: ...
        @property
        def size(self) -> np.ndarray: ...
        @property
        def largest_square(self) -> np.ndarray | float: ...

    else:
        largest_square = 1.0

    inverts: ClassVar[bool]

    @abstractmethod
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell, the unit and the contribution of each entry, all of one shape."""

    @property
    @abstractmethod
    def powers(self) -> np.ndarray:
        """The sums over entries of the first three powers of the contributions in each cell, shape (3, cells)."""

    @property
    @abstractmethod
    def low(self) -> np.ndarray:
        """The sums of the cubes of entries that are skewed upwards, as of rare events, shape (cells,)."""

    @abstractmethod
    def skew(self, weights: np.ndarray) -> np.ndarray:
        """Return how sums of units with these weights of the cells are skewed, from -1 to 1, shape (units,).

        It is 1 - 2 v for the sum of a row at the prediction v of one event.
        """

    @abstractmethod
    def tail_bound(self, tail: float) -> TailBound:
        """Return the upper bound of a sum with weights in [-1, 1] that is exceeded with probability `tail`."""

    @property
    def factor(self) -> float:
        """The factor that makes sums of squared deviations of units unbiased for the variance, of clusters."""
        return 1.0 if self.units_are_rows else self.size.size / max(self.size.size - 1, 1)

    def by_unit(self, weights: np.ndarray) -> np.ndarray:
        """Return what each unit adds to the sum with these weights of the cells: X a, shape (units,)."""
        cell, unit, contribution = self.entries()
        return np.bincount(unit, weights[cell] * contribution, self.size.size)

    def at_cells(self, share: np.ndarray) -> np.ndarray:
        """Return the sums in cells of contributions times a number of their unit: X' u, shape (cells,)."""
        cell, unit, contribution = self.entries()
        return np.bincount(cell, share[unit] * contribution, self.cells)

    def absolute(self) -> np.ndarray:
        """Return the sums of the absolute contributions of units: abs(X) 1, shape (units,)."""
        _, unit, contribution = self.entries()
        return np.bincount(unit, np.abs(contribution), self.size.size)

    def squares_about(self, mean: np.ndarray) -> np.ndarray:
        """Return the sums over units of x (x - 2 m a), shape (cells,): x is what a unit of size m adds in a cell.

        `mean` holds a of each cell. Most units add nothing in most cells.
        """
        at, number, contribution = self.entries()
        units = self.size.size
        full, index = np.unique(at * units + number, return_inverse=True)
        total = np.bincount(index, contribution)
        cell, unit = np.divmod(full, units)
        return np.bincount(cell, total * (total - 2 * self.size[unit] * mean[cell]), self.cells)

    @abstractmethod
    def covariance(self, chosen: np.ndarray) -> np.ndarray:
        """Return the second moments of the sums of these cells, shape (chosen, chosen)."""


@dataclass(frozen=True, eq=False)
class ClusterSums(UnitSums):
    """Of clusters, or of rows with weights: `unit` numbers the cluster of each row.

    Each row has its contribution in a cell. Rows may have a weight, which their residual has been multiplied by.
    Without predictions all rows are skewed upwards.
    """

    units_are_rows: bool = field(default=False, init=False)
    inverts: ClassVar[bool] = False
    cell: np.ndarray
    contribution: np.ndarray
    unit: np.ndarray
    cells: int
    sample_weight: np.ndarray | None = None
    prediction: np.ndarray | float = 0.0

    @cached_property
    def size(self) -> np.ndarray:
        return np.bincount(self.unit, self.sample_weight).astype(np.float64)

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.cell, self.unit, self.contribution

    @cached_property
    def powers(self) -> np.ndarray:
        return np.array([np.bincount(self.cell, self.contribution**k, self.cells) for k in (1, 2, 3)])

    @property
    def low(self) -> np.ndarray:
        return np.bincount(self.cell, share_skewed_up(1 - 2 * self.prediction) * self.contribution**3, self.cells)

    def skew(self, weights: np.ndarray) -> np.ndarray:
        # rows count by their weights and by how much their outcomes vary, if they are calibrated
        v = self.prediction
        weight = weights[self.cell] * (1.0 if self.sample_weight is None else self.sample_weight)
        weight = weight * np.maximum(v * (1 - v), np.finfo(float).tiny)
        along, size = (np.bincount(self.unit, part, self.size.size) for part in (weight * (1 - 2 * v), np.abs(weight)))
        return np.divide(along, size, out=np.zeros_like(size), where=size > 0)

    def tail_bound(self, tail: float) -> TailBound:
        return TailBound.of_units(self.size, tail)

    def covariance(self, chosen: np.ndarray) -> np.ndarray:
        units = self.size.size
        sums = np.bincount(self.cell * units + self.unit, self.contribution, self.cells * units)
        by_cell = sums.reshape(self.cells, units)[chosen]
        by_cell = by_cell - self.size * (by_cell.sum(axis=-1, keepdims=True) / self.size.sum())
        return self.factor * by_cell @ by_cell.T


@dataclass(frozen=True, eq=False)
class ClassSums(UnitSums):
    """Of rows each of which adds a residual for every class: class k of row i in cell ``index[i, k] + k * stride``.

    If `index` has one column, all classes of a row share it. Rows may have a weight, by which residuals are multiplied.
    """

    inverts: ClassVar[bool] = True
    predictions: Predictions
    index: np.ndarray
    stride: int
    cells: int
    sample_weight: np.ndarray | None = None

    @property
    def units_are_rows(self) -> bool:
        return self.sample_weight is None

    @property
    def places(self) -> ClassCells:
        """The cells of rows and classes, which draws of rows need."""
        return ClassCells(self.predictions, self.index, self.stride, self.cells)

    @cached_property
    def size(self) -> np.ndarray:
        return np.ones(self.predictions.n) if self.sample_weight is None else self.sample_weight

    @cached_property
    def largest_square(self) -> np.ndarray | float:
        if self.sample_weight is None:
            return 1.0
        largest = np.zeros(self.cells)
        for k in range(self.predictions.n_classes):
            np.maximum.at(largest, self._cells(k), self.sample_weight)
        return np.where(largest**2 > 0, largest, 1.0) ** 2

    @property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.predictions.prob, self.predictions.label, self.index, self.stride

    def _cells(self, k: int) -> np.ndarray:
        """Return the cell of class k in each row."""
        return self.index[:, 0 if self.index.shape[1] == 1 else k].astype(np.int64) + k * self.stride

    def column(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell and the contribution of class k in each row, both of shape (n,)."""
        residual = (self.predictions.label == k) - self.predictions.prob[:, k].astype(np.float64)
        return self._cells(k), residual if self.sample_weight is None else residual * self.sample_weight

    def rows(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells and the contributions of these rows, both of shape (rows, K)."""
        classes = np.arange(self.predictions.n_classes)
        label, prob = self.predictions.label[part], self.predictions.prob[part].astype(np.float64)
        contribution = (label[:, None] == classes) - prob
        if self.sample_weight is not None:
            contribution *= self.sample_weight[part, None]
        return self.index[part] + classes * self.stride, contribution

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the entries of all rows and classes, shape (n * K,): more memory than the predictions take."""
        cell, residual = self.rows(slice(None))
        unit = np.repeat(np.arange(self.predictions.n), self.predictions.n_classes)
        return cell.ravel(), unit, residual.ravel()

    @cached_property
    def _powers_and_low(self) -> np.ndarray:
        return np.asarray(_powers(*self._rows, self.size, self.cells))

    @property
    def powers(self) -> np.ndarray:
        return self._powers_and_low[:3]

    @property
    def low(self) -> np.ndarray:
        return np.asarray(self._powers_and_low[3])

    def tail_bound(self, tail: float) -> TailBound:
        weight = self.sample_weight
        return (TailBound.of_rows(tail) if weight is None else TailBound.of_units(weight, tail)).times(LARGEST_ROW)

    def by_unit(self, weights: np.ndarray) -> np.ndarray:
        return np.asarray(_row_sums(*self._rows, weights)) * self.size

    def skew(self, weights: np.ndarray) -> np.ndarray:
        return np.asarray(_row_skews(*self._rows, weights))

    def absolute(self) -> np.ndarray:
        # in size, the residuals of the classes that did not occur add up to the residual of the class that did
        prob, label = self.predictions.prob, self.predictions.label
        return 2 * (1 - prob[np.arange(label.size), label].astype(np.float64)) * self.size

    def absolute_by_unit(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what rows without weights add without signs, and which cells hold residuals that are not 0."""
        return tuple(_absolute_row_sums(*self._rows, weights))  # type: ignore[return-value]

    def squares_about(self, mean: np.ndarray) -> np.ndarray:
        return np.asarray(_squares_about(*self._rows, self.size, mean))

    def products(self, chosen: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the sums over rows of products of weight times contribution of two of these cells: X'X."""
        number = np.full(self.cells, -1)
        number[chosen] = np.arange(chosen.size)
        weight = np.ones(self.cells) if weights is None else weights
        if UNIT_CELLS <= chosen.size <= CELLS_OF_A_CLASS * self.predictions.n_classes:
            return self._products_of_blocks(number, weight, chosen.size)
        return np.asarray(_products(*self._rows, self.size, number, weight, chosen.size))

    def _products_of_blocks(self, number: np.ndarray, weight: np.ndarray, size: int) -> np.ndarray:
        """Return the same by matrix products of blocks of rows: most rows add in a large part of the cells."""
        prob, label, index, stride = self._rows
        total, block = np.zeros((size, size)), np.empty((ROWS_OF_A_BLOCK, size))
        for first in range(0, self.predictions.n, ROWS_OF_A_BLOCK):
            part = slice(first, first + ROWS_OF_A_BLOCK)
            rows = block[: label[part].size]
            rows[:] = 0.0
            _add_rows(prob[part], label[part], index[part], stride, self.size[part], number, weight, rows)
            total += rows.T @ rows
        return total

    def covariance(self, chosen: np.ndarray) -> np.ndarray:
        total = self.powers[0][chosen]
        if self.sample_weight is None:
            return self.products(chosen) - np.outer(total, total) / float(self.predictions.n)
        mean = total / self.size.sum()
        columns = map(self.column, range(self.predictions.n_classes))
        by_size = sum(np.bincount(cell, x * self.size, self.cells) for cell, x in columns)
        along = np.outer(mean, np.asarray(by_size)[chosen])
        squares = inner(self.size, self.size)
        return self.factor * (self.products(chosen) - along - along.T + squares * np.outer(mean, mean))


# --- kernels ----------------------------------------------------------------------------------------------------------


@jit
def _powers(
    prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, row_weight: np.ndarray, size: int
) -> np.ndarray:
    """Return the sums of the first three powers of contributions, and of cubes that are skewed upwards, (4, size)."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    out = np.zeros((4, size))
    for i in range(n):
        for k in range(classes):
            j = index[i, 0 if shared else k] + k * stride
            v = float(prob[i, k])
            r = row_weight[i] * (1.0 - v if label[i] == k else -v)
            out[0, j] += r
            out[1, j] += r * r
            out[2, j] += r * r * r
            out[3, j] += r * r * r * min(max(STEEP / 2 * (1.0 - 2.0 * v) + 0.5, 0.0), 1.0)
    return out


@jit
def _row_sums(prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, weight: np.ndarray) -> np.ndarray:
    """Return for each row the sum over classes of weight times residual."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    out = np.zeros(n)
    for i in range(n):
        for k in range(classes):
            v = float(prob[i, k])
            r = 1.0 - v if label[i] == k else -v
            out[i] += weight[index[i, 0 if shared else k] + k * stride] * r
    return out


@jit
def _row_skews(prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, weight: np.ndarray) -> np.ndarray:
    """Return for each row how far the middle of the weights of its classes lies above their mean, over half the range.

    The sum of a row is the weight of the class that occurs less their mean.
    """
    n, classes = prob.shape
    shared = index.shape[1] == 1
    out = np.zeros(n)
    for i in range(n):
        least = np.inf
        most = -np.inf
        mean = 0.0
        for k in range(classes):
            w = weight[index[i, 0 if shared else k] + k * stride]
            least = min(least, w)
            most = max(most, w)
            mean += w * float(prob[i, k])
        if most > least:
            out[i] = (most + least - 2.0 * mean) / (most - least)
    return out


@jit
def _squares_about(
    prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, row_weight: np.ndarray, mean: np.ndarray
) -> np.ndarray:
    """Return the same as `UnitSums.squares_about`, to the last bit; classes of a row may share a cell."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    total = np.zeros(mean.size)
    out = np.zeros(mean.size)
    for i in range(n):
        for k in range(classes):
            v = float(prob[i, k])
            total[index[i, 0 if shared else k] + k * stride] += row_weight[i] * (1.0 - v if label[i] == k else -v)
        for k in range(classes):
            j = index[i, 0 if shared else k] + k * stride
            x = total[j]
            total[j] = 0.0
            out[j] += x * (x - 2.0 * row_weight[i] * mean[j])
    return out


@jit
def _absolute_row_sums(
    prob: np.ndarray, label: np.ndarray, index: np.ndarray, stride: int, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the sum over classes of absolute weight times residual, and which cells hold any."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    out = np.zeros(n)
    used = np.zeros(weight.size, np.bool_)
    for i in range(n):
        for k in range(classes):
            j = index[i, 0 if shared else k] + k * stride
            v = float(prob[i, k])
            part = weight[j] * (1.0 - v if label[i] == k else -v)
            if part != 0.0:
                used[j] = True
                out[i] += abs(part)
    return out, used


@jit
def _add_rows(
    prob: np.ndarray,
    label: np.ndarray,
    index: np.ndarray,
    stride: int,
    row_weight: np.ndarray,
    number: np.ndarray,
    weight: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add weight times contribution of each row at the number of its cell, if it has one from 0."""
    shared = index.shape[1] == 1
    for i in range(prob.shape[0]):
        for k in range(prob.shape[1]):
            j = index[i, 0 if shared else k] + k * stride
            if number[j] >= 0:
                v = float(prob[i, k])
                out[i, number[j]] += weight[j] * row_weight[i] * (1.0 - v if label[i] == k else -v)


@jit
def _products(
    prob: np.ndarray,
    label: np.ndarray,
    index: np.ndarray,
    stride: int,
    row_weight: np.ndarray,
    number: np.ndarray,
    weight: np.ndarray,
    size: int,
) -> np.ndarray:
    """Return the sums over rows of products of weight times contribution, of cells with a number from 0, not -1."""
    n, classes = prob.shape
    shared = index.shape[1] == 1
    out = np.zeros((size, size))
    at = np.empty(classes, np.int64)
    part = np.empty(classes)
    for i in range(n):
        kept = 0
        for k in range(classes):
            j = index[i, 0 if shared else k] + k * stride
            if number[j] >= 0:
                v = float(prob[i, k])
                at[kept] = number[j]
                part[kept] = weight[j] * row_weight[i] * (1.0 - v if label[i] == k else -v)
                kept += 1
        for a in range(kept):
            for b in range(a + 1):
                out[at[a], at[b]] += part[a] * part[b]
                if a != b:
                    out[at[b], at[a]] += part[a] * part[b]
    return out
