"""Means over clusters, if absent ones are like those observed: by hand, beside a plain version, and their limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibstat.bounds.observed_clusters import ClusterMean, last_kept


def plain_keeps(y, m, value, tail, showing, ends):
    """Whether a value is kept, as the page of proofs writes the rule, without sums of powers."""
    clusters, n = y.size, m.sum()
    t = y.sum() / n
    x, z, sign = y - m * t, stats.t.isf(tail, clusters - 1), 1 if value > t else -1
    v_t, left = clusters / (clusters - 1) * (x**2).sum(), sign * x / (1 - m / n)
    second, first = np.sort(left)[-2:]
    largest = cap = max(np.abs(left).max(), first + min(1, clusters / 30) * (first - second))
    q = max((x**4).sum() - 3 * (x**2).sum() ** 2 / clusters, 0) / math.sqrt(v_t) if v_t > 0 else 0
    part, k = max(0, 1 - showing / 30) * (1 - showing / clusters), (2 * z**2 + 4) / 3
    if part > 0:
        low, high = 1e-12, m.max()
        for _ in range(200):  # sum of log(m / mu) over the larger ones is k
            mu = (low + high) / 2
            low, high = (mu, high) if np.log(np.maximum(m / mu, 1)).sum() > k else (low, mu)
        room = part * (ends[1] - t if sign > 0 else t - ends[0])
        largest = max(largest, room * np.maximum(m - mu, 0).sum() / k)
        cap = max(cap, room * m.max())
    e = sign * (y - m * value - (y - m * value).mean())
    v, third = clusters / (clusters - 1) * (e**2).sum(), max((e**3).sum() + z * q, 0)
    b = min((third + largest**3) / (v + largest**2), cap) if v + largest > 0 else 0
    return n * abs(t - value) <= max(b * k / 2 + math.sqrt(z**2 * v + (b * k / 2) ** 2), z * math.sqrt(v_t))


def example(seed, clusters, spread=0.8):
    random = np.random.default_rng(seed)
    m = np.maximum(np.round(20 * np.exp(random.normal(0, spread, clusters))), 1)
    return m * np.clip(random.normal(0.02, 0.1, clusters) + (random.random(clusters) < 0.1), -1, 1), m


@pytest.mark.parametrize("clusters", [3, 10, 12, 30, 60])
@pytest.mark.parametrize("showing", [0, 3, 40])
@pytest.mark.parametrize("tail", [0.025, 0.005])
def test_the_ends_are_those_of_the_plain_rule(clusters, showing, tail):
    for seed in range(4):
        y, m = example(seed, clusters)
        found = ClusterMean.of("", y, m, min(showing, clusters), (-1.0, 1.0))
        for end, far in ((found.low(tail), -1.0), (found.high(tail), 1.0)):
            if abs(end) < 1:
                step = 1e-6 * (end - found.estimate)
                inside, outside = end - step, end + step
                kept = [plain_keeps(y, m, at, tail, min(showing, clusters), (-1, 1)) for at in (inside, outside)]
                assert kept == [True, False]
            else:
                assert plain_keeps(y, m, far, tail, min(showing, clusters), (-1, 1))


def test_three_clusters_by_hand():
    """Means 1, 0 and -1 of one row each, at 80 %: t_2 = 1.8856.

    t = 0, V = 3/2 * 2 = 3, J = +-3/2 and 0, so M = 3/2 + .1 * 3/2 = 1.65. sum x^4 - 3 (sum x^2)^2 / 3 = 2 - 4 < 0, so
    q = 0, and K = 0: b = 1.65^3 / (3 + 1.65^2) = .78502. k = (2 * 3.5556 + 4) / 3 = 3.7037, bk/2 = 1.45375, and the
    reach is 1.45375 + sqrt(3.5556 * 3 + 2.11338) = 5.0285, over 3 rows 1.6762.
    """
    found = ClusterMean.of("", np.array([1.0, 0.0, -1.0]), np.ones(3), 30, (-5.0, 5.0))
    assert found.high(0.1) == pytest.approx(1.6762, abs=1e-4)
    assert found.low(0.1) == pytest.approx(-found.high(0.1), rel=1e-12)


rows_of_clusters = st.lists(
    st.tuples(st.sampled_from([-1.0, -0.1, 0.0, 0.1, 1.0]), st.sampled_from([1.0, 2.0, 50.0])), min_size=2, max_size=9
)


@given(rows_of_clusters, st.integers(0, 9), st.sampled_from([0.1, 0.025, 0.005]))
def test_an_end_is_never_within_student_s(drawn, showing, tail):
    """Property: ties, equal means, a giant, two clusters. And of the negative the ends change places."""
    mean, m = (np.array(column) for column in zip(*drawn, strict=True))
    found = ClusterMean.of("", mean * m, m, min(showing, m.size), (-1.0, 1.0))
    low, high = found.plain(tail)
    assert found.low(tail) <= max(low, -1.0) + 1e-9
    assert found.high(tail) >= min(high, 1.0) - 1e-9
    assert -1 <= found.low(tail) <= found.estimate <= found.high(tail) <= 1
    other = ClusterMean.of("", -mean * m, m, min(showing, m.size), (-1.0, 1.0))
    assert other.high(tail) == pytest.approx(-found.low(tail), abs=1e-9)


def test_the_interval_grows_with_the_level_and_with_what_is_allowed_for():
    y, m = example(1, 12)
    found = ClusterMean.of("", y, m, 12, (-1.0, 1.0))
    ends = [found.high(tail) for tail in (0.1, 0.05, 0.025, 0.005)]
    assert ends == sorted(ends)
    assert len(set(ends)) == 4
    assert ClusterMean.of("", y, m, 3, (-1.0, 1.0)).high(0.025) > found.high(0.025)  # few show the rarer outcome
    wider = found.with_moments(4 * found.unseen.variance, 0.0)
    assert wider.high(0.025) - found.estimate > 1.9 * (found.high(0.025) - found.estimate)
    assert found.with_moments(found.unseen.variance / 2, 0.0).high(0.025) == found.high(0.025)


def test_equal_means_are_a_point_and_a_giant_says_nothing_of_others():
    m = np.full(12, 4.0)
    same = ClusterMean.of("", 0.25 * m, m, 12, (0.0, 1.0))
    assert (same.low(0.025), same.high(0.025)) == (0.25, 0.25)
    giant = np.append(np.full(11, 20.0), 400.0)  # 65 % of the rows
    found = ClusterMean.of("", 0.3 * giant + np.arange(12) % 3 - 1, giant, 12, (0.0, 1.0))
    assert (found.low(0.025), found.high(0.025)) == (0.0, 1.0)
    one = ClusterMean.of("", np.array([3.0]), np.array([9.0]), 1, (0.0, 1.0))
    assert (one.low(0.025), one.high(0.025)) == (0.0, 1.0)


def test_a_ratio_is_the_mean_with_predictions_for_rows():
    random = np.random.default_rng(3)
    expected = random.uniform(2, 9, 40)
    events = random.poisson(1.3 * expected).astype(float)
    found = ClusterMean.of_ratio("O/E", events, expected, np.full(40, 50.0), 40, (0.1, 0.9))
    assert found.estimate == pytest.approx(events.sum() / expected.sum())
    same = ClusterMean.of("", events, expected, 40, (0.0, 1e9))
    assert (found.low(0.025), found.high(0.025)) == pytest.approx((same.low(0.025), same.high(0.025)))
    vague = ClusterMean.of_ratio("O/E", np.array([1.0, 0, 0]), np.array([5.0, 1e-9, 1e-9]), np.ones(3), 1, (0.3, 0.7))
    assert vague.high(0.025) == np.inf


def test_the_tipping_factor_moves_the_end_to_0():
    y, m = example(5, 30, 0.3)
    y = y + 0.2 * m
    found = ClusterMean.of("", y, m, 30, (-1.0, 1.0))
    factor = found.tipping_factor(0.025)
    assert found.low(0.025) > 0
    assert factor > 1

    def low(times):
        return ClusterMean(
            **{name: getattr(found, name) for name in ("title", "total", "size", "least", "most", "is_bounded")},
            unseen=type(found.unseen)(**{**vars_of(found.unseen), "factor": times}),
        ).low(0.025)

    assert low(factor * 0.99) > 0 > low(factor * 1.01)
    assert ClusterMean.of("", y - y.mean(), m, 30, (-1.0, 1.0)).tipping_factor(0.025) is None


def vars_of(unseen):
    return {name: getattr(unseen, name) for name in ("part", "share", "rows", "showing", "room")}


def test_the_end_of_the_range_is_asked_first():
    assert last_kept(lambda value: value < 0.2 or value > 0.9, 0.0, 1.0) == 1.0
    assert last_kept(lambda value: value < 0.2, 0.0, 1.0) == pytest.approx(0.2)
    assert last_kept(lambda value: value < 0.2, 0.0, np.inf) == pytest.approx(0.2)
    assert last_kept(lambda value: True, 0.0, -np.inf) == -np.inf
