"""Tables of the same rows that are drawn together: several models, or one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.resampling import Draws

OfThetas = Callable[[list[np.ndarray]], Any]  # of the sums of each table, over the last axis


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

    def resampled(self, of: OfThetas) -> np.ndarray:
        """Return ``of(thetas)`` of all resamples, along the first axis: the sums of each table over the drawn rows."""
        begin = np.cumsum([0, *(table.theta.size for table in self.tables)])
        columns = [
            _shifted(table, k, b) for table, b in zip(self.tables, begin, strict=False) for k in range(table.columns)
        ]

        def of_sums(total: np.ndarray, size: np.ndarray) -> Any:
            return of([total[:, a:b] / size[:, None] for a, b in pairwise(begin)])

        return self._sums(columns, int(begin[-1]), of_sums)

    def signed(self, of: OfThetas) -> np.ndarray:
        """Return ``of(thetas)`` of every resample that keeps or changes the signs of all that a unit adds."""

        def of_signs(signs: np.ndarray) -> Any:
            sign = (2.0 * signs - 1)[self.rows.units]
            return of([table.summed(sign) / table.n for table in self.tables])

        return resampling.random_signs(self.rows.size.size, of_signs, self.draws, self.stage)

    def means(self, parts: Sequence[Callable[[], np.ndarray]]) -> np.ndarray:
        """Return the means of what rows add over the rows of each resample, less the data's means: shape (B, W)."""
        columns = [_constant(part, m) for m, part in enumerate(parts)]
        drawn = self._sums(columns, len(parts), lambda total, size: total / size[:, None])
        observed = np.array([np.cumsum(part())[-1] for part in parts])  # row by row, as the draws are added up
        return drawn - observed / self.rows.size.sum()

    def first(self, m: int, n: int) -> np.ndarray:
        """Return theta of the m-th table in the first `n` resamples, shape (n, cells)."""
        few = replace(self, tables=[self.tables[m]], draws=replace(self.draws, n=min(n, self.draws.n)))
        return few.resampled(lambda thetas: thetas[0])

    def covariance_with(self, drawn: np.ndarray) -> np.ndarray:
        """Return the covariance of a number of each resample with how often each unit is drawn, shape (units,)."""
        weight = (drawn - drawn.mean()) / drawn.size
        return resampling.weighted_counts(self.rows.size.size, weight[:, None], self.draws, self.stage)[:, 0]

    def _sums(self, columns: Sequence[resampling.Column], cells: int, of: Callable[..., Any]) -> np.ndarray:
        return resampling.sums_of_units(
            columns, cells, self.rows.units, self.rows.sample_weight, of, self.draws, self.stage
        )


def _shifted(table: TableOfRows, k: int, begin: int) -> resampling.Column:
    """Return a column of a table, whose cells come after the cells of other tables."""

    def column() -> tuple[np.ndarray, np.ndarray]:
        cell, contribution = table.column(k)
        return cell + begin, contribution

    return column


def _constant(part: Callable[[], np.ndarray], m: int) -> resampling.Column:
    """Return a column whose rows all add in one cell."""

    def column() -> tuple[np.ndarray, np.ndarray]:
        contribution = part()
        return np.full(contribution.size, m), contribution

    return column
