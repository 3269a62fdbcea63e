"""Parts of a binary reliability diagram: its bins, and the band around them or around a curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.residual_tables import RowTable
from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.resampling import GivenPredictions, Labels

CALIBRATED_LABELS = Labels()


@dataclass(frozen=True)
class Bins:
    """The bins of a sample that hold rows.

    `cell` is the bin of each distinct prediction, ascending, and `full` are the bins that occur; `count`, `mean` and
    `frequency` are their rows, mean predictions and shares of outcome 1. `clusters` is the table of the rows at their
    distinct predictions, if they are in clusters. `outcomes` draws outcomes under the null hypothesis: by default of
    calibration.
    """

    sample: Sample
    cell: np.ndarray
    full: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    frequency: np.ndarray
    clusters: RowTable | None = None
    outcomes: GivenPredictions = CALIBRATED_LABELS

    @classmethod
    def of(
        cls,
        sample: Sample,
        cell: np.ndarray,
        clusters: RowTable | None = None,
        outcomes: GivenPredictions = CALIBRATED_LABELS,
    ) -> Bins:
        """Sum up the rows of each bin."""
        count, residual, value = cell_sums(cell, *sample.arrays)
        full = np.flatnonzero(count)
        scale = sample.count.sum() / count[full]
        mean = np.clip(value[full] * scale, 0, 1)
        frequency = np.clip((value + residual)[full] * scale, 0, 1)
        return cls(sample, cell, full, count[full], mean, frequency, clusters, outcomes)

    @property
    def positives(self) -> np.ndarray:
        """Rows with outcome 1 in each bin, of a sample of counts."""
        return np.rint(self.frequency * self.count)

    def null_outcomes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what is drawn under the null hypothesis: its bins, ascending, its chances, and its numbers of rows."""
        place, chance, rows = self.outcomes.of_sample(self.sample.value, self.sample.count)
        return self.cell[place], chance, rows

    @property
    def expected(self) -> np.ndarray:
        """The mean chance of outcome 1 in each bin under the null hypothesis."""
        cell, chance, rows = self.null_outcomes()
        return np.clip((np.bincount(cell, chance * rows) / np.maximum(np.bincount(cell, rows), 1))[self.full], 0, 1)

    @property
    def first(self) -> np.ndarray:
        """Index of the first distinct prediction of each bin."""
        return np.searchsorted(self.cell, self.full)

    @property
    def last(self) -> np.ndarray:
        """Index of the last distinct prediction of each bin."""
        return np.append(self.first[1:], self.cell.size) - 1


@dataclass(frozen=True)
class Steps:
    """A band of a non-decreasing curve: its ends `low` and `high` at the predictions `value`, ascending.

    Because the curve does not decrease, the lower line goes on to the right of each prediction and the upper one to its
    left.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def at(self, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends at any predictions."""
        low = np.append(0.0, self.low)[np.searchsorted(self.value, prediction, side="right")]
        high = np.append(self.high, 1.0)[np.searchsorted(self.value, prediction, side="left")]
        return low, high

    def corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the corners of both lines from 0 to 1: their predictions, lower and upper ends."""
        x = np.repeat(np.concatenate(([0.0], self.value, [1.0])), 2)[1:-1]
        return x, np.repeat(np.append(0.0, self.low), 2), np.repeat(np.append(self.high, 1.0), 2)


@dataclass(frozen=True)
class Band:
    """The band of a diagram: bars of the bins, steps, or both, and the number of resamples they took."""

    low: np.ndarray | None = None
    high: np.ndarray | None = None
    steps: Steps | None = None
    n_resamples: int = 0
