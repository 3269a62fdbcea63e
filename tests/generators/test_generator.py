"""What all binary generators share: rows, the curve, printing, pickling, wrong arguments."""

import math
import pickle

import numpy as np
import pytest
from generator_examples import CALIBRATED, COMPOSED, FIVE, ONE_PREDICTION, SIMULATED
from scipy import stats

import calibstat as cs
from calibstat.generators import (
    calibrated,
    distorted,
    gaussian_mixture,
    groups,
    hidden,
    high_frequency,
    interval_gap,
    prevalence,
    quadratic_gap,
    shift,
    temperature,
    two_point,
)


@pytest.mark.parametrize("family", [case[0] for case in SIMULATED] + ONE_PREDICTION + COMPOSED)
def test_outcomes_follow_the_curve(family):
    def statistic(family, other):
        y, p = family.sample(200_000, 5)
        chance = other.curve(p)
        # sums of residuals against three functions of the prediction; z-scores, three at 1e-6 each
        weights = np.array([np.ones_like(p), p, np.abs(p - 0.5)])
        spread = np.sqrt((weights**2 * chance * (1 - chance)).sum(axis=1))
        return np.abs(weights @ (y - chance)) / np.maximum(spread, 1e-9)

    assert statistic(family, family).max() < stats.norm.isf(5e-7)


def test_a_wrong_curve_is_seen():
    y, p = temperature(1.5).sample(200_000, 5)
    wrong = temperature(1.7).curve(p)
    spread = np.sqrt(((p - 0.5) ** 2 * wrong * (1 - wrong)).sum())
    assert abs((p - 0.5) @ (y - wrong)) / spread > stats.norm.isf(5e-7)


BINARY = [name for name, family in cs.GENERATORS.items() if issubclass(family, cs.generators.Generator)]


@pytest.mark.parametrize("name", BINARY)
def test_samples_are_reproducible_rows(name):
    half = 0.5, calibrated()
    arguments = {"temperature": (2,), "shift": (0.5,), "gaussian_mixture": (1, 1), "domain": ([1], [0.5], [0.4])}
    arguments |= {"quadratic_gap": (0.2,), "interval_gap": (0.2, 0.1), "two_point": (0.1,), "high_frequency": (3,)}
    arguments |= {"groups": ({"a": half, "b": half},), "distorted": (shift(1), 2), "prevalence": (calibrated(), 0.1)}
    arguments |= {"features": (calibrated(), {"sex": 2, "site": 3}, [({"sex": 1, "site": 0}, {"shift": 1})])}
    arguments |= {"coarsened": (calibrated(), np.round)}
    arguments |= {"reweighted": (calibrated(), cs.generators.Weights(prediction=1, outcome=(1, 2)))}
    family = cs.GENERATORS[name](*arguments.get(name, ()))
    y, p = family.sample(100, 7)
    again = family.sample(100, np.random.default_rng(7))
    assert y.dtype == np.int64
    assert p.dtype == np.float64
    assert y.shape == p.shape == (100,)
    assert np.array_equal(y, again[0])
    assert np.array_equal(p, again[1])
    assert getattr(cs.generators, name) is cs.GENERATORS[name]


def test_the_registry_cannot_be_written_to():
    with pytest.raises(TypeError):
        cs.GENERATORS["mine"] = calibrated


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: temperature(0), "beta positive"),
        (lambda: temperature(math.inf), "beta positive"),
        (lambda: shift(math.nan), "delta finite"),
        (lambda: gaussian_mixture(math.inf, 1), "finite coefficients"),
        (lambda: calibrated("normal"), "found 'normal'"),
        (lambda: calibrated([0.5, 1.5]), "from 0 to 1"),
        (lambda: calibrated([]), "at least one value"),
        (lambda: calibrated({0.2: 0.5, 0.4: 0.6}), "sum to 1"),
        (lambda: calibrated({0.2: 1e308, 0.4: 1e308}), "sum to 1"),
        (lambda: calibrated({0.2: 1.5, 0.4: -0.5}), "positive probabilities"),
        (lambda: calibrated(stats.norm()), "distribution on"),
        (lambda: quadratic_gap(0), "alpha above 0 and at most 1/2"),
        (lambda: quadratic_gap(0.1, 3), "variant 1 or 2"),
        (lambda: interval_gap(0.5, 0.1), "alpha between 0 and 1/2"),
        (lambda: interval_gap(0.4, 0.2), "shift above -alpha"),
        (lambda: interval_gap(0.1, -0.1), "shift above -alpha"),
        (lambda: two_point(0.6), "epsilon from -1/2"),
        (lambda: high_frequency(1.5), "k to be a whole number"),
        (lambda: high_frequency(0), "k to be a whole number"),
        (lambda: high_frequency(2, 0.5), "amplitude above 0"),
        (lambda: calibrated().sample(0), "whole number of at least 1"),
        (lambda: calibrated().sample(2.5), "whole number of at least 1"),
        (lambda: calibrated().curve(1.5), "from 0 to 1"),
        (lambda: calibrated().truth("nothing"), "expected a measure"),
        (lambda: calibrated().truth("ece", n_bins="cube_root"), "depends on the number of rows"),
        (lambda: calibrated().truth("ece_debiased", n_bins="cube_root"), "depends on the number of rows"),
    ],
)
def test_bad_arguments_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("family", [*COMPOSED, temperature(2), calibrated(FIVE)])
def test_covariates_belong_to_the_rows(family):
    x, y, p = family.sample_covariates(100, 3)
    assert x.shape == (100,)
    assert all(np.array_equal(a, b) for a, b in zip((y, p), family.sample(100, 3), strict=True))


@pytest.mark.parametrize("family", [*CALIBRATED, temperature(1), prevalence(calibrated(), 0.5)])
def test_calibrated_families_know_it(family):
    assert family.is_calibrated


@pytest.mark.parametrize("family", [case[0] for case in SIMULATED] + COMPOSED + [hidden(), temperature(1 + 1e-9)])
def test_other_families_know_it_too(family):
    assert not family.is_calibrated


def test_a_repr_says_it_all():
    family = distorted(calibrated(stats.beta(0.1, b=0.1)), temperature=2, subgroup=0.1)
    inner = "calibrated(distribution=beta(0.1, b=0.1))"
    assert repr(family) == f"distorted(generator={inner}, temperature=2, shift=0.0, s_shape=0.0, subgroup=0.1)"
    both = groups({"a": (0.25, temperature(2)), "b": (0.75, calibrated([0.5]))})
    inside = "'a': (0.25, temperature(beta=2, distribution='uniform')), 'b': (0.75, calibrated(distribution=(0.5,)))"
    assert repr(both) == f"groups(members={{{inside}}})"
    assert repr(temperature(2, {0.2: 1})) == "temperature(beta=2, distribution={0.2: 1})"


@pytest.mark.parametrize("family", [*COMPOSED, *CALIBRATED, temperature(2), hidden()])
def test_families_are_pickled(family):
    family.truth("ece")  # what was computed once may be kept
    copy = pickle.loads(pickle.dumps(family))
    assert repr(copy) == repr(family)
    assert all(np.array_equal(a, b) for a, b in zip(copy.sample(50, 3), family.sample(50, 3), strict=True))
