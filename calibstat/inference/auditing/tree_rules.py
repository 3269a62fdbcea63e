"""A tree that looks for groups with wrong predictions, and its leaves as rules in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.features import shortest, values_of
from calibstat.inference.cross_validation.feature_rows import BESIDE_FEATURES

WHOLE_IN_FLOAT = 2**53  # beyond it neighbouring whole numbers are the same as floats
NO_VALUE = -1  # the code of a missing number, below all others


class Cut(NamedTuple):
    """A split of a column: rows with codes up to `place` are on its low side; `at` is the value there in words."""

    place: int
    at: str


@dataclass(frozen=True, eq=False)
class Column:
    """A column as a tree takes it, in which each value has a code; a level of a column of texts is one of 0 and 1.

    Attributes
    ----------
    name : str
        Of the column.
    code : ndarray of int64, shape (n,)
        The code of each row, ascending with its value.
    values : ndarray, shape (m,)
        The different values, ascending; of a level none.
    sides : tuple of two str, or None
        Of a level the words for the other rows, and for its own.
    """

    name: str
    code: np.ndarray
    values: np.ndarray
    sides: tuple[str, str] | None = None

    def cut(self, threshold: float, train: np.ndarray) -> Cut:
        """Return the split of all rows at a threshold between two codes of the rows that the tree has seen.

        The cut is a short number between their values: it splits these rows as the threshold does, and its name is
        exact for the others.
        """
        seen = np.unique(self.code[train])
        after = int(np.searchsorted(seen, threshold, "right"))
        below, above = int(seen[after - 1]), int(seen[after])
        if self.sides is not None or below == NO_VALUE:
            return Cut(below, "")
        if self.values.dtype.kind == "M":
            return Cut(below, str(self.values[below]))
        if self.values.dtype.kind in "iu" and np.abs(self.values[[below, above]].astype(float)).max() > WHOLE_IN_FLOAT:
            return Cut(below, str(self.values[below]))
        at = shortest(self.values[below], np.nextafter(float(self.values[above]), -np.inf))
        return Cut(int(np.searchsorted(self.values, float(at), "right")) - 1, at)

    def words(self, cuts: Sequence[tuple[Cut, bool]]) -> str:
        """Say which rows are on these sides of cuts: of each cut whether the low side."""
        if self.sides is not None:
            return self.sides[not cuts[0][1]]
        high = min((cut for cut, is_low in cuts if is_low), default=None)
        low = max((cut for cut, is_low in cuts if not is_low), default=None)
        if high is not None and high.place == NO_VALUE:
            return f"{self.name} missing"
        start = "" if low is None or low.place == NO_VALUE else f"{low.at} < "
        if high is not None:
            has_missing = low is None and bool((self.code == NO_VALUE).any())
            return f"{start}{self.name} <= {high.at}{' (or missing)' if has_missing else ''}"
        assert low is not None
        return f"{self.name} not missing" if low.place == NO_VALUE else f"{self.name} > {low.at}"


def columns_of(features: object, prediction: np.ndarray) -> list[Column]:
    """Return the columns of a data frame as a tree takes them, and the prediction as one more."""
    frame: Any = features
    found = [each for name in frame.columns for each in _coded(str(name), frame[name])]
    return [*found, *_coded(BESIDE_FEATURES[0], prediction)]


def _coded(name: str, column: ArrayLike) -> Iterator[Column]:
    """Yield a column of numbers or dates, or the levels of another."""
    values, missing = values_of(name, column)
    code, kept = np.full(values.size, NO_VALUE, np.int64), values[~missing]
    if kept.dtype.kind in "iufM":
        kept = kept.astype("datetime64[D]") if kept.dtype.kind == "M" else kept
        distinct, code[~missing] = np.unique(kept, return_inverse=True)
        yield Column(name, code, distinct)
        return
    texts = np.array([str(value) for value in values.tolist()], object)
    for level in sorted(set(texts[~missing].tolist())):
        other = f"{name} other than {level}{' (or missing)' * bool(missing.any())}"
        sides = (other, f"{name} = {level}")
        yield Column(name, ((texts == level) & ~missing).astype(np.int64), np.empty(0), sides)
    if missing.any():
        yield Column(name, missing.astype(np.int64), np.empty(0), (f"{name} not missing", f"{name} missing"))


@dataclass(frozen=True, eq=False)
class Tree:
    """A regression tree of columns, which is fitted anew to each target.

    Attributes
    ----------
    columns : list of Column
        The features and the prediction.
    leaves, min_rows : int
        The most leaves, and the fewest rows that it is fitted to in each.
    seed : int
        By which it chooses between splits that are as good.
    """

    columns: list[Column]
    leaves: int
    min_rows: int
    seed: int

    def __str__(self) -> str:
        return f"a tree of at most {self.leaves} leaves"

    def fit(self, target: np.ndarray, weight: np.ndarray, rows: np.ndarray | slice = slice(None)) -> Any:
        """Return a tree fitted to some rows."""
        from sklearn.tree import DecisionTreeRegressor

        tree: Any = DecisionTreeRegressor(
            max_leaf_nodes=self.leaves, min_samples_leaf=self.min_rows, random_state=self.seed
        )
        return tree.fit(self._codes[rows], target[rows], sample_weight=weight[rows])

    def parts(self, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the number of the leaf of each row, of a tree fitted to all rows."""
        return np.asarray(self.fit(target, weight).apply(self._codes))

    def named(
        self, target: np.ndarray, weight: np.ndarray, train: np.ndarray, others: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return which of the other rows are in each leaf, by its rule, of a tree fitted to the rows `train`."""
        nodes = self.fit(target, weight, train).tree_
        rules: dict[str, np.ndarray] = {}

        def walk(node: int, path: list[tuple[int, Cut, bool]]) -> None:
            if nodes.children_left[node] < 0:
                if path:
                    rules[self._rule(path)] = reduce(np.logical_and, (self._side(*each)[others] for each in path))
                return
            column = int(nodes.feature[node])
            cut = self.columns[column].cut(float(nodes.threshold[node]), train)
            walk(nodes.children_left[node], [*path, (column, cut, True)])
            walk(nodes.children_right[node], [*path, (column, cut, False)])

        walk(0, [])
        return rules

    def _side(self, column: int, cut: Cut, is_low: bool) -> np.ndarray:
        """Return which rows are on a side of a cut."""
        return (self.columns[column].code <= cut.place) == is_low

    def _rule(self, path: list[tuple[int, Cut, bool]]) -> str:
        """Say which rows are on these sides of cuts, column by column."""
        of_columns: dict[int, list[tuple[Cut, bool]]] = {}
        for column, cut, low in path:
            of_columns.setdefault(column, []).append((cut, low))
        return " and ".join(self.columns[column].words(cuts) for column, cuts in sorted(of_columns.items()))

    @cached_property
    def _codes(self) -> np.ndarray:
        return np.column_stack([each.code for each in self.columns]).astype(np.float32)
