"""The form of binned measures: the bias of cells and their high ends, against loops over rows and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likely_sums import by_grid, high_of_rows, k_of
from oracles import bin_number
from scipy import stats
from scipy.stats import norm

from calibstat.inference.pose import pose
from calibstat.measures.noise import score_of_units


def model_of(y, p, measure, options, **settings):
    found = pose(y, p, measure, options, **settings)
    return found.row_form() if found.contents() else None


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
    model = model_of(y, p, "ece", {"n_bins": 5})
    cell = bin_number(p, 5)
    model = model if members == 1 else model.in_units(cluster)
    assert model.missing_bias(np.zeros(1)) == pytest.approx(bias_by_hand(y, p, cell, cluster), abs=1e-8)


# --- the high end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("n", [1, 20, 300])
def test_the_high_end_of_rows_by_hand(n, scale, level):
    random = np.random.default_rng(n)
    p = np.round(random.random(n) * scale, 3)  # with ties, exact 0 and, at scale 1, exact 1
    y = (random.random(n) < 0.7 * p).astype(int)
    exact, step = high_of_rows(y, p, bin_number(p, 5), stats.norm.isf((1 - level) / 2))
    for form in (pose(y, p, "ece", {"n_bins": 5}).linear_form(), pose(y, p, "ece", {"n_bins": 5}).row_form()):
        assert form.high((1 - level) / 2) == pytest.approx(exact, abs=step + 1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_high_end_if_nothing_was_observed(level):
    """No event and predictions of zero: rate 1, hence k / 2 + root of (k / 2)**2 rows, which is k."""
    k = k_of(stats.norm.isf((1 - level) / 2))
    found = pose(np.zeros(50, int), np.zeros(50), "ece", {}).linear_form()
    assert found.high((1 - level) / 2) == pytest.approx(k / 50)
    # by the exact limit of a Poisson count, more than -log(tail) events would have shown
    assert k >= -np.log((1 - level) / 2)


def test_the_high_end_of_one_prediction():
    """Few events: Wilson's bound with k for z**2 where it widens. Twenty rows of prediction .1, one event."""
    y, p = np.eye(20, dtype=int)[0], np.full(20, 0.1)
    total, squares = abs(1 - 2), 0.9**2 + 19 * 0.1**2
    cubes = -(0.9**3 - 19 * 0.1**3)  # the sum is negative, and its sign is changed
    z = stats.norm.isf(0.025)
    # the observed variance is below 1, so the absolute value is that of a sum with its sign
    first, rate = np.array([-1.0]), min((max(cubes, 0) + 2) / (squares - 1 / 20 + 2), 1)
    exact = by_grid(first, np.array([squares]), np.array([False]), z, k_of(z), rate)
    assert (total, squares - 1 / 20 < 1) == (1, True)
    assert 20 * pose(y, p, "ece", {}).linear_form().high(0.025) == pytest.approx(exact, abs=0.02)


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
    score = score_of_units(size.astype(float), 0.05)
    sign = np.sign(first)
    rate = score.rate(sign @ matrix @ sign, ((sign @ centred) ** 3).sum())
    found = pose(y, p, "ece", {"n_bins": 4}).in_clusters(cluster).linear_form().high(0.05) * 212
    total, worst = np.abs(first).sum(), 0.0
    for code in range(16):
        w = np.array([1 if code >> j & 1 else -1 for j in range(4)])
        worst = max(worst, w @ first + score.z * np.sqrt(w @ matrix @ w) - total)
    exact = total + score.widened(worst, rate)
    assert exact <= found <= exact * 1.05
    assert found <= total + score.widened(score.z * np.sqrt(np.abs(matrix).sum()), rate) + 1e-9


@given(st.data())
def test_the_high_end_is_finite_and_grows_with_the_level(data):
    """Property: any predictions, ties, certain ones, one row, no event."""
    rows = data.draw(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.001, 0.3, 0.5, 1.0])), min_size=1))
    y, p = np.array([a for a, _ in rows], int), np.array([b for _, b in rows])
    form = pose(y, p, "ece", {"n_bins": 4}).linear_form()
    found = [form.high(tail) for tail in (0.1, 0.05, 0.025, 0.005)]
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
        if end is None:
            high = pose(y, p, "ece", {"n_bins": bins}).linear_form().high(tail)
        else:
            high = end(y, p, cell[j], stats.norm.isf(tail))
        missed += high < error - 1e-12
    return missed


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_high_end_misses_no_more_than_it_may(name):
    assert share_missed(name, 300) <= stats.binom.isf(1e-5, 300, 0.025)


def test_the_check_of_misses_can_fail():
    assert share_missed("rare, underestimated", 300, end=normal_high) > stats.binom.isf(1e-5, 300, 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("tail", [0.1, 0.05, 0.025, 0.005])
@pytest.mark.parametrize("name", POPULATIONS)
def test_misses_in_many_runs(name, tail):
    assert share_missed(name, 3000, tail) <= stats.binom.isf(1e-5, 3000, tail)
