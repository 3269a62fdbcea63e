"""Brackets of distances from calibration: of what they are made, and that they hold the distance."""

import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows
from scipy import stats

import calibstat as cs

BRACKETED = ["interval_ce", "surrogate_interval_ce", "lower_distance", "upper_distance"]
VALUE = np.array([0.1, 0.25, 0.5, 0.52, 0.8])


def bracket(data, measure, **settings):
    return cs.confidence_interval(data, measure=measure, method="bracket", n_resamples=79, **settings)


@pytest.mark.parametrize("measure", BRACKETED)
def test_ends_are_those_of_the_measures_below_and_above(measure):
    sample = cs.Sample.from_rows(*cs.generators.shift(1.0).sample(400, rng=1))
    below = cs.confidence_interval(sample, measure="smooth_ce", n_resamples=79, rng=3)
    found = bracket(sample, measure, rng=3)
    assert below.low > 0
    assert found.low == pytest.approx(below.low / 2)
    if measure == "lower_distance":  # never above it by more than the grid lets it be
        assert found.high == pytest.approx(2 * below.high + 1 / 2000)
    else:  # 3 * 400**(1/3) = 22.1, and the nearest power of 2, on a logarithmic scale, is 16
        above = cs.confidence_interval(sample, measure="random_interval_ce", width=1 / 16, n_resamples=79, rng=3)
        assert found.high == pytest.approx(above.high + 1 / 16)
    assert found.method == "bracket"
    assert "does not shrink to it" in found.estimand


@given(rows())
def test_measures_are_in_order_on_any_rows(data):
    """The inequalities that the brackets rest on."""
    sample = cs.Sample.from_rows(*data[:2])
    if sample.value.size > 8:
        return
    for name in BRACKETED:
        options = {"grid": 50} if name == "lower_distance" else {}
        known = cs.MEASURES[name](**options)
        value, found = known.estimate(sample), known.bracket(sample.n)
        # the grid of the lower distance makes it larger
        slack = {"lower_distance": 0.5 / 50**2}.get(name, 0.0) + 1e-9
        assert found.share * found.below.estimate(sample) <= value + slack
        assert value <= found.times * found.above.estimate(sample) + found.width + slack


RUNS = 50


def held(measure, chance, shorter=0.0, runs=RUNS, n=150):
    random = np.random.default_rng(7)
    weight = np.full(5, 0.2)
    truth = cs.MEASURES[measure]().evaluate(VALUE, 1e6 * weight, 1e6 * weight * chance)
    found = 0
    for run in range(runs):
        count = random.multinomial(n, weight)
        interval = bracket(cs.Sample.from_counts(VALUE, count, random.binomial(count, chance)), measure, rng=run)
        found += interval.low <= truth <= interval.high - shorter
    return found


@pytest.mark.parametrize("measure", ["interval_ce", "surrogate_interval_ce", "upper_distance"])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_they_hold_the_distance(measure, shift):
    assert held(measure, VALUE + shift) >= stats.binom.ppf(1e-5, RUNS, 0.95)


def test_they_can_fail():
    assert held("interval_ce", VALUE + 0.1, shorter=0.25) < stats.binom.ppf(1e-5, RUNS, 0.95)


def test_many_predictions_have_a_bracket_where_they_have_no_estimate():
    y, p = cs.generators.calibrated().sample(100, rng=1)
    found = cs.confidence_interval(y, p, measure="upper_distance", method="bracket", rng=1)
    assert math.isnan(found.estimate)
    assert found.low == 0 < found.high < 1


def test_one_row():
    for measure in BRACKETED:
        found = bracket(cs.Sample.from_rows([0], [0.3]), measure, rng=1)
        assert 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize("measure", BRACKETED)
def test_the_default_names_the_bracket(measure):
    with pytest.raises(
        ValueError, match=f"is known for {measure}, because it is a minimum .*; it has the methods bracket, "
    ):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure=measure)


def test_what_has_no_bracket():
    with pytest.raises(ValueError, match="no bracket interval is known for ks; it has the methods honest, percentile"):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure="ks", method="bracket")
    y, p = np.tile([0, 1], 30), np.tile([0.2, 0.7], 30)
    with pytest.raises(ValueError, match="no bracket interval with clusters"):
        cs.confidence_interval(y, p, measure="interval_ce", method="bracket", cluster=np.arange(60))
