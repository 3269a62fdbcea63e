"""Residuals of rows in folds of cross-validation, with random signs of rows or clusters, centred within each fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.residual_tables import RowTable
from calibstat.resampling import Draws
from calibstat.residuals.table import OfTheta


@dataclass(frozen=True, eq=False)
class FoldResiduals:
    """A table of rows, each of which has a fold, numbered from 0; all rows of a cluster have the same."""

    table: RowTable
    fold: np.ndarray

    def noise(self, of: OfTheta, draws: Draws) -> np.ndarray:
        """Return ``of(G*)`` of all resamples, along the first axis: the sums of signed residuals, divided by n.

        Statement and argument: docs/proofs.md, section 12.
        """
        table = self.table
        column = table.cell, table.contribution / table.n
        return resampling.sums_of_fold_signs(column, table.cells, self.fold, table.units, of, draws)
