"""Kolmogorov–Smirnov and Kuiper tests: the limits of Brownian motion, the statistics and their sizes."""

import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows
from scipy import integrate, special, stats
from sizes import compatible, rejected, statistics

import calibstat as cs
from calibstat.classical.cumulative_tests import brownian_maximum, brownian_range, kolmogorov_smirnov, kuiper


def test_laws_of_brownian_motion_have_their_moments():
    # E of the largest absolute value sqrt(π / 2); of the range sqrt(8 / π), of its square 4 log 2 (Feller 1951)
    assert integrate.quad(brownian_maximum, 0, 40)[0] == pytest.approx(math.sqrt(math.pi / 2), abs=1e-10)
    assert integrate.quad(brownian_range, 0, 40)[0] == pytest.approx(math.sqrt(8 / math.pi), abs=1e-10)
    assert integrate.quad(lambda r: 2 * r * brownian_range(r), 0, 40)[0] == pytest.approx(4 * math.log(2), abs=1e-10)


@pytest.mark.parametrize("law", [brownian_maximum, brownian_range])
def test_both_series_meet(law):
    assert law(1 - 1e-12) == pytest.approx(law(1.0), abs=1e-11)
    assert law(0.0) == law(0.01) == 1
    assert np.all(np.diff([law(x) for x in np.linspace(0, 6, 200)]) <= 1e-15)
    assert law(38.0) >= 0


def test_tails_of_brownian_motion():
    # reflection: the first terms are 4 and 8 times the normal tail
    assert brownian_maximum(4.0) == pytest.approx(4 * stats.norm.sf(4), rel=1e-8)
    assert brownian_range(5.0) == pytest.approx(8 * stats.norm.sf(5), rel=1e-8)


@given(weighted_rows())
def test_cumulative_tests_are_the_measures_over_sigma(data):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    sigma = math.sqrt(np.sum(weight * p * (1 - p))) / weight.sum()
    for test, measure in ((kolmogorov_smirnov, "ks"), (kuiper, "kuiper")):
        if sigma == 0:
            with pytest.raises(ValueError, match="sigma is 0"):
                test(sample)
        else:
            assert test(sample).statistic == pytest.approx(cs.estimate(sample, measure=measure) / sigma, rel=1e-9)


def test_sizes_of_cumulative_tests():
    both = statistics(lambda y, p: (kolmogorov_smirnov(y, p), kuiper(y, p)), 3000, 1000, 11)
    ks, range_ = zip(*both, strict=True)
    assert compatible(rejected(ks), 3000, 0.04, 0.05)  # a little conservative: the sums jump
    assert compatible(rejected(range_), 3000, 0.03, 0.05)
    bridge = sum(special.kolmogorov(test.statistic) <= 0.05 for test in ks)  # the law of the usual test of a sample
    assert not compatible(bridge, 3000, 0.04, 0.05)
    maximum = sum(brownian_maximum(test.statistic) <= 0.05 for test in range_)
    assert not compatible(maximum, 3000, 0.03, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("test", "low", "high"), [(kolmogorov_smirnov, 0.03, 0.055), (kuiper, 0.015, 0.05)])
@pytest.mark.parametrize("shape", [(1, 1), (0.5, 0.5), (1, 5)])
def test_sizes_of_few_rows(test, low, high, shape):
    found = statistics(test, 1500, 300, 14, a=shape[0], b=shape[1])
    assert compatible(rejected(found), 1500, low, high)
