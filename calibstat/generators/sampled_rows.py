"""Rows of a generator together with their clusters and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SampledRows(NamedTuple):
    """Rows as `sample` draws them with `clusters` or `weights`.

    Attributes
    ----------
    y : ndarray of int64, shape (n,)
        Outcomes, or classes.
    p : ndarray of float64, shape (n,) or (n, K)
        Predicted probabilities.
    cluster : ndarray of int64, shape (n,), or None
        The number of the cluster of each row, from 0; rows of a cluster follow each other.
    weight : ndarray of float64, shape (n,), or None
        The weight of each row, positive.

    Examples
    --------
    >>> import calibstat as cs
    >>> rows = cs.generators.calibrated().sample(500, rng=1, clusters=100, weights="independent")
    >>> cs.calibration_test(rows.y, rows.p, **rows.arguments, rng=1).pvalue > 0.05
    True
    """

    y: np.ndarray
    p: np.ndarray
    cluster: np.ndarray | None = None
    weight: np.ndarray | None = None

    @property
    def arguments(self) -> dict[str, np.ndarray]:
        """Clusters and weights, those that there are, as arguments `cluster` and `sample_weight` of a function."""
        given = {"cluster": self.cluster, "sample_weight": self.weight}
        return {name: column for name, column in given.items() if column is not None}
