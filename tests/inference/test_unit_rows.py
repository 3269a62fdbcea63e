"""Means and ratios of means of rows with weights and in clusters, beside slow loops, and net benefit made of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.inference.unit_rows import UnitRows
from calibstat.measures import NetBenefit

RANDOM = np.random.default_rng(1)
N = 400
Y, P = cs.generators.temperature(2.0).sample(N, rng=1)
WEIGHT = RANDOM.gamma(1.0, 1.0, N) * (RANDOM.random(N) > 0.1)
CLUSTER = RANDOM.integers(0, 50, N)
WHOLE = cs.Clusters(CLUSTER, unseen="clusters")
KINDS = ({"sample_weight": WEIGHT}, {"cluster": CLUSTER}, {"sample_weight": WEIGHT, "cluster": CLUSTER})
IDS = ("weights", "clusters", "both")


def units_of(**given):
    data = cs.Data(Y, P, **given)
    return UnitRows.of(data.view(), data.cluster, data.unseen)


def test_rows_that_all_count_once_are_not_asked_one_by_one():
    assert units_of() is None


@pytest.mark.parametrize("given", KINDS, ids=IDS)
def test_net_benefit_is_the_measure_at_each_threshold(given):
    curve = cs.net_benefit(Y, P, [0.1, 0.6], confidence_level=0.8, **given)
    for i, threshold in enumerate(curve.threshold):
        found = cs.confidence_interval(Y, P, measure=NetBenefit(threshold=threshold), confidence_level=0.8, **given)
        of_measure = (found.estimate, found.low, found.high)
        assert (curve.model[i], curve.low[i], curve.high[i]) == pytest.approx(of_measure, rel=1e-12)


def test_net_benefit_of_whole_number_weights_is_that_of_repeated_rows():
    times = RANDOM.integers(0, 4, N)
    weighted = cs.net_benefit(Y, P, sample_weight=times)
    repeated = cs.net_benefit(np.repeat(Y, times), np.repeat(P, times))
    assert weighted.model == pytest.approx(repeated.model, abs=1e-12)
    assert weighted.everyone == pytest.approx(repeated.everyone, abs=1e-12)


def test_net_benefit_row_by_row():
    curve = cs.net_benefit(Y, P, [0.3], sample_weight=WEIGHT)
    gained = sum(w * (y - (1 - y) * 3 / 7) for y, p, w in zip(Y, P, WEIGHT, strict=True) if p >= 0.3)
    assert curve.model[0] == pytest.approx(gained / WEIGHT.sum())
    rate = WEIGHT @ Y / WEIGHT.sum()
    assert curve.everyone[0] == pytest.approx(rate - (1 - rate) * 3 / 7)


@pytest.mark.parametrize("given", [KINDS[0], {"cluster": WHOLE}, {"sample_weight": WEIGHT, "cluster": WHOLE}], ids=IDS)
def test_0_is_at_the_end_of_the_mean_at_the_ends_of_a_ratio(given):
    """At an end r of the interval of O/E the mean of outcome - r * prediction has 0 at an end of its interval."""
    units = units_of(**given)
    for r, end in zip(units.ratio("O/E", 0.025), (0, 1), strict=True):
        loss = units.rows.outcome - r * units.rows.prediction
        assert units.ends("", loss, (-r, 1.0), 0.025)[end] == pytest.approx(0, abs=1e-9)


def test_a_ratio_without_events_begins_at_0_and_one_of_tiny_predictions_may_have_no_end():
    data = cs.Data(np.zeros(60, int), np.full(60, 0.2), cluster=np.arange(60) // 2)
    low, high = UnitRows.of(data.view(), data.cluster, data.unseen).ratio("O/E", 0.025)
    assert low == 0 < high < np.inf
    p = np.r_[np.full(40, 1e-12), np.full(2, 0.9)]
    data = cs.Data(np.r_[np.zeros(40, int), 1, 0], p, cluster=np.r_[np.repeat(np.arange(40), 1), 40, 40])
    assert UnitRows.of(data.view(), data.cluster, data.unseen).ratio("O/E", 0.025)[1] == np.inf


def test_clusters_of_one_row_are_rows_of_weight_1():
    clusters = cs.net_benefit(Y, P, [0.3], cluster=cs.Clusters(np.arange(N), unseen="clusters"))
    rows = cs.net_benefit(Y, P, [0.3], sample_weight=np.ones(N))
    assert (clusters.low, clusters.high) == (pytest.approx(rows.low), pytest.approx(rows.high))


def test_words_name_the_clusters():
    curve = cs.net_benefit(Y, {"a": P, "b": 1 - P}, [0.3], cluster=np.repeat(np.arange(40), 10))["a"]
    assert "n = 400 in 40 clusters of 10 rows each" in str(curve)
    assert curve.drawn == "40 clusters of 10 rows each"
    assert "effective n" in str(cs.net_benefit(Y, P, [0.3], sample_weight=WEIGHT))


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 1.0, 3.0])),
             min_size=4, max_size=12)
)  # fmt: skip
def test_ends_lie_around_the_estimate(rows):
    y, p, w = (np.array(column, float) for column in zip(*rows, strict=True))
    if np.count_nonzero(w) < 2:
        w = w + 1
    curve = cs.net_benefit(y, p, [0.25, 0.5], sample_weight=w)
    least = -curve.threshold / (1 - curve.threshold)
    assert np.all((least <= curve.low) & (curve.low <= curve.model) & (curve.model <= curve.high) & (curve.high <= 1))
