"""The omnibus statistic of rows in clusters: every sum is divided by how far the clusters spread it.

If outcomes of a cluster depend on each other, sums of residuals vary more than independent labels let expect. So each
component and each cell is compared with the sum of the squares of what the clusters add to it, which random signs of
whole clusters leave as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.components.deviations import Deviations, Diagnostics
from calibstat.measures.components.local_components import FINEST_CELLS, Scales
from calibstat.measures.components.smooth_components import Components, products, standardised_sums

LEAST_SQUARE = 1e-300  # a square to divide by where clusters add nothing
RARE = 0.25  # an outcome that is less likely in a cluster: without it the squares of the cluster are far too small
RARE_CLUSTERS = 10.0  # expected number of clusters with the rare outcome, below which it may well be seen in none


@dataclass(frozen=True, eq=False)
class ClusterDeviations:
    """The statistic prepared for fixed predictions, weights and clusters.

    Rows are given by their cells, with predictions strictly between 0 and 1 in all of them; a *part* is the rows of one
    cluster in one cell.

    Statement and argument: docs/evidence/proofs/cluster-tests.md.

    Attributes
    ----------
    components, scales : Components and Scales
        Of the cells.
    part : ndarray, shape (n,)
        The part of each row.
    cell : ndarray, shape (parts,)
        The cell of each part, ascending within clusters.
    first : ndarray, shape (clusters + 1,)
        The first part of each cluster.
    rare : ndarray of int, shape (clusters,)
        1 for clusters whose spread cannot be told from their outcomes, as `rarest` says, and else 0.
    expected : ndarray, shape (2, features)
        The variance of each component and each cell of the scales, below which no spread of clusters is trusted: of the
        other clusters with independent labels, and of those that are `rare` with labels as alike as they can be.
    """

    components: Components
    scales: Scales
    part: np.ndarray
    cell: np.ndarray
    first: np.ndarray
    rare: np.ndarray
    expected: np.ndarray

    @classmethod
    def of(
        cls, diagnostics: Diagnostics, cell: np.ndarray, unit: np.ndarray, prediction: np.ndarray, weight: np.ndarray
    ) -> ClusterDeviations:
        """Return the statistic for rows in cells of the diagnostics, in clusters `unit`, all of shape (n,)."""
        assert diagnostics.components is not None
        assert diagnostics.scales is not None
        components, scales = diagnostics.components, diagnostics.scales
        cells = len(components.basis)
        held, part = np.unique(unit * np.int64(cells) + cell, return_inverse=True)
        first = np.flatnonzero(np.diff(held // cells, prepend=-1, append=-1))
        rare = rarest(unit, prediction, weight)
        variance = np.bincount(cell, weight**2 * prediction * (1 - prediction) * ~rare[unit], cells)
        alone = np.concatenate([variance @ components.basis**2, scales.sums_of(variance[None])[0]])
        expected = np.stack([alone, np.zeros_like(alone)])
        made = cls(components, scales, part, held % cells, first, rare.astype(np.int64), expected)
        mean = diagnostics.value[diagnostics.inner]
        _add_shared(made.in_parts(weight), mean, *made._of_parts, np.empty((2, components.basis.shape[1])), expected[1])
        return made

    @cached_property
    def _layers(self) -> np.ndarray:
        """The cell of each scale, aligned or moved, that each cell of the data is in; -1 if in none: shape (L, m)."""
        scales = self.scales
        kinds = np.stack([scales.parts, scales.aligned], axis=1)
        layers = []
        for kind in np.unique(kinds, axis=0):
            of_finest = np.full(FINEST_CELLS, -1)
            for c in np.flatnonzero((kinds == kind).all(axis=1)):
                of_finest[scales.begin[c] : scales.end[c]] = c
            layers.append(of_finest[scales.index])
        return np.array(layers)

    @property
    def _of_parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.cell, self.first, self.rare, self.components.basis, self._layers

    def in_parts(self, contribution: np.ndarray) -> np.ndarray:
        """Return the sums of what rows add, shape (n,), in parts, shape (parts,)."""
        return np.bincount(self.part, contribution, self.cell.size)

    def squares(self, total: np.ndarray) -> np.ndarray:
        """Return the squares of what clusters add to components and cells, from sums in parts; at least `expected`."""
        squares = np.zeros(self.expected.shape)
        _add_squares(total, *self._of_parts, np.empty(self.components.basis.shape[1]), squares)
        return np.maximum(np.maximum(squares, self.expected).sum(axis=0), LEAST_SQUARE)

    def statistic(self, residual: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return the statistic of sums of residuals in cells, shape (B, m), with these squares of clusters."""
        size = self.components.basis.shape[1]
        roots = products(residual, self.components.basis) / np.sqrt(squares[:size])
        z = self.scales.sums_of(residual) ** 2 / squares[size:]
        scattered, parts, local, cell = self.scales.largest_of(z).T
        deviations = Deviations(
            standardised_sums(roots), scattered, parts.astype(np.int64), local, cell.astype(np.int64)
        )
        return deviations.statistic


