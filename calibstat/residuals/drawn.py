"""Resamples of tables that are kept, so that linear functions of their sums need no other draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.resampling import Column, UnitCounts

SUM_BYTES = 2**20  # of the sums of some resamples, which stay in the second-level cache
ADDEND_BYTES, MORE_ADDEND_BYTES = 2**22, 3 * 2**23  # added up in one pass if counts are kept, and if drawn again
FEW_COLUMNS, COLUMN_BYTES = 4, 2**23  # columns, or bytes, up to which columns are kept; else they are made again


@dataclass(frozen=True, eq=False)
class Drawn(ABC):
    """Resamples of the units of some tables of the same rows.

    Attributes
    ----------
    tables : sequence of tables
        They have the same units and weights.
    size : ndarray, shape (B,)
        The number of rows of each resample, or the sum of their weights.
    """

    tables: Sequence[TableOfRows]
    size: np.ndarray

    @abstractmethod
    def first(self, m: int, n: int) -> Iterator[np.ndarray]:
        """Yield theta of the m-th table in the first `n` resamples, each of shape (cells,)."""

    @abstractmethod
    def covariances(self, numbers: np.ndarray) -> Callable[[int, int], np.ndarray]:
        """Return a function of m and k: the covariance of numbers[k], one a resample, with theta of the m-th table.

        To first order, where resamples have more or fewer rows than the data.
        """

    @abstractmethod
    def addend(self, weights: np.ndarray, by_unit: np.ndarray) -> np.ndarray:
        """Return what `noise` needs of weights of cells: these, or what each unit adds to the sum with them."""

    @abstractmethod
    def noise(self, addends: Iterator[tuple[int, np.ndarray]]) -> np.ndarray:
        """Return weighted sums of theta minus theta of the data, shape (B, W).

        `addends` yields W pairs: the number of a table, and what `addend` returned for its weights.
        """


@dataclass(frozen=True, eq=False)
class DrawnSums(Drawn):
    """By the sums of each table, of shape (B, cells), where cells are few."""

    theta: Sequence[np.ndarray]

    def first(self, m: int, n: int) -> Iterator[np.ndarray]:
        return iter(self.theta[m][:n])

    def covariances(self, numbers: np.ndarray) -> Callable[[int, int], np.ndarray]:
        share = _centred(numbers) * self.size
        return lambda m, k: share[k] @ self._noise(m) / self.tables[m].n

    def addend(self, weights: np.ndarray, by_unit: np.ndarray) -> np.ndarray:
        return weights

    def noise(self, addends: Iterator[tuple[int, np.ndarray]]) -> np.ndarray:
        return np.stack([self._noise(m) @ weights for m, weights in addends], axis=1)

    def _noise(self, m: int) -> np.ndarray:
        return self.theta[m] - self.tables[m].theta


@dataclass(frozen=True, eq=False)
class DrawnCounts(Drawn):
    """By how often each unit is drawn."""

    counts: UnitCounts

    def first(self, m: int, n: int) -> Iterator[np.ndarray]:
        table = self.tables[m]
        for counts in self.counts.in_blocks(lambda counts: counts, n):
            for some in thetas(table, columns_of(table), counts, sizes(table, counts)):
                yield from some

    def covariances(self, numbers: np.ndarray) -> Callable[[int, int], np.ndarray]:
        share = self.counts.weighted(_centred(numbers))
        return lambda m, k: self.tables[m].at_cells(share[k])

    def addend(self, weights: np.ndarray, by_unit: np.ndarray) -> np.ndarray:
        return by_unit

    def noise(self, addends: Iterator[tuple[int, np.ndarray]]) -> np.ndarray:
        some = max((ADDEND_BYTES if self.counts.are_kept else MORE_ADDEND_BYTES) // (8 * self.counts.units), 1)
        added, parts = np.empty((some, self.counts.units)), []
        while many := _fill(added, addends):
            parts.append(self.counts.products(added[:many]))
        noise = np.concatenate(parts, axis=1)
        noise /= self.size[:, None]
        return noise


def _fill(added: np.ndarray, addends: Iterator[tuple[int, np.ndarray]]) -> int:
    """Write what units add into the rows of an array until it is full, and return how many are written."""
    many = 0
    for row, (_, by_unit) in zip(added, addends, strict=False):  # a full array takes no further addend
        row[:] = by_unit
        many += 1
    return many


def _centred(numbers: np.ndarray) -> np.ndarray:
    """Return the numbers less their means, divided by how many there are."""
    return (numbers - numbers.mean(axis=-1, keepdims=True)) / numbers.shape[-1]


def sizes(table: TableOfRows, counts: np.ndarray) -> np.ndarray:
    """Return the number of rows of each resample, or the sum of their weights."""
    if table.unit is None and table.sample_weight is None:
        return np.full(len(counts), table.n)
    return resampling.drawn_products(counts, table.size[None])[:, 0]


def columns_of(table: TableOfRows) -> Callable[[], Iterable[Column]]:
    """Return a function that returns all columns, which are made again each time if they are too many to be kept."""
    if table.columns > FEW_COLUMNS and 16 * table.columns * table.n_rows > COLUMN_BYTES:
        return lambda: map(table.column, range(table.columns))
    kept = [table.column(k) for k in range(table.columns)]
    return lambda: kept


def thetas(
    table: TableOfRows, columns: Callable[[], Iterable[Column]], counts: np.ndarray, size: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield theta of some resamples after the other, of shape (resamples, cells), from counts of their units."""
    some = max(SUM_BYTES // (8 * table.theta.size), 1)
    for first in range(0, len(counts), some):
        part = slice(first, first + some)
        times = counts[part] if table.unit is None else counts[part, table.unit]
        yield resampling.drawn_sums(times, columns(), table.theta.size) / size[part, None]
