"""Rows in groups, as an audit takes them: predictions, how many rows have each, and which groups they are in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibstat.data.groups import MadeGroups


@dataclass(frozen=True)
class CountedGroups:
    """Rows with their groups, ascending by prediction; rows that are alike may be counted.

    Attributes
    ----------
    prediction, number, ones : ndarray, shape (k,)
        Predictions, of which some may be equal, how many rows have each, and how many of them have outcome 1.
    shared : ndarray, shape (k,)
        The prediction by which groups are compared with the other rows: of rows in a cell the mean of all of them.
    mask : function
        Of the number of a group: which of these rows are in it.
    groups : MadeGroups
        The groups, of rows or of sets of rows.
    """

    prediction: np.ndarray
    number: np.ndarray
    ones: np.ndarray
    shared: np.ndarray
    mask: Callable[[int], np.ndarray]
    groups: MadeGroups

    def positives(self, stratum: np.ndarray, size: int) -> np.ndarray:
        """Return the rows with outcome 1 of each group in each stratum, shape (G, size)."""
        groups = range(len(self.groups.names))
        return np.stack([np.bincount(stratum, self.ones * self.mask(g), size) for g in groups])
