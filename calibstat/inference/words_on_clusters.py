"""Words of results on clusters: the assumption about those that are absent, and when to be careful."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from calibstat.bounds.mean_interval import OfMean
from calibstat.bounds.tail_bound import share_of_whole_cluster
from calibstat.data.clusters import ROWS_ALONE, WHOLE, Unseen
from calibstat.data.days.neighbours import correlation_of_neighbours
from calibstat.digits import settled
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.inference.problems.calibrated_clusters import SHARED

FEWEST_STUDIED = 10  # clusters
FEW_EFFECTIVE = 5.0  # clusters of equal size that say about as much
FEWEST_OF_BOOTSTRAP = 30
FEW_FOR_SPREAD = 30  # clusters below which a spread of risks beyond their mean is said
SWAPPING = "So does method='swap', if the two models can be exchanged in every cluster."


def shown_on_average(tail: float) -> int:
    """Return how often a kind of cluster has to be expected so as not to be absent with probability `tail`."""
    return math.ceil(-math.log(tail))


def supposed(unseen: Unseen, clusters: int, confidence_level: float, like_observed: bool = True) -> str:
    """Return what is supposed of absent clusters, in a sentence; `like_observed` if it may be that of the default."""
    if unseen.word == ROWS_ALONE:
        return "Assumes that absent kinds of clusters do not matter."
    if unseen.word == WHOLE or not like_observed:
        return "Allows for absent clusters all of whose rows have the worst outcome."
    few = ""
    if share_of_whole_cluster(unseen.showing, clusters) > 0:
        showing = f"Only {unseen.showing} of {clusters:,} clusters show the rarer outcome"
        few = f" {showing}, so whole clusters of it are partly allowed for."
    often = shown_on_average((1 - confidence_level) / 2)
    return (
        f"Assumes that no absent kind of cluster is more extreme than the most extreme of these {clusters:,}; a kind "
        f"expected fewer than {often} times among {clusters:,} may be missed.{few}"
    )


def of_shared_outcomes(pvalues: Mapping[str, float], clusters: int) -> str:
    """Return why a test of clusters finds nothing, where it does by every way to draw them but the most cautious.

    `pvalues` has the p-value of each way.
    """
    others = max((pvalue for way, pvalue in pvalues.items() if way != SHARED), default=1.0)
    if others > CLAIM_LEVEL or pvalues.get(SHARED, 0.0) <= CLAIM_LEVEL:
        return ""
    return (
        f"These {clusters:,} clusters are few for this test, which allows for clusters whose rows all have the same "
        f"outcome: without this p is {settled(others):.2g}. The intervals of "
        "calibstat.validate(y, p, cluster=...) suppose less."
    )


def cautions(clusters: int, effective: float) -> list[str]:
    """Return when to be careful with intervals of so many clusters, each with the direction in which they err."""
    said = []
    if clusters < FEWEST_STUDIED:
        said.append(
            f"Caution: only {clusters} clusters. Intervals may be too narrow: they were studied from {FEWEST_STUDIED} "
            "clusters on."
        )
    if effective < min(FEW_EFFECTIVE, clusters / 2):
        said.append(
            f"Caution: one or few clusters have most of the rows (as if {settled(effective):.2g} clusters of equal "
            "size). Intervals are wide, because these few say little of others."
        )
    return said


def of_bootstrap(clusters: int) -> list[str]:
    """Return when to be careful with a bootstrap of so many clusters."""
    if clusters >= FEWEST_OF_BOOTSTRAP:
        return []
    return [
        f"Caution: only {clusters} clusters. Bootstrap intervals are too narrow below {FEWEST_OF_BOOTSTRAP} clusters."
    ]


def of_neighbours(
    number: np.ndarray, unit: np.ndarray, names: np.ndarray | None, weight: np.ndarray | None = None
) -> list[str]:
    """Return when to be careful because neighbouring clusters are alike in a number of each row, as days in a row are.

    `unit` numbers the cluster of each row from 0, and `names` are the labels of these clusters, if they were given.
    """
    if names is None:
        return []
    weight = np.ones(number.size) if weight is None else weight
    total, size = (np.bincount(unit, weight * part, names.size) for part in (number, 1))
    found = correlation_of_neighbours(total, size, names)
    return [found.sentence] if found is not None and found.alike else []


def of_outcomes(events: np.ndarray, rows: np.ndarray) -> list[str]:
    """Return when to be careful with mean outcomes and ratios, of events and rows by cluster."""
    rate = events.sum() / rows.sum()
    of_cluster = events / rows
    noise = float((rate * (1 - rate) / rows).mean())
    spread = math.sqrt(max(float(of_cluster.var(ddof=1)) - noise, 0.0))
    if rows.size >= FEW_FOR_SPREAD or spread <= rate:
        return []
    return [
        f"Caution: the shares of events of these {rows.size} clusters differ by more than their mean (standard "
        f"deviation {settled(spread):.2g}, mean {settled(float(rate)):.2g}). The high end of the mean outcome may be "
        "too low, about 5 times in 100."
    ]


def remark(interval: OfMean, unseen: str, tail: float, value: float = 0.0, further: str = "") -> str:
    """Say of an interval what a plain one says, and what would change its answer to whether it holds a value.

    `further` is a further way to find out.
    """
    low, high = interval.low(tail), interval.high(tail)
    one, other = interval.plain(tail)
    is_out, is_plainly_out = not low <= value <= high, not one <= value <= other
    if one == other:
        return "All clusters have the same mean: no difference between clusters was seen."
    if is_plainly_out and not is_out:
        return (
            f"A plain t interval of clusters, [{settled(one):.4g}, {settled(other):.4g}], leaves out {value:g}; it "
            f"allows neither for skewness nor for absent clusters. More clusters would tell. {further}"
            + " The default, unseen='observed', supposes more of absent clusters and finds more."
            * (unseen == WHOLE)
        ).strip()
    factor = interval.tipping_factor(tail, value) if is_out else None
    if factor is None:
        return ""
    return (
        f"{value:g} stays outside unless absent clusters can be {settled(factor):.2g} times as extreme as the most "
        f"extreme of these {interval.units:,}."
    )
