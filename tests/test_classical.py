"""Classical tests against statsmodels, SciPy, closed forms, and the sizes they have and should have."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from oracles import bin_number
from scipy import integrate, optimize, special, stats

import calibstat as cs
from calibstat.classical.asymptotic_tests import (
    brownian_maximum,
    brownian_range,
    cox,
    hosmer_lemeshow,
    kolmogorov_smirnov,
    kuiper,
    spiegelhalter,
)
from tests.conftest import weighted_rows

SAMPLE = cs.Sample.from_counts([0.2, 0.7], [100, 100], [28, 70])
TESTS = {
    "spiegelhalter": spiegelhalter,
    "hosmer_lemeshow": lambda *data, **options: hosmer_lemeshow(*data, held_out=True, **options),
    "kolmogorov_smirnov": kolmogorov_smirnov,
    "kuiper": kuiper,
}
EVERY = {**TESTS, "cox": lambda *data, **options: cox(*data, held_out=True, **options)}


def calibrated(rng, n, a=1.0, b=1.0):
    v = rng.beta(a, b, n)
    return (rng.random(n) < v).astype(int), v


# --- Spiegelhalter ---------------------------------------------------------------------------------------------------


def test_spiegelhalter_by_hand():
    # residual sums 8 and 0, weights .6 and -.4: 4.8; variance 100 (.36 * .16 + .16 * .21) = 9.12
    found = spiegelhalter(SAMPLE)
    assert found.statistic == pytest.approx(4.8 / math.sqrt(9.12), rel=1e-14)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(4.8 / math.sqrt(9.12)), rel=1e-13)


@settings(max_examples=30)
@given(weighted_rows())
def test_spiegelhalter_compares_the_brier_score_with_its_expectation(data):
    y, p, weight = data
    y, p = np.repeat(y, weight), np.repeat(p, weight)
    variance = np.sum((1 - 2 * p) ** 2 * p * (1 - p))
    if variance == 0:
        with pytest.raises(ValueError, match="0 / 0"):
            spiegelhalter(y, p)
        return
    excess = np.sum((y - p) ** 2) - np.sum(p * (1 - p))  # of the Brier score over what the predictions say
    assert spiegelhalter(y, p).statistic == pytest.approx(excess / math.sqrt(variance), rel=1e-9, abs=1e-9)


def test_spiegelhalter_is_blind_to_a_shift():
    # .1 too low everywhere: the terms at .3 and .7 cancel
    shifted = cs.Sample.from_counts([0.3, 0.7], [100, 100], [40, 80])
    assert spiegelhalter(shifted).statistic == pytest.approx(0, abs=1e-12)
    assert cox(shifted, held_out=True).in_the_large_test.pvalue < 0.01


def test_spiegelhalter_needs_a_weight():
    with pytest.raises(ValueError, match="other than 0, 1/2 and 1"):
        spiegelhalter([0, 1, 1, 0], [0, 1, 0.5, 0.5])


# --- Hosmer–Lemeshow -------------------------------------------------------------------------------------------------


def chi_square(y, p, groups):
    """The statistic of equal-width groups, row by row."""
    cell = bin_number(p, groups)
    return sum(
        (y[cell == b].sum() - p[cell == b].sum()) ** 2 / (p[cell == b] * (1 - p[cell == b])).sum()
        for b in np.unique(cell)
    )


def test_hosmer_lemeshow_by_hand():
    found = hosmer_lemeshow(SAMPLE, held_out=True)  # 8² / (100 * .2 * .8) + 0
    assert found.statistic == pytest.approx(4, rel=1e-13)
    assert (found.df, found.n) == (2, 200)
    assert found.pvalue == pytest.approx(math.exp(-2), rel=1e-13)  # chi-square with 2 degrees of freedom
    assert found.to_frame().to_dict("list") == {
        "low": [0.2, 0.7],
        "high": [0.2, 0.7],
        "count": [100, 100],
        "observed": [28, 70],
        "expected": pytest.approx([20, 70]),
        "variance": pytest.approx([16, 21]),
    }


@pytest.mark.parametrize("groups", [1, 3, 10])
def test_hosmer_lemeshow_against_rows(groups):
    y, p = calibrated(np.random.default_rng(groups), 300)
    found = hosmer_lemeshow(y, p, held_out=True, n_groups=groups, strategy="uniform")
    assert found.statistic == pytest.approx(chi_square(y, p, groups), rel=1e-11)
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, groups), rel=1e-11)


def test_quantile_groups_are_of_equal_size():
    y, p = calibrated(np.random.default_rng(1), 1000)
    found = hosmer_lemeshow(y, p, held_out=True)
    assert found.count.tolist() == [100] * 10
    order = np.argsort(p)
    terms = [
        (y[i].sum() - p[i].sum()) ** 2 / (p[i] * (1 - p[i])).sum() for i in order.reshape(10, 100)
    ]  # fmt: skip
    assert found.statistic == pytest.approx(sum(terms), rel=1e-11)


@pytest.mark.parametrize(("fitted", "df"), [(1, 9), (2, 8), (5, 8)])
def test_degrees_of_freedom_on_fitted_rows(fitted, df):
    y, p = calibrated(np.random.default_rng(2), 400)
    assert hosmer_lemeshow(y, p, held_out=False, fitted_params=fitted).df == df


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected held_out=True .* or held_out=False for the Hosmer.* it must be said"),
        ({"held_out": "yes"}, "found 'yes'"),
        ({"held_out": False}, "expected fitted_params.*found None"),
        ({"held_out": False, "fitted_params": 0}, "expected fitted_params.*found 0"),
        ({"held_out": True, "fitted_params": 2}, "expected no fitted_params with held_out=True, found 2"),
        ({"held_out": False, "fitted_params": 2}, "more groups than the 2 fitted parameters, found 2 groups"),
        ({"held_out": True, "n_groups": 0}, "n_groups .*found 0"),
        ({"held_out": True, "strategy": "mass"}, "'mass'"),
    ],
)
def test_hosmer_lemeshow_wants_to_know(options, message):
    with pytest.raises(ValueError, match=message):
        hosmer_lemeshow(SAMPLE, **options)


def test_a_certain_group_has_no_variance():
    with pytest.raises(ValueError, match="between 0 and 1 in every group, found 1 alone"):
        hosmer_lemeshow([0, 1, 1, 1], [0.2, 0.2, 1, 1], held_out=True, n_groups=2)


# --- Cox -------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]), {}, "expected held_out=True"),
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 1.0]), {"held_out": True}, "found 1 for row 3; clip=0.1 moves"),
        (([0, 1, 0, 1], [0.2, 0.2, 0.2, 0.2]), {"held_out": True}, "two distinct predictions .*0.2 alone"),
        (([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8]), {"held_out": True}, "degree 1 .* separates"),
        (([0, 0, 1, 1], [0.2, 0.4, 0.4, 0.8]), {"held_out": True}, "degree 1 .* separates"),  # but for one tie
        (([1, 1, 1, 1], [0.2, 0.4, 0.6, 0.8]), {"held_out": True}, "degree 0 .* separates"),
        (([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8]), {"held_out": True, "confidence_level": 1}, "confidence_level"),
    ],
)
def test_cox_says_what_is_wrong(data, options, message):
    with pytest.raises(ValueError, match=message):
        cox(*data, **options)


# --- Brownian limits -------------------------------------------------------------------------------------------------


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


@settings(max_examples=30)
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


# --- what all share --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_rows_and_summary_agree(name):
    y, p = calibrated(np.random.default_rng(7), 200)
    p = np.round(p, 1).clip(0.1, 0.9)
    rows, summary = EVERY[name](y, p), EVERY[name](cs.Sample.from_rows(y, p))
    assert str(rows) == str(summary)
    twice = EVERY[name](cs.Sample.from_rows(y, p, np.full(200, 2)))
    assert str(twice) == str(EVERY[name](np.tile(y, 2), np.tile(p, 2)))


@pytest.mark.parametrize("name", EVERY)
def test_lenses(name):
    rng = np.random.default_rng(8)
    prob = rng.dirichlet([1, 1, 1], 300)
    label = np.minimum((prob.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1), 2)
    top = EVERY[name](label, prob)
    same = EVERY[name]((label == prob.argmax(axis=1)).astype(int), prob.max(axis=1))
    assert "top_label" in top.lens
    assert top.to_dict().get("statistic") == same.to_dict().get("statistic")
    assert EVERY[name](label, prob, lens=cs.lenses.one_class(2)).n == 300
    with pytest.raises(ValueError, match="a lens that shows one event"):
        EVERY[name](label, prob, lens="class_wise")


@pytest.mark.parametrize("name", EVERY)
def test_weights_are_refused(name):
    with pytest.raises(ValueError, match="whole-number counts"):
        EVERY[name](cs.Sample.from_counts([0.2, 0.7], [1.5, 2.5], [0.5, 1]))


@pytest.mark.parametrize("name", EVERY)
def test_results_say_what_they_are(name):
    y, p = calibrated(np.random.default_rng(9), 150)
    found = EVERY[name](y, p)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert "approximate" in str(found)
    assert "Null hypothesis: given the predictions" in str(found)
    assert len(found.to_frame()) in (1, 3, 10)
    with pytest.raises(AttributeError):
        found.n = 3


def test_texts():
    assert str(spiegelhalter(SAMPLE)).startswith(
        "Spiegelhalter's test of calibration by z = 1.589, event: outcome 1, n = 200: p = 0.112 (approximate), normal"
    )
    assert "(approximate), chi-square limit with 2 degrees of freedom." in str(hosmer_lemeshow(SAMPLE, held_out=True))
    assert "Kuiper test of calibration by kuiper / sigma = " in str(kuiper(SAMPLE))
    text = str(cox(SAMPLE, held_out=True))
    a = optimize.brentq(lambda a: 100 * special.expit(a + special.logit([0.2, 0.7])).sum() - 98, -1, 1)
    assert f"intercept if the slope is 1 = {a:.3g} (from" in text
    assert "both together, likelihood ratio" in text
    assert cox(SAMPLE, held_out=True).to_frame()["df"].tolist() == [1, 1, 2]


# --- sizes -----------------------------------------------------------------------------------------------------------


def compatible(rejections, runs, low, high):
    """Whether so many rejections are likely of some probability from low to high: false alarm below 1e-5."""
    return stats.binom.ppf(5e-6, runs, low) <= rejections <= stats.binom.ppf(1 - 5e-6, runs, high)


def statistics(test, runs, n, seed, **law):
    rng = np.random.default_rng(seed)
    return [test(*calibrated(rng, n, **law)) for _ in range(runs)]


def rejected(found):
    return sum(test.pvalue <= 0.05 for test in found)


def test_hosmer_lemeshow_has_its_size_on_held_out_rows_and_g_minus_2_has_11_per_cent():
    found = statistics(TESTS["hosmer_lemeshow"], 1000, 1000, 10)
    assert compatible(rejected(found), 1000, 0.045, 0.055)
    planted = sum(stats.chi2.sf(test.statistic, test.df - 2) <= 0.05 for test in found)
    assert not compatible(planted, 1000, 0.045, 0.055)
    in_the_limit = stats.chi2.sf(stats.chi2.ppf(0.95, 8), 10)
    assert in_the_limit == pytest.approx(0.115, abs=5e-4)
    assert compatible(planted, 1000, in_the_limit - 0.005, in_the_limit + 0.005)


def test_sizes_of_cumulative_tests():
    both = statistics(lambda y, p: (kolmogorov_smirnov(y, p), kuiper(y, p)), 1000, 1000, 11)
    ks, range_ = zip(*both, strict=True)
    assert compatible(rejected(ks), 1000, 0.04, 0.05)  # a little conservative: the sums jump
    assert compatible(rejected(range_), 1000, 0.03, 0.05)
    bridge = sum(special.kolmogorov(test.statistic) <= 0.05 for test in ks)  # the law of the usual test of a sample
    assert not compatible(bridge, 1000, 0.04, 0.05)
    maximum = sum(brownian_maximum(test.statistic) <= 0.05 for test in range_)
    assert not compatible(maximum, 1000, 0.03, 0.05)


def test_size_of_spiegelhalter():
    found = statistics(spiegelhalter, 1000, 300, 12)
    assert compatible(rejected(found), 1000, 0.045, 0.055)
    one_sided = sum(stats.norm.sf(abs(test.statistic)) <= 0.05 for test in found)  # the side chosen from the data
    assert not compatible(one_sided, 1000, 0.045, 0.055)


@pytest.mark.slow
def test_sizes_of_cox():
    found = statistics(EVERY["cox"], 1500, 400, 13)
    for name in ("in_the_large_test", "slope_test", "joint_test"):
        assert compatible(rejected([getattr(each, name) for each in found]), 1500, 0.045, 0.06)
    planted = sum(stats.chi2.sf(each.joint_test.statistic, 1) <= 0.05 for each in found)
    assert not compatible(planted, 1500, 0.045, 0.06)
    covered = sum(each.slope_interval[0] <= 1 <= each.slope_interval[1] for each in found)
    assert compatible(1500 - covered, 1500, 0.045, 0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "low", "high"),
    [("kolmogorov_smirnov", 0.03, 0.055), ("kuiper", 0.015, 0.05), ("hosmer_lemeshow", 0.045, 0.08)],  # rare outcomes
)
@pytest.mark.parametrize("law", [(1, 1), (0.5, 0.5), (1, 5)])
def test_sizes_of_the_others(test, low, high, law):
    found = statistics(TESTS[test], 1500, 300, 14, a=law[0], b=law[1])
    assert compatible(rejected(found), 1500, low, high)


@pytest.mark.slow
def test_hosmer_lemeshow_on_the_rows_of_the_fit():
    rng = np.random.default_rng(15)
    held_out, fitted = [], []
    for _ in range(2000):
        x = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
        y = (rng.random(500) < special.expit(x @ [-0.5, 0.7, -0.7])).astype(float)
        beta = np.zeros(3)
        for _ in range(8):
            v = special.expit(x @ beta)
            beta += np.linalg.solve(x.T * (v * (1 - v)) @ x, x.T @ (y - v))
        v = special.expit(x @ beta)
        fitted.append(hosmer_lemeshow(y, v, held_out=False, fitted_params=3))
        held_out.append(hosmer_lemeshow(y, v, held_out=True))  # the planted fault
    assert compatible(rejected(fitted), 2000, 0.035, 0.06)
    assert not compatible(rejected(held_out), 2000, 0.035, 0.06)
