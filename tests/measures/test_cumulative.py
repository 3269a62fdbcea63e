import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows

import calibstat as cs
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.unit_sums import ClusterSums
from calibstat.measures import cumulative
from calibstat.measures.cumulative import KS, Kuiper


@given(rows())
def test_against_the_definition(data):
    y, p = data
    thresholds = [-1.0, *sorted(set(p))]
    sums = [sum(y[p <= t] - p[p <= t]) / y.size for t in thresholds]
    assert cs.estimate(y, p, measure="ks") == pytest.approx(max(map(abs, sums)), abs=1e-14)
    assert cs.estimate(y, p, measure="kuiper") == pytest.approx(max(sums) - min(sums), abs=1e-14)


@given(rows())
def test_ks_is_at_most_kuiper_at_most_the_unbinned_error(data):
    sample = cs.Sample.from_rows(*data)
    ks, kuiper = cs.estimate(sample, measure="ks"), cs.estimate(sample, measure="kuiper")
    assert ks <= kuiper <= np.abs(sample.residual).sum() + 1e-15


def test_by_hand():
    # residuals over 4 rows: .75/4, -.5/4, .25/4, -.25/4; partial sums 3/16, 1/16, 2/16, 1/16
    y, p = [1, 0, 1, 0], [0.25, 0.5, 0.75, 0.25]
    sample = cs.Sample.from_rows(y, p)
    # at .25 one row of each outcome: residuals (.75 - .25, -.5, .25)/4, partial sums 2/16, 0, 1/16
    assert sample.residual.tolist() == [0.125, -0.125, 0.0625]
    ks = cs.detail(sample, measure="ks")
    assert ks.estimate == 0.125
    assert ks["cumulative"].tolist() == [0.125, 0.0, 0.0625]
    assert ks["witness"].tolist() == [1, 0, 0]
    kuiper = cs.detail(sample, measure="kuiper")
    assert kuiper.estimate == 0.125
    assert kuiper["witness"].tolist() == [1, 0, 0]


def test_kuiper_takes_an_interval_in_the_middle():
    # partial sums 0, 1/4, -1/2, -1/4 (residuals 1/4, -3/4, 1/4): the range 3/4 is minus the second residual
    value, residual = np.array([0.2, 0.5, 0.8]), np.array([0.25, -0.75, 0.25])
    assert cs.measures.Kuiper().norm(value, residual) == 0.75
    assert cs.measures.KS().norm(value, residual) == 0.5
    sample = cs.Sample.from_counts([0.25, 0.5, 0.75], [4, 4, 4], [2, 0, 4])  # residuals 1, -2, 1, over 12
    assert cs.detail(sample, measure="kuiper")["witness"].tolist() == [0, -1, 0]


def test_a_calibrated_sample_has_no_witness():
    sample = cs.Sample.from_counts([0.5], [2], [1])
    assert cs.detail(sample, measure="ks")["witness"].tolist() == [0]
    assert cs.detail(sample, measure="kuiper")["witness"].tolist() == [0]


# --- the largest bound over fixed thresholds and intervals -----------------------------------------------------------


def bounds(moments, tail_bound, weights):
    """The score bound of the sum of weight times residual, for each of these weights."""
    for weight in weights:
        sums = moments.of(weight)
        yield sums.total + tail_bound.reach(sums.variance, sums.up)


@pytest.mark.parametrize("clustered", [False, True])
@given(rows())
def test_high_ends_are_the_largest_bounds_of_all_weights(clustered, data):
    y, p = (np.append(part, part) for part in data)
    sample = cs.Sample.from_rows(y, p)
    cell, m = np.searchsorted(sample.value, p), sample.value.size
    moments = SeparableMoments.of_sample(sample)
    if clustered:
        moments = JointMoments(ClusterSums(cell, y - p, np.arange(y.size) // 2 + np.arange(y.size) % 2, m))
    tail_bound = moments.tail_bound(0.025)
    up_to = [(np.arange(m) < j).astype(float) for j in range(m + 1)]
    expected = max(bounds(moments, tail_bound, [s * w for w in up_to for s in (1, -1)]))
    assert KS().upper_bound(sample.value, moments, tail_bound) == pytest.approx(expected, abs=1e-9)
    between = [b - a for a in up_to for b in up_to]
    expected = max(bounds(moments, tail_bound, between))
    assert Kuiper().upper_bound(sample.value, moments, tail_bound) == pytest.approx(expected, abs=1e-9)


def test_fewer_ends_of_intervals_lose_little(monkeypatch):
    """Each block keeps its first, its lowest and its highest point."""
    y, p = cs.generators.temperature(1.5).sample(1000, 1)
    sample = cs.Sample.from_rows(y, p)
    moments, total = SeparableMoments.of_sample(sample), 1000 * cs.estimate(sample, measure="kuiper")
    tail_bound = moments.tail_bound(0.025)
    found = Kuiper().upper_bound(sample.value, moments, tail_bound) - total
    monkeypatch.setattr(cumulative, "BLOCKS", 10**6)
    exact = Kuiper().upper_bound(sample.value, moments, tail_bound) - total
    assert 0.99 * exact < found <= exact + 1e-9
