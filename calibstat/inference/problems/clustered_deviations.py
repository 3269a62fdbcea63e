"""The omnibus statistic of rows in clusters, and what its test compares it with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.residual_tables import RowTable
from calibstat.inference.p_values import Compared
from calibstat.inference.problems.calibrated_clusters import (
    INDEPENDENT,
    SHARED,
    SIGNS,
    has_few_events,
    shared_labels,
)
from calibstat.measures.components.cluster_deviations import ClusterDeviations
from calibstat.measures.components.deviations import Diagnostics
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class ClusteredDeviations:
    """Smooth, scattered and local deviations of rows in clusters.

    Attributes
    ----------
    table : RowTable
        The rows whose predictions are strictly between 0 and 1, in cells.
    deviations : ClusterDeviations
        The statistic of these rows, in units of how far clusters spread.
    """

    table: RowTable
    deviations: ClusterDeviations

    @classmethod
    def of(cls, table: RowTable, cell: np.ndarray, diagnostics: Diagnostics) -> ClusteredDeviations:
        """Return the deviations of a table over distinct predictions, of which each is in a cell of diagnostics."""
        at = cell[table.cell]
        inner = diagnostics.inner[at]
        place = np.cumsum(diagnostics.inner) - 1  # of a cell among those strictly between 0 and 1
        kept = RowTable(
            cell=place[at[inner]],
            residual=table.residual[inner],
            prediction=table.prediction[inner],
            cells=int(place[-1]) + 1,
            sample_weight=None if table.sample_weight is None else table.sample_weight[inner],
            unit=np.unique(table.units[inner], return_inverse=True)[1],
        )
        weight = np.ones(kept.n_rows) if kept.sample_weight is None else kept.sample_weight
        return cls(
            kept,
            ClusterDeviations.of(diagnostics, kept.cell, kept.units, kept.prediction, weight),
        )

    def compared(self, of_rows: Compared, draws: Draws) -> dict[str, Compared]:
        """Return the statistic beside its draws by each way to draw calibrated clusters: the largest p-value counts.

        `of_rows` is the statistic of independent rows with its draws. What an impossible label makes infinite is so by
        every way.

        Statement and argument: docs/evidence/proofs/cluster-tests.md.
        """
        table, deviations = self.table, self.deviations
        squares = deviations.squares(deviations.in_parts(table.contribution))

        def of_theta(theta: np.ndarray) -> np.ndarray:
            return deviations.statistic(theta * table.n, squares)

        def of_parts(total: np.ndarray) -> float:
            total = total * table.n
            residual = np.bincount(deviations.cell, total, table.cells)[None]
            return float(deviations.statistic(residual, deviations.squares(total))[0])

        statistic = np.inf if np.isinf(of_rows.statistic) else float(of_theta(table.theta[None])[0])
        compared = {
            SIGNS: Compared(statistic, table.signed(of_theta, draws)),
            INDEPENDENT: of_rows,
        }
        if has_few_events(table):
            part, parts = deviations.part, deviations.cell.size
            compared[SHARED] = Compared(statistic, shared_labels(table, part, parts, of_parts, draws))
        return compared
