"""A measure of rows that come in clusters, which are drawn whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.inference.p_values import Compared
from calibstat.resampling import Draws
from calibstat.residuals.rows import RowResiduals
from calibstat.residuals.table import OfTheta


@dataclass(frozen=True, eq=False)
class ClusteredRows:
    """A measure as a function of the sums of a table of rows in clusters.

    Attributes
    ----------
    estimate : float
        The measure.
    interval : Interval
        Its honest interval.
    residuals : RowResiduals
        The table, which draws whole clusters.
    of : callable
        ``of(theta)``, the measure of sums.
    """

    estimate: float
    interval: Interval
    residuals: RowResiduals
    of: OfTheta

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.residuals.table.n_rows

    def statistic(self) -> float:
        """Return the measure."""
        return self.estimate

    def draw_labels(self, draws: Draws) -> np.ndarray:
        """Return the measure of labels that are drawn independently from the predictions."""
        return self._null.relabelled(self._of_residuals, draws)

    def null_draws(self, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the measure of calibrated clusters by each way to draw them."""
        return self._null.null_draws(self._of_residuals, draws, labels)

    @property
    def _null(self) -> RowResiduals:
        """The residuals, which calibrated labels and signs of clusters change."""
        return replace(self.residuals, table=self.residuals.table.residuals)

    def _of_residuals(self, theta: np.ndarray) -> Any:
        """Return the measure, given sums of residuals and the predictions."""
        return self.of(self.residuals.table.of_residuals(theta))

    def compared(self, draws: Draws) -> dict[str, Compared]:
        """Return the measure beside its draws by each way: the largest p-value of a test counts."""
        return {way: Compared(self.estimate, null) for way, null in self.null_draws(draws).items()}

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the measure of every resample of whole clusters."""
        return self.residuals.resampled(self.of, draws)

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Raise, as no interval of clusters leaves out rows."""
        raise NotImplementedError("no statistics without one cluster are known")

    def honest(self) -> tuple[Interval, RowResiduals]:
        """Return the honest interval, and what its resamples are drawn from."""
        return self.interval, self.residuals
