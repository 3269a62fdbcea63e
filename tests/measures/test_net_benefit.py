"""Net benefit at one threshold, as a measure."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures import NetBenefit

GENERATOR = np.random.default_rng(3)
P = GENERATOR.random(400).round(2)
Y = (GENERATOR.random(400) < P**2).astype(int)


@pytest.mark.parametrize("threshold", [0.01, 0.2, 0.5, 0.93])
def test_it_is_true_positives_less_weighted_false_ones(threshold):
    acts = threshold <= P  # an equal prediction acts
    true, false = (acts & (Y == 1)).sum(), (acts & (Y == 0)).sum()
    expected = true / 400 - false / 400 * threshold / (1 - threshold)
    assert cs.estimate(Y, P, measure=NetBenefit(threshold=threshold)) == pytest.approx(expected, abs=1e-15)


def test_the_value_of_a_population():
    """Uniform and calibrated, t = 1/2: the integral over [1/2, 1] of v - (1 - v) is 1/4."""
    assert cs.generators.calibrated().truth(NetBenefit(threshold=0.5)) == pytest.approx(0.25, abs=1e-9)


def test_its_interval_is_about_that_of_a_mean():
    found = cs.confidence_interval(Y, P, measure=NetBenefit(threshold=0.3))
    gain = (P >= 0.3) * np.where(Y == 1, 1, -3 / 7)
    assert found.estimate == pytest.approx(gain.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * gain.std(ddof=1) / 20, rel=0.02)


def test_two_models_are_compared_at_one_threshold():
    found = cs.compare(Y, {"too high": P**0.2, "right": P**2}, measure=NetBenefit(threshold=0.3))
    assert found.estimates[1] > found.estimates[0]
    assert found.pvalue[0] < 0.01
    same = cs.compare(Y, {"a": P, "b": P}, measure=NetBenefit(threshold=0.3))
    assert same.pvalue[0] == 1


@pytest.mark.parametrize("threshold", [0, 1, -0.2, "a", None])
def test_a_wrong_threshold_raises(threshold):
    with pytest.raises(ValueError, match="expected threshold between 0 and 1"):
        NetBenefit(threshold=threshold)
