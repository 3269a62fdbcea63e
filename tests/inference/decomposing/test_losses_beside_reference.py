"""The interval of a ratio of two mean losses, beside its definition and a fine grid of base rates."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta

import calibstat as cs
from calibstat.bounds.mean_interval import of_clusters, of_units, of_vector_losses
from calibstat.bounds.observed_clusters import ClusterMean
from calibstat.data.clusters import Unseen
from calibstat.inference.decomposing.losses_beside_reference import LossesBesideReference
from calibstat.inference.designs.design_of import design_of
from calibstat.measures.bregman import BREGMANS

N, TAIL = 240, 0.025
Y, P = cs.generators.temperature(2.0).sample(N, rng=1)
Q = (P + 1) / 3
WEIGHT = np.random.default_rng(1).gamma(1.0, 1.0, N)
CLUSTER = np.repeat(np.arange(24), 10)  # each with both outcomes
EFFECTIVE = WEIGHT * WEIGHT.sum() / (WEIGHT @ WEIGHT)
MEANS = {  # of a loss within ends, by words about rows
    "rows": ({}, lambda d, ends: of_vector_losses("", d, lambda: np.array(ends), ends)),
    "weights": ({"sample_weight": WEIGHT}, lambda d, ends: of_units("", d, EFFECTIVE, np.arange(N), ends, True)),
    "clusters": (
        {"cluster": cs.Clusters(CLUSTER, unseen="clusters")},
        lambda d, ends: of_clusters("", d, None, CLUSTER, Unseen("clusters", 24), ends, True),
    ),
}


def losses(reference=None, score="brier", clip=None, y=Y, p=P, **about):
    data = cs.Data(y, p, **about)
    return LossesBesideReference.of(BREGMANS[score], clip, data.view(), reference, design_of(data))


def solved(low, high, ratio):
    """The ends of a ratio: where 0 is an end of the interval of the mean difference."""
    return brentq(low, 1e-9, ratio, xtol=1e-14), brentq(high, ratio, 50, xtol=1e-14)


@pytest.mark.parametrize("kind", MEANS)
def test_ends_over_a_forecast_are_those_of_mean_differences(kind):
    """A row may lose 1 more, and r less."""
    about, mean = MEANS[kind]
    of = losses(Q, **about)

    def interval(r):
        return mean((Y - P) ** 2 - r * (Y - Q) ** 2, (-r, 1.0))

    ratio = of.score_of_predictions / of.score_of_reference
    found = solved(lambda r: interval(r).low(TAIL), lambda r: interval(r).high(TAIL), ratio)
    assert of.ends(TAIL) == pytest.approx(found, rel=1e-9)


def test_clusters_like_those_observed_have_the_ratio_of_their_sums():
    one, other = (Y - P) ** 2, (Y - Q) ** 2
    sums = [np.array([each[c == CLUSTER].sum() for c in range(24)]) for each in (one, other, np.ones(N))]
    interval = ClusterMean.of_ratio("", *sums, 24, (one.sum() / other.sum(), 1.0))
    assert losses(Q, cluster=CLUSTER).ends(TAIL) == pytest.approx((interval.low(TAIL), interval.high(TAIL)))


def test_ends_over_the_base_rate_are_the_widest_over_rates_in_its_interval():
    """Five rates are tried in place of 101, at a cost below 1 % of the length."""
    events = Y.sum()
    rates = np.linspace(beta.ppf(TAIL, events, N - events + 1), beta.ppf(1 - TAIL, events + 1, N - events), 101)
    kept = []
    for c in rates:
        least, most = sorted((c**2, (1 - c) ** 2))

        def interval(r, c=c, least=least, most=most):
            ends = (-r * most, 1 - r * least)
            return of_vector_losses("", (Y - P) ** 2 - r * (Y - c) ** 2, lambda: np.array(ends), ends)

        kept.append(solved(lambda r: interval(r).low(TAIL), lambda r: interval(r).high(TAIL), 0.75))
    widest = np.min(kept, axis=0)[0], np.max(kept, axis=0)[1]
    low, high = losses().ends(TAIL)
    length = widest[1] - widest[0]
    assert widest[0] - 1e-9 <= low <= widest[0] + 0.01 * length
    assert widest[1] - 0.01 * length <= high <= widest[1] + 1e-9


def test_summary_and_rows_have_the_same_ends():
    sample = cs.Sample.from_rows(Y, P.round(1))
    of = LossesBesideReference.of(BREGMANS["brier"], None, cs.Data(sample).view(), None, design_of(cs.Data(sample)))
    rows = losses(p=P.round(1))
    assert (of.base_rate, of.score_of_predictions) == pytest.approx((rows.base_rate, rows.score_of_predictions))
    assert of.ends(TAIL) == pytest.approx(rows.ends(TAIL))
    one_rate, forecasts = losses(0.4), losses(np.full(N, 0.4))
    assert one_rate.score_of_reference == pytest.approx(forecasts.score_of_reference)


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(2).permutation(N)
    about = {"cluster": CLUSTER[order], "sample_weight": WEIGHT[order]}
    one = losses(Q[order], y=Y[order], p=P[order], **about).ends(TAIL)
    assert one == losses(Q, cluster=CLUSTER, sample_weight=WEIGHT).ends(TAIL)


def test_a_rate_that_may_be_0_leaves_the_skill_by_log_loss_open():
    """Two clusters of 30 have an event: the interval of the mean outcome begins at 0, where an event costs infinity."""
    y, p = np.zeros(90), np.linspace(0.01, 0.2, 90)
    y[:2], cluster = 1, np.arange(90) // 3
    y[1], y[45] = 0, 1
    low, high = losses(y=y, p=p, score="log_loss", clip=1e-3, cluster=cluster).ends(TAIL)
    assert low == pytest.approx(0, abs=1e-9)
    assert high > 1


def test_a_clip_bounds_the_loss():
    assert not losses(score="log_loss").is_bounded
    assert losses(score="log_loss", clip=1e-3).is_bounded
    assert losses().is_bounded
    clipped = losses(score="log_loss", clip=0.2)
    by_hand = -np.mean(np.log(np.where(Y == 1, P.clip(0.2, 0.8), 1 - P.clip(0.2, 0.8))))
    assert clipped.score_of_predictions == pytest.approx(by_hand)
