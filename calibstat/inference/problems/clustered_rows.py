"""A measure of rows that come in clusters, which are drawn whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.bounds.residual_tables import OfTheta
from calibstat.bounds.tables_of_classes import TableOfEvents
from calibstat.inference.p_values import Compared
from calibstat.inference.problems.calibrated_clusters import independent_labels, null_draws
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """A measure as a function of the sums of a table of rows in clusters.

    Attributes
    ----------
    estimate : float
        The measure.
    interval : Interval
        Its honest interval.
    table : RowTable or TablesOfClasses
        The table, which draws whole clusters.
    of : callable
        ``of(theta)``, the measure of sums.
    """

    estimate: float
    interval: Interval
    table: TableOfEvents
    of: OfTheta

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def statistic(self) -> float:
        """Return the measure."""
        return self.estimate

    def drawer_of_labels(self) -> Callable[[Draws], np.ndarray]:
        """Return what draws the measure of labels that are drawn independently from the predictions."""
        return partial(independent_labels, self.table.residuals, self._of_residuals)

    def null_draws(self, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the measure of calibrated clusters by each way to draw them."""
        return null_draws(self.table.residuals, self._of_residuals, draws, labels)

    def _of_residuals(self, theta: np.ndarray) -> Any:
        """Return the measure, given sums of residuals and the predictions."""
        return self.of(self.table.of_residuals(theta))

    def compared(self, draws: Draws) -> dict[str, Compared]:
        """Return the measure beside its draws by each way: the largest p-value of a test counts."""
        return {way: Compared(self.estimate, null) for way, null in self.null_draws(draws).items()}

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the measure of every resample of whole clusters."""
        return self.table.resampled(self.of, draws)

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Raise, as no interval of clusters leaves out rows."""
        raise NotImplementedError("no statistics without one cluster are known")

    def honest(self) -> Interval:
        """Return the honest interval."""
        return self.interval
