"""The mean over clusters beside statsmodels, numbers made by hand, and what two clusters do not tell."""

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.meta_analysis import combine_effects

from calibstat.classical.mean_over_clusters import mean_over_clusters

NUMBER, VARIANCE = np.array([0.7, 1.6, 1.0, 1.9]), np.array([0.04, 0.09, 0.02, 0.05])


@pytest.mark.parametrize("spread", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("k", [3, 12, 60])
def test_it_is_what_statsmodels_combines(k, spread):
    random = np.random.default_rng(k)
    variance = random.gamma(3.0, 0.02, k)
    number = 1 + np.sqrt(variance + spread) * random.standard_normal(k)
    found = mean_over_clusters(number, variance, 0.9)
    oracle = combine_effects(number, variance, method_re="pm", atol=1e-7)
    error = max(oracle.sd_eff_w_re_hksj, oracle.sd_eff_w_re)
    assert (found.mean, found.tau**2) == pytest.approx((oracle.mean_effect_re, oracle.tau2), rel=1e-5)
    assert found.interval == pytest.approx(oracle.mean_effect_re + error * t.ppf([0.05, 0.95], k - 1), rel=1e-5)
    reach = np.sqrt(oracle.tau2 + error**2) * t.ppf([0.05, 0.95], k - 2)
    assert found.prediction_interval == pytest.approx(oracle.mean_effect_re + reach, rel=1e-5)


def test_equal_variances_have_a_closed_form():
    """With variance v each, the mean is plain, and v + tau² is the variance of the numbers, with k - 1."""
    found = mean_over_clusters(NUMBER, np.full(4, 0.1), 0.95)
    assert found.mean == pytest.approx(1.3)
    assert found.tau**2 == pytest.approx(((0.6**2 + 0.3**2 + 0.3**2 + 0.6**2) / 3) - 0.1)  # 0.3 - 0.1
    assert found.interval == pytest.approx(1.3 + np.sqrt(0.3 / 4) * t.ppf([0.025, 0.975], 3))


def test_clusters_that_happen_to_agree_are_not_taken_as_certain():
    """The error is the one of the weights, 1 / sqrt(sum of 1 / v), where the squares are 0."""
    found = mean_over_clusters(np.ones(4), VARIANCE, 0.95)
    assert (found.mean, found.tau) == (1.0, 0.0)
    assert found.interval == pytest.approx(1 + t.ppf([0.025, 0.975], 3) / np.sqrt((1 / VARIANCE).sum()))


def test_two_clusters_have_no_interval_of_a_further_one():
    found = mean_over_clusters(NUMBER[:2], VARIANCE[:2], 0.95, least=0.0)
    assert np.isnan(found.prediction_interval).all()
    assert found.interval[0] == 0  # one degree of freedom, and nothing below the least
    assert str(found).endswith("a further cluster: an interval needs 3 clusters")


def squares(number, variance, between):
    """The weighted sum of squares about the weighted mean, over k - 1: 1 at Paule and Mandel's variance."""
    weight = 1 / (variance + between)
    return weight @ (number - weight @ number / weight.sum()) ** 2 / (number.size - 1)


def test_rounding_does_not_make_tau_0():
    """Steps to tau², as those of statsmodels, may go too far by rounding, which they take for a tau of 0."""
    for seed in range(100):
        random = np.random.default_rng([730, seed])
        variance = random.gamma(5.0, 0.01, 730)
        number = 1 + np.sqrt(variance + 0.02) * random.standard_normal(730)
        assert squares(number, variance, mean_over_clusters(number, variance, 0.95).tau ** 2) == pytest.approx(1)
        assert squares(number, variance, 0.0) > 1.1  # the planted fault
