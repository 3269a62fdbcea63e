"""Rows of several models added up batch by batch: as they are while they are few, then counted by kinds of rows.

Rows of a kind have the same outcome and the same prediction of each model. Where more than 524,288 kinds occur, they
are made of cells: the predictions of each model in 153,600 cells of equal width, or in half as many, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibstat.cli.large.rows_in_cells import CellSums
from calibstat.compiled import jit
from calibstat.data.checked_rows import Models, models_of_counts
from calibstat.data.engines.cell_table import TABLE_CELLS
from calibstat.data.engines.counted_rows import CountedRows
from calibstat.data.sample import Sample
from calibstat.data.single_precision import is_single
from calibstat.measures.bins import bin_numbers
from calibstat.resampling.streams import GOLDEN, mix

MOST_ROWS = 2**21  # that are kept, 8 bytes for each model
MOST_KINDS = 2**19
FEWEST_CELLS = TABLE_CELLS // 2**11  # an odd number, of which no half is taken


class TooManyKinds(ValueError):
    """There are more kinds of rows than are kept, in the fewest cells."""


class ModelCounts:
    """Outcomes and predictions of checked rows of several models: all of up to 2,097,152 rows, and of more the kinds.

    Attributes
    ----------
    n : int
        Number of rows so far.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.n = 0
        self._names = tuple(names)
        self._kept: list[tuple[np.ndarray, ...]] = []
        self._kinds = KindsOfRows(len(names))
        self._of_model = [CellSums() for _ in names]

    def add(self, y: np.ndarray, *prob: np.ndarray) -> None:
        """Add outcomes 0 or 1, and predictions of each model, of float64."""
        self.n += y.size
        self._kept.append((y == 1, *prob))
        if self.n > MOST_ROWS:
            self._kept.reverse()
            while self._kept:  # each is let go before the table grows by the next
                outcome, *of_models = self._kept.pop()
                self._kinds.add(outcome.astype(np.int64), np.stack(of_models) + 0.0)
                for counts, p in zip(self._of_model, of_models, strict=True):
                    counts.add(outcome, p)

    def models(self) -> Models:
        """Return the models on all rows."""
        if self.n <= MOST_ROWS:
            y, *prob = (np.concatenate(part) for part in zip(*self._kept, strict=True))
            return Models(y.astype(np.float64), dict(zip(self._names, prob, strict=True)))
        of_model = [counts.sample() for counts in self._of_model]
        return models_of_counts(self._kinds.counted(self._names, dict(zip(self._names, of_model, strict=True))))


