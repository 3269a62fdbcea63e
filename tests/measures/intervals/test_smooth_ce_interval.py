"""The high end of the smooth calibration error: above the bound of any weights, and near the largest by enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import weighted_rows
from scipy import stats

import calibstat as cs
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.tail_bound import TailBound
from calibstat.bounds.unit_sums import ClusterSums
from calibstat.measures import smooth_ce
from calibstat.measures.smooth_ce import _GRID_STEPS, SmoothCE, _largest_sum, _on_grid

FALSE_ALARM = 1e-4
measure = SmoothCE()


def lipschitz_weights(value, random):
    """One of four kinds of 1-Lipschitz weights in [-1, 1]: constant, teeth, steps up and down, or smooth."""
    x = np.linspace(0, 1, 401)
    kind = random.integers(4)
    if kind == 0:
        return np.full(value.size, random.uniform(-1, 1) if random.random() < 0.5 else random.choice([-1.0, 1.0]))
    if kind == 1:
        width = random.uniform(0.002, 1)
        wave = width * np.abs((x / width + random.random()) % 2 - 1) + random.uniform(-1, 1 - width)
    elif kind == 2:
        slope = np.repeat(random.choice([-1.0, 0.0, 1.0], 40), 10)
        wave = random.uniform(-1, 1) + np.append(0, np.cumsum(slope)) / 400
    else:
        wave = random.uniform(-1, 1) + random.uniform(0, 0.3) * np.sin(random.uniform(0, 3) * x + random.uniform(0, 6))
    return np.clip(np.interp(value, x, wave), -1, 1)


def bound(weight, moments, tail_bound):
    sums = moments.of(weight)
    return float(sums.total + tail_bound.reach(sums.variance, sums.up))


def example(seed):
    random = np.random.default_rng(seed)
    n = int(random.choice([5, 30, 200, 1000]))
    p = [random.random(n), random.beta(0.2, 2, n), random.integers(0, 5, n) / 4, random.beta(0.1, 0.1, n)][seed % 4]
    y = random.random(n) < [p, p**1.5, np.minimum(3 * p, 1), 0.01][seed // 4 % 4]
    return cs.Sample.from_rows(y.astype(int), p), random


def vertices(value, slope):
    """All vertices of the polytope of `slope`-Lipschitz weights: groups of full steps, one of each at 1 or -1."""
    m = value.size
    gap = slope * np.diff(value)
    for step in itertools.product((-1, 0, 1), repeat=m - 1):
        free = [j + 1 for j in range(m - 1) if step[j] == 0]
        groups = list(zip([0, *free], [*free, m], strict=True))
        path = np.append(0.0, np.cumsum(np.array(step) * gap))
        pinned = [[(i, sign) for i in range(a, b) for sign in (-1, 1)] for a, b in groups]
        for pins in itertools.product(*pinned):
            w = path.copy()
            for (a, b), (i, sign) in zip(groups, pins, strict=True):
                w[a:b] += sign - path[i]
            if np.all(np.abs(w) <= 1 + 1e-12) and np.all(np.abs(np.diff(w)) <= gap + 1e-12):
                yield w


# --- the largest sum -------------------------------------------------------------------------------------------------


def few(seed):
    random = np.random.default_rng(seed)
    m = int(random.integers(1, 6))
    value = np.unique(random.choice([random.random(m), random.integers(0, 9, m) / 8][seed % 2], m))
    return value, random.normal(0, 3, value.size), random.uniform(0, 5, value.size)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("slope", [1, 3])
def test_largest_sum_against_all_vertices(seed, slope):
    """A convex function is largest at a vertex; the grid adds what its comment allows."""
    value, total, squares = few(seed)
    squares *= seed % 3 / 2 * (slope == 1)
    expected = max(total @ w + squares @ w**2 for w in vertices(value, slope))
    on_grid, left = _on_grid(value, total)
    squares_on_grid, _ = _on_grid(value, squares)
    assert on_grid.sum() == pytest.approx(total.sum(), abs=1e-12)
    assert 0 <= left <= np.abs(total).sum() / _GRID_STEPS / 2 + 1e-12
    found = _largest_sum(on_grid, squares_on_grid, slope)
    allowed = slope * left + squares.sum() / _GRID_STEPS
    assert expected - 1e-9 <= found + allowed
    # the line through squares is above the square
    assert found <= expected + squares.sum() / (4 * _GRID_STEPS**2) + 1e-9
    if seed % 2:  # predictions of the grid
        assert found == pytest.approx(expected, abs=1e-9)
        assert left == 0


def test_what_the_grid_leaves_is_needed():
    """One row up and one down within an interval of the grid cancel there; weights tell them apart."""
    value, total = np.array([0.25, 0.75]) / _GRID_STEPS, np.array([10.0, -10.0])
    expected = max(total @ w for w in vertices(value, 1))  # 10 times their distance, 1 / 2 / _GRID_STEPS
    assert expected == pytest.approx(5 / _GRID_STEPS)
    on_grid, left = _on_grid(value, total)
    # the partial sums 0, 10, 0 on a quarter, a half, a quarter of the interval are 5 from their mean
    assert left == pytest.approx(5 / _GRID_STEPS)
    assert _largest_sum(on_grid, np.zeros(_GRID_STEPS + 1), 1) + left >= expected


def test_without_squares_it_is_the_measure():
    sample, _ = example(7)
    on_grid, left = _on_grid(sample.value, sample.residual)
    found, norm = _largest_sum(on_grid, np.zeros(_GRID_STEPS + 1), 1), measure.norm(sample.value, sample.residual)
    assert found - 1e-12 <= norm <= found + left + 1e-12
    assert left < 0.002


# --- lines above the reach -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0.0, 0.3, 5.0, 400.0])
@pytest.mark.parametrize("third", [0.0, 3.0, 200.0])
def test_lines_are_above_the_reach_and_near_it(most, third):
    tail_bound = TailBound(1.96)
    slope, height = tail_bound.lines(most, third)
    random = np.random.default_rng(1)
    variance, cube = most * random.random(2000) ** 2, third * random.uniform(-1, 1, 2000)
    least = (height[:, None] + slope[:, None] * variance).min(axis=0)
    assert np.all(tail_bound.reach(variance, cube) <= least + 1e-9)
    if most == 400 and third < 200:
        large = np.linspace(100, 400, 7)
        least = (height[:, None] + slope[:, None] * large).min(axis=0)
        assert least == pytest.approx(tail_bound.reach(large, third), rel=0.01)


# --- the largest bound -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("tail", [0.1, 0.025, 0.005])
def test_no_weights_have_a_bound_above_it(seed, tail):
    sample, random = example(seed)
    moments = SeparableMoments.of_sample(sample)
    tail_bound = moments.tail_bound(tail)
    highest = measure.upper_bound(sample.value, moments, tail_bound)
    for _ in range(60):
        assert bound(lipschitz_weights(sample.value, random), moments, tail_bound) <= highest + 1e-9
    assert bound(measure.witness(sample.value, sample.residual), moments, tail_bound) <= highest + 1e-9
    assert highest <= super(SmoothCE, measure).upper_bound(sample.value, moments, tail_bound) * 1.01 + 0.1


def test_the_bound_of_the_witness_is_below_that_of_other_weights():
    """The witness is where the sum is largest, not where the bound is: that test can fail."""

    def exceeded(seed):
        sample, random = example(seed)
        moments = SeparableMoments.of_sample(sample)
        tail_bound = moments.tail_bound(0.025)
        alone = bound(measure.witness(sample.value, sample.residual), moments, tail_bound)
        return any(
            bound(lipschitz_weights(sample.value, random), moments, tail_bound) > alone + 1e-9 for _ in range(60)
        )

    assert any(map(exceeded, range(16)))


@pytest.mark.parametrize("seed", range(8))
def test_against_a_slow_bound_over_all_vertices(seed):
    """The least over lines, with the largest sums and the largest third moment from all vertices."""
    random = np.random.default_rng(seed)
    value = np.unique(random.integers(0, 9, 5)) / 8  # of the grid
    count = random.integers(5, 60, value.size)
    sample = cs.Sample.from_counts(value, count, random.binomial(count, value))
    moments = SeparableMoments.of_sample(sample)
    tail_bound = moments.tail_bound(0.025)
    kinds = moments.low, moments.cube - moments.low  # rare events and rare non-events
    third = sum(max(kind @ w for w in vertices(value, 3)) for kind in kinds)
    all_weights = np.array(list(vertices(value, 1)))
    most = moments.square.sum()
    slope, height = tail_bound.lines(most, third)
    sums = (all_weights @ moments.total)[:, None] + slope * (all_weights**2 @ moments.square)[:, None]
    slow = (sums.max(axis=0) + slope * most / _GRID_STEPS + height).min()
    assert measure.upper_bound(value, moments, tail_bound) == pytest.approx(slow, abs=1e-9)


@given(weighted_rows(), st.sampled_from([0.1, 0.025, 0.005]))
def test_any_rows(data, tail):
    sample = cs.Sample.from_rows(*data)
    moments = SeparableMoments.of_sample(sample)
    tail_bound = moments.tail_bound(tail)
    highest = measure.upper_bound(sample.value, moments, tail_bound)
    assert highest >= tail_bound.k - 1e-9  # no weight at all: what may happen unseen
    for sign in (-1.0, 1.0):
        assert bound(np.full(sample.value.size, sign), moments, tail_bound) <= highest + 1e-9


def test_by_hand():
    """Nothing can be known beyond that unseen events are fewer than k = (2 z**2 + 4) / 3, one size for each row."""
    z = stats.norm.ppf(0.975)
    high = measure.interval(cs.Sample.from_rows([0] * 40, [0.0] * 40)).high(0.025)
    assert high == pytest.approx((2 * z**2 + 4) / 3 / 40, rel=1e-9)
    # one row with residual 3/4 and weights that no distance ties
    found = measure.interval(cs.Sample.from_rows([1], [0.25])).high(0.025)
    assert found > 1


# --- clusters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_clusters(seed):
    random = np.random.default_rng(seed)
    clusters, rows = 25, 8
    unit = np.repeat(np.arange(clusters), rows)
    p = random.choice([0.05, 0.1, 0.4, 0.7], unit.size)
    y = random.random(clusters)[unit] < p  # of a cluster, together
    value, cell = np.unique(p, return_inverse=True)
    moments = JointMoments(ClusterSums(cell, y - p, unit, value.size))
    tail_bound = moments.tail_bound(0.025)
    highest = measure.upper_bound(value, moments, tail_bound)
    first, second, (third,) = moments.majorant()
    for _ in range(60):
        weight = lipschitz_weights(value, random)
        total, variance, cube, _ = moments.of(weight)
        assert total == pytest.approx(first @ weight)
        assert variance <= second @ weight**2 + 1e-9
        assert cube <= third @ np.abs(weight) ** 3 + 1e-9
        assert bound(weight, moments, tail_bound) <= highest + 1e-9
    assert (second.sum(), third.sum()) == pytest.approx(moments.largest())


# --- coverage --------------------------------------------------------------------------------------------------------

AROUND = np.array([0.6, 0.8, 1, 1.2, 1.4])
POPULATIONS = {
    # half predicted .1, never happen, and the rest too low by .2: two sums of residuals tie
    "rivals": cs.generators.domain([0.5, *[0.1] * 5], [0, *(0.4 * AROUND + 0.2)], [0.1, *(0.4 * AROUND)]),
    # predicted a third of what happens, so that often nothing is observed
    "rare": cs.generators.domain([0.2] * 5, (0.003 * AROUND).tolist(), (0.001 * AROUND).tolist()),
    "certain": cs.generators.domain([0.18, 0.82], [0, 0.91], [0.06, 0.9]),
}


def misses(population, replicates, high):
    """How often the high end is below the truth."""
    truth = population.truth("smooth_ce")
    samples = (cs.Sample.from_rows(*population.sample(200, [r, 5])) for r in range(replicates))
    return sum(high(sample) < truth for sample in samples)


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_high_end_holds(name):
    found = misses(POPULATIONS[name], 400, lambda sample: measure.interval(sample).high(0.025))
    assert found <= stats.binom.ppf(1 - FALSE_ALARM, 400, 0.03)


def test_an_interval_without_unseen_events_is_found_out():
    def normal(sample):
        moments = SeparableMoments.of_sample(sample)
        return measure.estimate(sample) + 1.96 * np.sqrt(moments.square.sum()) / sample.n

    assert misses(POPULATIONS["rare"], 200, normal) > stats.binom.ppf(1 - FALSE_ALARM, 200, 0.03)


# --- the low end of many predictions ---------------------------------------------------------------------------------


def test_linear_weights_have_a_smaller_sum():
    """By at most the largest range of the partial sums over a piece of the grid."""
    y, p = cs.generators.temperature(1.2).sample(4000, rng=1)
    sample = cs.Sample.from_rows(y, np.append(p[:3990], [0, 1, *p[:8]]))
    smaller = smooth_ce._PiecewiseLinear().norm(sample.value, sample.residual)
    exact, sums = SmoothCE().norm(sample.value, sample.residual), np.append(0, np.cumsum(sample.residual))
    piece = np.minimum((sample.value * (smooth_ce.PIECE_ENDS.size - 1)).astype(int), smooth_ce.PIECE_ENDS.size - 2)
    widest = max(np.ptp(sums[np.flatnonzero(piece == k)[0] : np.flatnonzero(piece == k)[-1] + 2]) for k in set(piece))
    assert 0 <= exact - smaller + 1e-15 <= widest
    assert smaller > exact * 0.99
    assert SmoothCE().norm(sample.value, sample.residual * 0.98) < smaller  # planted fault: a sum 2 % too small


def test_their_witness():
    """1-Lipschitz and up to 1, it attains the sum."""
    sample = cs.Sample.from_rows(*cs.generators.temperature(1.2).sample(3000, rng=1))
    linear = smooth_ce._PiecewiseLinear()
    weight = linear.witness(sample.value, sample.residual)
    assert weight @ sample.residual == pytest.approx(linear.norm(sample.value, sample.residual), abs=1e-12)
    assert np.abs(weight).max() <= 1
    assert np.all(np.abs(np.diff(weight)) <= np.diff(sample.value) * (1 + 1e-9))
    found = linear.one_pass(sample.value, sample.count, sample.value).of(
        np.stack([sample.residual, sample.residual * 2])
    )
    assert found == pytest.approx([weight @ sample.residual, 2 * weight @ sample.residual], abs=1e-12)


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_low_ends_of_many_predictions_are_those_of_all_weights(temperature, monkeypatch):
    sample = cs.Sample.from_rows(*cs.generators.temperature(temperature).sample(2000, rng=2))
    ends = []
    for many in (10**6, 10):
        monkeypatch.setattr(smooth_ce, "MANY_ROWS", many)
        ends.append(cs.confidence_interval(sample, measure="smooth_ce", n_resamples=99, rng=1))
    assert ends[1].low == pytest.approx(ends[0].low, abs=2e-5)
    assert ends[1].high == ends[0].high
    assert (ends[0].low > 0) == (temperature == 2)
