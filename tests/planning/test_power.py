"""Power: binomial sums, SciPy's limits, several tests on the same labels, several sets of rows."""

import re

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.planning.power import binomial_limits, power_of_fixed, student_reach

MISS = 1e-4


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 17), (790, 1000)])
def test_limits_are_those_of_clopper_and_pearson(k, n):
    expected = stats.binomtest(k, n).proportion_ci(0.95, "exact")
    assert binomial_limits(k, n) == pytest.approx(tuple(expected), abs=1e-12)


def test_reach_is_that_of_student():
    values = np.array([0.7, 0.8, 0.75, 0.9])
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert student_reach(values) == pytest.approx((interval.high - interval.low) / 2)


def exact_power(n, v, q, level=0.05):
    """The binomial test that rejects where the two-sided p-value of the count by its distance from n v is small."""
    k = np.arange(n + 1)
    off = np.abs(k - n * v)
    pvalue = np.array([stats.binom(n, v).pmf(k[off >= o - 1e-9]).sum() for o in off])
    return stats.binom(n, q).pmf(k[pvalue <= level]).sum(), np.abs(pvalue - level).min()


@pytest.mark.parametrize(("rows", "p"), [(None, np.full(40, 0.35)), (40, np.full(7, 0.35))])
def test_one_distinct_prediction_is_a_binomial_sum(rows, p):
    """Rows drawn from a constant pilot are that constant again, so both are the same binomial sum."""
    power, gap = exact_power(40, 0.35, 0.5)
    assert gap > 0.01
    given = [0.5] * len(p)
    found = cs.power(p, given, rows, test="ks", n_datasets=4000, n_resamples=9999, n_sets=4, rng=1)
    low, high = stats.binom(4000, power).ppf([MISS / 2, 1 - MISS / 2]) / 4000
    assert low <= found.power <= high
    assert (found.n, found.n_datasets, found.n_sets) == (40, 4000, 1 if rows is None else 4)
    assert found.ece == pytest.approx(0.15)
    assert not low <= found.power - 0.05 <= high  # the planted fault


def test_true_probabilities_go_with_their_rows():
    """Rows in any order: q is far from v only where v is .9, and that is where labels are then wrong."""
    p, q = np.tile([0.9, 0.1], 50), np.tile([0.5, 0.1], 50)
    order = np.argsort(np.sin(np.arange(100)))
    found = [cs.power(p[o], q[o], n, test="ks", n_datasets=50, rng=1) for o in (order, order[::-1]) for n in (None, 80)]
    assert found[0].to_dict() == found[2].to_dict()
    assert found[1].to_dict() == found[3].to_dict()
    assert min(each.power for each in found) > 0.9


def test_level_of_a_calibrated_model():
    found = cs.power(cs.generators.calibrated(), None, 100, test="ece", n_datasets=2000, rng=1)
    low, high = stats.binom(2000, 0.05).ppf([MISS, 1 - MISS]) / 2000
    assert low - 0.01 <= found.power <= high + 0.01  # .01: critical values of ten sets, each with sd .005
    assert found.ece == 0


def test_the_power_of_a_generator_is_that_of_its_samples():
    """Against calibration_test on samples of the generator, outcomes and all."""
    generator = cs.generators.temperature(1.6)
    found = cs.power(generator, None, 150, test="brier", n_datasets=2000, n_sets=20, rng=1)
    rejected = sum(
        cs.calibration_test(*generator.sample(150, rng=seed), measure="brier", n_resamples=199, rng=seed).pvalue <= 0.05
        for seed in range(400)
    )
    low, high = stats.binomtest(int(rejected), 400).proportion_ci(1 - MISS)
    assert low <= found.power <= high


def test_a_curve_rises():
    p = np.linspace(0.05, 0.95, 100)
    curve = cs.power(p, "temperature=2", [400, 50, 50, 150], test="ks", n_datasets=200, n_sets=2, rng=1)
    assert [point.n for point in curve.points] == [50, 150, 400]
    assert sorted(point.power for point in curve.points) == [point.power for point in curve.points]
    frame = curve.to_frame()
    assert frame["power"].tolist() == [point.power for point in curve.points]
    assert str(curve).count("\n") == 4
    alone = cs.power(p, "temperature=2", 150, test="ks", n_datasets=200, n_sets=2, rng=1)
    assert alone.to_dict() == curve.points[1].to_dict()


def test_many_tests_and_alternatives():
    p = np.linspace(0.05, 0.95, 200)
    found = power_of_fixed(p, {"none": "temperature=1", "over": "temperature=3"}, ["ks", "cox", cs.classical.t_cal],
                           rng=1, n_datasets=100, n_resamples=199)  # fmt: skip
    assert found["name"].tolist() == ["none"] * 3 + ["over"] * 3
    assert found["test"].tolist() == ["ks", "cox", "t_cal"] * 2
    assert (found["power"][:3] < 0.2).all()
    assert (found["power"][4:] > 0.9).all()
    assert ((found["low"] <= found["power"]) & (found["power"] <= found["high"])).all()
    again = power_of_fixed(p, ["temperature=3"], ["cox"], rng=1, n_datasets=100, n_resamples=199)
    assert again["power"].tolist() == found["power"][4:5].tolist()
    assert again["name"].tolist() == ["temperature 3"]
    assert again["power"][0] == cs.power(p, "temperature=3", test="cox", n_datasets=100, rng=1).power


def test_what_is_said():
    text = str(cs.power(np.linspace(0.1, 0.8, 30), "shift=0.5", test="cox", n_datasets=50, rng=1))
    assert text.startswith("The power against shift 0.5 (ECE 0.1")
    assert text.endswith("Test: cox at level 5 %, on 50 data sets with these predictions.")
    few = str(cs.power([0.1, 0.3, 0.6, 0.9], "shift=1", test="cox", n_datasets=50, rng=1))
    assert re.search(r"The test had no result in [\d.]+ % of the data sets", few)


def test_seeds_and_threads():
    p = np.random.default_rng(1).random(60)
    one, two, other = (
        cs.power(p, "temperature=2", 80, test="ece", n_datasets=200, n_resamples=199, rng=seed, n_jobs=jobs)
        for seed, jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert one.to_dict() == two.to_dict()
    assert one.to_dict() != other.to_dict()


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((cs.generators.calibrated(), "shift=1"), {}, "expected n"),
        (([0.2, 0.3],), {}, "expected an alternative"),
        (([0.2, 0.3], "shift=1", []), {}, "at least one number of rows"),
        (([0.2, 0.3], "shift=1", 0), {}, "whole number"),
        (([0.2, 0.3], "shift=1", [5, 2.5]), {}, "whole number"),
        (([0.2, 0.3], "shift=1"), {"level": 2}, "level"),
        (([0.2, 0.3], "shift=1"), {"n_datasets": 0}, "n_datasets"),
        (([0.2, 0.3], "shift=1", 5), {"n_sets": 0}, "n_sets"),
        (([0.2, 0.3], "shift=1"), {"test": "kss"}, "expected a test"),
        ((cs.generators.dirichlet((0.4, 0.3, 0.3)), None, 20), {}, "shows all classes"),
    ],
)
def test_wrong_arguments_are_told(arguments, options, match):
    with pytest.raises(ValueError, match=match):
        cs.power(*arguments, **options)
