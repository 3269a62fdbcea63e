"""The exact law of the number of positives, against full convolutions and scipy's binomial law."""

from functools import reduce

import numpy as np
import pytest
from scipy import stats

from calibstat import compiled
from calibstat.resampling.poisson_binomial import pmf_cost, pmf_of_many_positives, pmf_of_positives, pmfs_of_positives


@pytest.mark.parametrize("m", [1, 5, 200])
def test_pmf_of_positives(m):
    generator = np.random.default_rng(m)
    value = np.sort(np.r_[0.0, generator.random(m), 1.0])
    count = generator.integers(1, 400 if m == 5 else 3, value.size).astype(float)
    low, law = pmf_of_positives(value, count)
    plain = reduce(np.convolve, [[1 - p, p] for p in np.repeat(value, count.astype(int))])
    assert np.allclose(law, plain[low : low + law.size], rtol=1e-9, atol=1e-18)
    assert plain[:low].sum() + plain[low + law.size :].sum() < 1e-20


def test_law_of_one_prediction_with_many_rows():
    # Binomial(10**6, 0.3) by the recursion from its mode, against scipy's
    low, law = pmf_of_positives(np.array([0.3]), np.array([1e6]))
    exact = stats.binom.pmf(np.arange(low, low + law.size), 1_000_000, 0.3)
    assert np.abs(law - exact).max() < 1e-11 * exact.max()
    assert law.sum() == pytest.approx(1, abs=1e-12)


def test_certain_predictions():
    low, law = pmf_of_positives(np.array([0.0, 1.0]), np.array([3.0, 5.0]))
    assert {low + k: p for k, p in enumerate(law) if p > 0} == {5: 1.0}


def test_cost_grows_with_distinct_predictions_not_with_ties():
    spread, tied = (np.linspace(0.01, 0.99, 5000), np.ones(5000)), (np.array([0.2, 0.5]), np.array([2500.0, 2500.0]))
    one_cell = np.zeros(5000, np.int64)
    assert pmf_cost(one_cell[:2], *tied) < pmf_cost(one_cell, *spread) / 5
    assert pmf_cost(np.arange(5000) // 334, *spread) < pmf_cost(one_cell, *spread)
    # by hand: four rows at 1/2 are four steps, one binomial law, and the width is 20 * sqrt(4 / 4)
    assert pmf_cost(np.array([0]), np.array([0.5]), np.array([4.0])) == 80


def test_laws_of_many_tied_rows_stay_narrow():
    """A law is as wide as ten standard deviations of its sum on each side, not as the widths of its parts together."""
    value, count = np.linspace(0.2, 0.3, 60), np.full(60, 1000.0)
    low, law = pmf_of_positives(value, count)
    mean, variance = (count * value).sum(), (count * value * (1 - value)).sum()
    assert law.size < 22 * np.sqrt(variance)
    k = low + np.arange(law.size)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert law @ k == pytest.approx(mean, rel=1e-12)
    assert law @ (k - mean) ** 2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize(
    ("value", "count"),
    [([0.5], [10**6]), ([0.02, 0.3], [200_000, 60_000]), ([0.0, 0.5, 0.5, 1.0], [500, 40_000, 10_000, 700])],
)
def test_many_rows_on_few_predictions_have_the_same_distribution(value, count):
    value, count = np.array(value), np.array(count, dtype=float)
    low, pmf = pmf_of_many_positives(value, count)
    start, direct = pmf_of_positives(value, count)
    assert pmf.size != direct.size  # another way
    places = np.arange(min(low, start), max(low + pmf.size, start + direct.size))
    ours, slow = (np.interp(places, first + np.arange(part.size), part, left=0, right=0)
                  for first, part in ((low, pmf), (start, direct)))  # fmt: skip
    np.testing.assert_allclose(ours, slow, rtol=0, atol=2e-14)
    np.testing.assert_allclose(ours.cumsum(), slow.cumsum(), rtol=0, atol=1e-10)


def test_few_rows_or_many_predictions_are_convolved():
    for value, count in (([0.2, 0.5], [30, 50]), (np.linspace(0.1, 0.9, 50_000), np.ones(50_000))):
        low, pmf = pmf_of_many_positives(np.array(value), np.array(count, dtype=float))
        start, direct = pmf_of_positives(np.array(value), np.array(count, dtype=float))
        assert low == start
        np.testing.assert_array_equal(pmf, direct)


def test_a_billion_rows_are_nearly_normal():
    value, count = np.linspace(0.1, 0.6, 40), np.full(40, 2.5e7)
    low, pmf = pmf_of_many_positives(value, count)
    mean, variance = count @ value, count @ (value * (1 - value))
    places = low + np.arange(pmf.size)
    assert pmf.sum() == pytest.approx(1, rel=1e-8)
    assert pmf @ places == pytest.approx(mean, rel=1e-8)
    assert pmf @ (places - mean) ** 2 == pytest.approx(variance, rel=1e-6)
    at = np.searchsorted(places, mean + 2.5 * np.sqrt(variance))
    assert pmf[at:].sum() == pytest.approx(0.0062097, rel=1e-3)  # the normal tail beyond 2.5


def test_short_calls_of_the_kernels_give_the_same_distributions(monkeypatch):
    """Cells by themselves, and the rows of a cell one after the other, to the last bit."""
    rng = np.random.default_rng(3)
    value = np.sort(rng.random(60))
    count = np.where(np.arange(60) % 3, 1, rng.integers(1, 2000, 60)).astype(float)
    cell = (4 * value).astype(np.int64) * 2  # every other cell has no rows
    whole = pmfs_of_positives(0, 9, cell, value, count)
    for longest in (1, 300, 10_000):
        monkeypatch.setattr(compiled, "LONGEST_CALL", longest)
        for one, other in zip(pmfs_of_positives(0, 9, cell, value, count), whole, strict=True):
            np.testing.assert_array_equal(one, other)
