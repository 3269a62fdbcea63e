"""Tables of the same rows that are drawn together: several models, or one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.resampling import Draws, UnitCounts
from calibstat.resampling.threads import chunks, in_threads
from calibstat.residuals.drawn import SUM_BYTES, Drawn, DrawnCounts, DrawnSums, columns_of, sizes, thetas

KEPT = 2**24  # bytes up to which the sums of all resamples are kept, or else the counts

OfTheta = Callable[[np.ndarray], Any]  # of the sums of a table, over the last axis
OfThetas = Callable[[list[np.ndarray]], Any]  # of the sums of each table


@dataclass(frozen=True, eq=False)
class Stack:
    """Tables of the same rows, with one draw of the units for all of them.

    Attributes
    ----------
    tables : sequence of tables
        They have the same units and weights.
    draws : Draws
        The resamples, the same for all that is asked.
    stage : int
        The stage of the draws.
    """

    tables: Sequence[TableOfRows]
    draws: Draws
    stage: int

    @property
    def rows(self) -> TableOfRows:
        """A table that tells the units and the weights of the rows."""
        return self.tables[0]

    def resampled(self, *of: OfTheta) -> list[np.ndarray]:
        """Return ``of(theta)`` of all resamples, along the first axis: of each table its function of its sums."""
        return self._resampled(of, self._counts(0))[1]

    def drawn(self, *of: OfTheta) -> tuple[list[np.ndarray], Drawn]:
        """Return the same, and the resamples: by their sums if these are few, else by how often each unit is drawn."""
        cells = [table.theta.size for table in self.tables]
        if 8 * sum(cells) * self.draws.n > KEPT:
            counts = self._counts(KEPT)
            size, values = self._resampled(of, counts)
            return values, DrawnCounts(self.tables, size, counts)
        size, theta = self._resampled([lambda theta: theta] * len(cells), self._counts(0))
        values = [self._of_sums(*each) for each in zip(of, theta, strict=True)]
        return values, DrawnSums(self.tables, size, theta)

    def signed(self, of: OfThetas) -> np.ndarray:
        """Return ``of(thetas)`` of all resamples that keep or change the signs of all that a unit adds."""
        begin = np.cumsum([0, *(table.theta.size for table in self.tables)])
        tables = zip(self.tables, begin, strict=False)
        parts = ((table.column(k), b) for table, b in tables for k in range(table.columns))
        columns = [(cell + b, contribution) for (cell, contribution), b in parts]

        def of_sums(total: np.ndarray) -> Any:
            return of([total[:, a:b] / table.n for table, (a, b) in zip(self.tables, pairwise(begin), strict=True)])

        units = self.rows.units
        return resampling.sums_of_signs(columns, int(begin[-1]), units, of_sums, self.draws, self.stage)

    def _counts(self, most: int) -> UnitCounts:
        return UnitCounts(self.rows.size.size, self.draws, self.stage, most)

    def _resampled(self, of: Sequence[OfTheta], counts: UnitCounts) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the numbers of the drawn rows, or the sums of their weights, and what `resampled` does."""
        tables = [(table, columns_of(table), function) for table, function in zip(self.tables, of, strict=True)]

        def of_block(counts: np.ndarray) -> list[np.ndarray]:
            size = sizes(self.rows, counts)
            values = ([f(theta) for theta in thetas(table, column, counts, size)] for table, column, f in tables)
            return [size, *map(np.concatenate, values)]

        size, *values = (np.concatenate(part) for part in zip(*counts.in_blocks(of_block), strict=True))
        return size, values

    def _of_sums(self, of: OfTheta, theta: np.ndarray) -> np.ndarray:
        pieces = chunks(len(theta), self.draws.n_jobs, SUM_BYTES // (8 * theta.shape[1]))
        return np.concatenate(in_threads(lambda a, b: of(theta[a:b]), pieces, self.draws.n_jobs))
