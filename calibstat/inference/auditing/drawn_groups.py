"""Groups of an audit with what is drawn for them, and the answers of an audit of independent rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.number_of_events import smallest_mean
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.data.words.side import Side
from calibstat.inference.auditing.beyond_results import Beyond
from calibstat.inference.auditing.clusters_of_groups import ClustersOfGroups
from calibstat.inference.auditing.counted_groups import CountedGroups
from calibstat.inference.auditing.group_statistic import GroupRoots
from calibstat.inference.auditing.other_rows import against_other_rows
from calibstat.inference.p_values import p_value, step_down
from calibstat.resampling import Draws

PValues = tuple[np.ndarray, np.ndarray]  # of each group by itself, and adjusted for all
Limits = tuple[np.ndarray | None, np.ndarray | None]


@dataclass(frozen=True)
class DrawnGroups:
    """The groups of an audit.

    Attributes
    ----------
    rows_of : CountedGroups
        Rows with their groups.
    statistic : GroupRoots
        The statistic of the groups.
    positives : ndarray, shape (G, S)
        Rows with outcome 1 in groups and strata.
    draws : Draws
        How many resamples, and their key.
    drawn : function
        Draws labels of independent rows and returns the evidence of each group, shape (B, G).
    """

    rows_of: CountedGroups
    statistic: GroupRoots
    positives: np.ndarray
    draws: Draws
    drawn: Callable[[], np.ndarray]

    @cached_property
    def null(self) -> np.ndarray:
        """The evidence of each group in labels drawn independently from the predictions, shape (B, G)."""
        return self.drawn()

    @cached_property
    def roots(self) -> np.ndarray:
        """The roots of each group, shape (G, K)."""
        return self.statistic(self.positives[None])[0]

    @cached_property
    def of_uncertain(self) -> np.ndarray:
        """The same of the rows that are predicted neither 0 nor 1."""
        return self.statistic.of_uncertain(self.positives[None])[0]

    @property
    def rows(self) -> np.ndarray:
        """Rows of each group."""
        return np.asarray(self.statistic.rows.sum(axis=1))

    @property
    def ones(self) -> np.ndarray:
        """Rows with outcome 1 of each group."""
        return self.positives.sum(axis=1).astype(np.float64)

    @property
    def predicted(self) -> np.ndarray:
        """The mean prediction of each group."""
        return np.asarray(self.statistic.expected.sum(axis=1) / self.rows)

    @property
    def side(self) -> Side | None:
        """The side that is looked at alone."""
        return self.statistic.side


class IndependentRows:
    """The answers of an audit of independent rows."""

    @property
    def clusters(self) -> ClustersOfGroups | None:
        """The clusters of the groups; none of independent rows."""
        return None

    def roots(self, groups: DrawnGroups) -> np.ndarray:
        """Return the roots of each group, shape (G, K)."""
        return groups.roots

    def p_values(self, groups: DrawnGroups, certain: bool = True) -> PValues:
        """Return the p-values of all groups; unless `certain` by the rows that are predicted neither 0 nor 1 alone.

        No draw has a row that was predicted to be impossible, so the same draws serve for the other rows.
        """
        largest = groups.statistic.largest(groups.roots if certain else groups.of_uncertain)
        each = [p_value(*of_group, "greater") for of_group in zip(largest, groups.null.T, strict=True)]
        return np.array(each), step_down(largest, groups.null)

    def limits(self, groups: DrawnGroups, level: float) -> Limits:
        """Return the limits of the mean errors of all groups at once; of one side one, at the whole level."""
        rows, ones, predicted, side = groups.rows, groups.ones, groups.predicted, groups.side
        tail = level / (rows.size * (2 if side is None else 1))
        low = None if side == "over" else smallest_mean(ones, rows, tail) - predicted
        high = None if side == "under" else 1 - smallest_mean(rows - ones, rows, tail) - predicted
        return low, high

    def beyond(self, groups: DrawnGroups, confidence_level: float) -> Beyond | None:
        """Return which groups deviate otherwise than the other rows; nothing of one side."""
        if groups.side is not None:
            return None
        rows_of, ones = groups.rows_of, groups.ones
        first = np.flatnonzero(np.diff(rows_of.shared, prepend=-1.0))  # the first row of each shared prediction

        def counts(g: int) -> tuple[np.ndarray, float]:
            return np.add.reduceat(rows_of.number * rows_of.mask(g), first), float(ones[g])

        shared, events = rows_of.shared[first], np.add.reduceat(rows_of.ones, first)
        names = rows_of.groups.names
        return against_other_rows(shared, events, counts, names, confidence_level, groups.draws.n_jobs)

    def null_hypothesis(self, lens: NamedLens, side: Side | None) -> Null:
        """Return the null hypothesis of all groups together."""
        observed = f"{lens.subject} is observed in every row"
        probability = " with its predicted probability" + ": all groups at once are calibrated" * (side is None)
        null = Null("the predictions and the groups of all rows", (observed, probability), exact=True)
        return null if side is None else null.of_side(side)


OF_INDEPENDENT_ROWS = IndependentRows()
