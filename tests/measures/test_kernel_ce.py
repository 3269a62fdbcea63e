import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy.stats import norm

import calibstat as cs
from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.square_bound import SquareBound
from calibstat.bounds.unit_sums import ClusterSums
from calibstat.measures.kernel_ce import KernelCE
from calibstat.measures.two_bin_ce import TwoBinCE


def all_pairs(y, p, kernel, bandwidth):
    """Mean over pairs of rows with, and over pairs of different rows without, the diagonal."""
    distance = np.abs(p[:, None] - p[None, :]) / bandwidth
    terms = np.outer(y - p, y - p) * np.exp(-distance if kernel == "laplace" else -(distance**2) / 2)
    n = y.size
    return terms.mean(), (terms.sum() - np.trace(terms)) / (n * (n - 1)) if n > 1 else 0.0


@given(rows(), st.sampled_from(["laplace", "gaussian"]), st.sampled_from([0.01, 0.3, 1, 5]))
def test_against_all_pairs(data, kernel, bandwidth):
    y, p = data
    squared, unbiased = all_pairs(y, p, kernel, bandwidth)
    options = {"kernel": kernel, "bandwidth": bandwidth}
    assert cs.estimate(y, p, measure="kernel_ce", **options) ** 2 == pytest.approx(squared, abs=1e-12)
    assert cs.estimate(y, p, measure="kernel_ce_squared", **options) == pytest.approx(unbiased, abs=1e-12)


def test_many_rows_against_all_pairs():
    rng = np.random.default_rng(0)
    p = rng.random(1500).round(3)
    y = rng.random(1500) < p**2
    for kernel in ("laplace", "gaussian"):
        squared, unbiased = all_pairs(y, p, kernel, 0.2)
        options = {"kernel": kernel, "bandwidth": 0.2}
        assert cs.estimate(y, p, measure="kernel_ce", **options) == pytest.approx(math.sqrt(squared), abs=1e-12)
        assert cs.estimate(y, p, measure="kernel_ce_squared", **options) == pytest.approx(unbiased, abs=1e-12)


def test_by_hand():
    # residuals -.5 and 1 half a unit apart: squares .25 + 1 - 2 * .5 * exp(-.5), over 2**2 rows
    y, p = [0, 1], [0.5, 0.0]
    assert cs.estimate(y, p, measure="kernel_ce") == pytest.approx(math.sqrt(1.25 - math.exp(-0.5)) / 2, abs=1e-15)
    assert cs.estimate(y, p, measure="kernel_ce_squared") == pytest.approx(-0.5 * math.exp(-0.5), abs=1e-15)
    assert cs.estimate(y, p, measure="kernel_ce", kernel="gaussian") == pytest.approx(
        math.sqrt(1.25 - math.exp(-0.125)) / 2, abs=1e-15
    )


def test_unbiased_statistic_is_unbiased():
    # all outcomes of four rows with known probabilities: E U = sum over pairs of mean residuals times K, over 4 * 3
    p, truth = np.array([0.1, 0.3, 0.3, 0.8]), np.array([0.2, 0.5, 0.3, 0.7])
    gap = truth - p
    terms = np.outer(gap, gap) * np.exp(-np.abs(p[:, None] - p[None, :]))
    expected = (terms.sum() - np.trace(terms)) / 12
    mean = 0.0
    for code in range(16):
        y = np.array([code >> i & 1 for i in range(4)])
        mean += np.prod(np.where(y, truth, 1 - truth)) * cs.estimate(y, p, measure="kernel_ce_squared")
    assert mean == pytest.approx(expected, abs=1e-15)


@given(rows(), st.sampled_from(["laplace", "gaussian"]))
def test_witness_is_the_smoothed_residual(data, kernel):
    sample = cs.Sample.from_rows(*data)
    detail = cs.detail(sample, measure="kernel_ce", kernel=kernel, bandwidth=0.3)
    distance = np.abs(sample.value[:, None] - sample.value[None, :]) / 0.3
    smoothed = np.exp(-distance if kernel == "laplace" else -(distance**2) / 2) @ sample.residual
    assert detail["witness"] * detail.estimate == pytest.approx(smoothed, abs=1e-12)


def test_a_calibrated_sample_has_no_witness():
    assert cs.detail(cs.Sample.from_counts([0.5, 1], [2, 3], [1, 3]), measure="kernel_ce")["witness"].tolist() == [0, 0]


def test_one_row_has_no_pair():
    assert cs.estimate([1], [0.25], measure="kernel_ce") == 0.75
    assert cs.estimate([1], [0.25], measure="kernel_ce_squared") == 0


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
def test_interval_of_the_square_is_the_square_of_the_interval(kernel):
    random = np.random.default_rng(3)
    p = random.random(200)
    y = (random.random(200) < p**2).astype(int)
    options = {"kernel": kernel, "bandwidth": 0.3, "n_resamples": 99, "rng": 1}
    root = cs.confidence_interval(y, p, measure="kernel_ce", **options)
    square = cs.confidence_interval(y, p, measure="kernel_ce_squared", **options)
    assert square.low > 0
    assert (square.low, square.high) == pytest.approx((root.low**2, root.high**2), rel=1e-12)


