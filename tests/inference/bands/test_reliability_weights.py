"""Reliability diagrams of rows with weights: sums of weights in bins, and bands."""

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs

RANDOM = np.random.default_rng(3)
P = RANDOM.random(300)
Y = (RANDOM.random(300) < P).astype(int)
W = RANDOM.lognormal(0, 1, 300)


@pytest.mark.parametrize("band", ["consistency", "confidence", "pointwise_consistency", "pointwise_confidence"])
def test_bins_count_weights(band):
    found = cs.reliability(Y, P, n_bins=4, band=band, sample_weight=W, rng=1)
    for b in range(4):
        rows = np.ceil(P * 4) == b + 1
        assert found.frequency[b] == pytest.approx(np.average(Y[rows], weights=W[rows]))
        assert found.mean_prediction[b] == pytest.approx(np.average(P[rows], weights=W[rows]))
    assert found.count.sum() == pytest.approx(found.effective_n)
    assert found.n == 300
    assert np.all(found.low <= found.high)
    assert found.interval.high == cs.confidence_interval(Y, P, n_bins=4, sample_weight=W, rng=1).high


def outside(band, y, p, w, r):
    found = cs.reliability(y, p, n_bins=3, band=band, sample_weight=w, interval=False, n_resamples=99, rng=r)
    return found, not found.inside.all()


def test_a_calibrated_model_stays_in_the_consistency_band_with_the_planted_fault():
    """One in 20 leaves it in a bin, at most, by the rank among its draws. Predictions that are .3 too low do."""
    left = wrong = 0
    for r in range(80):
        random = np.random.default_rng(r)
        p, w = random.random(100) * 0.6, random.lognormal(0, 1, 100)
        for shift in (0.0, 0.3):
            y = (random.random(100) < p + shift).astype(int)
            leaves = outside("consistency", y, p, w, r)[1]
            left, wrong = (left + leaves, wrong) if shift == 0 else (left, wrong + leaves)
    assert left <= binom.isf(5e-4, 80, 0.05)
    assert wrong > 60


def test_confidence_bars_hold_weighted_frequencies():
    """At true probabilities of .1, .5 and .9; all three bars at once, of 200 data sets."""
    missed = 0
    for r in range(200):
        random = np.random.default_rng(r)
        p, w = np.repeat([0.1, 0.5, 0.9], 60), random.lognormal(0, 1, 180)
        y = (random.random(180) < p).astype(int)
        missed += outside("confidence", y, p, w, r)[1]
    assert missed <= binom.isf(5e-4, 200, 0.05)


def test_a_curve_without_bins_takes_rows_without_weights():
    with pytest.raises(ValueError, match="expected rows without sample_weight for band='monotone'"):
        cs.reliability(Y, P, band="monotone", sample_weight=W)


@pytest.mark.parametrize("band", ["confidence", "pointwise_confidence"])
def test_one_row_with_a_weight_says_nothing_of_its_bin(band):
    found = cs.reliability([0, 1, 1], [0.1, 0.9, 0.95], sample_weight=[2.5, 1, 2], n_bins=2, band=band, interval=False)
    assert (found.low[0], found.high[0]) == (0, 1)
