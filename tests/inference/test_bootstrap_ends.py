"""Ends of bootstrap intervals: quantiles of the draws, rows left out one by one, and SciPy."""

import numpy as np
import pytest
from posed_problem import pose
from scipy import stats

import calibstat as cs
from calibstat.inference.bootstrap_ends import _influence
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Pairs, Stream


def example(n, seed=0, temperature=1.4):
    generator = np.random.default_rng(seed)
    v = generator.random(n)
    y = (generator.random(n) < v).astype(int)
    return y, v**temperature / (v**temperature + (1 - v) ** temperature)


@pytest.mark.parametrize("measure", ["ece", "mcb"])
def test_percentile_and_basic_are_quantiles_of_the_draws(measure):
    sample = cs.Sample.from_rows(*example(300))
    bound = find_measure(measure, {})
    drawn = resampler(bound, sample, Pairs(), Stream.ROWS)(Draws.of(6, 399))
    low, high = np.quantile(drawn, [0.05, 0.95])
    percentile, basic = (
        cs.confidence_interval(sample, measure=measure, method=m, confidence_level=0.9, n_resamples=399, rng=6)
        for m in ("percentile", "basic")
    )
    assert (percentile.low, percentile.high) == pytest.approx((low, high), abs=1e-15)
    estimate = bound.estimate(sample)
    assert (basic.low, basic.high) == pytest.approx((max(2 * estimate - high, 0), 2 * estimate - low), abs=1e-15)


def test_jackknife_against_rows_left_out_one_by_one():
    y, p = example(25)
    p = np.round(p, 1)
    for measure in ("ece", "brier", "kernel_ce"):
        plain = []
        for i in range(25):
            plain.append(cs.estimate(np.delete(y, i), np.delete(p, i), measure=measure))
        weight, influence = _influence(*pose(y, p, measure, {}).jackknife())
        expected = np.mean(plain) - np.array(plain)
        assert weight.sum() == 25
        for power in (2, 3):
            assert weight @ influence**power == pytest.approx((expected**power).sum(), rel=1e-9, abs=1e-18)


def test_bca_against_scipy():
    """For a mean of losses scipy's BCa interval is the same up to the noise of two independent bootstraps."""
    y, p = example(150)
    ours = cs.confidence_interval(y, p, measure="brier", method="bca", n_resamples=20_000, rng=1)
    theirs = stats.bootstrap(
        ((y - p) ** 2,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    # a quantile at .025 of 20,000 draws has standard error sd * sqrt(.025 * .975 / 20000) / phi(1.96) = .019 sd
    noise = 4.5 * np.sqrt(2) * 0.019 * ((y - p) ** 2).std() / np.sqrt(150)
    assert ours.low == pytest.approx(theirs.low, abs=noise)
    assert ours.high == pytest.approx(theirs.high, abs=noise)