def test_interval_of_the_square_of_a_calibrated_model_holds_zero():
    # the estimate is negative in half of the samples, and the interval is of what it estimates, at least 0
    random = np.random.default_rng(4)
    p = random.random(300)
    y = (random.random(300) < p).astype(int)
    found = cs.confidence_interval(y, p, measure="kernel_ce_squared", n_resamples=99, rng=1)
    assert found.low == 0 < found.high


@pytest.mark.parametrize("measure", ["kernel_ce", "kernel_ce_squared"])
@pytest.mark.parametrize("options", [{"kernel": "box"}, {"bandwidth": 0}, {"bandwidth": math.nan}, {"statistic": "U"}])
def test_unknown_options(measure, options):
    with pytest.raises(ValueError, match="expected"):
        cs.estimate([1], [0.5], measure=measure, **options)


# --- the largest bound over the unit ball ----------------------------------------------------------------------------


def bounds_in_the_ball(moments, value, tail_bound, rate, functions):
    """The bound of the sum of w(v) r for functions w = K a with a'Ka = 1, at this rate of the variance."""
    kernel = np.exp(-np.abs(value[:, None] - value))
    for a in functions:
        total, variance, *_ = moments.of(kernel @ a / np.sqrt(a @ kernel @ a))
        yield total + tail_bound.widen(tail_bound.z * np.sqrt(max(variance, 0.0)), rate)


@pytest.mark.parametrize("bandwidth", [0.2, 1.0])
def test_high_end_is_the_root_of_the_bound_of_the_square_where_that_is_lower(bandwidth, monkeypatch):
    """The bound of the square by sums over all pairs of rows, as docs/evidence/squares.md has it."""
    y, p = cs.generators.temperature(1.5).sample(400, rng=2)
    n, tail = 400, 0.025
    z, r = norm.isf(tail), y - p
    near = np.exp(-np.abs(p[:, None] - p) / bandwidth)
    terms = np.outer(r, r) * near * ~np.eye(n, dtype=bool)
    c = terms.sum(axis=1) / (n - 1) - terms.sum() / (n * (n - 1))
    v1, v3 = 4 * (c**2).sum(), 2 * (terms**2).sum() / (n * (n - 1))
    d = 4 * c @ (np.outer(r, r) * near) @ c / (n * v1)
    order = np.argsort(p)
    value, smoothed = p[order], (near @ r)[order]
    low, high = np.append(0, value), np.append(value, 1)
    around = np.append(smoothed[:1], smoothed), np.append(smoothed, smoothed[-1:])
    up = max(((1 - low) * np.maximum(*around).clip(0)).max(), (high * (-np.minimum(*around)).clip(0)).max())
    k, most = (2 * z**2 + 4) / 3, 2 * up / n + 4 / n
    variance = v1 + 2 * v3
    share = np.clip((0.6 - p) / 0.2, 0, 1)  # rare events and rare non-events count apart
    kind = np.where(near @ r > 0, share, 1 - share)
    seen = sum(max(8 * (part * c**3).sum(), 0) for part in (kind, 1 - kind))
    rate = min(seen / (v1 + 2 * most**2) + 2 * most**3 / (variance + 2 * most**2), most)
    reach = rate * k / 2 + z**2 * max(d, 0) + np.sqrt(z**2 * variance + rate**2 * k**2 / 4)
    cubes = (share * r**3).sum(), ((1 - share) * r**3).sum()
    third = max(sum(max(s * part, 0) for part in cubes) for s in (1, -1))
    skewness = (third + 2) / ((r**2).sum() + 2) / np.sqrt((r**2).sum() + 1)  # for the curvature
    spreads = skewness * k / 2 + np.sqrt(z**2 + (skewness * k / 2) ** 2)
    sure = np.clip(np.sqrt(v1 / (2 * v3)) - 2, 0, 1)
    most = max(d, np.sqrt(v3 / 2))
    reach += (spreads**2 - z**2) * (most + (max(d, 0) - most) * sure)
    wanted = np.sqrt(terms.sum() / (n * (n - 1)) + reach / n + up / n**2)  # and half of what a further row may add
    for centre in np.linspace(p.min(), p.max(), math.ceil(np.ptp(p) / bandwidth) + 1):  # sums around fixed points
        weight = np.exp(-np.abs(p - centre) / bandwidth)
        cubes = (share * (weight * r) ** 3).sum(), ((1 - share) * (weight * r) ** 3).sum()
        square = (weight**2 * r**2).sum() - (weight @ r) ** 2 / n
        for s in (1, -1):
            rate = (sum(max(s * part, 0) for part in cubes) + 2) / (square + 2)
            wanted = max(wanted, (s * weight @ r + rate * k / 2 + np.sqrt(z**2 * square + rate**2 * k**2 / 4)) / n)

    options = {"measure": "kernel_ce", "bandwidth": bandwidth, "n_resamples": 99, "rng": 1}
    assert cs.confidence_interval(y, p, **options).high == pytest.approx(wanted, rel=1e-6)
    interval = KernelCE(bandwidth=bandwidth).interval(cs.Sample.from_rows(y, p))
    of_sums = SeminormInterval(interval.norm, interval.table).high(tail)
    assert interval.high(tail) == pytest.approx(wanted, rel=1e-6)
    assert interval.high(tail) < 0.98 * of_sums
    # the bound of the square counts only where it is lower
    monkeypatch.setattr(SquareBound, "high", lambda bound, tail: 4 * of_sums**2)
    assert interval.high(tail) == of_sums
    assert type(KernelCE(kernel="gaussian").interval(cs.Sample.from_rows(y, p))) is SeminormInterval


