"""Intervals of rows with weights: by hand, with equal weights, and of the population in which rows count so."""

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs

RANDOM = np.random.default_rng(3)
P = RANDOM.random(300)
Y = (RANDOM.random(300) < P).astype(int)
W = RANDOM.lognormal(0, 1, 300)
ERRORS = ("ece", "ks", "kuiper", "kernel_ce", "smooth_ce")
SCORES = ("brier", "log_loss")


def test_the_interval_of_a_score_by_hand():
    """The mean of w l over that of w: a ratio, with the variance of w (l - mean), and Student's quantile."""
    found = cs.confidence_interval(Y, P, measure="brier", sample_weight=W, rng=1)
    loss = (Y - P) ** 2
    mean = np.average(loss, weights=W)
    assert found.estimate == pytest.approx(mean)
    error = np.sqrt((W**2 * (loss - mean) ** 2).sum() * 300 / 299) / W.sum()
    assert found.high - mean > 1.96 * error
    assert mean - found.low > 1.96 * error
    many = [np.tile(part, 100) for part in (Y, P, W)]  # skewness and rare events are then of no matter
    found = cs.confidence_interval(many[0], many[1], measure="brier", sample_weight=many[2], rng=1)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error / 10, rel=0.1)


@pytest.mark.parametrize("measure", [*ERRORS, *SCORES])
def test_equal_weights_have_nearly_the_interval_of_rows(measure):
    rows = cs.confidence_interval(Y, P**1.5, measure=measure, rng=1)
    equal = cs.confidence_interval(Y, P**1.5, measure=measure, sample_weight=np.full(300, 3.0), rng=1)
    assert equal.estimate == pytest.approx(rows.estimate)
    assert equal.low == pytest.approx(rows.low, abs=0.15 * (rows.high - rows.low))
    assert equal.high == pytest.approx(rows.high, abs=0.1 * (rows.high - rows.low))


def test_clusters_of_one_row_are_rows_with_weights():
    """If a cluster that is absent may be any row, as it is of rows with weights."""
    whole = cs.Clusters(np.arange(300), unseen="clusters")
    rows = cs.confidence_interval(Y, P, measure="ks", sample_weight=W, rng=1)
    alone = cs.confidence_interval(Y, P, measure="ks", sample_weight=W, cluster=whole, rng=1)
    assert alone.high == pytest.approx(rows.high, rel=0.01)


def test_intervals_of_heavy_rows_are_wide():
    equal = cs.confidence_interval(Y, P, sample_weight=np.ones(300), rng=1)
    heavy = cs.confidence_interval(Y, P, sample_weight=np.where(np.arange(300) < 3, 200, 1), rng=1)
    assert heavy.high > 3 * equal.high


def test_intervals_cover_the_population_in_which_rows_count_by_weight():
    """Rows of weight 4 are predicted .1 too low, others are right: the weighted error is .1 * 4 / 5."""
    missed = np.zeros(2)
    for r in range(150):
        random = np.random.default_rng(r)
        heavy = random.random(200) < 0.5
        y = (random.random(200) < np.where(heavy, 0.6, 0.5)).astype(int)
        found = cs.confidence_interval(
            y, np.full(200, 0.5), measure="ks", sample_weight=np.where(heavy, 4.0, 1.0), n_resamples=99, rng=r
        )
        missed += found.low > 0.08, found.high < 0.08
    assert np.all(missed <= binom.isf(1e-4, 150, 0.03))
    rows = cs.confidence_interval(y, np.full(200, 0.5), measure="ks", n_resamples=99, rng=1)
    assert rows.estimate != pytest.approx(found.estimate)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cs.confidence_interval(Y, P, measure="interval_ce", sample_weight=W), "of rows with weights is known"),
        (lambda: cs.confidence_interval(Y, P, method="bca", sample_weight=W), "no bca interval of rows with weights"),
        (
            lambda: cs.confidence_interval(Y, P, measure="upper_distance", method="bracket", sample_weight=W),
            "no bracket interval of rows with weights",
        ),
        (lambda: cs.calibration_test(cs.Sample.from_rows(Y, P), sample_weight=W), "expected a Sample alone"),
        (
            lambda: cs.confidence_interval(Y, P, sample_weight=np.arange(300) < 10, cluster=np.arange(300) // 10),
            "expected at least 2 clusters with a row of positive weight, found 1",
        ),
        (lambda: cs.calibration_test(cs.Sample.from_rows(Y, P, W)), "give rows with their weights"),
        (
            lambda: cs.classical.hosmer_lemeshow(Y, P, sample_weight=W),
            "expected rows without sample_weight= for hosmer_lemeshow, which takes none; estimate, .* found one",
        ),
    ],
)
def test_what_weights_do_not_have(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_bootstrap_intervals_of_every_measure(method):
    for measure in ("interval_ce", "ece_debiased", "smooth_ece", "mcb"):
        found = cs.confidence_interval(
            Y[:80], P[:80], measure=measure, method=method, sample_weight=W[:80], n_resamples=49, rng=1
        )
        assert np.isfinite([found.low, found.high]).all()
        assert found.estimate == pytest.approx(cs.estimate(Y[:80], P[:80], measure=measure, sample_weight=W[:80]))
