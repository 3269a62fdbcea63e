"""Canonical calibration error: mean label against mean prediction in cells of the probability simplex."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.bounds.cell_norms import AbsoluteSum, CellNorm, Euclidean, Largest
from calibstat.data.cell_sums import vector_sums
from calibstat.data.checks import check_switch, is_among, short
from calibstat.measures.bins import check_bins, fixed_number_of_bins, is_unbinned
from calibstat.measures.kinds.multiclass_kinds import VectorBinned
from calibstat.measures.kinds.registry import measure
from calibstat.measures.simplex_cells import check_tree, grid_cells, grow_tree

Distance = str | Callable[[np.ndarray, np.ndarray], float]

# distances that are norms of the difference, over the last axis: a factor may be moved into a norm, so that the share
# of a cell times its distance is the norm of its residual
NORMS: dict[str, CellNorm] = {
    "total_variation": AbsoluteSum(0.5),
    "l1": AbsoluteSum(),
    "l2": Euclidean(),
    "max": Largest(),
}


def _share_of_rows(count: np.ndarray) -> np.ndarray:
    return count / count.sum(axis=-1, keepdims=True)


def _means(share: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Divide sums over n by the share of the rows, cell by cell; 0 in an empty cell."""
    return np.divide(sums, share[..., None], out=np.zeros_like(sums), where=share[..., None] > 0)


def _contributions(count: np.ndarray, residual: np.ndarray, value: np.ndarray, distance: Distance) -> np.ndarray:
    """Return for each cell the share of rows times the distance from mean label to mean prediction."""
    if isinstance(distance, str) and distance in NORMS:
        return NORMS[distance](residual)
    share = np.broadcast_to(_share_of_rows(count), residual.shape[:-1])
    if distance == "squared_euclidean":
        return (residual * _means(share, residual)).sum(axis=-1)
    assert callable(distance)
    prediction = _means(share, np.broadcast_to(value, residual.shape))
    label = np.clip(_means(share, residual + value), 0, 1)  # shares of classes: only rounding leaves [0, 1]
    contribution = np.zeros(share.shape)
    for cell in zip(*np.nonzero(share), strict=True):
        contribution[cell] = share[cell] * distance(label[cell], prediction[cell])
    return contribution


@measure(
    "canonical_ce",
    title="Expected miscalibration",
    formula=r"\sum_b \frac{n_b}{n}\,d\Bigl(\frac1{n_b}\sum_{i \in b} e_{y_i},\ \frac1{n_b}\sum_{i \in b} p_i\Bigr)",
    reference="Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön 2019, Evaluating model calibration in "
    "classification, arXiv:1902.06977",
    bounds=(0, math.inf),  # a function may be any distance; the named ones are at most 2
    sound=False,
)
class CanonicalCE(VectorBinned):
    """The mean over cells of the simplex of the distance from mean label, one-hot, to mean prediction.

    Options: `distance`, "total_variation" (half the L1 distance, from 0 to 1), "squared_euclidean", "l1", "l2"
    (Euclidean), "max" (the largest coordinate), or a function ``d(label, prediction)`` of two arrays of shape (K,), the
    frequencies of the classes and the mean prediction of one cell, that returns a number of at least 0; it is called
    once for each cell that holds rows. `strategy`, "tree" for cells grown on the predictions or "uniform" for a grid. A
    tree splits a cell of at least `min_size` rows at the mean or median (`threshold`) of its coordinate of largest
    variance; resampled rows get a new tree (`refit=True`) or keep the cells of the data (`refit=False`). In a grid rows
    share a cell if each of their coordinates falls in the same of `n_bins` bins of equal width ("cube_root" is the
    smallest B with B**3 >= n, "100 rows" is n / 100, rounded down; None gives each distinct vector a cell): triangles
    for three classes, the bins of `ece` for two.

    Honest intervals exist for the distances that are norms of the difference, whose shares of a cell are norms of sums
    over rows; "squared_euclidean" and a function have none, as they divide by the numbers of rows in the cells.

    It is biased upwards in finite samples, the more so the fewer rows a cell holds, and for a convex distance
    insensitive to errors that cancel within a cell: with the cells held fixed it tends to at most the expected
    miscalibration. A grid has too many cells for more than a few classes. Cost: a tree two passes over the rows for
    each of its levels, a grid one sort for about every ten classes.
    """

    distance: Distance = "total_variation"
    strategy: str = "tree"
    n_bins: int | str | None = 15
    threshold: str = "mean"
    min_size: int = 100
    refit: bool = True

    def check(self) -> None:
        known = (*NORMS, "squared_euclidean")
        if not callable(self.distance) and self.distance not in known:
            names = ", ".join(map(repr, known))
            raise ValueError(
                f"expected distance to be one of {names}, or a function of two vectors; found {self.distance!r}"
            )
        check_switch("refit", self.refit)
        if not is_among(self.strategy, ("tree", "uniform")):
            raise ValueError(f"expected strategy 'tree' or 'uniform', found {short(self.strategy)}")
        check_bins(self.n_bins)
        check_tree(self.threshold, self.min_size)

    def has_fixed_cells(self, *, finite: bool) -> bool:
        # a tree is grown on rows, and a population has none
        if self.strategy == "tree":
            return False
        unbinned = is_unbinned(self.n_bins)
        if not unbinned:
            fixed_number_of_bins(self.n_bins)
        return finite or not unbinned

    @property
    def refits_cells(self) -> bool:
        return self.strategy == "tree" and self.refit

    @property
    def bounds(self) -> tuple[float, float]:
        if self.distance == "squared_euclidean":
            return 0.0, 2.0
        return (0.0, self.cell_norm.largest) if self.cell_norm else self.info.bounds

    @property
    def cell_norm(self) -> CellNorm | None:
        return NORMS.get(self.distance) if isinstance(self.distance, str) else None

    def cells(self, prob: np.ndarray) -> np.ndarray:
        if self.strategy == "uniform":
            return grid_cells(prob, n_bins=self.n_bins)
        return grow_tree(prob, threshold=self.threshold, min_size=self.min_size)[0]

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return _contributions(count, residual, value, self.distance).sum(axis=-1)

    def detail(self, prob: np.ndarray, label: np.ndarray) -> dict[str, Any]:
        """Return the table of cells, sorted by decreasing number of rows, and the splits of the tree.

        The fields "count", "mean_prediction", "frequency" (of each class) and "distance" have an entry for each cell.
        A tree adds "tree", an array of its splits: the first one first and each before those below it, with the fields
        "coordinate"; "threshold", up to which a row goes to the low side; "low" and "high", the number of the split
        that comes next on that side, or -1 - c if it is cell c of the table.
        """
        if self.strategy == "tree":
            cell, tree = grow_tree(prob, threshold=self.threshold, min_size=self.min_size)
        else:
            cell = self.cells(prob)
        count, residual, value = vector_sums(cell, prob, label)
        share = _share_of_rows(count)
        order = np.argsort(-count, kind="stable")
        detail = {
            "count": count[order],
            "mean_prediction": _means(share, value)[order],
            "frequency": np.clip(_means(share, residual + value), 0, 1)[order],
            "distance": (_contributions(count, residual, value, self.distance) / share)[order],
        }
        if self.strategy == "tree":
            index = np.argsort(order)
            for side in ("low", "high"):
                cells = tree[side] < 0
                tree[side][cells] = ~index[~tree[side][cells]]
            detail["tree"] = tree
        return detail
