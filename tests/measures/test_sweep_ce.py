"""Monotonic sweep calibration error: by hand, against a plain sweep, its exact test, and what it refuses."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibstat as cs

SWEEP = {"measure": "sweep_ce"}


def test_by_hand():
    """Predictions .1, .3, .6, .8 with outcomes 0, 1, 0, 1: three bins have 0, 1/2 and 1, four have 0, 1, 0, 1.

    So there are three bins of 1, 2 and 1 rows, with gaps of .1, 1/2 - .45 and .2: .1 / 4 + .05 / 2 + .2 / 4.
    """
    y, p = [0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]
    assert cs.estimate(y, p, **SWEEP) == pytest.approx(0.1, abs=1e-15)
    assert cs.estimate(y, p, **SWEEP, norm="l2") == pytest.approx(np.sqrt(0.01 / 4 + 0.0025 / 2 + 0.04 / 4), abs=1e-15)
    assert cs.estimate(y, p, **SWEEP, norm="max") == pytest.approx(0.2, abs=1e-15)
    detail = cs.detail(y, p, **SWEEP)
    assert (detail["n_bins"], detail["count"].tolist()) == (3, [1, 2, 1])


def test_frequencies_that_never_fall_have_a_bin_for_each_prediction():
    """Frequencies 0, 1/2, 1 at .2, .4, .6: gaps .2, .1, .4 with shares 1/4, 1/2, 1/4."""
    y, p = [0, 0, 1, 1], [0.2, 0.4, 0.4, 0.6]
    assert cs.estimate(y, p, **SWEEP) == pytest.approx(0.05 + 0.05 + 0.1, abs=1e-15)
    assert cs.detail(y, p, **SWEEP)["n_bins"] == 3
    assert cs.estimate([1], [0.3], **SWEEP) == pytest.approx(0.7)


def slow_sweep(y, p, strategy):
    """Try 2, 3, ... bins of rows in order, over the numpy of a reader; predictions are distinct."""
    order = np.argsort(p)
    y, p = np.asarray(y)[order], np.asarray(p)[order]

    def bins(number):
        if strategy == "uniform":
            place = np.clip(np.ceil(p * number) - 1, 0, number - 1)
            return [np.flatnonzero(place == b) for b in range(number) if np.any(place == b)]
        # cuts after the row whose number is nearest to b n / B, the smaller of two
        cuts = [int(np.ceil(b * y.size / number - 0.5)) for b in range(number + 1)]
        return [np.arange(a, b) for a, b in pairwise(cuts) if b > a]

    last = bins(1)
    for number in range(2, y.size + 1):
        tried = bins(number) if number < y.size else [np.array([i]) for i in range(y.size)]
        means = [y[rows].mean() for rows in tried]
        if any(later < earlier for earlier, later in pairwise(means)):
            break
        last = tried
    return sum(abs((y[rows] - p[rows]).sum()) for rows in last) / y.size


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from(["quantile", "uniform"]))
def test_as_a_plain_sweep(seed, n, strategy):
    random = np.random.default_rng(seed)
    p = random.permutation(np.arange(1, 60))[:n] / 61
    y = (random.random(n) < p).astype(int)
    assert cs.estimate(y, p, **SWEEP, strategy=strategy) == pytest.approx(slow_sweep(y, p, strategy), abs=1e-13)


def test_the_test_sweeps_again_for_each_draw():
    """The p-value of 49 draws is that of labels drawn here and swept one by one; both are exact."""
    y, p = cs.generators.temperature(3).sample(60, rng=1)
    found = cs.calibration_test(y, p, **SWEEP, n_resamples=199, rng=1)
    null = found.null_distribution
    assert np.unique(np.round(null.values if hasattr(null, "values") else null, 12)).size > 20
    random = np.random.default_rng(2)
    own = [cs.estimate((random.random(60) < p).astype(int), p, **SWEEP) for _ in range(199)]
    assert abs(np.mean(own) - np.mean(null)) < 4 * np.std(own) * np.sqrt(2 / 199)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1, 4])
def test_level_and_planted_fault(beta):
    """With probability 1/20 a calibrated model is rejected: at most 12 of 100 in all but 1 of 1000 runs; beta 4 is not.

    The fault, an over-confident model, is rejected nearly always: it does not pass the limit.
    """
    family = cs.generators.temperature(beta)
    rejected = sum(
        cs.calibration_test(*family.sample(40, rng=seed), **SWEEP, n_resamples=19, rng=seed).pvalue <= 0.05
        for seed in range(100)
    )
    assert (rejected <= cs.study.most_rejections(0.05, 100, 1e-3)) == (beta == 1)


def test_population():
    """Rising curves: the error without bins, ln(2)/2 - 1/4. A falling one stops at one bin."""
    assert cs.generators.temperature(2).truth(**SWEEP) == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-9)
    falling = cs.generators.gaussian_mixture(1, 1)
    assert falling.truth(**SWEEP) == pytest.approx(falling.truth("ece", n_bins=1), abs=1e-12)
    # two bins of two points each both have the frequency .3: which is larger is noise
    even = cs.generators.domain((0.25,) * 4, (0.1, 0.5, 0.4, 0.2), (0.2, 0.4, 0.6, 0.8))
    with pytest.raises(NotImplementedError, match="two of its 2 bins have one frequency"):
        even.truth(**SWEEP)
    with pytest.raises(NotImplementedError, match="true probability at every prediction"):
        cs.generators.dirichlet((1, 1, 1), temperature=2).truth(**SWEEP)
    y, p = cs.generators.temperature(2).sample(100_000, rng=1)
    assert cs.estimate(y, p, **SWEEP) == pytest.approx(np.log(2) / 2 - 0.25, abs=0.01)


def test_what_is_refused():
    y, p = cs.generators.temperature(2).sample(50, rng=1)
    with pytest.raises(ValueError, match="its number of bins is chosen by the outcomes"):
        cs.confidence_interval(y, p, **SWEEP, rng=1)
    with pytest.raises(ValueError, match="expected strategy 'quantile' or 'uniform', found 'tree'"):
        cs.estimate(y, p, **SWEEP, strategy="tree")
    with pytest.raises(ValueError, match="expected norm"):
        cs.estimate(y, p, **SWEEP, norm="l3")


def test_a_diagram_with_the_bins_of_the_sweep():
    y, p = cs.generators.temperature(2).sample(500, rng=1)
    detail = cs.detail(y, p, **SWEEP)
    diagram = cs.reliability(y, p, n_bins=detail["n_bins"], strategy="quantile", band=None)
    assert np.array_equal(diagram.count, detail["count"])
    assert np.all(np.diff(diagram.frequency) >= 0)