@pytest.mark.parametrize("clusters", [None, 12])
def test_high_end_is_above_the_bounds_of_all_functions(clusters):
    """Among 3000 random functions, half of them near the witness, some come near to the end."""
    random = np.random.default_rng(2)
    value = np.array([0.1, 0.3, 0.35, 0.8, 0.9])
    cell = np.repeat(np.arange(5), 40)
    residual = (random.random(200) < (value * 0.7 + 0.1)[cell]) - value[cell]
    moments = SeparableMoments.of_rows(cell, residual, 5)
    if clusters is not None:
        moments = JointMoments(ClusterSums(cell, residual, np.arange(200) % clusters, 5))
    tail_bound, measure = moments.tail_bound(0.025), KernelCE()
    found = measure.upper_bound(value, moments, tail_bound)
    total, variance, third, _ = moments.of(measure.witness(value, moments.total / moments.n))
    near = moments.total / np.abs(moments.total).max() + 0.5 * random.normal(size=(1500, 5))
    functions = [*random.normal(size=(1500, 5)), *near]
    largest = max(bounds_in_the_ball(moments, value, tail_bound, tail_bound.rate(variance, third), functions))
    assert largest <= found + 1e-9
    assert largest - total > 0.8 * (found - total)


def test_the_norm_of_many_sums_is_the_norm_of_each():
    """To the last bit; by the Laplace kernel several go side by side."""
    value, theta = np.array([0.0, 0.1, 0.4, 1.0]), np.random.default_rng(0).normal(size=(2, 7, 4))
    for kernel in ("laplace", "gaussian"):
        measure = KernelCE(kernel=kernel, bandwidth=0.3)
        found = measure.norm_on(value, np.ones(4)).value(theta)
        assert found.tolist() == [[measure.norm(value, one) for one in some] for some in theta]


@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 3.0])
def test_the_norm_of_one_is_the_least_of_functions_that_are_1_on_a_fine_grid(bandwidth):
    """The least norm of a function with values f at points is the root of f' K^-1 f."""
    grid = np.linspace(0.1, 0.8, 800)
    kernel = np.exp(-np.abs(grid[:, None] - grid) / bandwidth)
    least = math.sqrt(np.linalg.solve(kernel, np.ones(grid.size)).sum())
    found = KernelCE(bandwidth=bandwidth).fixed_weights(grid)[0]
    assert 1 / found == pytest.approx(np.full(grid.size, least), rel=1e-5)


@given(rows(), st.sampled_from([0.05, 1.0]))
def test_the_error_is_at_least_the_sum_with_any_fixed_weights(data, bandwidth):
    sample = cs.Sample.from_rows(*data)
    measures = KernelCE(bandwidth=bandwidth), KernelCE(kernel="gaussian", bandwidth=bandwidth), TwoBinCE()
    for measure in measures:
        weights = measure.fixed_weights(sample.value)
        assert measure.norm(sample.value, sample.residual) >= np.abs(weights @ sample.residual).max() - 1e-12


def high_ends(n, value):
    """The high ends for each number of events of n rows of one prediction, and of a square that is not skewed."""
    found = []
    for events in range(n + 1):
        sample = cs.Sample.from_counts([value], [n], [events])
        interval = KernelCE().interval(sample)
        square = replace(interval.square, plain=())
        of_square = math.sqrt(max(square.high(0.025) + square.most / 2, 0.0))
        found.append((interval.high(0.025), min(SeminormInterval.high(interval, 0.025), of_square)))
    return np.array(found).T


@pytest.mark.parametrize(("n", "value"), [(122, 0.02), (122, 0.1), (81, 0.02), (300, 0.01)])
def test_one_prediction_is_missed_as_seldom_as_a_count(n, value):
    """Exact binomial probabilities, over all true shares q of a grid; the high end without the mean is a fault."""
    from scipy.stats import binom

    events, shares = np.arange(n + 1), np.arange(0.002, 0.6, 0.002)
    chance = binom.pmf(events, n, shares[:, None])
    new, old = (((each < np.abs(shares - value)[:, None]) * chance).sum(axis=1).max() for each in high_ends(n, value))
    assert new <= 0.025
    assert old > 0.035
