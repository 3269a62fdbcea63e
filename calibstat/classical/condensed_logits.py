"""Many logits condensed to a few points at which sums of smooth functions of the logit are the same.

The logits of a cell are replaced by Chebyshev points x_j with weights w_j such that sum_j w_j f(x_j) is the sum over
the rows of the cell of the polynomial through f at these points: exact for polynomials f up to degree 11. Weights may
be negative. Of a function that is analytic and at most M within the ellipse whose foci are the ends of the cell, and
whose semi-axes add up to r times half of its length, the polynomial is off by at most 4 M / (r^11 (r - 1)) (Trefethen
2013, Approximation theory and approximation practice, theorem 8.2).

The log-likelihood sums log(1 + exp(eta)), eta a polynomial in the logit, which is analytic where the imaginary part of
eta is below pi. With `ELLIPSE` = 14 and eta within `WITHIN` = 2 of its mean in every ellipse, M is below 10 times the
value in the cell, and the relative error of a sum is below 1e-12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.compiled import first_calls, jit

NODES = 12
CELLS_PER_UNIT = 4
LOGIT_CELLS = 64
ELLIPSE = 14.0
WITHIN = 2.0
MOST_DEGREE = 4  # of eta
FINER = 4  # times as many cells where they are too wide

_NODE = -np.cos(np.arange(NODES) * np.pi / (NODES - 1))
_POLYNOMIALS = np.polynomial.chebyshev.chebvander(_NODE, NODES - 1)
_WEIGHTS = np.linalg.inv(_POLYNOMIALS)
_REACH = np.cosh(np.arange(1, MOST_DEGREE + 1) * np.log(ELLIPSE))  # the largest values of polynomials in the ellipse


@dataclass(frozen=True, eq=False)
class LogitPoints:
    """Points on the axis of logits, with weights in place of counts.

    Attributes
    ----------
    logit, count, positives : ndarray, shape (m,)
        The points with their weights: first the nodes of cells, then rows as they are.
    cells : int
        How many cells have `NODES` nodes each; 0 if all points are rows.
    density : int
        The number of all cells, also of cells of few rows, which have no nodes.
    """

    logit: np.ndarray
    count: np.ndarray
    positives: np.ndarray
    cells: int = 0
    density: int = 0

    def resolve(self, eta: np.ndarray) -> bool:
        """Return whether a polynomial in the logit, given at the points, is about constant in each cell."""
        at_nodes = eta[: self.cells * NODES].reshape(self.cells, NODES)
        coefficient = at_nodes @ _WEIGHTS[1 : MOST_DEGREE + 1].T
        return bool(np.all(np.abs(coefficient) @ _REACH <= WITHIN))


def condensed(logit: np.ndarray, count: np.ndarray, positives: np.ndarray, finer_than: int = 0) -> LogitPoints:
    """Return points for ascending logits with their counts: these logits if nodes would be more than half as many."""
    cells = max(LOGIT_CELLS, int(np.ceil((logit[-1] - logit[0]) * CELLS_PER_UNIT)), FINER * finer_than)
    if 2 * NODES * cells > logit.size:
        return LogitPoints(logit, count, positives)
    first = np.unique(np.append(0, np.searchsorted(logit, np.linspace(logit[0], logit[-1], cells + 1)[1:-1])))
    size = np.diff(first, append=logit.size)
    many = size > NODES
    start = first[many]
    stop = start + size[many]
    moments = np.zeros((2, start.size, NODES))
    _add_moments(logit, count, positives, start, stop, moments)
    low, high = logit[start], logit[stop - 1]
    node = low[:, None] + (high - low)[:, None] * (_NODE + 1) / 2
    node[:, -1] = high
    kept = np.repeat(~many, size)
    of_nodes = node, *(moments @ _WEIGHTS)
    logit, count, positives = (
        np.append(part, row[kept]) for part, row in zip(of_nodes, (logit, count, positives), strict=True)
    )
    return LogitPoints(logit, count, positives, start.size, cells)


def _moments_in_arrays(
    logit: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    moments: np.ndarray,
) -> None:
    low, high, size = logit[start], logit[stop - 1], stop - start
    half = (high - low) / 2.0
    cell = np.repeat(np.arange(start.size), size)
    rows = np.arange(size.sum()) + np.repeat(start - np.cumsum(size) + size, size)
    wide = half[cell] > 0.0
    t = np.where(wide, (logit[rows] - low[cell] - half[cell]) / np.where(wide, half[cell], 1.0), 0.0)
    before, here = t, np.ones(t.size)
    for k in range(moments.shape[2]):
        for total, each in zip(moments, (count, positives), strict=True):
            total[:, k] += np.bincount(cell, each[rows] * here, start.size)
        before, here = here, 2.0 * t * here - before


@first_calls(lambda logit, _0, _1, _2, _3, moments: 2e-8 * logit.size * moments.shape[2], _moments_in_arrays)
@jit
def _add_moments(
    logit: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    moments: np.ndarray,
) -> None:
    """Add the Chebyshev polynomials at the logits of each cell, which go from -1 to 1, times counts and positives."""
    for cell in range(start.size):
        low, high = logit[start[cell]], logit[stop[cell] - 1]
        half = (high - low) / 2.0
        for i in range(start[cell], stop[cell]):
            t = (logit[i] - low - half) / half if half > 0.0 else 0.0
            before, here = t, 1.0
            for k in range(moments.shape[2]):
                moments[0, cell, k] += count[i] * here
                moments[1, cell, k] += positives[i] * here
                before, here = here, 2.0 * t * here - before
