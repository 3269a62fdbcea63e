"""Tests of calibration keep their level, say what they tested, and never return zero."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

import calibstat as cs

RUNS = 200
LEVEL = 0.05
MOST = stats.binom.isf(1e-5, RUNS, LEVEL)  # rejections that a test of this level exceeds once in 100,000


def rejections(measure, predictions, distort=lambda p: p, runs=RUNS, **options):
    generator = np.random.default_rng(77)
    found = 0
    for run in range(runs):
        p = predictions(generator)
        y = generator.random(p.size) < distort(p)
        found += cs.calibration_test(y, p, measure=measure, n_resamples=99, rng=run, **options).pvalue <= LEVEL
    return found


FIVE = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
PREDICTIONS = {
    "twenty rows": lambda g: g.random(20),
    "five scores": lambda g: g.choice(FIVE, 40),
    "near 0 and 1": lambda g: g.beta(0.1, 0.1, 50),
}


@pytest.mark.parametrize("name", PREDICTIONS)
@pytest.mark.parametrize("measure", ["ece", "ks", "brier"])
def test_labels_only_keeps_its_level(measure, name):
    assert rejections(measure, PREDICTIONS[name]) <= MOST


def test_level_check_can_fail():
    """Planted fault: outcomes drawn from distorted predictions are rejected more often than the limit allows."""
    assert rejections("ks", PREDICTIONS["five scores"], lambda p: p**1.6) > MOST


def uniform(family, sets=4000):
    """Exact test that p-values of ECE are uniform; spread over the steps of 1/1000 between them, so as to be exact."""
    generator = np.random.default_rng(78)
    pvalue = [cs.calibration_test(*family.sample(1000, generator), n_resamples=999, rng=i).pvalue for i in range(sets)]
    return stats.kstest(pvalue - generator.random(sets) / 1000, "uniform", method="exact").pvalue


@pytest.mark.slow
def test_p_values_are_uniform():
    """With 15 bins of continuous predictions two resamples hardly ever tie, so 1000 p-values are equally likely."""
    assert uniform(cs.generators.calibrated()) > 1e-4
    assert uniform(cs.generators.temperature(1.1)) < 1e-4  # planted fault


def test_rows_and_labels_is_only_approximate():
    """The consistency resampling of the literature rejects too often: that is why it is not the default.

    Of 40 rows in 50 bins it rejects three in ten data sets.
    """
    many = rejections("ece", lambda g: g.random(40), runs=200, resample="both", n_bins=50)
    assert many > stats.binom.isf(1e-5, 200, LEVEL)
    found = cs.calibration_test([0, 1], [0.4, 0.6], resample="both", n_resamples=19, rng=1)
    assert "approximate" in str(found.null_hypothesis)


def test_p_value_against_the_exact_distribution():
    """One prediction of 0.3 ten times and seven positives: P(|K - 3| >= 4) is a binomial sum."""
    exact = stats.binom.sf(6, 10, 0.3)  # K <= -1 is impossible
    found = cs.calibration_test([1] * 7 + [0] * 3, [0.3] * 10, measure="ece", n_resamples=99_999, rng=3)
    limit = stats.binom.isf(1e-6, 99_999, exact), stats.binom.ppf(1e-6, 99_999, exact)
    assert limit[1] <= found.pvalue * 100_000 - 1 <= limit[0]
    assert found.pvalue_error == pytest.approx(np.sqrt(exact * (1 - exact) / 1e5), rel=0.05)


def test_result():
    found = cs.calibration_test(
        [1, 0, 1, 1], [0.8, 0.3, 0.6, 0.3], measure="ece", n_bins=5, n_resamples=19, rng=np.random.default_rng(2)
    )
    assert (found.n, found.n_resamples, str(found.measure), found.tail) == (4, 19, "ece(n_bins=5)", "greater")
    assert found.statistic == cs.estimate([1, 0, 1, 1], [0.8, 0.3, 0.6, 0.3], n_bins=5)
    assert found.null_distribution.shape == (19,)
    assert not found.null_distribution.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.pvalue = 0
    assert found.to_dict()["null_distribution"] == found.null_distribution.tolist()
    assert found.to_frame().loc[0, "pvalue"] == found.pvalue
    text = str(found)
    for part in ("ece(n_bins=5)", "n = 4", "event: outcome 1", "Null hypothesis: given the predictions"):
        assert part in text


def test_rows_summary_and_threads_agree():
    generator = np.random.default_rng(4)
    p = np.round(generator.random(500), 2)
    y = (generator.random(500) < p).astype(int)
    sample = cs.Sample.from_rows(y, p)
    for measure in ("ece", "kuiper"):
        rows, counts, threads = (
            cs.calibration_test(*data, measure=measure, rng=9, n_resamples=150, n_jobs=n_jobs).null_distribution
            for data, n_jobs in (((y, p), 1), ((sample,), 1), ((sample,), 2))
        )
        assert np.array_equal(rows, counts)
        assert np.array_equal(rows, threads)


def test_errors():
    weighted = cs.Sample.from_rows([1, 0], [0.4, 0.6], [0.5, 1.5])
    with pytest.raises(ValueError, match="calibration_test needs whole-number counts"):
        cs.calibration_test(weighted)
    with pytest.raises(ValueError, match="expected resample"):
        cs.calibration_test([1, 0], [0.4, 0.6], resample="rows")
    with pytest.raises(ValueError, match=r"expected a measure, found 'ecce'; 'ecce' is cs\.estimate"):
        cs.calibration_test([1, 0], [0.4, 0.6], measure="ecce")
    with pytest.raises(ValueError, match="found 'bins'"):
        cs.calibration_test([1, 0], [0.4, 0.6], bins=3)
    with pytest.raises(ValueError, match="a Sample alone"):
        cs.calibration_test(weighted, [0.1, 0.2])
    with pytest.raises(ValueError, match="found one list"):
        cs.calibration_test([1, 0])


@pytest.mark.parametrize("measure", ["ece", "mcb", "log_loss"])
@pytest.mark.parametrize(("y", "p"), [([1], [1.0]), ([0], [1.0]), ([1, 1, 1], [1.0, 1.0, 1.0]), ([0, 1], [0.5, 0.5])])
def test_degenerate_samples(measure, y, p):
    """Impossible data have the smallest p-value, certain data the largest."""
    found = cs.calibration_test(y, p, measure=measure, n_resamples=9, rng=1)
    if y == [0]:
        assert found.pvalue == (0.2 if measure == "log_loss" else 0.1)
    elif p != [0.5, 0.5]:
        assert found.pvalue == 1


def test_a_slow_test_draws_less_unless_asked():
    y, p = cs.generators.temperature(2).sample(60, rng=1)
    assert cs.calibration_test(y, p, measure="interval_ce", rng=1).n_resamples == 99
    assert cs.calibration_test(y, p, measure="interval_ce", n_resamples=199, rng=1).n_resamples == 199
    assert cs.calibration_test(y, p, measure="ece", rng=1).n_resamples == 999
    assert cs.confidence_interval(y, p, measure="interval_ce", method="percentile", rng=1).n_resamples == 99
    models = {"a": p, "b": np.square(p)}
    assert cs.compare(y, models, measure="interval_ce", method="swap", rng=1).n_resamples == 99
    assert cs.compare(y, models, measure="ece", method="swap", rng=1).n_resamples == 999
    with pytest.raises(ValueError, match="expected n_resamples to be a whole number of at least 1, found 0"):
        cs.calibration_test(y, p, measure="interval_ce", n_resamples=0)
