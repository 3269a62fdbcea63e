"""Data to resample, beside `Sample` and `Predictions`: sums, groups, class samples, pairs of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample


@dataclass(frozen=True)
class CellSums:
    """Sums over the cells of a binary sample: `cell`, ascending, of each distinct prediction.

    `kept` is what draws of labels leave for later ones: probabilities, and the distributions of the cells for them.
    """

    sample: Sample
    cell: np.ndarray
    kept: list[tuple[np.ndarray, Any]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.cell[-1]) + 1


@dataclass(frozen=True)
class VectorSums:
    """Sums over cells and classes of multiclass predictions.

    Class k of row i adds at ``place[i, k] + k * along``, or at ``place[i, 0] + k * along`` if all classes share their
    cells. There are `size` places.
    """

    predictions: Predictions
    place: np.ndarray
    along: int
    size: int


@dataclass(frozen=True)
class ClassSamples:
    """The binary samples of all classes, which share rows and draws; rows may have a weight."""

    predictions: Predictions
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class RowSums:
    """Sums over cells of `residual`, which each row adds at `cell`: shape (n, M) for M models, or (n,).

    Rows count 1 each, or their `weight`, shape (n,), which their residuals have been multiplied by.
    """

    cell: np.ndarray
    residual: np.ndarray
    size: int | None = None
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.cell)

    @property
    def n_cells(self) -> int:
        """Number of cells: `size`, or as few as hold all rows."""
        return int(self.cell.max()) + 1 if self.size is None else self.size


@dataclass(frozen=True)
class RowLabels:
    """Sums over cells of the residuals of rows whose labels are drawn: row i has this prediction and adds at `cell`.

    Rows may have a weight.
    """

    cell: np.ndarray
    prediction: np.ndarray
    size: int
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class GroupSums:
    """Counts of outcomes 1 in groups of rows that may overlap, and in strata of rows that do not.

    Row i has this prediction and is bit ``place[i]`` of words of 64 rows; stratum s is the words from ``edge[s]`` to
    before ``edge[s + 1]``. `masks`, shape (G, words), holds a bit for each row of each group.
    """

    prediction: np.ndarray
    place: np.ndarray
    edge: np.ndarray
    masks: np.ndarray


@dataclass(frozen=True)
class ModelPair:
    """Cells and outcomes of two models on the same rows, each of shape (n, 2), over `size` cells.

    Rows may have a weight.
    """

    cell: np.ndarray
    label: np.ndarray
    size: int
    weight: np.ndarray | None = None


Value = float | np.ndarray | tuple[np.ndarray, ...]  # of a statistic, on one resample
OfSample = Callable[[np.ndarray, np.ndarray, np.ndarray], Value]  # of value, count and positives
OfLabels = Callable[[np.ndarray], np.ndarray]  # of many resamples at once
Source = Sample | CellSums | Predictions | VectorSums | ClassSamples | RowSums | RowLabels | GroupSums | ModelPair
