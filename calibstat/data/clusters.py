"""Cluster labels of rows, such as patients, days or sites, as numbers."""

from __future__ import annotations

import numpy as np

from calibstat.data.checks import calls_within

FEWEST_CLUSTERS = 30  # below it the bootstrap of clusters is not to be trusted


def clusters_in_words(unit: np.ndarray) -> str:
    """Return the number of clusters and of their rows, given the number of the cluster of each row."""
    size = np.unique(unit, return_counts=True)[1]
    low, high = int(size.min()), int(size.max())
    rows = f"{low:,} to {high:,} rows" if low < high else f"{low:,} row{'s' * (low != 1)} each"
    return f"{size.size:,} clusters of {rows}"


def as_clusters(cluster: object, n: int) -> np.ndarray:
    """Number the clusters from 0 in the order of their first rows and return the number of each row; warn if few."""
    import warnings

    import pandas as pd

    names = np.asarray(cluster)
    if names.shape != (n,):
        raise ValueError(f"expected one cluster a row, shape ({n},), found shape {names.shape}")
    unit, levels = pd.factorize(names)
    if (unit < 0).any():
        raise ValueError(f"expected no missing clusters, found one at row {int(np.argmin(unit))}")
    if len(levels) < 2:
        raise ValueError("expected at least 2 clusters, found 1")
    if len(levels) < FEWEST_CLUSTERS:
        warnings.warn(
            f"{len(levels)} clusters are few: below {FEWEST_CLUSTERS}, the bootstrap of clusters is not to be trusted",
            UserWarning,
            stacklevel=calls_within(),
        )
    return unit.astype(np.int64)
