"""Rejections by tests of fixed predictions, against binomial sums and calibration_test itself."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.inference.p_values import p_value, p_values
from calibstat.inference.power.alternatives import distorted
from calibstat.inference.power.fixed_tests import MeasureTest, pose_predictions
from calibstat.resampling import Draws

MISS = 1e-4


def fixed(p, measure, n_resamples=1999, rng=1, **asked):
    return MeasureTest(pose_predictions(p, measure, {}, **asked), Draws.of(rng, n_resamples))


@pytest.mark.parametrize("tail", ["greater", "two-sided"])
def test_many_p_values_are_the_single_ones(tail):
    random = np.random.default_rng(1)
    null = random.integers(0, 5, 50) / 3
    statistics = np.array([*(np.arange(-1, 7) / 3), 1 / 3 + 1e-16, np.inf, -np.inf])
    expected = [p_value(float(t), null, tail) for t in statistics]
    np.testing.assert_array_equal(p_values(statistics, null, tail), expected)


@pytest.mark.parametrize(("measure", "two_sided"), [("ks", False), ("brier", True)])
def test_one_distinct_prediction_is_a_binomial_sum(measure, two_sided):
    """With n rows at v the statistic is a function of the number of events k, so the power is a binomial sum.

    ks = abs(k / n - v), rejected if P(abs(K - n v) >= abs(k - n v)) <= .05, up to the noise of 20000 draws: counts k
    whose exact p-value is within .004 of .05 would be uncertain, and there is none for n = 40, v = .35. The
    Brier score is k (1 - 2 v) / n + v**2, so its two tails are those of k.
    """
    n, v, q = 40, 0.35, 0.5
    k = np.arange(n + 1)
    null = stats.binom(n, v)
    if two_sided:
        exact = np.minimum(1, 2 * np.minimum(null.cdf(k), null.sf(k - 1)))
    else:
        off = np.abs(k - n * v)
        exact = np.array([null.pmf(k[off >= o - 1e-9]).sum() for o in off])
    assert np.abs(exact - 0.05).min() > 0.004
    power = stats.binom(n, q).pmf(k[exact <= 0.05]).sum()
    draws = 20_000
    test = fixed(np.full(n, v), measure, 20_000)
    rejected, nothing = test.rejected(distorted(shift=np.log(q / (1 - q) / v * (1 - v))), draws, 0.05)
    low, high = stats.binom(draws, power).ppf([MISS / 2, 1 - MISS / 2])
    assert low <= rejected <= high
    assert nothing == 0
    wrong = stats.binom(draws, power + 0.03).ppf(MISS / 2)  # the planted fault
    assert not wrong <= rejected


def test_a_value_at_the_level_counts_as_often_as_the_test_rejects_there():
    """10 events of 21 rows at .275 have the exact p-value .04952, and under the alternative the probability .17.

    A test with 999 draws rejects there if at most 49 of them are as extreme.
    """
    n, v, q = 21, 0.275, 0.5
    k = np.arange(n + 1)
    null, off = stats.binom(n, v), np.abs(k - n * v)
    exact = np.array([null.pmf(k[off >= o - 1e-9]).sum() for o in off])
    assert exact[10] == pytest.approx(0.04952, abs=5e-6)
    share = stats.binom(999, exact).cdf(49)
    power = stats.binom(n, q).pmf(k) @ share
    both = [stats.binom(n, q).pmf(k[exact < bound]).sum() for bound in (0.048, 0.052)]  # never, or always there
    alternative = distorted(shift=np.log(q / (1 - q) / v * (1 - v)))
    draws = 5000
    test = fixed(np.full(n, v), "ks", 4999, rng=1)
    found = test.expected(alternative, draws, 0.05) / draws
    assert found == pytest.approx(power, abs=0.03)
    assert min(abs(found - bound) for bound in both) > 0.03  # the planted fault: counted whole, or not at all


def test_where_no_value_is_shared_it_is_the_number_of_rejections():
    p = np.random.default_rng(1).random(200)
    for measure in ("ks", "brier"):
        test, alternative = fixed(p, measure), distorted(1.5, 0.2)
        assert test.expected(alternative, 500, 0.05) == test.rejected(alternative, 500, 0.05)[0]


def test_the_p_values_are_those_of_calibration_test():
    """With labels that are certain every data set is the same, and calibration_test has the same null distribution."""
    p = np.linspace(0.05, 0.95, 30)
    y = (p > 0.3).astype(int)
    for measure in ("ks", "brier", "ece"):
        found = fixed(p, measure, 199, rng=5).pvalues(y.astype(float), 3)
        assert found.tolist() == [cs.calibration_test(y, p, measure=measure, rng=5, n_resamples=199).pvalue] * 3


def test_outcomes_are_not_looked_at():
    p = np.array([0.1, 0.4, 0.4, 0.9])
    found = [
        fixed(data, "ece", 99).rejected(distorted(2.0), 50, 0.05).tolist()
        for data in (p, cs.Sample.from_rows([0, 0, 1, 1], p), cs.Sample.from_rows([1, 1, 0, 0], p), p[::-1])
    ]
    assert found[0] == found[1] == found[2] == found[3]
    prob = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]])
    with_labels = cs.Predictions.from_rows([2, 0], prob)
    for lens in ("class_wise", "canonical", "top_label"):
        a, b = (fixed(data, "brier", 99, lens=lens).rejected(distorted(2.0), 50, 0.05) for data in (prob, with_labels))
        assert a.tolist() == b.tolist()


def test_words_are_common_to_all_alternatives():
    p = np.linspace(0.01, 0.99, 200)
    test = fixed(p, "ks", 199)
    truth = test.truth(distorted(1.5))
    np.testing.assert_array_equal(test.pvalues(truth, 40), test.pvalues(truth, 40))
    near = test.pvalues(np.clip(truth + 1e-12, 0, 1), 40)
    assert np.mean(near == test.pvalues(truth, 40)) == 1


@pytest.mark.parametrize(
    ("p", "match"),
    [(np.zeros((2, 2, 2)), "shape"), ([0.2, 1.5], "from 0 to 1"), ([], "row"), ([0.2, np.nan], "row 1")],
)
def test_wrong_predictions_are_told(p, match):
    with pytest.raises(ValueError, match=match):
        fixed(p, "ks").rejected(distorted(2.0), 5, 0.05)


def test_weights_are_no_rows():
    with pytest.raises(ValueError, match="whole-number counts"):
        _ = fixed(cs.Sample.from_counts([0.2, 0.3], [1.5, 2.0], [1, 1]), "ks").null