def rarest(unit: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return for each cluster whether its spread cannot be estimated from its outcomes, shape (clusters,).

    Its less likely outcome has a mean probability below 1/4. And of the clusters in which the less likely outcome is at
    most as probable, and which are at least as large, to a factor of two, fewer than ten are expected to have it.
    """
    size = np.bincount(unit, weight)
    mean = np.bincount(unit, weight * prediction) / size
    unlikely = np.minimum(mean, 1 - mean).clip(0.0)
    order = np.argsort(unlikely, kind="stable")
    grade = np.floor(np.log2(size))[order]
    few = np.zeros(size.size, bool)
    for each in np.unique(grade):
        expected = np.cumsum(unlikely[order] * (grade >= each))
        few[order] |= (expected < RARE_CLUSTERS) & (grade == each)
    return np.asarray(few & (unlikely < RARE))


@jit
def _add_squares(
    total: np.ndarray,
    cell: np.ndarray,
    first: np.ndarray,
    rare: np.ndarray,
    basis: np.ndarray,
    layers: np.ndarray,
    along: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Add up the squares of each cluster, by whether it is rare; `along` is room for its components."""
    size = along.size
    for c in range(first.size - 1):
        squares_of = squares[rare[c]]
        for k in range(size):
            along[k] = 0.0
        for j in range(first[c], first[c + 1]):
            one = total[j]
            for k in range(size):
                along[k] += one * basis[cell[j], k]
        for k in range(size):
            squares_of[k] += along[k] * along[k]
        for layer in range(layers.shape[0]):
            within, last = 0.0, np.int64(-1)  # cells of a layer ascend with the parts of a cluster
            for j in range(first[c], first[c + 1]):
                place = layers[layer, cell[j]]
                if place != last:
                    if last >= 0:
                        squares_of[size + last] += within * within
                    within, last = 0.0, place
                within += total[j]
            if last >= 0:
                squares_of[size + last] += within * within


@jit
def _add_shared(
    rows: np.ndarray,
    mean: np.ndarray,
    cell: np.ndarray,
    first: np.ndarray,
    rare: np.ndarray,
    basis: np.ndarray,
    layers: np.ndarray,
    along: np.ndarray,
    variance: np.ndarray,
) -> None:
    """Add up the variances of rare clusters whose rows share one uniform number; `along` is room for two sums.

    A part has the event if the number is below its mean prediction, so what a cluster adds is a step function of it.
    """
    size = along.shape[1]
    for c in range(first.size - 1):
        if rare[c] == 0:
            continue
        for k in range(size):
            along[0, k] = 0.0
            along[1, k] = 0.0
        for j in range(first[c + 1] - 1, first[c] - 1, -1):
            step = mean[cell[j]] - (mean[cell[j - 1]] if j > first[c] else 0.0)
            for k in range(size):
                along[0, k] += rows[j] * basis[cell[j], k]
                along[1, k] += along[0, k] * step
                variance[k] += along[0, k] * along[0, k] * step
        for k in range(size):
            variance[k] -= along[1, k] * along[1, k]
        for layer in range(layers.shape[0]):
            upto, expected = 0.0, 0.0
            for j in range(first[c + 1] - 1, first[c] - 1, -1):
                place = layers[layer, cell[j]]
                if place < 0:
                    continue
                more = j > first[c] and layers[layer, cell[j - 1]] == place
                step = mean[cell[j]] - (mean[cell[j - 1]] if more else 0.0)
                upto += rows[j]
                expected += upto * step
                variance[size + place] += upto * upto * step
                if not more:
                    variance[size + place] -= expected * expected
                    upto, expected = 0.0, 0.0
