"""Rows for a test: the stated power measured afresh, a closed form, and what is never found."""

import math

import numpy as np
import pytest
from scipy import stats

import calibstat as cs

MISS = 1e-4


@pytest.mark.parametrize(
    "alternative", ["temperature=1.7", "shift=-0.5", pytest.param("temperature=0.6", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("test", ["omnibus", "ece", pytest.param("cox", marks=pytest.mark.slow)])
def test_the_stated_power_is_measured(alternative, test):
    p = 1 / (1 + np.exp(-1.5 * stats.norm.ppf((np.arange(500) + 0.5) / 500)))
    found = cs.sample_size(p, alternative, test=test, rng=1, n_datasets=400)
    draws = 500
    fresh = cs.power(p, alternative, found.n, test=test, n_datasets=draws, rng=9)
    low, high = stats.binom(draws, 0.75).ppf(MISS / 2) / draws, stats.binom(draws, 0.85).ppf(1 - MISS / 2) / draws
    assert low <= fresh.power <= high
    half = cs.power(p, alternative, found.n // 2, test=test, n_datasets=draws, rng=9)
    assert half.power < low  # the planted fault


def test_the_mean_of_normal_residuals():
    """Spiegelhalter's z at one prediction v = .2 is that of the mean: n = ((1.96 + .84 s) / d)² for a small d.

    Its variance under q = .24 is s² = q (1 - q) / (v (1 - v)) times that under v, d = .04 / .4.
    """
    s, d = math.sqrt(0.24 * 0.76) / 0.4, 0.04 / 0.4
    exact = ((stats.norm.ppf(0.975) + stats.norm.ppf(0.8) * s) / d) ** 2
    found = cs.sample_size(np.full(10, 0.2), [0.24] * 10, test="spiegelhalter", n_datasets=2000, rng=1)
    assert found.n == pytest.approx(exact, rel=0.08)


def test_a_generator_and_another_power():
    generator = cs.generators.temperature(1.6)
    less, more = (cs.sample_size(generator, power=power, test="brier", n_datasets=400, rng=1) for power in (0.6, 0.9))
    assert less.n < more.n
    fresh = cs.power(generator, None, more.n, test="brier", n_datasets=1000, rng=5)
    assert fresh.power == pytest.approx(0.9, abs=0.05)


def test_a_deviation_that_intercept_and_slope_do_not_see():
    """A wave about the diagonal: the two moments are about 0, and the guess comes from the chi-square distance."""
    p = np.linspace(0.1, 0.9, 401)

    def wave(v):
        return v + 0.1 * np.sin(10 * np.pi * (v - 0.1))

    found = cs.sample_size(p, wave, n_datasets=100, n_resamples=199, rng=1)
    assert 100 < found.n < 5000
    assert "the calibration slope" in str(found)


def test_what_is_said():
    p = np.linspace(0.05, 0.95, 500)
    found = cs.sample_size(p, "shift=0.5", test="ks", n_datasets=200, n_resamples=499, rng=1)
    assert str(found).startswith(f"{found.n} rows to find shift 0.5 (ECE 0.0")
    assert "with probability 80 % (ks test, level 5 %)." in str(found)
    assert f"{found.for_precision['o/e']} rows for O/E and {found.for_precision['slope']} rows for" in str(found)
    assert found.for_precision["slope"] == cs.sample_size(p, "shift=0.5", width=0.2, of="slope").n
    assert found.to_frame()["n"].tolist() == sorted(point.n for point in found.curve.points)


def test_classes():
    prob = np.random.default_rng(1).dirichlet([1, 1, 1], size=300)
    asked = {"test": "brier", "lens": "canonical"}
    found = cs.sample_size(prob, "temperature=1.5", **asked, n_datasets=200, n_resamples=199, rng=1)
    assert found.for_precision == {}
    assert "Precision" not in str(found)
    fresh = cs.power(prob, "temperature=1.5", found.n, **asked, n_datasets=400, rng=7)
    assert fresh.power == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (([0.2, 0.3],), {}, "expected an alternative"),
        (([0.2, 0.3], "temperature=1"), {}, "which is calibrated"),
        ((cs.generators.calibrated(),), {}, "which is calibrated"),
        (([0.0, 1.0], "temperature=3"), {}, "which is calibrated"),
        (([0.2, 0.3], "shift=1"), {"power": 0.01}, "above the level"),
        (([0.2, 0.3], "shift=1"), {"power": 1}, "power"),
        (([0.2, 0.3], "shift=1"), {"n_sets": 0}, "n_sets"),
        (([0.2, 0.3], "shift=1"), {"n_datasets": 0}, "n_datasets"),
        (([0.2, 0.3], "shift=1"), {"most": 1}, "most"),
        (([0.2, 0.3], "shift=1"), {"n_dataset": 9}, "found 'n_dataset'; did you mean 'n_datasets'"),
        (([0.2, 0.3], "shift=1"), {"n_bins": 9, "test": "ks"}, "or expected options of measure 'ks'"),
        (([0.2, 0.3], "shift=0.01"), {"most": 500, "test": "ks"}, "in at most 500 rows"),
        (([0.4, 0.6], "shift=1"), {"most": 500, "test": "spiegelhalter"}, "in at most 500 rows"),
    ],
)
def test_wrong_arguments_are_told(arguments, options, match):
    with pytest.raises(ValueError, match=match):
        cs.sample_size(*arguments, **{"rng": 1, **options})
