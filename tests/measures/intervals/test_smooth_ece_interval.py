"""The honest interval of SmoothECE: against a slow inversion, its gate, and its coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import weighted_rows
from scipy import stats

import calibstat as cs
from calibstat import resampling
from calibstat.inference.p_values import p_value
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.smooth_ece import SmoothECE, cosines, curve
from calibstat.resampling import Draws, Labels, Pairs, Stream

FALSE_ALARM = 1e-4


def test_smoothing_is_the_sum_over_reflected_kernels():
    # the kernel of Blasiok and Nakkiran, reflected at 0 and 1, summed by hand
    bandwidth = 0.1
    rng = np.random.default_rng(1)
    value, mass = np.append(rng.random(20), [0, 1]), rng.normal(size=22)
    found = curve(cosines(value, mass, bandwidth / 2), bandwidth)
    grid = np.linspace(0, 1, found.size)
    expected = np.zeros(found.size)
    for mirror in (value, -value, 2 - value, 2 + value, value - 2):
        expected += np.exp(-0.5 * ((grid[:, None] - mirror) / bandwidth) ** 2) @ mass
    assert found == pytest.approx(expected / (np.sqrt(2 * np.pi) * bandwidth), abs=1e-4)


def test_ends_are_where_the_conditions_turn():
    y, p = cs.generators.temperature(1.6).sample(600, rng=1)
    sample = cs.Sample.from_rows(y, p)
    found = cs.confidence_interval(sample, measure="smooth_ece", n_resamples=99, rng=5)
    bound = find_measure("smooth_ece", {})
    residual = sample.residual
    drawn = resampling.draw(
        sample, Pairs(), lambda v, c, a: (a - c * v) / c.sum() - residual, Draws.of(5, 99), Stream.ROWS
    )

    def norm(mu, t):  # slow: the registered measure at a fixed bandwidth, of a residual measure over the rows
        return find_measure("smooth_ece", {"bandwidth": t}).evaluate(
            sample.value, sample.count, mu * sample.n + sample.count * sample.value
        )

    def excess(t):
        moments = np.quantile([norm(step, t) for step in drawn], 0.975, method="weibull")
        return norm(residual, t) - moments - t

    assert found.low > 0
    # the grid of the measure at a given bandwidth is finer; a step beyond the difference on either side decides
    assert excess(found.low * 0.97) > 0 > excess(found.low * 1.03)
    null = resampler(bound, sample, Labels(), Stream.LABELS)(Draws.of(5, 99))
    assert p_value(found.estimate, null, "greater") <= 0.025
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("digits", [9, 2], ids=["rows", "ties"])
def test_waves_in_one_pass_are_those_of_the_sums_of_each_resample(digits):
    y, p = cs.generators.temperature(1.6).sample(3000, rng=1)
    sample = cs.Sample.from_rows(y, np.append(p[2:].round(digits), [0, 1]))
    draws = Draws.of(5, 20)
    interval = find_measure("smooth_ece", {}).interval(sample)
    plain = interval.table.resampled(interval.directional, draws)
    np.testing.assert_allclose(interval.resampled(draws), plain, rtol=0, atol=1e-12)
    assert not np.allclose(interval.resampled(Draws.of(6, 20)), plain)


@pytest.mark.parametrize("seed", range(12))
def test_the_low_end_is_zero_unless_the_exact_test_rejects(seed):
    sample = cs.Sample.from_rows(*cs.generators.temperature(1 + seed / 15).sample(150, seed))
    found = cs.confidence_interval(sample, measure="smooth_ece", n_resamples=99, rng=seed)
    pvalue = cs.calibration_test(sample, measure="smooth_ece", n_resamples=99, rng=seed).pvalue
    assert found.low == 0 or pvalue <= 0.025


@pytest.mark.parametrize("rows", [([1], [0.3]), ([0, 1], [0, 1]), ([1, 1, 0], [0.5, 0.5, 0.5]), ([1] * 40, [0.0] * 40)])
def test_extremes(rows):
    found = cs.confidence_interval(*rows, measure="smooth_ece", n_resamples=50, rng=1)
    assert 0 <= found.low <= found.high <= 1


# --- the high end ----------------------------------------------------------------------------------------------------


def kernel(grid, value, bandwidth):
    """The reflected Gaussian kernel, by sums over reflections; 9 bandwidths away from the grid they add nothing."""
    mirrors = [value, *(side * value + 2 * k for side in (1, -1) for k in range(-4, 5) if (side, k) != (1, 0))]
    mirrors = [mirror for mirror in mirrors if mirror.max() > -9 * bandwidth and mirror.min() < 1 + 9 * bandwidth]
    density = sum(np.exp(-0.5 * ((grid[:, None] - mirror) / bandwidth) ** 2) for mirror in mirrors)
    return density / (math.sqrt(2 * math.pi) * bandwidth)


def trapezoid(points):
    part = np.full(points, 1 / (points - 1))
    part[[0, -1]] /= 2
    return part


def example(seed):
    random = np.random.default_rng(seed)
    n = int(random.choice([5, 30, 200, 1000]))
    p = [random.random(n), random.beta(0.2, 2, n), random.integers(0, 5, n) / 4, random.beta(0.1, 0.1, n)][seed % 4]
    y = random.random(n) < [p, p**1.5, np.minimum(3 * p, 1), 0.01][seed // 4 % 4]
    return SmoothECE().interval(cs.Sample.from_rows(y.astype(int), p)), random


@pytest.mark.parametrize("seed", range(16))
def test_no_signs_have_a_bound_above_the_highest(seed):
    interval, random = example(seed)
    moments, tail_bound = interval.moments, interval.moments.tail_bound([0.1, 0.025, 0.005][seed % 3])
    bandwidth = max(interval.estimate, 0.02) + random.uniform(0, 0.2)
    highest = interval.upper_bound(bandwidth, tail_bound)
    grid = np.linspace(0, 1, 801)
    density = kernel(grid, interval.value, bandwidth)
    smooth, smoothed = trapezoid(grid.size)[:, None] * density, density @ moments.total
    third = np.trapezoid(np.abs(kernel(grid, interval.value, bandwidth / math.sqrt(3)) @ moments.cube), grid)
    for k in range(60):
        if k % 3 == 0:
            signs = np.repeat(random.choice([-1.0, 1.0], 801), random.integers(1, 801))[: grid.size]
        elif k % 3 == 1:
            signs = np.sign(smoothed + random.uniform(0, 1) * np.abs(smoothed).max() * random.uniform(-1, 1))
        else:
            signs = np.sin(random.uniform(0, 20) * grid + random.uniform(0, 6))
        weight = signs @ smooth
        total, variance, cube, _ = moments.of(weight)
        assert total + float(tail_bound.reach(variance, cube)) <= highest * (1 + 1e-4)
        assert cube <= third * (1 + 1e-4) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_the_highest_against_matrices(seed):
    """The same bound with the matrix M written out, over signs at 801 points."""
    interval, _ = example(seed)
    moments, tail_bound, bandwidth = interval.moments, interval.moments.tail_bound(0.025), max(interval.estimate, 0.05)
    grid = np.linspace(0, 1, 801)
    part = trapezoid(grid.size)
    k = kernel(grid, interval.value, bandwidth)
    h = k @ moments.total
    matrix = (k * moments.square) @ k.T
    sign = np.where(h < 0, -1.0, 1.0)
    gain = matrix @ part - sign * (matrix @ (part * sign))
    third = part @ np.abs(kernel(grid, interval.value, bandwidth / math.sqrt(3)) @ moments.cube)
    slow = np.inf
    for slope, height in zip(*tail_bound.lines(moments.square.sum(), third), strict=True):
        changed = 2 * np.maximum(2 * slope * gain - np.abs(h), 0)
        slow = min(slow, part @ np.abs(h) + slope * (part * sign) @ matrix @ (part * sign) + part @ changed + height)
    assert interval.upper_bound(bandwidth, tail_bound) == pytest.approx(slow, rel=2e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_high_end_is_where_the_bound_turns(seed):
    interval, _ = example(seed)
    high, tail_bound = interval.high(0.025), interval.moments.tail_bound(0.025)
    if high < 1:
        assert interval.upper_bound(high, tail_bound) / interval.moments.n <= high
        assert interval.upper_bound(high - 2e-5, tail_bound) / interval.moments.n >= high - 2e-5
    wider = [interval.upper_bound(t, tail_bound) for t in np.linspace(high, 1, 9)]
    assert np.all(np.diff(wider) <= 1e-3 * wider[0])  # its weights are among those of narrower bandwidths


@given(weighted_rows(), st.sampled_from([0.1, 0.025, 0.005]))
def test_any_rows(data, tail):
    interval = SmoothECE().interval(cs.Sample.from_rows(*data))
    tail_bound, high = interval.moments.tail_bound(tail), interval.high(tail)
    assert max(interval.estimate, min(tail_bound.k / interval.moments.n, 1)) - 1e-5 <= high <= 1


def test_without_an_event_it_is_what_may_happen_unseen():
    high = SmoothECE().interval(cs.Sample.from_rows([0] * 40, [0.0] * 40)).high(0.025)
    assert high == pytest.approx((2 * stats.norm.ppf(0.975) ** 2 + 4) / 3 / 40, abs=2e-5)


# --- coverage --------------------------------------------------------------------------------------------------------


def test_a_fixed_bandwidth_has_none():
    with pytest.raises(ValueError, match="no honest interval is known"):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure="smooth_ece", bandwidth=0.1)


MODELS = {
    "calibrated": cs.generators.calibrated(),
    "shift": cs.generators.shift(0.4),
    "five": cs.generators.temperature(1.4, [0.1, 0.3, 0.5, 0.7, 0.9]),
    "waves": cs.generators.high_frequency(3),
    # predicted a third of what happens; and half predicted .1, never happen, beside others that are too low
    "rare": cs.generators.domain([0.5, 0.5], [0.002, 0.004], [0.0007, 0.0013]),
    "rivals": cs.generators.domain([0.5, 0.5], [0, 0.62], [0.1, 0.4]),
}


def covered(model, method, replicates):
    truth = model.truth("smooth_ece")
    found = 0
    for r in range(replicates):
        y, p = model.sample(400, [r, 11])
        interval = cs.confidence_interval(y, p, measure="smooth_ece", method=method, n_resamples=199, rng=r)
        found += interval.low - 1e-9 <= truth <= interval.high + 1e-9
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_coverage(name):
    assert covered(MODELS[name], "honest", 400) >= stats.binom.ppf(FALSE_ALARM, 400, 0.94)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["calibrated", "rare"])
def test_a_usual_interval_is_found_out(name):
    assert covered(MODELS[name], "percentile", 100) < stats.binom.ppf(FALSE_ALARM, 100, 0.94)
