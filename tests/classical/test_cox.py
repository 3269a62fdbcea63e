"""Cox's intercept and slope against statsmodels, their intervals and the sizes of their tests."""

from functools import partial

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats
from sizes import compatible, rejected, statistics

import calibstat as cs
from calibstat.classical.cox import cox


def regression(y, x, offset=None):
    """The maximum of the likelihood, by statsmodels."""
    model = sm.GLM(y, x, family=sm.families.Binomial(), offset=offset)
    return model.fit(tol=1e-15, maxiter=200)


@pytest.mark.parametrize(("generator", "n"), [("temperature", 400), ("calibrated", 60)])
def test_cox_against_statsmodels(generator, n):
    entry = cs.generators.temperature(1.6) if generator == "temperature" else cs.generators.calibrated()
    y, p = entry.sample(n, rng=4)
    p = np.round(p, 2).clip(0.01, 0.99)  # ties
    x = special.logit(p)
    found = cox(y, p, held_out=True)
    both = regression(y, sm.add_constant(x))
    large = regression(y, np.ones((n, 1)), x)
    calibrated_likelihood = np.sum(np.log(np.where(y == 1, p, 1 - p)))
    assert [found.intercept, found.slope] == pytest.approx(both.params, abs=1e-8)
    assert [found.intercept_error, found.slope_error] == pytest.approx(both.bse, rel=1e-6)
    assert [found.in_the_large, found.in_the_large_error] == pytest.approx([large.params[0], large.bse[0]], rel=1e-6)
    ratios = [large.llf - calibrated_likelihood, both.llf - large.llf, both.llf - calibrated_likelihood]
    tests = [found.in_the_large_test, found.slope_test, found.joint_test]
    for test, ratio, df in zip(tests, ratios, (1, 1, 2), strict=True):
        assert test.statistic == pytest.approx(2 * ratio, abs=1e-8)
        assert test.pvalue == pytest.approx(stats.chi2.sf(2 * ratio, df), rel=1e-6)
        assert test.df == df


def test_profile_intervals_against_statsmodels():
    y, p = cs.generators.temperature(1.6).sample(150, rng=5)
    x = special.logit(p)
    found = cox(y, p, held_out=True, confidence_level=0.9)
    both, large = regression(y, sm.add_constant(x)), regression(y, np.ones((150, 1)), x)
    drop = stats.chi2.ppf(0.9, 1)

    def end(fall, centre, outwards):
        return optimize.brentq(lambda t: fall(t) - drop, centre, centre + outwards, xtol=1e-12)

    def slope(b):
        return 2 * (both.llf - regression(y, np.ones((150, 1)), b * x).llf)

    def intercept(a):
        return 2 * (both.llf - regression(y, x[:, None], np.full(150, a)).llf)

    def in_the_large(a):
        return 2 * (large.llf - np.sum(y * (a + x) - np.logaddexp(0, a + x)))

    for interval, fall, centre in (
        (found.slope_interval, slope, both.params[1]),
        (found.intercept_interval, intercept, both.params[0]),
        (found.in_the_large_interval, in_the_large, large.params[0]),
    ):
        assert interval == pytest.approx((end(fall, centre, -1.5), end(fall, centre, 1.5)), abs=1e-6)


def test_intervals_invert_the_tests():
    for seed in range(10):
        y, p = cs.generators.temperature(1.2).sample(500, rng=seed)
        found = cox(y, p, held_out=True)
        low, high = found.slope_interval
        assert (low <= 1 <= high) == (found.slope_test.pvalue >= 0.05)
        low, high = found.in_the_large_interval
        assert (low <= 0 <= high) == (found.in_the_large_test.pvalue >= 0.05)


def test_rows_of_the_fit_have_intercept_0_and_slope_1():
    rng = np.random.default_rng(6)
    x = rng.normal(size=300)
    y = (rng.random(300) < special.expit(np.sin(3 * x))).astype(int)  # a logistic regression in x is wrong
    p = regression(y, sm.add_constant(x)).fittedvalues
    found = cox(y, p, held_out=True)  # the planted fault: they are not held out
    assert [found.intercept, found.slope] == pytest.approx([0, 1], abs=1e-6)
    assert found.joint_test.pvalue > 0.99
    with pytest.raises(ValueError, match="expected held-out rows"):
        cox(y, p, held_out=False)


def test_predictions_far_from_the_outcomes_are_not_taken_for_separated_ones():
    # two predictions and two parameters: the line goes through the shares of outcomes, .98 and .99; a whole step of
    # Newton's method would end where every outcome is all but certain
    found = cox(cs.Sample.from_counts([0.002, 0.004], [1000, 1000], [980, 990]), held_out=True)
    slope = np.diff(special.logit([0.98, 0.99]))[0] / np.diff(special.logit([0.002, 0.004]))[0]
    assert found.slope == pytest.approx(slope, rel=1e-9)
    assert found.intercept == pytest.approx(special.logit(0.99) - slope * special.logit(0.004), rel=1e-9)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]), {}, "expected held_out=True"),
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 1.0]), {"held_out": True}, "found 1 for row 3; clip=0.1 moves"),
        (([0, 1, 0, 1], [0.2, 0.2, 0.2, 0.2]), {"held_out": True}, "two distinct predictions .*0.2 alone"),
        (
            ([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8]),
            {"held_out": True},
            "expected outcomes that overlap .* infinitely steep",
        ),
        (
            ([0, 0, 1, 1], [0.2, 0.4, 0.4, 0.8]),
            {"held_out": True},
            "expected outcomes that overlap .* infinitely steep",
        ),  # but for one tie
        (
            ([1, 1, 1, 1], [0.2, 0.4, 0.6, 0.8]),
            {"held_out": True},
            "expected both outcomes for Cox's test, found outcome 1 alone",
        ),
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]), {"held_out": True, "confidence_level": 1}, "confidence_level"),
    ],
)
def test_cox_says_what_is_wrong(data, options, message):
    with pytest.raises(ValueError, match=message):
        cox(*data, **options)


@pytest.mark.slow
def test_sizes_of_cox():
    found = statistics(partial(cox, held_out=True), 1500, 400, 13)
    for name in ("in_the_large_test", "slope_test", "joint_test"):
        assert compatible(rejected([getattr(each, name) for each in found]), 1500, 0.045, 0.06)
    planted = sum(stats.chi2.sf(each.joint_test.statistic, 1) <= 0.05 for each in found)
    assert not compatible(planted, 1500, 0.045, 0.06)
    covered = sum(each.slope_interval[0] <= 1 <= each.slope_interval[1] for each in found)
    assert compatible(1500 - covered, 1500, 0.045, 0.06)
