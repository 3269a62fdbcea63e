"""Randomised estimators of the squared kernel error: their means are its exact value."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.papers.parts import kernel_estimators

SAMPLE = cs.Sample.from_rows(*cs.generators.temperature(2).sample(60, 1))
TIES = cs.Sample.from_counts([0.1, 0.4, 0.45, 0.9], [10, 5, 20, 25], [3, 5, 2, 20])


def z(estimator, sample, bandwidth, assumed, seed=5, draws=4000):
    random = np.random.default_rng(seed)
    found = [estimator(sample, bandwidth, random) for _ in range(draws)]
    exact = cs.estimate(sample, measure="kernel_ce", bandwidth=assumed) ** 2
    return abs(np.mean(found) - exact) / stats.sem(found)


@pytest.mark.parametrize("name", kernel_estimators.ESTIMATORS)
@pytest.mark.parametrize("sample", [SAMPLE, TIES])
@pytest.mark.parametrize("bandwidth", [0.2, 1.0])
def test_randomised_estimators_are_unbiased(name, sample, bandwidth):
    assert z(kernel_estimators.ESTIMATORS[name], sample, bandwidth, bandwidth) < stats.norm.isf(5e-7)


@pytest.mark.parametrize("name", kernel_estimators.ESTIMATORS)
def test_another_bandwidth_is_told_apart(name):
    wrong = cs.Sample.from_counts([0.1, 0.4, 0.9], [20, 20, 20], [20, 0, 20])
    assert z(kernel_estimators.ESTIMATORS[name], wrong, 0.2, 0.5) > stats.norm.isf(5e-7)


def test_random_binning_by_hand():
    class Fixed:  # width .3, shift .1: bins end at .2, .5, .8 (the first begins at -.1)
        def gamma(self, shape, scale):
            assert (shape, scale) == (2, 0.7)
            return 0.3

        def uniform(self, low, high):
            assert (low, high) == (0, 0.3)
            return 0.1

    residual = TIES.residual  # .1 | .4, .45 | .9
    expected = residual[0] ** 2 + (residual[1] + residual[2]) ** 2 + residual[3] ** 2
    assert kernel_estimators.random_binning(TIES, 0.7, Fixed()) == pytest.approx(expected, abs=1e-15)


def test_random_estimates_depend_on_the_generator_alone():
    for estimator in kernel_estimators.ESTIMATORS.values():
        assert estimator(SAMPLE, 1.0, np.random.default_rng(3)) == estimator(SAMPLE, 1.0, np.random.default_rng(3))
