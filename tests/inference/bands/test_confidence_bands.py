"""Confidence bands of bins: Clopper-Pearson against statsmodels and exactly for unequal rows, Wilson by hand."""

from functools import cache, reduce

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

import calibstat as cs
from calibstat.bounds.curves.monotone_limits import lower_limit
from calibstat.inference.bands import confidence_bands


def test_limits_are_those_of_clopper_and_pearson_with_sidaks_level():
    positives, count = np.array([0, 2, 7, 38, 40]), np.array([10, 10, 30, 40, 40])
    value = np.array([0.05, 0.25, 0.45, 0.65, 0.85])
    found = cs.reliability(
        cs.Sample.from_counts(value, count, positives), n_bins=5, band="confidence", confidence_level=0.9
    )
    low, high = proportion_confint(positives, count, alpha=1 - 0.9 ** (1 / 5), method="beta")
    np.testing.assert_allclose(found.low, low, atol=1e-12)
    np.testing.assert_allclose(found.high, high, atol=1e-12)


def test_one_positive_or_negative_takes_the_union_bound():
    # one bin at .9: each end may miss with .05, so of 10 rows the limits are .05/10 and 1 - .05/10
    for positives, end, limit in ((1, "low", 0.005), (9, "high", 0.995)):
        sample = cs.Sample.from_counts([0.5], [10], [positives])
        found = cs.reliability(sample, band="confidence", confidence_level=0.9)
        assert getattr(found, end) == pytest.approx([limit], abs=1e-15)
    alone = cs.reliability([1], [0.2], band="confidence", confidence_level=0.9)
    assert (alone.low.item(), alone.high.item()) == pytest.approx((0.05, 1))


def distribution(chance):
    """Probabilities of 0, 1, ... positives among rows of these chances, one row after the other."""
    return reduce(np.convolve, [[1 - each, each] for each in chance], [1.0])


@cache
def limits(n, level):
    """The low and the high end of the band of a single bin of n rows, for 0, 1, ... n positives."""
    samples = [cs.Sample.from_counts([0.5], [n], [positives]) for positives in range(n + 1)]
    found = [cs.reliability(sample, band="confidence", confidence_level=level, interval=False) for sample in samples]
    return np.array([each.low[0] for each in found]), np.array([each.high[0] for each in found])


def missed(chance, level):
    """How likely the band of a single bin misses the average chance of its rows."""
    low, high = limits(len(chance), level)
    inside = (low <= np.mean(chance)) & (np.mean(chance) <= high)
    return distribution(chance)[~inside].sum()


def unequal():
    """Rows of unequal chances: random ones, and a single uncertain row among certain ones, just below its limit."""
    random = np.random.default_rng(2)
    found = [random.beta(a, a, n) for a in (0.1, 0.5, 2) for n in (1, 2, 3, 5, 8) for _ in range(6)]
    found += [np.append(chance, np.zeros(9)) for chance in (0.0249, 0.02501, 0.0252, 0.1, 0.2499)]
    return found + [1 - each for each in found]


@pytest.mark.parametrize("level", [0.95, 0.8, 0.5, 0.1])
def test_the_average_of_unequal_rows_is_held(level):
    assert max(missed(chance, level) for chance in unequal()) <= 1 - level + 1e-12


def test_without_the_union_bound_unequal_rows_are_missed_more_often(monkeypatch):
    """One row of chance .0252 among ten: its mean is just below 1 - .975**.1 = .00253, the limit from one positive."""
    chance = np.append(0.0252, np.zeros(9))
    assert missed(chance, 0.95) <= 0.05
    monkeypatch.setattr(confidence_bands, "smallest_mean", lower_limit)
    found = cs.reliability(cs.Sample.from_counts([0.5], [10], [1]), band="confidence")
    assert found.low[0] > chance.mean()
    assert 0.0252 > (1 - 0.95) / 2  # and so the end that may miss with .025 does with .0252


def coverage_of_all_bins(band, level=0.9, bins=6, rows=30):
    """How likely all bins of equal rows are held, computed from the binomial distribution of each."""
    chance = np.linspace(0.05, 0.9, bins)
    held = np.zeros(bins)
    for s in range(rows + 1):
        value = (np.arange(bins) + 0.5) / bins
        sample = cs.Sample.from_counts(value, np.full(bins, rows), np.full(bins, s))
        found = cs.reliability(sample, n_bins=bins, band=band, confidence_level=level, interval=False)
        held += np.where((found.low <= chance) & (chance <= found.high), binom.pmf(s, rows, chance), 0)
    return np.prod(held)


def test_all_bins_are_held_at_once():
    assert 0.9 <= coverage_of_all_bins("confidence") < 0.97
    assert coverage_of_all_bins("pointwise_confidence") < 0.7  # its bars are about one bin each


@given(data=weighted_rows())
def test_counts_are_repeated_rows_and_frequencies_are_inside(data):
    y, p, weight = data
    found = cs.reliability(cs.Sample.from_rows(y, p, weight), band="confidence")
    slow = cs.reliability(np.repeat(y, weight), np.repeat(p, weight), band="confidence")
    np.testing.assert_array_equal(found.low, slow.low)
    np.testing.assert_array_equal(found.high, slow.high)
    assert (found.low <= found.frequency).all()
    assert (found.frequency <= found.high).all()
    assert (found.low[found.frequency == 0] == 0).all()
    assert (found.high[found.frequency == 0] > 0).all()  # open although no event is seen
    assert (found.high[found.frequency == 1] == 1).all()


def test_pointwise_bars_are_wilsons():
    # 8 of 10, z = 1.959964, z^2 = 3.841459: centre (.8 + 3.841459/20) / 1.3841459 = .716740,
    # half width 1.959964 * sqrt(.8 * .2/10 + 3.841459/400) / 1.3841459 = .226578
    found = cs.reliability(cs.Sample.from_counts([0.5], [10], [8]), band="pointwise_confidence")
    assert found.low == pytest.approx([0.490162], abs=1e-6)
    assert found.high == pytest.approx([0.943318], abs=1e-6)
    assert found.band_level == 0.95
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(float)
    found = cs.reliability(y, p, band="pointwise_confidence", confidence_level=0.8, strategy="quantile")
    z, n, f = 1.2815515655446004, found.count, found.frequency
    centre = (f + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(f * (1 - f) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    np.testing.assert_allclose(found.low, centre - half, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.high, centre + half, rtol=0, atol=1e-12)
