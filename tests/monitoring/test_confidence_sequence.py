"""Confidence sequences: the root by SciPy, the supermartingale by enumeration, and coverage at all looks at once."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom

from calibstat.monitoring.confidence_sequence import LAMBDA, LOG_WEIGHTS, PSI, ConfidenceSequence, radius, running_mean


def test_the_ladder():
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1)
    assert LAMBDA[0] == 0.5
    assert LAMBDA.max() < 1
    np.testing.assert_allclose(PSI[:20], -np.log1p(-LAMBDA[:20]) - LAMBDA[:20], rtol=1e-9)
    assert PSI[30] == pytest.approx(LAMBDA[30] ** 2 / 2 + LAMBDA[30] ** 3 / 3, rel=1e-8)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_radius_is_the_root_that_scipy_finds(level):
    squares = np.array([0, 1e-9, 0.3, 1, 7.5, 100, 1e4, 1e7, 1e12])

    def excess(x, v):
        return logsumexp(LAMBDA * x - PSI * v + LOG_WEIGHTS) - math.log(2 / (1 - level))

    expected = [brentq(excess, 0, 1e9, args=(v,), xtol=1e-12, rtol=1e-14) for v in squares]
    np.testing.assert_allclose(radius(squares, level), expected, rtol=1e-9)
    assert all(excess(x, v) >= 0 for x, v in zip(radius(squares, level), squares, strict=True))


def test_the_mixture_has_a_mean_of_at_most_1_over_all_outcomes():
    """Predictions v and true probabilities p that differ and depend on the past, both directions, exactly."""
    for sign in (1, -1):
        mean = 0.0
        for y in itertools.product((0, 1), repeat=8):
            probability, centred, squares = 1.0, 0.0, 0.0
            for t in range(8):
                v = (0.01, 0.5, 0.9)[(t + sum(y[:t])) % 3]
                p = (0.2, 0.7)[(t + sum(y[:t])) % 2]
                probability *= p if y[t] else 1 - p
                centred += y[t] - p
                squares += (y[t] - v) ** 2
            mean += probability * np.exp(logsumexp(sign * LAMBDA * centred - PSI * squares + LOG_WEIGHTS))
        assert 0.5 < mean <= 1


LOOKS, STREAMS, ROWS = 200, 300, 10


def ever_missed(reach):
    """How many of the streams, with drifting truth, leave out the running mean after any look."""
    generator = np.random.default_rng(7)
    v = generator.random((STREAMS, LOOKS, ROWS)) ** 3
    p = np.clip(v + 0.2 * np.sin(np.arange(LOOKS) / 20)[:, None], 0, 1)
    y = generator.random(v.shape) < p
    total, theta, squares = (np.cumsum(x.sum(axis=2), axis=1) for x in (y - v, p - v, (y - v) ** 2))
    return int((np.abs(total - theta) > reach(squares)).any(axis=1).sum())


def test_all_looks_are_covered_at_once():
    assert ever_missed(lambda v: radius(v, 0.8)) <= binom.ppf(1 - 1e-4, STREAMS, 0.2)


def test_an_interval_for_one_look_is_found_out():
    assert ever_missed(lambda v: 1.2816 * np.sqrt(v)) > binom.ppf(1 - 1e-4, STREAMS, 0.2)


def test_the_width_is_about_twice_that_of_one_look():
    squares = np.array([10, 1e3, 1e5, 1e7])
    ratio = radius(squares, 0.95) / (1.96 * np.sqrt(squares))
    assert ((ratio > 1.5) & (ratio < 2.5)).all()


def test_ends_stay_in_range():
    mean, low, high = running_mean(np.array([1.0]), np.array([1.0]), np.array([2.0]), 0.95)
    assert (mean[0], low[0], high[0]) == (0.5, -1, 1)
    assert [part.size for part in running_mean(*(np.zeros(0),) * 3, 0.95)] == [0, 0, 0]


PERIODS = [(3, 1, 2), (1, 10**20, 10**20), (2, 7, 10**10), (1, -(10**20), 1), (5, 2, 3)]  # sums round without care


@pytest.mark.parametrize("looks", [set(range(5)), {4}, {1, 4}])
def test_a_sequence_that_grows_is_that_of_all_periods_to_the_last_bit(looks):
    grown = ConfidenceSequence(0.9)
    assert [part.size for part in grown.ends(2)] == [0, 0, 0]
    for t, period in enumerate(PERIODS):
        grown.add(*period)
        if t in looks:
            rows, total, squares = (np.cumsum(each) for each in np.array(PERIODS[: t + 1], dtype=object).T)
            expected = running_mean(*(each.astype(float) / 2 for each in (total, squares)),
                                    rows.astype(float), 0.9)  # fmt: skip
            assert np.array_equal(grown.ends(2), expected)
            assert (grown.n, grown.rows.tolist()) == (rows[-1], rows.tolist())
