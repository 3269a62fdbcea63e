"""Cluster labels of rows, such as patients, days or sites, as numbers."""

from __future__ import annotations

import numpy as np

from calibstat.data.checks import calls_within
from calibstat.data.numbered_labels import numbered
from calibstat.digits import settled

FEWEST_CLUSTERS = 30  # below it the bootstrap of clusters is not to be trusted


def clusters_in_words(unit: np.ndarray, weight: np.ndarray | None = None) -> str:
    """Return the number of clusters, of their rows, and of clusters of equal size that say about as much.

    `unit` numbers the cluster of each row. Rows of weight 0 are not counted, and the effective number of clusters is by
    their weights: (sum of W)**2 / (sum of W**2), W the sum of the weights, or the number of rows, of a cluster.
    """
    if weight is not None:
        unit, weight = unit[weight > 0], weight[weight > 0]
    index, rows = np.unique(unit, return_inverse=True, return_counts=True)[1:]
    low, high = int(rows.min()), int(rows.max())
    of = f"{low:,} to {high:,} rows" if low < high else f"{low:,} row{'s' * (low != 1)} each"
    size = np.bincount(index, weight)
    size = size / size.max()
    effective = round(settled(size.sum() ** 2 / (size @ size)))
    fewer = f" (effective number {effective:,})" if effective < size.size else ""
    return f"{size.size:,} clusters of {of}{fewer}"


def as_clusters(cluster: object, n: int) -> np.ndarray:
    """Number the clusters from 0 in the order of their first rows and return the number of each row; warn if few."""
    import warnings

    unit = numbered("cluster", cluster, n)
    number = int(unit.max()) + 1
    if number < 2:
        raise ValueError("expected at least 2 clusters, found 1")
    if number < FEWEST_CLUSTERS:
        warnings.warn(
            f"{number} clusters are few: below {FEWEST_CLUSTERS}, the bootstrap of clusters is not to be trusted",
            UserWarning,
            stacklevel=calls_within(),
        )
    return unit
