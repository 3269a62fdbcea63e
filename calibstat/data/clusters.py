"""Cluster labels of rows, such as patients, days or sites, as numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import is_among, short
from calibstat.data.numbered_labels import numbered
from calibstat.digits import settled

OBSERVED, WHOLE, ROWS_ALONE = UNSEEN = ("observed", "clusters", "rows")


class Clusters:
    """The cluster of each row, with what is said of clusters that were not observed; for an argument `cluster`.

        >>> import calibstat as cs
        >>> cs.Clusters(["a", "a", "b"], unseen="rows")
        Clusters(3 labels, unseen='rows')

    Parameters
    ----------
    labels : array_like, shape (n,)
        The cluster of each row (a patient, a day), as it may also be given alone.
    unseen : {"observed", "clusters", "rows"}
        How much a cluster that is absent from the sample may add, in intervals and comparisons. "observed", the
        default: little more than the most extreme cluster that is present. "clusters": as much as a cluster whose rows
        all have the worst outcome, so that intervals are much wider; it assumes nothing. "rows": as much as one row, so
        that kinds of clusters that are absent do not matter; with few clusters it misses often. Tests of calibration
        need none of this.

    Raises
    ------
    ValueError
        If `unseen` is another word, or there are no labels, which are checked with the rows.
    """

    def __init__(self, labels: ArrayLike, *, unseen: str = OBSERVED) -> None:
        if not is_among(unseen, UNSEEN):
            raise ValueError(f"expected unseen 'observed', 'clusters' or 'rows', found {short(unseen)}")
        if labels is None or isinstance(labels, Clusters):
            raise ValueError(f"expected labels, the cluster of each row, found {short(labels)}")
        self.labels, self.unseen = labels, unseen

    def __repr__(self) -> str:
        return f"Clusters({np.size(self.labels):,} labels, unseen={self.unseen!r})"


class Unseen(NamedTuple):
    """The assumption about absent clusters: a word of `UNSEEN`, and how many clusters show the rarer outcome."""

    word: str
    showing: int


def clusters_in_words(unit: np.ndarray, weight: np.ndarray | None = None) -> str:
    """Return the number of clusters, of their rows, and of clusters of equal size that say about as much.

    `unit` numbers the cluster of each row. Rows of weight 0 are not counted, and the effective number of clusters is by
    their weights: (sum of W)**2 / (sum of W**2), W the sum of the weights, or the number of rows, of a cluster.
    """
    number, low, high, size = cluster_sizes(unit, weight)
    of = f"{low:,} to {high:,} rows" if low < high else f"{low:,} row{'s' * (low != 1)} each"
    effective = round(size)
    fewer = f" (effective number {effective:,})" if effective < number else ""
    return f"{number:,} clusters of {of}{fewer}"


def cluster_sizes(unit: np.ndarray, weight: np.ndarray | None = None) -> tuple[int, int, int, float]:
    """Return the number of clusters, the fewest and the most rows of one, and the effective number, as in words."""
    if weight is not None:
        unit, weight = unit[weight > 0], weight[weight > 0]
    index, rows = np.unique(unit, return_inverse=True, return_counts=True)[1:]
    size = np.bincount(index, weight)
    size = size / size.max()
    effective = settled(size.sum() ** 2 / (size @ size))  # in whose last bits the order of rows and clusters shows
    return size.size, int(rows.min()), int(rows.max()), effective


def as_clusters(cluster: object, n: int) -> np.ndarray:
    """Number the clusters from 0 in the order of their first rows and return the number of each row."""
    unit = numbered("cluster", cluster, n)
    number = int(unit.max()) + 1
    if number < 2:
        raise ValueError("expected at least 2 clusters, found 1")
    return unit
