"""The interval of binned measures: the bias of cells and their high ends, against loops over rows and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likely_sums import by_grid, high_of_rows, k_of
from oracles import bin_number
from posed_problem import pose
from scipy import stats
from scipy.stats import norm

import calibstat as cs
from calibstat.bounds.intervals import upper_quantile
from calibstat.bounds.tail_bound import TailBound
from calibstat.resampling import Draws


def interval_of(y, p, bins):
    return pose(y, p, "ece", {"n_bins": bins}).honest()


def interval_of_rows(y, p, bins, unit=None):
    return pose(y, p, "ece", {"n_bins": bins}).interval_of_rows(slice(None), unit)[0]


def bias_by_hand(y, p, cell, cluster):
    """The rule cell by cell: a gap one spread nearer to zero, and what absolute values add to it on average."""
    total, n = 0.0, y.size
    for b in np.unique(cell):
        here = cell == b
        theta = (y - p)[here].sum() / n
        parts = [((y - p)[here & (cluster == c)].sum() - (cluster == c).sum() * theta) for c in np.unique(cluster)]
        clusters = np.unique(cluster).size
        variance = np.square(parts).sum() / n**2
        if clusters < n:
            variance *= clusters / (clusters - 1)
        if here.sum() < 30:
            variance = max(variance, (p * (1 - p))[here].sum() / n**2)
        if variance > 0:
            t = max(abs(theta) / np.sqrt(variance) - 1, 0)
            # E|Z + t| - t, integrated numerically
            z = np.linspace(-9, 9, 180_001)
            total += np.sqrt(variance) * ((np.abs(z + t) * norm.pdf(z)).sum() * (z[1] - z[0]) - t)
    return total


@pytest.mark.parametrize("members", [1, 5])
def test_the_largest_bias_by_hand(members):
    random = np.random.default_rng(2)
    p = random.random(200)
    y = (random.random(200) < p**2).astype(int)
    cluster = np.arange(200) // members
    interval = interval_of_rows(y, p, 5, None if members == 1 else cluster)
    expected = bias_by_hand(y, p, bin_number(p, 5), cluster)
    assert interval.missing_bias(np.zeros(1)) == pytest.approx(expected, abs=1e-8)


# --- the low end beside cells without an error -----------------------------------------------------------------------


def beside(calibrated, n, bins=50, seed=0):
    """Calibrated cells of about equal noise beside one kind of rows, two fifths of all, that always has the event."""
    random = np.random.default_rng(seed)
    v = random.permutation((np.linspace(2, bins - 3, calibrated).round() + 0.5) / bins)
    mass = 0.6 / (v * (1 - v)) / np.sum(1 / (v * (1 - v)))
    return n, np.append(mass, 0.4), np.append(v, 1.0), np.append(v, 0.995), bins


FEW = (0.572, 0.474, 0.587)
PATTERNS = {  # rows, their shares, true probabilities, predictions, bins
    "three cells": (636, np.array([0.127, 0.343, 0.214, 0.316]), np.array([*FEW, 1]), np.array([*FEW, 0.914]), 50),
    "two cells": (664, np.array([0.088, 0.322, 0.590]), np.array([*FEW[:2], 1]), np.array([*FEW[:2], 0.914]), 50),
    "five cells of many rows": (
        21_045,
        np.array([0.127, 0.343, 0.114, 0.1, 0.05, 0.266]),
        np.array([*FEW, 0.3, 0.22, 1]),
        np.array([*FEW, 0.3, 0.22, 0.914]),
        50,
    ),
    "three cells of many rows": (
        21_301,
        np.array([0.2, 0.3, 0.214, 0.286]),
        np.array([*FEW[:2], 0.3, 1]),
        np.array([*FEW[:2], 0.3, 0.914]),
        15,
    ),
    "fourteen cells": beside(14, 20_000),
    "forty cells": beside(40, 20_000),
}


def lows_above(name, runs):
    """How many low ends, before the gate, are above the error; and how many with the bound on the bias alone."""
    n, share, true, predicted, bins = PATTERNS[name]
    cell = bin_number(predicted, bins)
    error = np.abs(np.bincount(cell, share * (true - predicted))).sum()
    random = np.random.default_rng(3)
    found = np.zeros(2, int)
    for run in range(runs):
        count = random.multinomial(n, share / share.sum())
        rows = count > 0
        sample = cs.Sample.from_counts(predicted[rows], count[rows], random.binomial(count, true)[rows])
        interval = pose(sample, None, "ece", {"n_bins": bins}).in_order("confidence_interval").honest()
        draws = Draws.of(run, 79)
        drawn = interval.resampled(draws)
        by_bias = upper_quantile(drawn[:, 0] + interval.missing_bias(drawn[:, 0]), 0.025)
        lows = interval.low(0.025, draws), interval.estimate - interval.below(0.025).extend(by_bias)
        found += np.array(lows) > error + 1e-12
    return found


def test_the_low_end_beside_many_cells_without_an_error():
    """The planted fault is the bound on the bias alone, which is above the error in .14."""
    found, by_bias = lows_above("forty cells", 300)
    assert found <= cs.study.most_rejections(0.03, 300, 1e-3) < by_bias


@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_the_low_end_beside_cells_without_an_error_in_many_runs(name):
    """The promise is about .03, see the docs; the planted fault does not even keep .025."""
    found, by_bias = lows_above(name, 10_000)
    assert found <= cs.study.most_rejections(0.03, 10_000, 1e-3)
    assert by_bias > cs.study.most_rejections(0.025, 10_000, 1e-3)


def test_cells_that_may_have_no_error_by_hand():
    """400 rows each with a gap of 1 and of 2 standard errors, beside 200 rows at .9 that all have the event."""
    p = np.repeat([0.3, 0.5, 0.9], [400, 400, 200])
    y = np.concatenate([np.arange(400) < 130, np.arange(400) < 220, np.ones(200)]).astype(int)
    interval = interval_of(y, p, 10)
    assert np.flatnonzero(interval.near).tolist() == [2, 4]
    total = np.array([[0, 0, 10.0, 0, 20.0, 0, 0, 0, 20.0], [0, 0, -40.0, 0, 30.0, 0, 0, 0, 25.0]]) / 1000
    directional, far, noise = interval.directional(total).T
    assert interval.theta * 1000 == pytest.approx([0, 0, 10, 0, 20, 0, 0, 0, 20])
    assert directional == pytest.approx([0, 0.045])  # 95 less 50
    assert far == pytest.approx([0, 0.005])
    assert noise == pytest.approx([0, 0.060])  # 50 and 10
    # one draw is its own quantile; a noise of 40 explains the 30 in cells 2 and 4, and is what they may have added
    most = np.array([[0.01, 0.0, 0.040]])
    assert interval.reach(most, 0.025) == pytest.approx(0.040)  # no bias is missing of cell 8, 15 standard errors off
    less = np.array([[0.01, 0.0, 0.029]])
    assert interval.reach(less, 0.025) == pytest.approx(interval.missing_bias(np.zeros(1)))


@pytest.mark.parametrize(
    ("rows", "events", "near"),
    [
        (100, 70, [4]),  # 40 events too many, 7 standard errors: beside them those at .5 may be right
        (100, 34, []),  # all may be right, which the exact test of calibration asks
        (1600, 800, []),  # 320 too many, but their noise is twice as large
    ],
)
def test_which_cells_may_have_no_error(rows, events, near):
    p = np.repeat([0.3, 0.5], [rows, 400])
    y = np.concatenate([np.arange(rows) < events, np.arange(400) < 210]).astype(int)
    clusters = interval_of_rows(y, p, 10, np.arange(y.size) // 2)
    for interval in (interval_of(y, p, 10), interval_of_rows(y, p, 10), clusters):
        assert interval.theta[interval.near] == pytest.approx([10 / y.size] * len(near))


# --- the high end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("n", [1, 20, 300])
def test_the_high_end_of_rows_by_hand(n, scale, level):
    random = np.random.default_rng(n)
    p = np.round(random.random(n) * scale, 3)  # with ties, exact 0 and, at scale 1, exact 1
    y = (random.random(n) < 0.7 * p).astype(int)
    exact, step = high_of_rows(y, p, bin_number(p, 5), stats.norm.isf((1 - level) / 2))
    for interval in (interval_of(y, p, 5), interval_of_rows(y, p, 5)):
        assert interval.high((1 - level) / 2) == pytest.approx(exact, abs=step + 1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_high_end_if_nothing_was_observed(level):
    """No event and predictions of zero: rate 1, hence k / 2 + root of (k / 2)**2 rows, which is k."""
    k = k_of(stats.norm.isf((1 - level) / 2))
    found = interval_of(np.zeros(50, int), np.zeros(50), 15)
    assert found.high((1 - level) / 2) == pytest.approx(k / 50)
    # by the exact limit of a Poisson count, more than -log(tail) events would have shown
    assert k >= -np.log((1 - level) / 2)


def test_the_high_end_of_one_prediction():
    """Few events: Wilson's bound with k for z**2 where it widens. Twenty rows of prediction .1, one event."""
    y, p = np.eye(20, dtype=int)[0], np.full(20, 0.1)
    total, squares = abs(1 - 2), 0.9**2 + 19 * 0.1**2
    cubes = 0.9**3 - 19 * 0.1**3  # the sum is negative, but about one standard deviation from 0: it may have any sign
    z = stats.norm.isf(0.025)
    # the observed variance is below 1, so the absolute value is that of a sum with its sign
    first, rate = np.array([-1.0]), min((max(cubes, 0) + 2) / (squares - 1 / 20 + 2), 1)
    exact = by_grid(first, np.array([squares]), np.array([False]), z, k_of(z), rate)
    assert (total, squares - 1 / 20 < 1) == (1, True)
    assert 20 * interval_of(y, p, 15).high(0.025) == pytest.approx(exact, abs=0.02)


