"""Tables of the same rows side by side, such as of the classes against the rest, for norms over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat import resampling
from calibstat.bounds.residual_tables import OfTheta, RowTable, TableOfRows
from calibstat.resampling import Column, Draws


@dataclass(frozen=True, eq=False)
class TablesOfClasses(TableOfRows):
    """The cells of one table after the cells of another; all have the same rows, weights and clusters."""

    tables: Sequence[RowTable]

    @cached_property
    def begin(self) -> np.ndarray:
        """The first cell of each table, and the number of all cells, shape (tables + 1,)."""
        return np.cumsum([0, *(table.cells for table in self.tables)])

    @property
    def cells(self) -> int:
        return int(self.begin[-1])

    @property
    def sample_weight(self) -> np.ndarray | None:
        return self.tables[0].sample_weight

    @property
    def unit(self) -> np.ndarray | None:
        return self.tables[0].unit

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.tables[0].n_rows

    @property
    def columns(self) -> int:
        return len(self.tables)

    def column(self, k: int) -> Column:
        return self.tables[k].cell + self.begin[k], self.tables[k].contribution

    def prediction_of(self, k: int) -> np.ndarray:
        return self.tables[k].prediction

    @property
    def events(self) -> Sequence[RowTable]:
        """The table of each event whose residuals are added up."""
        return self.tables

    def relabelled(
        self, cell: np.ndarray, cells: int, unit: np.ndarray, of: OfTheta, draws: Draws, stream: int
    ) -> np.ndarray:
        """Return the same as of a `RowTable`: labels are classes, which are drawn once for all of them.

        Where the rows of a cluster share a uniform number, a row has the first class, the rarest one first, at which
        its cumulated predictions exceed the number. So the rarest class is as alike in a cluster as it can be.
        """
        prob = np.stack([event.prediction for event in self.tables], axis=1)
        rarest_first = np.argsort(prob.sum(axis=0), kind="stable")
        cell = cell.reshape(prob.shape[1], -1)[rarest_first]
        prob = np.ascontiguousarray(prob[:, rarest_first])
        return resampling.sums_of_class_labels(cell.T, prob, cells, unit, self.sample_weight, of, draws, stream)

    @property
    def residuals(self) -> TablesOfClasses:
        """The residuals of the same rows."""
        return TablesOfClasses([table.residuals for table in self.tables])

    def of_residuals(self, theta: np.ndarray) -> np.ndarray:
        """Return the sums in cells, given the sums of any residuals and the predictions, over the last axis."""
        parts = np.split(theta, self.residuals.begin[1:-1], axis=-1)
        return np.concatenate(
            [table.of_residuals(part) for table, part in zip(self.tables, parts, strict=True)], axis=-1
        )

    @cached_property
    def theta(self) -> np.ndarray:
        return np.concatenate([table.theta for table in self.tables])


TableOfEvents = RowTable | TablesOfClasses  # whose labels can be drawn
