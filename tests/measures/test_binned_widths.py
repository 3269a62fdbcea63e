"""Which width is added to the binned error, and bins of a given number of rows."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures.bins import number_of_bins

WIDTH = {"measure": "ece_width"}
Y, P = cs.generators.temperature(2).sample(300, rng=1)


def test_mean_and_largest_width_by_hand():
    """Cuts at .2 and .7: widths .2, .5, .3, with 1, 1 and 2 of 4 rows: the mean is (.2 + .5 + .6) / 4, the largest .5.

    Błasiok et al. have the mean in definition 6.1 and equation 5 and the largest in section 2.3.
    """
    y, p = [0, 1, 1, 1], [0.1, 0.5, 0.9, 0.9]
    error = cs.estimate(y, p, measure="ece", strategy=(0.2, 0.7))
    assert cs.estimate(y, p, **WIDTH, strategy=(0.2, 0.7)) == pytest.approx(error + 1.3 / 4, abs=1e-15)
    assert cs.estimate(y, p, **WIDTH, strategy=(0.2, 0.7), penalty="largest") == pytest.approx(error + 0.5, abs=1e-15)
    # a wide bin without rows counts too: it is one of the partition
    assert cs.estimate([0], [0.1], **WIDTH, strategy=(0.2,), penalty="largest") == pytest.approx(0.1 + 0.8, abs=1e-15)


def test_equal_bins_have_one_width():
    for n_bins in (1, 5, "cube_root", None):
        both = [cs.estimate(Y, P, **WIDTH, n_bins=n_bins, penalty=penalty) for penalty in ("mean", "largest")]
        assert both[0] == both[1]


def test_the_largest_width_is_never_less_than_the_mean():
    """Rows crowd in the narrow bins or not: the mean is a weighted mean of the widths, and both are bounds."""
    random = np.random.default_rng(1)
    for _ in range(20):
        cuts = tuple(np.sort(random.random(3)))
        mean, largest = (cs.estimate(Y, P, **WIDTH, strategy=cuts, penalty=each) for each in ("mean", "largest"))
        assert cs.detail(Y, P, measure="upper_distance")["bracket"][0] <= mean <= largest


def test_the_largest_width_of_a_population():
    family, cuts = cs.generators.temperature(2), (0.2, 0.7)
    expected = family.truth("ece", strategy=cuts) + 0.5
    assert family.truth(**WIDTH, strategy=cuts, penalty="largest") == pytest.approx(expected, abs=1e-12)


def test_another_penalty_is_refused():
    with pytest.raises(ValueError, match="expected penalty 'mean' or 'largest', found 'median'"):
        cs.estimate(Y, P, **WIDTH, penalty="median")


def test_rows_of_a_bin():
    """n / k, rounded down, and at least one bin."""
    assert [number_of_bins("100 rows", n) for n in (1, 99, 100, 199, 200, 1e6)] == [1, 1, 1, 1, 2, 10_000]
    assert number_of_bins("1 rows", 7) == 7


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_rows_of_a_bin_everywhere(strategy):
    asked, as_number = {"n_bins": "20 rows", "strategy": strategy}, {"n_bins": 15, "strategy": strategy}
    assert cs.estimate(Y, P, **asked) == cs.estimate(Y, P, **as_number)
    for measure in ("ece", "ece_debiased"):
        tests = [cs.calibration_test(Y, P, measure=measure, rng=1, n_resamples=99, **each).pvalue
                 for each in (asked, as_number)]  # fmt: skip
        ends = [cs.confidence_interval(Y, P, measure=measure, rng=1, n_resamples=99, **each)
                for each in (asked, as_number)]  # fmt: skip
        assert tests[0] == tests[1]
        assert (ends[0].low, ends[0].high) == (ends[1].low, ends[1].high)
    diagrams = [cs.reliability(Y, P, band=None, **each) for each in (asked, as_number)]
    assert np.array_equal(diagrams[0].count, diagrams[1].count)
    if strategy == "quantile":
        assert set(diagrams[0].count) == {20}


def test_rows_of_a_bin_of_several_classes():
    """RMSCE as its authors take it, with 100 rows in a bin: of 250 rows two bins."""
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(250, rng=1)
    rmsce = {"measure": "gce", "binning": "adaptive", "max_prob": True, "class_conditional": False, "norm": "l2"}
    assert cs.estimate(label, prob, **rmsce, n_bins="100 rows") == cs.estimate(label, prob, **rmsce, n_bins=2)
    assert cs.gce_family(label, prob, n_bins="100 rows")["ECE"] == cs.gce_family(label, prob, n_bins=2)["ECE"]
    fitted = [cs.recalibration.HistogramBinning(n_bins=n_bins).fit(P, Y) for n_bins in ("100 rows", 3)]
    assert np.array_equal(fitted[0].predict_proba(P), fitted[1].predict_proba(P))


@pytest.mark.parametrize("n_bins", ["0 rows", "-1 rows", "1.5 rows", "rows", "100rows", " 100 rows", "100 bins"])
def test_other_texts_are_refused(n_bins):
    with pytest.raises(ValueError, match="the rows of a bin, such as '100 rows', or None"):
        cs.estimate(Y, P, n_bins=n_bins)


def test_a_population_has_no_rows():
    for measure in ("ece", "ece_debiased", "average_ce"):
        with pytest.raises(
            ValueError, match="expected a number of bins, found '100 rows', which depends on the number"
        ):
            cs.generators.temperature(2).truth(measure, n_bins="100 rows")
