"""The error of the mean: by hand, as `ece` of one bin, by its closed law, and with one side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, weighted_rows
from scipy.stats import binom

import calibstat as cs
from calibstat.measures.kinds.one_sided import one_side_of
from calibstat.measures.mean import Mean

ONE_BIN = {"measure": "ece", "n_bins": 1}


def ten_thousand(n, power=1.0):
    rng = np.random.default_rng(4)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


def test_by_hand():
    # residuals .7, -.6 and .2 add up to .3, of three rows
    assert cs.estimate([1, 0, 1], [0.3, 0.6, 0.8], measure="mean") == pytest.approx(0.1)
    # with weights 1, 2 and 1: .7 - 1.2 + .2 = -.3, of a weight of 4
    assert cs.estimate([1, 0, 1], [0.3, 0.6, 0.8], measure="mean", sample_weight=[1, 2, 1]) == pytest.approx(0.075)
    assert cs.estimate([1], [0.0], measure="mean") == 1
    assert cs.estimate([0, 1], [0.0, 1.0], measure="mean") == 0


@given(rows())
def test_it_is_the_gap_of_the_means(data):
    y, p = data
    assert cs.estimate(y, p, measure="mean") == pytest.approx(abs(y.mean() - p.mean()), abs=1e-12)
    assert cs.estimate(1 - y, 1 - p, measure="mean") == pytest.approx(abs(y.mean() - p.mean()), abs=1e-12)
    assert cs.estimate(y, p, measure=Mean) == cs.estimate(y, p, measure=cs.measures.Mean())


@given(weighted_rows())
def test_weights_and_ties_count_rows(data):
    y, p, weight = data
    expected = abs(weight @ (y - p)) / weight.sum()
    assert cs.estimate(y, p, measure="mean", sample_weight=weight) == pytest.approx(expected, abs=1e-12)
    counted = cs.Sample.from_rows(y, p, weight)
    assert cs.estimate(counted, measure="mean") == pytest.approx(expected, abs=1e-12)


@given(rows(), st.floats(0, 1))
def test_it_is_a_lower_bound_of_errors_that_see_more(data, cut):
    """The residuals of all rows are an end of the range for `ks`, and any split into bins adds up more."""
    y, p = data
    mean = cs.estimate(y, p, measure="mean")
    for options in ({"measure": "ks"}, {"measure": "kuiper"}, {"measure": "ece"}, {"measure": "ece", "n_bins": None}):
        assert mean <= cs.estimate(y, p, **options) + 1e-12
    below = p <= cut
    parts = [abs((y - p)[part].sum()) / y.size for part in (below, ~below)]
    assert mean <= sum(parts) + 1e-12


def test_errors_that_cancel_are_not_seen():
    """Half at .01 and half at .99, all with true probability .5: the mean is right."""
    y, p = np.tile([0, 1], 200), np.repeat([0.01, 0.99], 200)
    assert cs.estimate(y, p, measure="mean") == pytest.approx(0, abs=1e-12)
    assert cs.estimate(y, p, measure="ece") == pytest.approx(0.49)


@given(rows(max_size=12))
def test_estimate_is_that_of_one_bin(data):
    assert cs.estimate(*data, measure="mean") == pytest.approx(cs.estimate(*data, **ONE_BIN), abs=1e-15)
    sample = cs.Sample.from_rows(*data)
    assert cs.estimate(sample, measure="mean") == cs.estimate(sample, **ONE_BIN)


@pytest.mark.parametrize("kind", ["rows", "weights", "clusters", "sample"])
def test_interval_is_that_of_one_bin(kind):
    y, p = ten_thousand(300, 1.4)
    given = (cs.Sample.from_rows(y, p),) if kind == "sample" else (y, p)
    about = {"weights": {"sample_weight": 1 + np.arange(300) % 3}, "clusters": {"cluster": np.arange(300) // 3}}
    settings = {"n_resamples": 99, "rng": 2, **about.get(kind, {})}
    mean, one_bin = (cs.confidence_interval(*given, **each, **settings) for each in ({"measure": "mean"}, ONE_BIN))
    assert (mean.low, mean.estimate, mean.high) == (one_bin.low, one_bin.estimate, one_bin.high)
    assert 0 <= mean.low <= mean.estimate <= mean.high <= 1


@pytest.mark.parametrize(
    "about", [{}, {"stop_after": 5}, {"resample": "both"}, {"cluster": np.arange(300) // 3}], ids=str
)
def test_test_is_that_of_one_bin(about):
    y, p = ten_thousand(300, 1.2)
    mean, one_bin = (
        cs.calibration_test(y, p, n_resamples=99, rng=3, **each, **about) for each in ({"measure": "mean"}, ONE_BIN)
    )
    assert mean.pvalue == one_bin.pvalue
    assert np.array_equal(mean.null_distribution, one_bin.null_distribution)
    assert mean.measure.name == "mean"


def test_draws_have_the_binomial_law():
    """Of 12 rows at 1/4 the number of events is binomial, and the measure |N - 3| / 12: counts within 1e-6 limits."""
    draws = 4000
    found = cs.calibration_test([0] * 12, [0.25] * 12, measure="mean", n_resamples=draws, rng=1)
    gaps = np.abs(np.arange(13) - 3)
    seen = np.rint(found.null_distribution * 12)
    assert np.allclose(found.null_distribution * 12, seen, atol=1e-9)
    for gap in np.unique(gaps):
        chance = binom.pmf(np.arange(13), 12, 0.25)[gaps == gap].sum()
        low, high = binom.ppf([1e-7, 1 - 1e-7], draws, chance)
        assert low <= (seen == gap).sum() <= high
    chance = binom.pmf(np.arange(13), 12, 0.25)[gaps >= 3].sum()  # no event is 3 fewer than expected
    low, high = binom.ppf([1e-7, 1 - 1e-7], draws, chance)
    assert low <= found.pvalue * (draws + 1) - 1 <= high


def test_by_classes_it_is_the_mean_over_them():
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(200, rng=1)
    each = [abs((label == k).mean() - prob[:, k].mean()) for k in range(3)]
    assert cs.estimate(label, prob, measure="mean", lens="class_wise_mean") == pytest.approx(np.mean(each))
    top = abs((label == prob.argmax(1)).mean() - prob.max(1).mean())
    assert cs.estimate(label, prob, measure="mean", lens="top_label") == pytest.approx(top)


def test_value_of_a_population_is_that_of_one_bin():
    for generator in (cs.generators.temperature(2), cs.generators.calibrated()):
        assert generator.truth("mean") == pytest.approx(generator.truth("ece", n_bins=1), abs=1e-9)


def test_no_options_are_taken():
    assert Mean().options == {}
    with pytest.raises(ValueError, match="measure 'mean'"):
        cs.estimate([0, 1], [0.2, 0.7], measure="mean", n_bins=3)


@given(rows())
def test_both_sides_have_its_size_and_the_sign_of_the_side(data):
    """Unless an outcome was impossible on this side, which makes it infinite."""
    y, p = data
    sample, gap = cs.Sample.from_rows(y, p), y.mean() - p.mean()
    over, under = (one_side_of(Mean(), side).estimate(sample) for side in ("over", "under"))
    assert over == pytest.approx(np.inf if np.any((p == 1) & (y == 0)) else -gap, abs=1e-12)
    assert under == pytest.approx(np.inf if np.any((p == 0) & (y == 1)) else gap, abs=1e-12)
    assert one_side_of(Mean(), "over").largest(sample) is None
