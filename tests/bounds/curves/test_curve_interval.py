"""The high end of the error itself: exponents, floors, and misses of curves made against its own cells."""

import math

import numpy as np
import pytest
from plain_programme import log_expectation
from scipy.stats import binom, gamma, norm

import calibstat as cs
from calibstat.bounds.curves.curve_interval import CurveBound, proven_exponent, studied_exponent
from calibstat.bounds.curves.curve_shapes import NonDecreasing
from calibstat.bounds.curves.runs_of_rows import Runs

VALUE = np.linspace(0.05, 0.95, 12)
ROWS = np.full(12, 40.0)


def bound_of(positives):
    sample = cs.Sample.from_counts(VALUE, ROWS, positives)
    return CurveBound(sample, Runs.of(VALUE, ROWS), NonDecreasing(), 1)


def test_exponents():
    many = Runs(np.full(4000, 0.5), np.full(4000, 40.0), np.arange(4000))
    few = Runs(VALUE[:3], ROWS[:3], np.arange(3))
    for tail in (0.005, 0.025, 0.05):
        z = norm.ppf(tail)
        assert proven_exponent(few, 1, tail) == -math.log(tail)
        # of very many runs half of the squared normal quantile; always between it and the proven one
        assert studied_exponent(many, 1, tail) == pytest.approx(z * z / 2, rel=0.02)
        assert z * z / 2 < studied_exponent(many, 1, tail) < studied_exponent(few, 1, tail) < -math.log(tail)
        assert studied_exponent(few, 2, tail) > studied_exponent(few, 1, tail)
    # three equal runs: the exponent of a gamma variable of shape 3 at its own quantile
    equal = Runs(np.array([0.5, 0.5, 0.5]), np.ones(3), np.arange(3))
    q = gamma.ppf(0.05, 3)
    assert studied_exponent(equal, 1, 0.05) == pytest.approx(q - 3 + 3 * math.log(3 / q))


def test_a_lucky_sample_does_not_lower_the_end():
    lucky = bound_of((VALUE * ROWS).round())
    assert lucky.total < lucky.expected
    assert lucky.end(2.0) == lucky.end(2.0, lucky.expected)
    unlucky = bound_of(np.clip(VALUE * ROWS + 12, 0, 40).round())
    assert unlucky.end(2.0) > lucky.end(2.0)


def test_a_smaller_miss_has_a_larger_end():
    bound = bound_of((VALUE * ROWS).round())
    ends = [bound.end(exponent) for exponent in (1.0, 2.0, 3.0, 4.0)]
    assert all(np.diff(ends) > 0)
    assert ends[-1] < 1


def misses(curve, exponent, sets=4000):
    """How often the end is below the error of a curve, constant at each of the twelve predictions.

    The end grows with the sum of distances: it is below where the sum is below one number, found by halving.
    """
    bound = bound_of((VALUE * ROWS).round())
    truth = float(np.abs(curve - VALUE).mean())
    if bound.end(exponent) >= truth:
        return 0.0
    low, high = bound.expected, 480.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if bound.end(exponent, middle) < truth else (low, middle)
    counts = np.random.default_rng(1).binomial(40, curve, (sets, 12))
    return float((np.abs(counts - 40 * VALUE).sum(axis=1) < low).mean())


CURVES = {
    "beside": np.clip(VALUE + 0.08, 0, 1),
    "stairs": np.repeat(VALUE.reshape(4, 3).mean(axis=1), 3),
    "flat": np.full(12, 0.5),
    "saw": np.maximum.accumulate(VALUE + 0.07 * np.tile([1, -1], 6)).clip(0, 1),
}


@pytest.mark.parametrize("name", CURVES)
def test_proven_ends_miss_no_more_than_they_may(name):
    assert misses(CURVES[name], proven_exponent(None, 1, 0.05)) <= binom.ppf(0.9999, 4000, 0.05) / 4000


@pytest.mark.parametrize("name", CURVES)
def test_studied_ends_miss_no_more_than_they_may(name):
    exponent = studied_exponent(Runs.of(VALUE, ROWS), 1, 0.05)
    assert misses(CURVES[name], exponent) <= binom.ppf(0.9999, 4000, 0.05) / 4000


def test_an_end_without_an_exponent_misses_too_often():
    """A planted fault: of half of the data sets the sum of distances is below its mean."""
    assert misses(CURVES["beside"], 0.0) > binom.ppf(0.9999, 4000, 0.05) / 4000


def test_the_bound_is_chernoffs_by_hand():
    """Two predictions and no jump inside: the largest sum over two ordered probabilities, by brute force."""
    value, rows, positives = np.array([0.3, 0.6]), np.array([50.0, 50.0]), np.array([22.0, 24.0])
    bound = CurveBound(cs.Sample.from_counts(value, rows, positives), Runs.of(value, rows), NonDecreasing(), 1)
    theta, eta = 0.25, 0.15
    levels = np.linspace(0, 1, 201)
    of = [[log_expectation(np.full(50, c), v, theta) + eta * 50 * abs(c - v) for c in levels] for v in value]
    largest = max(of[0][i] + of[1][j] for i in range(201) for j in range(i, 201))
    found = bound._largest("fine", theta, eta)
    assert largest <= found <= largest + 0.03
    total = 7.0 + 6.0
    assert bound.total == pytest.approx(total)
    least = (theta * total + largest + 3.0) / (100 * (1 - math.exp(-eta)))
    assert bound.end(3.0) <= least + 0.03 / (100 * (1 - math.exp(-eta)))


def test_the_estimate_is_of_runs_of_rows():
    """Runs of rows are bins here, each with its 40 rows: the mean of the absolute gaps."""
    positives = np.rint(ROWS * VALUE) + np.array([3, -2] * 6)
    interval = cs.measures.MEASURES["l1"](shape="nondecreasing").interval(cs.Sample.from_counts(VALUE, ROWS, positives))
    assert interval.estimate == pytest.approx(cs.estimate(cs.Sample.from_counts(VALUE, ROWS, positives), measure="l1"))
