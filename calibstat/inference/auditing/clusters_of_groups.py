"""The clusters of the groups of an audit, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.inference.rows_of_results import ClustersOfRows
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class ClustersOfGroups(Result):
    """The clusters of all rows, and how many each group has.

    Attributes
    ----------
    of_rows : ClustersOfRows
        The clusters of all rows, with what intervals suppose of absent ones.
    number : ndarray of int, shape (G,)
        Clusters with a row in each group.
    apart : ndarray of bool, shape (G,)
        Whether no cluster has two rows in the group, so that all rows of the group are independent.
    """

    of_rows: ClustersOfRows
    number: np.ndarray
    apart: np.ndarray

    def __str__(self) -> str:
        return f"{self.of_rows}, {np.count_nonzero(self.apart):,} of {self.apart.size:,} groups with one row of each"

    def in_words(self, g: int) -> str:
        """Return the clusters of a group beside its rows; nothing where each row has a cluster of its own."""
        return "" if self.apart[g] else f" in {self.number[g]:,} cluster{'s' * bool(self.number[g] != 1)}"

    def too_few(self, g: int, level: float) -> str:
        """Say that signs of so few clusters have no p-value of at most the level; nothing where they may have."""
        if self.apart[g] or 2.0 ** (1 - self.number[g]) <= level:
            return ""
        return f"too few clusters to be significant ({self.number[g]})"

    def unable(self, level: float) -> str:
        """Say how many groups have too few clusters to be significant, and what to do; nothing if none has."""
        few = sum(bool(self.too_few(g, level)) for g in range(self.apart.size))
        if not few:
            return ""
        have = f"{few:,} of {self.apart.size:,} groups {'has' if few == 1 else 'have'} too few clusters"
        return f" {have} to be significant. If groups are the clusters, such as hospitals, leave out cluster=."

    def how(self, of_one_side: bool, n_resamples: int) -> str:
        """Say which p-values and limits are exact, and how the others are made."""
        apart, groups = int(self.apart.sum()), self.apart.size
        several = groups - apart
        if not several:
            return " No group has two rows of a cluster: all p-values and limits are exact."
        one = several == 1
        of = f"{several:,} of {groups:,} group{'s' * (groups > 1)} {'has' if one else 'have'} several rows of a cluster"
        if of_one_side:
            limits = "its limit is" if one else "their limits are"
            return f" {of}: {limits} approximate, all p-values are exact. {self._supposed}"
        others = " The others are exact." if apart else ""
        return (
            f" {of}: {'its' if one else 'their'} p-values and intervals are approximate (the largest p-value of "
            f"{n_resamples} draws each of signs of clusters, of independent labels and of labels that clusters share)."
            f"{others} {self._supposed}"
        )

    @property
    def _supposed(self) -> str:
        """Say what limits suppose of absent clusters, and when to be careful with them."""
        return " ".join([self.of_rows.assumption, *self.of_rows.cautions])
