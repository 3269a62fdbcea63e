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
from calibstat.measures.components.local_components import FINEST, Scales
from calibstat.measures.components.smooth_components import Components, largest_sums, products

NOTHING = 1e-300  # a square to divide by where clusters add nothing


@dataclass(frozen=True, eq=False)
class ClusterDeviations:
    """The statistic prepared for fixed predictions, weights and clusters.

    Rows are given by their cells, with predictions strictly between 0 and 1 in all of them; a *part* is the rows of one
    cluster in one cell.

    Statement and argument: docs/proofs.md, section 8.

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
    expected : ndarray, shape (features,)
        The variance of each component and cell of the scales if labels are independent, below which no spread of
        clusters is trusted: where no event was observed the squares are far too small.
    """

    components: Components
    scales: Scales
    part: np.ndarray
    cell: np.ndarray
    first: np.ndarray
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
        variance = np.bincount(cell, weight**2 * prediction * (1 - prediction), cells)
        expected = np.concatenate([variance @ components.basis**2, scales.sums_of(variance[None])[0]])
        return cls(components, scales, part, held % cells, first, expected)

    @cached_property
    def _layers(self) -> np.ndarray:
        """The cell of each scale, aligned or moved, that each cell of the data is in; -1 if in none: shape (L, m)."""
        scales = self.scales
        kinds = np.stack([scales.parts, scales.aligned], axis=1)
        layers = []
        for kind in np.unique(kinds, axis=0):
            of_finest = np.full(FINEST, -1)
            for c in np.flatnonzero((kinds == kind).all(axis=1)):
                of_finest[scales.begin[c] : scales.end[c]] = c
            layers.append(of_finest[scales.index])
        return np.array(layers)

    def in_parts(self, contribution: np.ndarray) -> np.ndarray:
        """Return the sums of what rows add, shape (n,), in parts, shape (parts,)."""
        return np.bincount(self.part, contribution, self.cell.size)

    def squares(self, total: np.ndarray) -> np.ndarray:
        """Return the squares of what clusters add to components and cells, from sums in parts; at least `expected`."""
        squares = np.zeros(self.expected.size)
        along = np.empty(self.components.basis.shape[1])
        _add_squares(total, self.cell, self.first, self.components.basis, self._layers, along, squares)
        return np.maximum(np.maximum(squares, self.expected), NOTHING)

    def statistic(self, residual: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return the statistic of sums of residuals in cells, shape (B, m), with these squares of clusters."""
        size = self.components.basis.shape[1]
        roots = products(residual, self.components.basis) / np.sqrt(squares[:size])
        smooth, components = largest_sums(roots)
        z = self.scales.sums_of(residual) ** 2 / squares[size:]
        scattered, parts, local, cell = self.scales.largest_of(z).T
        deviations = Deviations(smooth, components, scattered, parts.astype(np.int64), local, cell.astype(np.int64))
        return deviations.statistic


@jit
def _add_squares(
    total: np.ndarray,
    cell: np.ndarray,
    first: np.ndarray,
    basis: np.ndarray,
    layers: np.ndarray,
    along: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Add up the squares of each cluster; `along` is room for its components."""
    size = along.size
    for c in range(first.size - 1):
        for k in range(size):
            along[k] = 0.0
        for j in range(first[c], first[c + 1]):
            one = total[j]
            for k in range(size):
                along[k] += one * basis[cell[j], k]
        for k in range(size):
            squares[k] += along[k] * along[k]
        for layer in range(layers.shape[0]):
            within, last = 0.0, np.int64(-1)  # cells of a layer ascend with the parts of a cluster
            for j in range(first[c], first[c + 1]):
                place = layers[layer, cell[j]]
                if place != last:
                    if last >= 0:
                        squares[size + last] += within * within
                    within, last = 0.0, place
                within += total[j]
            if last >= 0:
                squares[size + last] += within * within
