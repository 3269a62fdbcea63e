"""The score bound: exact Poisson limits, the equation it solves, coverage with unseen events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibstat.bounds.tail_bound import TailBound, events_at

TAILS = (0.25, 0.1, 0.05, 0.025, 0.005)


@pytest.mark.parametrize("tail", TAILS)
def test_without_an_event_it_allows_for_the_events_that_may_go_unseen(tail):
    """b = 1 and V = K = 0, so the bound is k; no event of Poisson(-log(tail)) is seen with probability tail."""
    tail_bound = TailBound.of_rows(tail)
    assert tail_bound.reach(0.0, 0.0) == pytest.approx(tail_bound.k)
    assert tail_bound.k >= -np.log(tail)
    assert tail_bound.k <= -1.15 * np.log(tail) + 0.2


@pytest.mark.parametrize("tail", TAILS)
def test_of_equal_events_it_is_hardly_below_the_exact_poisson_limit(tail):
    """x events of size 1: V = K = x, b = 1; the exact limit is a quantile of the gamma distribution with x + 1."""
    seen = np.arange(0, 2000)
    exact = stats.gamma.isf(tail, seen + 1)
    bound = seen + TailBound.of_rows(tail).reach(seen.astype(float), seen.astype(float))
    assert np.all(bound >= exact - 0.04)
    assert np.all(bound <= exact + 0.6)


@given(st.floats(0, 50), st.floats(-50, 50), st.floats(0.1, 30), st.floats(0.2, 3.5))
def test_the_variance_grows_with_the_bound(variance, third, size, z):
    """The reach x solves x**2 = z**2 variance + rate k x, and no part may be larger than allowed."""
    tail_bound = TailBound(z).times(size)
    rate = min((max(third, 0) + 2 * size**3) / (variance + 2 * size**2), size)
    x = tail_bound.reach(variance, third)
    assert x**2 == pytest.approx(z**2 * variance + rate * events_at(z) * x, rel=1e-9)
    assert x == pytest.approx(tail_bound.widen(z * np.sqrt(variance), rate))
    assert x >= z * np.sqrt(variance)


def test_parts_without_size_add_nothing():
    assert TailBound(2.0).times(0.0).reach(0.0, 0.0) == 0


def misses(unseen, replicates=20_000, tail=0.025):
    """Share of bounds below the truth: Poisson events over normal noise, with 0 <= `unseen` pseudo-events."""
    random, worst = np.random.default_rng(1), 0.0
    for noise in (0.0, 1.0, 4.0, 20.0, 100.0):
        for events in (0.3, 1.0, 2.0, 3.5, 5.0, 10.0):
            seen = random.poisson(events, replicates)
            total = seen + np.sqrt(noise) * random.normal(size=replicates)
            variance, third = seen + noise, seen.astype(float)
            tail_bound = TailBound.of_rows(tail)
            rate = np.minimum((third + unseen) / np.maximum(variance + unseen, 1e-9), 1.0)
            bound = total + tail_bound.widen(tail_bound.z * np.sqrt(variance), rate)
            if unseen == 2:
                np.testing.assert_allclose(bound, total + tail_bound.reach(variance, third), rtol=1e-6, atol=1e-12)
            worst = max(worst, float(np.mean(bound < events)))
    return worst


def test_events_over_noise_are_covered_with_the_planted_fault():
    """Without the pseudo-events no event among noise counts as none possible."""
    most = stats.binom.isf(1e-5, 20_000, 0.025) / 20_000
    assert misses(2.0) <= most
    assert misses(0.0) > most


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("units", [1, 5, 400])
def test_equal_clusters_hide_what_goes_unseen(units, tail):
    """Of m clusters of size s, each with a chance q, (1 - q)**m = exp(-k): they hide m s q = m s (1 - exp(-k / m))."""
    tail_bound = TailBound.of_units(np.full(units, 3.0), tail)
    assert tail_bound.cap == 3.0
    assert tail_bound.largest == pytest.approx(
        3 * units * (1 - np.exp(-tail_bound.k / units)) / tail_bound.k, rel=1e-12
    )


@given(st.floats(0.01, 500), st.floats(-50, 50), st.floats(0.1, 30))
def test_lines_are_just_above_the_reach(most, third, size):
    tail_bound = TailBound(1.96).times(size)
    slope, height = tail_bound.lines(most, third)
    for variance in most * np.array([0.25, 0.5, 1.0]):
        least, reach = (height + slope * variance).min(), tail_bound.reach(variance, third)
        assert reach - 1e-9 <= least <= 1.3 * reach + 1e-9
    assert slope[0] == 0
