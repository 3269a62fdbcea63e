"""Runs of rows with neighbouring predictions, in which the error itself is bounded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.curves.monotone_limits import information_share

FEWEST = 10  # runs, unless there are fewer predictions: sums of fewer are skewed
MOST_RUNS = 6.0  # times n ** (2 / 5): the most runs that are tried
HIDDEN = 1.6  # what noise hides per run, in standard deviations of a run, over the fourth root of the number of runs
REMAINDER = 1.5  # what a curve hides within runs, over what a curve that is constant there hides


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of sorted rows, chosen from the predictions alone.

    Attributes
    ----------
    value, count : ndarray, shape (m,)
        Distinct ascending predictions and their numbers of rows.
    cell : ndarray of int, shape (m,)
        The run of each.
    """

    value: np.ndarray
    count: np.ndarray
    cell: np.ndarray

    @classmethod
    def of(cls, value: np.ndarray, count: np.ndarray) -> Runs:
        """Return the runs of these distinct predictions, of which some may have no rows."""
        return cls(value, count, cells_of(value, count))

    def sums(self, each: np.ndarray) -> np.ndarray:
        """Return the sums over the runs of a number for each distinct prediction."""
        return np.bincount(self.cell, each)

    @cached_property
    def rows(self) -> np.ndarray:
        """The number of rows of each run."""
        return self.sums(self.count)

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean prediction of each run."""
        return np.clip(self.sums(self.count * self.value) / self.rows, 0.0, 1.0)

    @cached_property
    def squares(self) -> np.ndarray:
        """The sum of the squared distances of the predictions of each run from their mean."""
        return np.maximum(self.sums(self.count * (self.value - self.mean[self.cell]) ** 2), 0.0)

    @cached_property
    def first(self) -> np.ndarray:
        """The place of the first distinct prediction of each run, and at last their number."""
        return np.append(np.flatnonzero(np.diff(self.cell, prepend=-1)), self.value.size)

    @cached_property
    def is_single(self) -> np.ndarray:
        """Whether all rows of a run have one prediction."""
        return np.diff(self.first) == 1

    @cached_property
    def width(self) -> np.ndarray:
        """The difference of the largest and the smallest prediction of each run."""
        return self.value[self.first[1:] - 1] - self.value[self.first[:-1]]


def cells_of(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the run of each distinct ascending prediction, from 0.

    Runs have equal shares of rows and of information, half and half. Their number makes what noise hides and what a
    curve hides within runs, of a calibrated model, about as small as they can be.
    """
    full = count > 0
    if not full.all():  # a prediction without rows, as in resamples, belongs to the run of the one before it
        cell = cells_of(value[full], count[full])
        return np.append(0, cell)[np.maximum(full.cumsum(), 1)]
    n = float(count.sum())
    finest = int(min(max(MOST_RUNS * n**0.4, FEWEST), n))
    tried = np.unique(np.geomspace(min(FEWEST, finest), finest, 14).round().astype(int) | 1)  # odd
    if value.size <= FEWEST:
        return np.arange(value.size)
    cells = [_runs(value, count, int(k)) for k in tried]
    return min(cells, key=lambda cell: _hidden(value, count, cell))


def _runs(value: np.ndarray, count: np.ndarray, k: int) -> np.ndarray:
    before = information_share(value, count).cumsum()
    middle = before - information_share(value, count) / 2
    from_below = np.floor(k * middle + 1e-9)
    from_above = k - 1 - np.floor(k * (1 - middle) + 1e-9)
    cell = np.where(middle < 0.5, from_below, from_above)  # the same if predictions are reversed
    alone = count * k >= count.sum()
    starts = (np.diff(cell, prepend=cell[0]) > 0) | alone | np.append(False, alone[:-1])
    starts[0] = False
    return np.cumsum(starts)


def _hidden(value: np.ndarray, count: np.ndarray, cell: np.ndarray) -> float:
    runs = Runs(value, count, cell)
    variance = runs.rows * runs.mean * (1 - runs.mean)
    noise = HIDDEN * np.sqrt(np.sqrt(cell[-1] + 1.0) * variance.sum())
    within = runs.sums(count * np.abs(value - runs.mean[cell])).sum()
    return float(noise + REMAINDER * within)
