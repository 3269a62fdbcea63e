"""Rows of a generator, with clusters and weights if they have any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np


class SampledRows(tuple[Any, ...]):
    """Rows as `sample` draws them: the tuple (y, p), or (y, p, cluster, weight) of rows with clusters or weights.

        >>> import calibstat as cs
        >>> rows = cs.generators.calibrated().sample(500, rng=1, clusters=100, weights="independent")
        >>> cs.calibration_test(rows.y, rows.p, **rows.arguments, rng=1).pvalue > 0.05
        True

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
    """

    y: np.ndarray
    p: np.ndarray
    cluster: np.ndarray | None
    weight: np.ndarray | None

    def __new__(
        cls, y: np.ndarray, p: np.ndarray, cluster: np.ndarray | None = None, weight: np.ndarray | None = None
    ) -> Self:
        """Put two or four columns together."""
        self = super().__new__(cls, (y, p) if cluster is None and weight is None else (y, p, cluster, weight))
        self.y, self.p, self.cluster, self.weight = y, p, cluster, weight
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __iter__(self) -> Iterator[np.ndarray]:
        return super().__iter__()

    @property
    def arguments(self) -> dict[str, np.ndarray]:
        """Clusters and weights, those that there are, as arguments `cluster` and `sample_weight` of a function."""
        given = {"cluster": self.cluster, "sample_weight": self.weight}
        return {name: column for name, column in given.items() if column is not None}
