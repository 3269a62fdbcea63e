"""Rows added up batch by batch: as they are while they are few, and in cells of predictions once they are many."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit
from calibstat.data.engines.cell_table import COARSE, FINE, TABLE_CELLS
from calibstat.data.sample import Sample, sample_of_batches
from calibstat.data.validation import ready
from calibstat.measures.bins import bin_of

MOST_ROWS = 2**22  # that are kept, 9 bytes each
WHOLE, ENDS = ("n_rows", "positives", "offsets", "fine_offsets"), ("lowest", "highest")


class RowCounts:
    """Outcomes and predictions of checked rows: all of up to 4,194,304 rows, and of more the sums in 153,600 cells.

    The sums are as of `Sample.from_frame`, to the last digit, in any order of the rows.

    Attributes
    ----------
    n : int
        Number of rows so far.
    """

    def __init__(self) -> None:
        self.n = 0
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []
        self._cells = CellSums()

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """Add outcomes 0 or 1 and predictions of float64."""
        self.n += p.size
        self._kept.append((y == 1, ready(p, np.float64)))
        if self.n > MOST_ROWS:
            for each in self._kept:
                self._cells.add(*each)
            self._kept.clear()

    def sample(self) -> Sample:
        """Return the sample of all rows."""
        if self.n <= MOST_ROWS:
            return sample_of_batches((y.astype(np.int64), p) for y, p in self._kept)
        return self._cells.sample()


class CellSums:
    """The sums of rows in 153,600 cells."""

    def __init__(self) -> None:
        self._whole = np.zeros((len(WHOLE), TABLE_CELLS), np.int64)
        self._ends = np.array([[2.0], [-1.0]]) * np.ones(TABLE_CELLS)

    def add(self, y: np.ndarray, p: np.ndarray) -> None:
        """Add outcomes, as booleans, and predictions of float64."""
        _add(y, p, self._whole, self._ends)

    def sample(self) -> Sample:
        """Return the sample of all rows, with the mean prediction of each cell."""
        cell = np.flatnonzero(self._whole[0])
        table = dict(zip((*WHOLE, *ENDS), (*self._whole[:, cell], *self._ends[:, cell]), strict=True))
        return Sample.from_cells(table | {"cell": cell, "count": table["n_rows"]})


@jit
def _add(y: np.ndarray, p: np.ndarray, whole: np.ndarray, ends: np.ndarray) -> None:
    """Add rows to the sums `WHOLE` and to the lowest and highest prediction of each cell."""
    for i in range(p.size):
        v = p[i]
        b = bin_of(v, TABLE_CELLS)
        rounded = b > 0.0 and v == np.float64(np.float32(b / TABLE_CELLS))  # up from the edge, by single precision
        b -= 1.0 if rounded else 0.0
        above = (v - b / TABLE_CELLS) * COARSE
        coarse = math.floor(above)
        cell = np.int64(b)
        whole[0, cell] += 1
        whole[1, cell] += y[i]
        whole[2, cell] += np.int64(coarse)
        whole[3, cell] += np.int64((above - coarse) * FINE)
        ends[0, cell] = min(ends[0, cell], v)
        ends[1, cell] = max(ends[1, cell], v)
