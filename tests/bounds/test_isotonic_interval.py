"""The honest interval of the gain by monotone recalibration, against all recalibrations on a grid."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import isotonic_regression

import calibstat as cs
from calibstat.bounds import isotonic_interval
from calibstat.bounds.isotonic_interval import gain_bound, recalibrated
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.data.sample import Sample
from calibstat.measures.corp import MCB

SCORE = TailBound.of_rows(0.025)


@pytest.mark.parametrize("m", [1, 2, 3, 40, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_recalibration_is_isotonic_regression(m, seed):
    """With ties, weights, and predictions without rows."""
    random = np.random.default_rng(seed)
    count = random.integers(0, 4, m) * [1.0, 0.37, random.random(m)][seed]
    count[0] += 1
    positives = count * random.random(m) ** seed
    found, present = recalibrated(np.arange(m) / m, count, positives), count > 0
    expected = isotonic_regression(positives[present] / count[present], weights=count[present]).x
    assert found[present] == pytest.approx(expected, rel=1e-14)
    assert np.all(np.isnan(found[~present]))


def all_bounds(sample, intervals):
    """The bound of every non-decreasing recalibration with values on the grid."""
    found = -np.inf
    for steps in combinations_with_replacement(range(intervals + 1), sample.value.size):
        moved = np.array(steps) / intervals
        gain = [sample.value**2 - moved**2, (1 - sample.value) ** 2 - (1 - moved) ** 2]  # if the outcome is 0, and if 1
        rows = [sample.count - sample.positives, sample.positives]
        total = sum((r * g).sum() for r, g in zip(rows, gain, strict=True))
        squares = sum((r * g**2).sum() for r, g in zip(rows, gain, strict=True))
        added = max(np.max(gain), 0) * SCORE.k / 2
        found = max(found, total + added + np.sqrt(SCORE.z**2 * squares + added**2))
    return found


@pytest.mark.parametrize("positives", [(0, 3, 9), (1, 20, 2), (0, 0, 0), (12, 10, 11)])
def test_highest_bound_over_all_recalibrations(positives, monkeypatch):
    monkeypatch.setattr(isotonic_interval, "_FINEST_GRID", 32)
    sample = Sample.from_counts([0.1, 0.4, 0.8], [12, 25, 11], positives)
    best = all_bounds(sample, 32) + sample.n / (4 * 32**2)
    found = gain_bound(*sample.arrays, SCORE)
    # never below it; above it because the largest part is rounded up to a bound, by a factor of at most 1.5
    assert best - 1e-9 <= found <= best * 1.5


def every_value(sample, intervals, at_least, at_most, slope):
    """The same dynamic programme over all values of the grid and both states, one after the other."""
    best = {(0, at_least < 0): 0.0}  # by the last value, and whether an f is above at_least
    for v, count, positives in zip(*sample.arrays, strict=True):
        after = {}
        for g in range(intervals + 1):
            gain = np.array([v**2 - (g / intervals) ** 2, (1 - v) ** 2 - (1 - g / intervals) ** 2])
            if gain.max() > at_most:
                continue
            added = np.array([count - positives, positives]) @ (gain + slope * gain**2)
            for above in (False, True):
                state = (g, above or gain.max() > at_least)
                before = max((total for (h, a), total in best.items() if h <= g and a == above), default=-np.inf)
                after[state] = max(after.get(state, -np.inf), before + added)
        best = after
    return max((total for (_, above), total in best.items() if above), default=-np.inf)


@pytest.mark.parametrize("levels", [(-1.0, 1 / 16), (0.11, 0.13), (0.3, 0.7), (0.5, 1.0)])
def test_values_of_large_gains_are_left_out(levels):
    for seed in range(3):
        random = np.random.default_rng(seed)
        sample = Sample.from_rows(random.integers(0, 2, 12), np.append(random.random(10), [0, 1]))
        value, count, positives = sample.arrays
        found, _ = isotonic_interval._best(value, *(positives, count - positives) * 2, np.arange(17) / 16, *levels, 0.4)
        assert found == pytest.approx(every_value(sample, 16, *levels, 0.4), abs=1e-9)


@pytest.mark.parametrize("positives", [(0, 3, 9), (1, 20, 2), (12, 10, 11)])
def test_the_slope_is_the_best_one(positives):
    """Of one level of the largest gain: nearly the least bound of 500 slopes, and no smaller."""
    sample = Sample.from_counts([0.1, 0.4, 0.8], [12, 25, 11], positives)
    value, count, ones = sample.arrays
    counts, level, bounds = (ones, count - ones) * 2, 1.0, []
    skew = (level * SCORE.k / (2 * SCORE.z)) ** 2
    for slope in np.geomspace(0.5 / np.sqrt(count.sum() + skew), 0.5 / np.sqrt(skew), 500):
        total, _ = isotonic_interval._best(value, *counts, np.arange(65) / 64, -1.0, level, SCORE.z * slope)
        bounds.append(total + level * SCORE.k / 2 + SCORE.z * (slope * skew + 0.25 / slope))
    found = isotonic_interval._highest(value, *counts, 64, np.array([level]), SCORE.z, SCORE.k)
    assert min(bounds) - 1e-4 <= found <= min(bounds) * (1 + 1e-4)


def test_most_levels_are_tried_once(monkeypatch):
    """Of 15 levels with up to 8 slopes each."""
    tried = []
    plain, best = isotonic_interval._highest.py_func, isotonic_interval._best
    counted = dict(plain.__globals__, _best=lambda *given: tried.append(given[7]) or best(*given))
    monkeypatch.setattr(isotonic_interval, "_highest", type(plain)(plain.__code__, counted))
    sample = Sample.from_rows(*cs.generators.temperature(1).sample(5000, rng=1))
    gain_bound(*sample.arrays, SCORE)
    assert len(set(tried)) == 15
    assert len(tried) <= 40


def test_no_event():
    # predictions of 0 and no event in 100 rows: a frequency of q is possible up to .0362, by an exact limit, and the
    # recalibration q then gains q**2 on average
    found = cs.confidence_interval(np.zeros(100), np.zeros(100), measure="mcb", n_resamples=99, rng=1)
    assert found.low == found.estimate == 0
    assert 0.0362**2 < found.high < 0.05


RUNS = 60


def covered(value, chance, n, runs=RUNS, shorter=1.0):
    random = np.random.default_rng(6)
    found = 0
    for run in range(runs):
        count = random.multinomial(n, np.full(value.size, 1 / value.size))
        full = count > 0
        sample = Sample.from_counts(value[full], count[full], random.binomial(count, chance)[full])
        truth = MCB().evaluate(value[full], count[full].astype(float), (count * chance)[full])
        interval = cs.confidence_interval(sample, measure="mcb", n_resamples=99, rng=run)
        found += interval.low * shorter <= truth <= interval.high / shorter
    return found


VALUE = np.linspace(0.02, 0.98, 25)
CHANCES = {
    "calibrated": VALUE,
    "over-confident": 0.5 + 0.6 * (VALUE - 0.5),
    "one bad end": np.where(VALUE > 0.95, 0.5, VALUE),
    "decreasing": 0.7 - 0.4 * VALUE,
}


@pytest.mark.parametrize("name", CHANCES)
def test_coverage(name):
    assert covered(VALUE, CHANCES[name], 300) >= stats.binom.ppf(1e-5, RUNS, 0.94)


def test_coverage_can_fail():
    found = covered(VALUE, CHANCES["decreasing"], 300, shorter=1.6)
    assert found < stats.binom.ppf(1e-5, RUNS, 0.94)


# --- events that were not observed, exactly ---------------------------------------------------------------------------


GROUPS = 16  # of counts, where there are more than so many, each represented by its middle


def counts(rows, chance):
    """Numbers of events, of those that are not too rare, with their binomial probabilities."""
    positives = np.arange(stats.binom.ppf(1e-4, rows, chance), stats.binom.isf(1e-4, rows, chance) + 1)
    parts = np.array_split(positives, min(positives.size, GROUPS))
    return [(part[part.size // 2], stats.binom.pmf(part, rows, chance).sum()) for part in parts]


def truth_below(value, rows, chance):
    """The probability that the truth lies below the interval: one interval for every combination of counts."""
    value, rows, chance = (np.array(column, np.float64) for column in (value, rows, chance))
    truth = MCB().evaluate(*(column[np.argsort(value)] for column in (value, rows, rows * chance)))
    missed = 0.0
    for seed, combination in enumerate(product(*map(counts, rows, chance))):
        positives, probability = zip(*combination, strict=True)
        sample = Sample.from_counts(value, rows, positives)
        if np.prod(probability) > 1e-6 and MCB().estimate(sample) > truth:  # which low ends do not exceed
            found = cs.confidence_interval(sample, measure="mcb", n_resamples=199, rng=seed)
            missed += np.prod(probability) * (found.low > truth)
    return missed


UNSEEN = [  # .05 to 10 events, or rows without one, are expected of a prediction
    ([0.3], [100], [0.001]),
    ([0.3], [1000], [0.0005]),
    ([0.5], [1000], [0.998]),
    ([0.3], [10_000], [0.0002]),
    ([0.05], [1000], [0.01]),
    ([0.7025], [39], [0.9463]),
    ([0.1, 0.9], [300, 300], [0.002, 0.998]),
]


@pytest.mark.parametrize(("value", "rows", "chance"), UNSEEN)
def test_low_end_knows_of_events_that_were_not_observed(value, rows, chance):
    assert truth_below(value, rows, chance) <= 0.03


@pytest.mark.parametrize(("value", "rows", "chance"), UNSEEN)
def test_resamples_do_not_know_of_them(value, rows, chance, monkeypatch):
    """Planted fault: the low end takes what resamples say, and the same enumeration finds it."""
    monkeypatch.setattr(Allowance, "extend", lambda self, reach: reach)
    assert truth_below(value, rows, chance) > 0.1


def random_cell(random):
    """One to three predictions anywhere: .05 to 5 events are expected of the first, others are right, wrong or rare."""
    m = random.choice([1, 2, 3], p=[0.6, 0.35, 0.05])
    rows = np.maximum(np.round(random.dirichlet(np.ones(m)) * np.exp(random.uniform(np.log(39), np.log(10_000)))), 5)
    value = random.random(m).round(4)
    rare = np.minimum(np.exp(random.uniform(np.log(0.05), np.log(5), m)) / rows, 0.5)
    chance = np.choose(np.append(0, random.integers(3, size=m - 1)), [rare, value, random.random(m)])
    return (value, rows, chance) if random.random() < 0.5 else (1 - value, rows, 1 - chance)


@pytest.mark.slow
def test_low_end_in_random_cells():
    random = np.random.default_rng(20)
    missed = [truth_below(*random_cell(random)) for _ in range(200)]
    assert max(missed) <= 0.03, np.argmax(missed)


def test_low_end_is_the_score_bound_where_nothing_happened():
    # no event in 100 rows predicted .3: an event takes .6 from the gain of .09, and (2 z**2 + 4) / 3 may be unseen
    sample = Sample.from_counts([0.3], [100], [0])
    found = cs.confidence_interval(sample, measure="mcb", n_resamples=99, rng=1)
    assert found.low == pytest.approx(0.09 - 0.6 * (2 * SCORE.z**2 + 4) / 300, abs=1e-9)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.93, 1.0]), st.integers(0, 1)), min_size=1, max_size=30))
def test_any_rows(rows):
    p, y = map(np.array, zip(*rows, strict=True))
    found = cs.confidence_interval(y, p, measure="mcb", n_resamples=79, rng=1)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    if found.low > 0:
        assert cs.calibration_test(y, p, measure="mcb", n_resamples=79, rng=1).pvalue <= 0.025