class KindsOfRows:
    """A table of kinds of rows, found by a label and a key of each prediction: its bits or the number of its cell.

    Of M models `ends`, shape (2, M, k), are the lowest and the highest prediction of each kind, and `total` their sums.
    """

    def __init__(self, models: int) -> None:
        self.n_cells = 0
        self.size = 0
        self._label, self._count = np.empty(MOST_KINDS, np.int64), np.empty(MOST_KINDS, np.int64)
        self._key = np.empty((models, MOST_KINDS), np.uint64)
        self._total, self._ends = np.empty((models, MOST_KINDS)), np.empty((2, models, MOST_KINDS))
        self._slot = np.full(2 ** (MOST_KINDS.bit_length() + 1), -1, np.int32)  # at most half full

    def add(self, label: np.ndarray, prob: np.ndarray) -> None:
        """Add rows, with labels of int64 and predictions of shape (M, n)."""
        self._put(label, np.ones(label.size, np.int64), prob, np.stack([prob, prob]))

    def _put(self, label: np.ndarray, count: np.ndarray, total: np.ndarray, ends: np.ndarray) -> None:
        """Add kinds of rows; where there is no place for one more, put all into fewer cells."""
        done = 0
        while True:
            table = self._label, self._count, self._key, self._total, self._ends, self._slot
            rest = [np.ascontiguousarray(part[..., done:]) for part in (label, count, total, ends)]
            self.size, more = _put(*table, self.size, self._keys(rest[3][0]), *rest)
            done += more
            if done == label.size:
                return
            self._in_fewer_cells()

    def _keys(self, low: np.ndarray) -> np.ndarray:
        """Return the keys of predictions that are the lowest of their kinds."""
        if not self.n_cells:
            return low.view(np.uint64)
        return np.stack([bin_numbers(each, self.n_cells) for each in low]).astype(np.uint64)

    def _in_fewer_cells(self) -> None:
        if self.n_cells == FEWEST_CELLS:
            raise TooManyKinds(
                f"expected at most {MOST_KINDS:,} kinds of rows, found more, with the predictions of each model in "
                f"{FEWEST_CELLS} cells; give fewer columns at once"
            )
        self.n_cells = self.n_cells // 2 if self.n_cells else TABLE_CELLS
        label, count, _, total, ends = self.table()
        kinds = label, count, total, ends
        self.size = 0
        self._slot.fill(-1)
        self._put(*(each.copy() for each in kinds))

    def table(self) -> tuple[np.ndarray, ...]:
        """Return the labels, the counts, and of each model the keys, the sums and the ends of the predictions."""
        k = self.size
        return self._label[:k], self._count[:k], self._key[:, :k], self._total[:, :k], self._ends[:, :, :k]

    def counted(self, names: Sequence[str], samples: dict[str, Sample]) -> CountedRows:
        """Return the kinds."""
        label, count, key, total, (low, high) = self.table()
        mean = (total / count).clip(low, high)
        if self.n_cells and not is_single(mean):
            mean = np.minimum(mean, (key + 1) / self.n_cells)  # of single precision it may be above by rounding
        spread = ((mean - low) * (high - mean)) @ count / count.sum()  # no variance between two ends is larger
        return CountedRows(
            label.astype(np.float64),
            count.astype(np.float64),
            dict(zip(names, mean, strict=True)),
            samples,
            self.n_cells,
            float(np.maximum(mean - low, high - mean).max()),
            dict(zip(names, spread.tolist(), strict=True)),
        )


@jit
def _put(
    label: np.ndarray,
    count: np.ndarray,
    key: np.ndarray,
    total: np.ndarray,
    ends: np.ndarray,
    slot: np.ndarray,
    size: int,
    new_key: np.ndarray,
    new_label: np.ndarray,
    new_count: np.ndarray,
    new_total: np.ndarray,
    new_ends: np.ndarray,
) -> tuple[int, int]:
    """Add kinds to a table of so many until it is full; return how many it then has, and how many were added.

    `slot` is an open-addressed hash table of the numbers of kinds, -1 where there is none; its size is a power of 2.
    """
    models = key.shape[0]
    last = np.uint64(slot.size - 1)
    for i in range(new_label.size):
        place = np.uint64(new_label[i])
        for m in range(models):
            place = mix((place ^ new_key[m, i]) + GOLDEN)
        while True:
            place &= last
            k = np.int64(slot[place])
            if k < 0:
                break
            same = label[k] == new_label[i]
            for m in range(models):
                same &= key[m, k] == new_key[m, i]
            if same:
                break
            place += np.uint64(1)
        if k >= 0:
            count[k] += new_count[i]
            for m in range(models):
                total[m, k] += new_total[m, i]
                ends[0, m, k] = min(ends[0, m, k], new_ends[0, m, i])
                ends[1, m, k] = max(ends[1, m, k], new_ends[1, m, i])
            continue
        if size == label.size:
            return size, i
        slot[place] = size
        label[size] = new_label[i]
        count[size] = new_count[i]
        for m in range(models):
            key[m, size] = new_key[m, i]
            total[m, size] = new_total[m, i]
            ends[0, m, size] = new_ends[0, m, i]
            ends[1, m, size] = new_ends[1, m, i]
        size += 1
    return size, new_label.size
