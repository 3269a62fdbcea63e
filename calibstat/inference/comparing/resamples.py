"""Resamples of tables of the same rows that are kept: linear functions of their sums need no other draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.bounds.residual_tables import SUM_BYTES, OfTheta, TableOfRows, of_same_draws
from calibstat.resampling import Draws, UnitCounts
from calibstat.resampling.threads import chunks, in_threads

KEPT = 2**24  # bytes up to which the sums of all resamples are kept, or else the counts
ADDEND_BYTES, MORE_ADDEND_BYTES = 2**22, 3 * 2**23  # added up in one pass if counts are kept, and if drawn again


@dataclass(frozen=True, eq=False)
class Resamples(ABC):
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
class SumsOfResamples(Resamples):
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
class CountsOfResamples(Resamples):
    """By how often each unit is drawn."""

    counts: UnitCounts

    def first(self, m: int, n: int) -> Iterator[np.ndarray]:
        table = self.tables[m]
        for counts in self.counts.in_blocks(lambda counts: counts, n):
            for some in table.thetas(table.kept_columns(), counts, table.sizes(counts)):
                yield from some

    def covariances(self, numbers: np.ndarray) -> Callable[[int, int], np.ndarray]:
        share = self.counts.weighted(_centred(numbers))
        return lambda m, k: self.tables[m].at_cells(share[k])

    def addend(self, weights: np.ndarray, by_unit: np.ndarray) -> np.ndarray:
        return by_unit

    def noise(self, addends: Iterator[tuple[int, np.ndarray]]) -> np.ndarray:
        some = max((ADDEND_BYTES if self.counts.are_stored else MORE_ADDEND_BYTES) // (8 * self.counts.units), 1)
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


def resamples_of(
    tables: Sequence[TableOfRows], of: Sequence[OfTheta], draws: Draws, stream: int
) -> tuple[list[np.ndarray], Resamples]:
    """Return of each table its function of its sums, of all resamples, and the resamples, the same for all tables.

    They are held by their sums if these are few, else by how often each unit is drawn.
    """
    cells, units = [table.theta.size for table in tables], tables[0].size.size
    if 8 * sum(cells) * draws.n > KEPT:
        counts = UnitCounts(units, draws, stream, KEPT)
        size, values = of_same_draws(tables, of, counts)
        return values, CountsOfResamples(tables, size, counts)
    size, theta = of_same_draws(tables, [lambda theta: theta] * len(cells), UnitCounts(units, draws, stream))
    values = [_of_sums(*each, draws.n_jobs) for each in zip(of, theta, strict=True)]
    return values, SumsOfResamples(tables, size, theta)


def _of_sums(of: OfTheta, theta: np.ndarray, n_jobs: int) -> np.ndarray:
    pieces = chunks(len(theta), n_jobs, SUM_BYTES // (8 * theta.shape[1]))
    return np.concatenate(in_threads(lambda a, b: of(theta[a:b]), pieces, n_jobs))