def test_the_high_end_of_clusters_by_hand():
    """The bound over signs, for the largest of all signs by brute force, is a little smaller."""
    random = np.random.default_rng(5)
    cluster = np.sort(np.append(np.arange(12), random.integers(12, size=200)))
    p = random.random(212)
    y = (random.random(212) < p * random.random(12)[cluster]).astype(int)
    cell, size = bin_number(p, 4), np.bincount(cluster)
    sums = np.array([[(y - p)[(cell == b) & (cluster == c)].sum() for c in range(12)] for b in range(4)])
    first = sums.sum(axis=1)
    centred = sums - first[:, None] * size / 212
    matrix = 12 / 11 * centred @ centred.T
    largest = np.abs(sums).sum(axis=0).max()  # of a cluster, for the signs that suit it best; all show both outcomes
    tail_bound = TailBound(TailBound.of_units(size.astype(float), 0.05).z, largest, largest)
    sign = np.sign(first)
    rate = tail_bound.rate(sign @ matrix @ sign, ((sign @ centred) ** 3).sum())
    found = pose(y, p, "ece", {"n_bins": 4}).in_clusters(cluster).interval.high(0.05) * 212
    total, worst = np.abs(first).sum(), 0.0
    for code in range(16):
        w = np.array([1 if code >> j & 1 else -1 for j in range(4)])
        worst = max(worst, w @ first + tail_bound.z * np.sqrt(w @ matrix @ w) - total)
    exact = total + tail_bound.widen(worst, rate)
    assert exact <= found <= exact * 1.05
    assert found <= total + tail_bound.widen(tail_bound.z * np.sqrt(np.abs(matrix).sum()), rate) + 1e-9


