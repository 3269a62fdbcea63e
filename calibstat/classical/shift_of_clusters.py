"""Calibration in the large of rows in clusters, if absent clusters are like those observed."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.observed_clusters import Reach, UnseenClusters, last_kept
from calibstat.data.weighted_sample import WeightedSample

FARTHEST_LOGIT = 64.0  # beyond it a logit is a probability of 0 or 1


def ends_of_shift(
    rows: WeightedSample, unit: np.ndarray, showing: int, estimate: float, miss: float
) -> tuple[float, float]:
    """Return the ends of the interval of the intercept if the slope is 1, each of which misses with probability `miss`.

    An intercept is kept unless what clusters add to outcomes less probabilities with this intercept is too large. Both
    sums change in one direction with the intercept, so this is the rule of means. `showing` clusters show the rarer
    outcome.

    Statement and argument: docs/evidence/proofs/observed-clusters.md.
    """
    from scipy.special import expit, logit

    at, weight = logit(rows.value), rows.weight

    def added(intercept: float) -> np.ndarray:
        return np.bincount(unit, weight * (rows.outcome - expit(at + intercept)[rows.cell]))

    chance = expit(at + estimate)[rows.cell]
    information, size = np.bincount(unit, weight * chance * (1 - chance)), np.bincount(unit, weight)
    part, rate = added(estimate), float(weight @ rows.outcome / weight.sum())
    part -= part.mean()  # 0 but for rounding
    unseen = UnseenClusters(
        part=part, share=information / information.sum(), rows=size, showing=showing, room=(rate, 1 - rate)
    )
    ends = []
    for sign in (-1, 1):
        reach = unseen.reach(sign, miss)

        def keeps(intercept: float, sign: int = sign, reach: Reach = reach) -> bool:
            of_clusters = added(intercept)
            deviation = of_clusters - of_clusters.mean()
            third = sign * float((deviation**3).sum())
            return abs(float(of_clusters.sum())) <= reach(unseen.unbiased * float((deviation**2).sum()), third)

        ends.append(last_kept(keeps, estimate, sign * np.inf, FARTHEST_LOGIT))
    return ends[0], ends[1]
