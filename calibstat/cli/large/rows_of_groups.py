"""Rows of groups added up batch by batch: counted by their levels of features, outcome and prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.cli.batches import mixed_batches
from calibstat.cli.large.rows_of_models import KindsOfRows
from calibstat.data.features import levels

if TYPE_CHECKING:
    import pandas as pd

VALUES_HELD = 2**17  # of a feature


class FeatureLevels:
    """The levels of a column of features, from the values that occur in all files, and how often.

    Attributes
    ----------
    names : list of str
        The levels in words.
    """

    def __init__(self, name: str, values: pd.Series, typed: pd.Series, n_quantiles: int) -> None:
        """Take how often values occur, indexed by them, and the values as what they mean, such as dates."""
        self.names, self._code = levels(name, typed, n_quantiles, values.to_numpy(np.float64))
        self._values = values.index

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the number of the level of each row."""
        import pandas as pd

        return self._code[self._values.get_indexer(pd.Index(column))]


def values_in(parts: Sequence[Path], names: Sequence[str]) -> dict[str, pd.Series]:
    """Return how often each value of these columns occurs in all files, indexed by the values."""
    import pandas as pd

    found: dict[str, list[pd.Series]] = {name: [] for name in names}
    for part in parts:
        for batch in mixed_batches(part, names):
            for name in names:
                several = pd.concat([*found[name], batch[name].value_counts(dropna=False, sort=False)])
                found[name] = [several.groupby(level=0, dropna=False, sort=False, observed=True).sum()]
                if len(found[name][0]) > VALUES_HELD:
                    raise ValueError(
                        f"expected at most {VALUES_HELD:,} different values in column {name!r} of so many rows, found "
                        "more; round them, or cut them into parts"
                    )
    return {name: each[0] for name, each in found.items()}


class GroupCounts:
    """Rows of models on the same rows, counted for each model by levels, outcome and prediction.

    Attributes
    ----------
    n : int
        Number of rows so far.
    """

    def __init__(self, parts: Sequence[Path], features: dict[str, FeatureLevels], models: int) -> None:
        self.n = 0
        self._features = features
        self._kinds = [KindsOfRows(1) for _ in range(models)]
        self._atoms = self._atoms_of_batches(parts)
        self._sizes = [len(each.names) for each in features.values()]
        if np.prod([float(size) for size in self._sizes]) > 2**61:
            raise ValueError(f"expected fewer combinations of levels than 2**61, found more for {list(features)}")

    def _atoms_of_batches(self, parts: Sequence[Path]) -> Iterator[np.ndarray]:
        """Yield for each batch a number for each row, which rows with the same levels share."""
        for part in parts:
            for batch in mixed_batches(part, [*self._features]):
                codes = [each.codes(batch[name]) for name, each in self._features.items()]
                atom = np.zeros(len(batch), np.int64)
                for code, size in zip(codes, self._sizes, strict=True):
                    atom = atom * size + code
                yield atom

    def add(self, y: np.ndarray, *prob: np.ndarray) -> None:
        """Add the next batch: outcomes 0 or 1, and predictions of each model, of float64."""
        self.n += y.size
        label = next(self._atoms) * 2 + (y == 1)
        for kinds, p in zip(self._kinds, prob, strict=True):
            kinds.add(label, p[None] + 0.0)

    def counts(self, model: int) -> tuple[list[tuple[list[str], np.ndarray]], dict[str, Any], int, float]:
        """Return of one model the levels of atoms, the counted rows, the number of cells, and how far they moved.

        Rows of an atom and a cell count as of their mean prediction, whatever their outcomes are.
        """
        kinds = self._kinds[model]
        label, count, [key], [total], [[low], [high]] = kinds.table()
        atom = label // 2
        _, place = np.unique(key, return_inverse=True)
        lowest, highest = np.ones(place.max() + 1), np.zeros(place.max() + 1)
        np.minimum.at(lowest, place, low)
        np.maximum.at(highest, place, high)
        shared = (np.bincount(place, total) / np.bincount(place, count)).clip(lowest, highest)[place]
        order = np.lexsort((key, atom))
        changes = (np.diff(atom[order]) != 0) | (np.diff(key[order]) != 0)
        first = np.flatnonzero(np.append(True, changes))
        number, ones, sums = (np.add.reduceat(each[order], first) for each in (count, count * (label % 2), total))
        least, most = np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        rows: dict[str, Any] = {"prediction": (sums / number).clip(least, most), "number": number, "ones": ones}
        rows = {name: each.astype(np.float64) for name, each in rows.items()} | {"shared": shared[order][first]}
        moved = np.maximum(most - rows["prediction"], rows["prediction"] - least).max()
        atoms, rows["atom"] = np.unique(atom[order][first], return_inverse=True)
        found = []
        for name, size in reversed([*zip(self._features, self._sizes, strict=True)]):
            atoms, code = np.divmod(atoms, size)
            found.append((self._features[name].names, code))
        return found[::-1], rows, kinds.n_cells, float(moved)
