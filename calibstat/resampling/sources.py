"""Data to resample, beside `Sample` and `Predictions`: sums, groups, class samples, pairs of models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.weighted_sample import WeightedSample


@dataclass(frozen=True)
class InOnePass:
    """A binary sample, whose rows may have weights, for a statistic in one pass over its labels."""

    sample: Sample


@dataclass(frozen=True)
class CellSums:
    """Sums over the cells of a binary sample: `cell`, ascending, of each distinct prediction.

    `cache` holds probabilities that labels were drawn from, with the distributions of the cells for later draws.
    """

    sample: Sample
    cell: np.ndarray
    cache: list[tuple[np.ndarray, Any]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.cell[-1]) + 1


@dataclass(frozen=True)
class WeightedCellSums:
    """Sums over the cells of binary rows with weights: `cell`, ascending, of each distinct prediction."""

    sample: WeightedSample
    cell: np.ndarray

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self.cell[-1]) + 1


def in_cells(sample: Sample, cell: np.ndarray) -> CellSums | WeightedCellSums:
    """Return the sums over the cells of a sample, whose rows may have weights."""
    return WeightedCellSums(sample, cell) if isinstance(sample, WeightedSample) else CellSums(sample, cell)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """The cells of rows and classes: class k of row i is in cell ``index[i, k] + k * stride``, of so many `cells`.

    If `index` has one column, all classes of a row share it.
    """

    predictions: Predictions
    index: np.ndarray
    stride: int
    cells: int


@dataclass(frozen=True)
class ClassSamples:
    """The binary samples of all classes, which share rows and draws; rows may have a weight."""

    predictions: Predictions
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class GroupSums:
    """Counts of outcomes 1 in groups of rows that may overlap, and in strata of rows that do not.

    Row i has this prediction and is bit ``index[i]`` of words of 64 rows; stratum s is the words from ``edge[s]`` to
    before ``edge[s + 1]``. `masks`, shape (G, words), holds a bit for each row of each group.
    """

    prediction: np.ndarray
    index: np.ndarray
    edge: np.ndarray
    masks: np.ndarray


@dataclass(frozen=True)
class AtomSums:
    """Counts of outcomes 1 in groups, which are unions of atoms, and in strata of rows: counted rows of `GroupSums`.

    Row i has this prediction, stands for ``number[i]`` rows, and is in this atom and stratum. `member`, shape (G, A),
    says which atoms are in each group.
    """

    prediction: np.ndarray
    number: np.ndarray
    atom: np.ndarray
    stratum: np.ndarray
    size: int
    member: np.ndarray


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
Source = (
    Sample
    | InOnePass
    | CellSums
    | WeightedCellSums
    | Predictions
    | ClassCells
    | ClassSamples
    | GroupSums
    | AtomSums
    | ModelPair
)
