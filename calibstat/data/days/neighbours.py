"""The correlation of what neighbouring clusters add to a mean, where their labels have an order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.days.order_of_labels import places
from calibstat.data.numbered_labels import as_labels
from calibstat.digits import settled

FEWEST_NEIGHBOURS = 10  # clusters of which neighbours are compared


class Neighbours(NamedTuple):
    """The correlation of what neighbouring clusters add, and the limit of what chance shows."""

    correlation: float
    limit: float

    @property
    def alike(self) -> bool:
        """Whether neighbours are more alike than chance makes clusters that do not depend on each other."""
        return self.correlation > self.limit

    @property
    def sentence(self) -> str:
        """The sentence on clusters whose neighbours are alike, with the way out; "" of others."""
        if not self.alike:
            return ""
        found = f"correlation {settled(self.correlation):.2f}"
        return (
            f"Caution: neighbouring clusters are alike ({found}), so that intervals are too narrow. If they are days "
            "in a row, use cluster=cs.blocks(day)."
        )


def correlation_of_neighbours(total: ArrayLike, size: ArrayLike, label: ArrayLike) -> Neighbours | None:
    """Return the correlation of what each cluster adds with what the next one adds, in the order of their labels.

    Cluster c of `size` m_c, with the sum `total` Y_c, adds X_c = Y_c - m_c t, t = sum(Y) / sum(m), which sums to 0. The
    correlation is sum(X_c X_{c+1}) / sum(X_c**2). Of G clusters that do not depend on each other it is about normal
    with standard deviation 1 / sqrt(G), so that the limit, 2 / sqrt(G), is passed in 2 % of samples.

    Parameters
    ----------
    total, size : array_like, shape (G,)
        Sum of the rows of each cluster, and their number or the sum of their weights.
    label : array_like, shape (G,)
        The label of each cluster, in any order of clusters, none twice.

    Returns
    -------
    Neighbours or None
        None if labels have no order, as text has none, if there are fewer than 10 clusters, or if all have one mean.
    """
    y, m = np.asarray(total, np.float64), np.asarray(size, np.float64)
    place = places(as_labels("label", label))
    if place is None or y.size < FEWEST_NEIGHBOURS:
        return None
    added = np.empty(y.size)
    added[place] = y - m * (y.sum() / m.sum())
    squares = float(added @ added)
    if squares <= (1e-12 * float(np.abs(y).sum())) ** 2:  # nothing but rounding is left
        return None
    return Neighbours(float(added[1:] @ added[:-1]) / squares, 2 / math.sqrt(y.size))
