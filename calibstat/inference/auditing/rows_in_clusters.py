"""The answers of an audit of rows in clusters, whole clusters of which are independent.

If no cluster has two rows in a group, its rows are independent, and its p-value comes from the exact distribution of
its number of events. The other groups are tested together by random signs of whole clusters. Each of the two kinds of
groups takes its share of the level, by the number of groups.

Statement and argument: docs/evidence/proofs/groups-in-clusters.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.mean_interval import of_clusters
from calibstat.data.clusters import Unseen, clusters_in_words
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.data.words.side import Side
from calibstat.in_order import is_larger, without_rounding
from calibstat.inference.auditing.clusters_of_groups import ClustersOfGroups
from calibstat.inference.auditing.drawn_groups import DrawnGroups, IndependentRows, Limits, PValues
from calibstat.inference.events_of_clusters import LEAST_P, p_value_of_events
from calibstat.inference.p_values import holm, p_value, step_down, tie
from calibstat.inference.problems.calibrated_clusters import FEW_EVENTS, INDEPENDENT, SHARED, SIGNS
from calibstat.inference.rows_of_results import ClustersOfRows
from calibstat.resampling import Draws, Stream, sums_of_row_labels, sums_of_signs
from calibstat.resampling.poisson_binomial import pmf_of_positives
from calibstat.result import read_only


@dataclass(frozen=True, eq=False)
class RowsInClusters(IndependentRows):
    """Rows of one audit in clusters.

    Statement and argument: docs/evidence/proofs/groups-in-clusters.md.

    Attributes
    ----------
    unit : ndarray of int, shape (n,)
        The number of the cluster of each row, in the order of the rows of the groups.
    y, p : ndarray, shape (n,)
        Outcomes and predictions.
    groups : int
        Number of groups.
    mask : function
        Of the number of a group: which rows are in it.
    unseen : str
        What is supposed of absent clusters.
    confidence_level : float
        Of all intervals at once.
    """

    unit: np.ndarray
    y: np.ndarray
    p: np.ndarray
    groups: int
    mask: Callable[[int], np.ndarray]
    unseen: str
    confidence_level: float

    @cached_property
    def clusters(self) -> ClustersOfGroups:
        """The clusters of the groups."""
        size = np.array([(np.unique(self.unit[mask]).size, mask.sum()) for mask in map(self.mask, range(self.groups))])
        number, all_rows = size.T
        rows = ClustersOfRows.of(self.p.size, self.unit)
        of_each = 1 - (1 - self.confidence_level) / self.groups
        supposing = rows.supposing(Unseen(self.unseen, self._showing(slice(None))), of_each)
        return ClustersOfGroups(supposing, read_only(number), read_only(number == all_rows))

    @cached_property
    def _uncertain(self) -> np.ndarray:
        return (self.p > 0) & (self.p < 1)

    @cached_property
    def together(self) -> SignedGroups:
        """The groups in which a cluster has several rows, of rows predicted neither 0 nor 1."""
        several = np.flatnonzero(~self.clusters.apart).tolist()
        members = [np.flatnonzero(self.mask(g) & self._uncertain) for g in several]
        group = np.repeat(np.arange(len(several)), [row.size for row in members])
        return SignedGroups(self.unit, self.y, self.p, len(several), group, np.concatenate(members))

    def roots(self, groups: DrawnGroups) -> np.ndarray:
        """Return the roots of the groups, and of those with several rows of a cluster what signs are compared with."""
        apart = self.clusters.apart
        roots = groups.roots.copy()
        if not apart.all():
            finite = np.isfinite(roots[:, 0])
            roots[~apart & finite, 0] = self.together.root[finite[~apart]]
        return roots

    def p_values(self, groups: DrawnGroups, certain: bool = True) -> PValues:
        """Return the p-values of all groups, of both kinds; to one side of all groups by numbers of events."""
        apart = self.clusters.apart
        infinite = np.isinf(groups.statistic.largest(groups.roots)) & certain
        if groups.side is not None:
            each = np.array([self._of_events(g, groups.side) for g in range(apart.size)])
            each[infinite] = LEAST_P
            return each, holm(each)
        each, adjusted = np.empty(apart.size), np.empty(apart.size)
        each[apart] = [LEAST_P if infinite[g] else self._exact(groups, g) for g in np.flatnonzero(apart).tolist()]
        adjusted[apart] = holm(each[apart])
        if not apart.all():
            each[~apart], adjusted[~apart] = self.together.p_values(groups, ~apart, infinite[~apart])
        share = np.where(apart, apart.mean(), 1 - apart.mean())  # of the level, by the number of groups of each kind
        return each, np.minimum(adjusted / share, 1.0)

    def limits(self, groups: DrawnGroups, level: float) -> Limits:
        """Return limits by counts where the rows of a group are independent, elsewhere as of a mean over clusters."""
        low, high = super().limits(groups, level)
        tail = level / (groups.rows.size * (2 if groups.side is None else 1))
        for g in np.flatnonzero(~self.clusters.apart).tolist():
            mask, mean = self.mask(g), groups.predicted[g]
            p, unit = self.p[mask], np.unique(self.unit[mask], return_inverse=True)[1]
            unseen = Unseen(self.unseen, self._showing(mask))
            ends = (-float(p.max()), 1 - float(p.min()))
            interval = of_clusters("mean residual", self.y[mask] - p, None, unit, unseen, ends, True)
            if low is not None:
                low[g] = max(interval.low(tail), -mean)
            if high is not None:
                high[g] = min(interval.high(tail), 1 - mean)
        return low, high

    def beyond(self, groups: DrawnGroups, confidence_level: float) -> None:
        """Return nothing: rows of a group and the other rows of their clusters depend on each other."""
        return

    def null_hypothesis(self, lens: NamedLens, side: Side | None) -> Null:
        """Return the null hypothesis, in which rows of different clusters are independent."""
        null = super().null_hypothesis(lens, side)
        if side is not None or self.clusters.apart.all():
            return Null(null.given, null.outcome, rows="in clusters", exact=True)
        return Null(null.given, null.outcome, rows="in clusters", why_approximate=clusters_in_words(self.unit))

    def _showing(self, mask: np.ndarray | slice) -> int:
        """Return how many clusters show the rarer outcome of some rows."""
        y, unit = self.y[mask], self.unit[mask]
        return min(np.unique(unit[y == 1]).size, np.unique(unit[y == 0]).size)

    def _exact(self, groups: DrawnGroups, g: int) -> float:
        """Return the p-value of a group of independent rows, by the exact law of its number of events."""
        p = self.p[self.mask(g) & self._uncertain]
        if not p.size:
            return 1.0
        value, count = np.unique(p, return_counts=True)
        least, pmf = pmf_of_positives(value, count.astype(np.float64))
        evidence = np.abs(groups.statistic.of_group(g, least + np.arange(pmf.size)))
        observed = abs(float(groups.of_uncertain[g, 0]))
        return float(np.clip(pmf[evidence >= observed - tie(observed)].sum(), LEAST_P, 1.0))

    def _of_events(self, g: int, side: Side) -> float:
        """Return the p-value of a group to one side: of independent rows the tail of the exact law."""
        kept = self.mask(g) & self._uncertain
        if not kept.any():
            return 1.0
        y, p = self.y[kept], self.p[kept]
        if not self.clusters.apart[g]:
            return p_value_of_events(y, p, np.unique(self.unit[kept], return_inverse=True)[1], side)
        value, count = np.unique(p, return_counts=True)
        least, pmf = pmf_of_positives(value, count.astype(np.float64))
        number = least + np.arange(pmf.size)
        extreme = number >= y.sum() if side == "under" else number <= y.sum()
        return float(np.clip(pmf[extreme].sum(), LEAST_P, 1.0))


@dataclass(frozen=True, eq=False)
class SignedGroups:
    """Groups of rows in clusters, tested together by signs of whole clusters.

    The statistic is the sum of the residuals of a group. It is divided by the root of the sum of squares over clusters,
    or by the standard deviation of labels if this is larger.

    Statement and argument: docs/evidence/proofs/groups-in-clusters.md.

    Attributes
    ----------
    unit, y, p : ndarray, shape (n,)
        Clusters, outcomes and predictions of rows.
    size : int
        Number of groups.
    group, row : ndarray of int, shape (members,)
        The group and the row of each member of a group, whose prediction is neither 0 nor 1.
    """

    unit: np.ndarray
    y: np.ndarray
    p: np.ndarray
    size: int
    group: np.ndarray
    row: np.ndarray

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The part of each member, and the cluster and the group of each part: members of one cluster in a group."""
        held, part = np.unique(self.unit[self.row] * np.int64(self.size) + self.group, return_inverse=True)
        return part, *np.divmod(held, self.size)

    @cached_property
    def _variance(self) -> np.ndarray:
        """The variance of labels of each group: shared ones of the rows whose rarer outcome few clusters expect.

        Else clusters without such an outcome, which may come together, look alike, and that counts as evidence. A
        prediction of exactly 1/2 counts for both outcomes, which can only make the variance larger.
        """
        independent = np.bincount(self.group, (self.p * (1 - self.p))[self.row], self.size)
        if not self.row.size:
            return independent
        return independent + self._more_if_shared(self.p) + self._more_if_shared(1 - self.p)

    def _more_if_shared(self, chance: np.ndarray) -> np.ndarray:
        """Return by how much the variance of a group grows if the rare events of a cluster come together.

        The events of a cluster are then at least k with its k-th largest chance.
        """
        order = np.lexsort((chance[self.row], self._parts[0]))
        part, chance = self._parts[0][order], chance[self.row][order]
        group, rows = self._parts[2], np.bincount(part)
        place = np.arange(part.size) - (np.cumsum(rows) - rows)[part]  # in the cluster, the smallest chance first
        rare = _rare(np.where(place > 0, np.diff(chance, prepend=0.0), chance), chance, group[part])
        larger = np.bincount(part, rare)[part] - 1 - place  # how many rare events of the cluster have larger chances
        square = np.bincount(part, rare * (2 * larger + 1) * chance)
        alone = np.bincount(part, rare * chance * (1 - chance))
        return np.bincount(group, square - np.bincount(part, rare * chance) ** 2 - alone, self.size)

    def _scaled(self, part: np.ndarray) -> np.ndarray:
        """Return the statistic of each group, of what each part adds."""
        group = self._parts[2]
        total = without_rounding(np.bincount(group, part, self.size), np.bincount(self.group, minlength=self.size))
        return np.asarray(total / self._scale(np.bincount(group, part**2, self.size)))

    def _scale(self, squares: np.ndarray) -> np.ndarray:
        scale = np.sqrt(np.maximum(squares, self._variance))
        return np.where(scale > 0, scale, 1.0)

    @cached_property
    def observed(self) -> np.ndarray:
        """The sum that each part adds to the residual of its group."""
        return np.bincount(self._parts[0], (self.y - self.p)[self.row], self._parts[1].size)

    @cached_property
    def root(self) -> np.ndarray:
        """The statistic of each group, with the sign of its error."""
        return self._scaled(self.observed)

    def p_values(self, groups: DrawnGroups, of: np.ndarray, infinite: np.ndarray) -> PValues:
        """Return the p-values of these groups, `of` all, each the largest by its ways to draw calibrated clusters."""
        each, adjusted = zip(*self.compared(groups, of, infinite).values(), strict=True)
        return np.max(each, axis=0), np.max(adjusted, axis=0)

    def compared(self, groups: DrawnGroups, of: np.ndarray, infinite: np.ndarray) -> dict[str, PValues]:
        """Return the p-values by each way to draw calibrated clusters; what is `infinite` is so by every way."""
        evidence = np.where(infinite, np.inf, np.abs(self.root))
        alone = np.where(infinite, np.inf, np.abs(groups.of_uncertain[of, 0]))
        ways = {INDEPENDENT: _adjusted(alone, groups.null[:, of])}
        if not self.row.size:
            return ways
        _, unit, group = self._parts
        scale = self._scale(np.bincount(group, self.observed**2, self.size))
        column = group, self.observed
        signed = sums_of_signs([column], self.size, unit, lambda sums: np.abs(sums) / scale, groups.draws, Stream.SIGNS)
        ways[SIGNS] = _adjusted(evidence, signed)
        ways[SHARED] = _adjusted(evidence, self.shared(groups.draws))
        return ways

    def shared(self, draws: Draws) -> np.ndarray:
        """Return the statistic of labels that are as alike in a cluster as they can be, shape (B, G)."""
        part, clusters, _ = self._parts

        def statistic(theta: np.ndarray) -> np.ndarray:
            return np.abs(self._scaled(theta * self.row.size))

        unit, p = self.unit[self.row], self.p[self.row]
        return sums_of_row_labels(part, p, clusters.size, unit, None, statistic, draws, Stream.SHARED)


def _adjusted(evidence: np.ndarray, null: np.ndarray) -> PValues:
    """Return the p-value of each group by itself, and adjusted for these groups."""
    each = [p_value(*of_group, "greater") for of_group in zip(evidence, null.T, strict=True)]
    return np.array(each), step_down(evidence, null)


def _rare(step: np.ndarray, chance: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return which events are rare: those with the smallest chances of a group, of which few clusters expect any.

    `step` is by how much the chance of an event is above the next smaller one of its cluster, so that the steps up to
    a chance add up to the clusters that expect an event with at most this chance, if events of a cluster come together.
    """
    order = np.lexsort((chance, group))
    first = np.append(True, (np.diff(group[order]) != 0) | (np.diff(chance[order]) != 0))
    ends = np.append(np.flatnonzero(first)[1:], chance.size) - 1  # of equal chances, which are rare together
    of_groups = np.bincount(group, step)
    expected = np.cumsum(step[order])[ends] - (np.cumsum(of_groups) - of_groups)[group[order][ends]]
    rare = np.empty(chance.size, bool)
    few = is_larger(np.full(expected.size, float(FEW_EVENTS)), expected)
    rare[order] = few[np.cumsum(first) - 1] & (chance[order] <= 0.5)
    return rare