@given(st.data())
def test_the_high_end_is_finite_and_grows_with_the_level(data):
    """Property: any predictions, ties, certain ones, one row, no event."""
    rows = data.draw(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.001, 0.3, 0.5, 1.0])), min_size=1))
    y, p = np.array([a for a, _ in rows], int), np.array([b for _, b in rows])
    interval = interval_of(y, p, 4)
    found = [interval.high(tail) for tail in (0.1, 0.05, 0.025, 0.005)]
    assert np.isfinite(found).all()
    assert found == sorted(found)
    assert found[2] > 0


# --- how often the high end misses -----------------------------------------------------------------------------------


def bump(p):
    return np.clip(p + 0.08 * np.sin(40 * p), 0, 1)


POPULATIONS = {  # predictions, true probabilities, bins, rows
    "rare, underestimated": (np.array([0.001]), np.array([0.003]), 15, 200),
    "rare, calibrated group": (np.array([0.01, 0.5]), np.array([0.03, 0.5]), 15, 300),
    "nearly certain": (np.array([0.0, 0.5, 1.0]), np.array([0.05, 0.5, 0.97]), 15, 200),
    "near the same error": (np.array([0.3, 0.7]), np.array([0.35, 0.65]), 15, 1000),
    "one bin off": (np.array([0.1, 0.5, 0.9]), np.array([0.1, 0.58, 0.9]), 15, 400),
    "few rows a bin": (np.linspace(0.01, 0.99, 50), bump(np.linspace(0.01, 0.99, 50)), 50, 1000),
}


def normal_high(y, p, cell, z):
    """The planted fault: the estimate and z standard errors of its witness."""
    sums = np.bincount(cell, y - p)
    weighted = np.sign(sums)[cell] * (y - p)
    return weighted.mean() + z * weighted.std() / np.sqrt(y.size)


def share_missed(name, runs, tail=0.025, end=None):
    predicted, true, bins, n = POPULATIONS[name]
    cell = bin_number(predicted, bins)
    error = np.abs(np.bincount(cell, (true - predicted) / predicted.size)).sum()
    missed = 0
    for run in range(runs):
        random = np.random.default_rng([run, n])
        j = random.integers(predicted.size, size=n)
        y, p = (random.random(n) < true[j]).astype(int), predicted[j]
        high = interval_of(y, p, bins).high(tail) if end is None else end(y, p, cell[j], stats.norm.isf(tail))
        missed += high < error - 1e-12
    return missed


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_high_end_misses_no_more_than_it_may(name):
    assert share_missed(name, 120) <= stats.binom.isf(1e-5, 120, 0.025)


def test_the_check_of_misses_can_fail():
    assert share_missed("rare, underestimated", 120, end=normal_high) > stats.binom.isf(1e-5, 120, 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("tail", [0.1, 0.05, 0.025, 0.005])
@pytest.mark.parametrize("name", POPULATIONS)
def test_misses_in_many_runs(name, tail):
    assert share_missed(name, 3000, tail) <= stats.binom.isf(1e-5, 3000, tail)
