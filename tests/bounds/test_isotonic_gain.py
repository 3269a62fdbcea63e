"""The gain by isotonic regression, against pooling of every prediction."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import calibstat as cs
from calibstat.bounds import isotonic_gain
from calibstat.bounds.isotonic_gain import LEVEL_PART, largest_gain
from calibstat.data.sample import Sample
from calibstat.measures.corp import MCB


def plain(value, count, positives):
    """All predictions pooled one by one, and the gain of each added up."""
    fitted, present = value.copy(), count > 0
    fitted[present] = isotonic_regression(positives[present] / count[present], weights=count[present]).x
    return ((value - fitted) * (count * (value + fitted) - 2 * positives)).sum()


def counts(random, m):
    """Single rows, tied rows with predictions that have none, or weights."""
    some = [np.ones(m), random.integers(0, 4, m).astype(float), random.random(m)][random.integers(3)]
    some[0] += 1
    return some


CHANCES = {
    "calibrated": lambda value: value,
    "decreasing": lambda value: 1 - value,
    "constant": lambda value: np.full(value.size, 0.3),
    "never": lambda value: np.zeros(value.size),
    "always": lambda value: np.ones(value.size),
    "in steps": lambda value: np.floor(5 * value) / 5,
}


def disagreement(seed, chance):
    random = np.random.default_rng(seed)
    worst = 0.0
    for m in (1, 2, 3, LEVEL_PART - 1, LEVEL_PART, LEVEL_PART + 1, 200, 3000):
        value = np.sort(random.random(m) if seed % 2 else random.integers(0, 9, m) / 8)
        count = counts(random, m)
        drawn = random.binomial(np.ceil(count).astype(int), CHANCES[chance](value))
        positives = drawn * count / np.maximum(np.ceil(count), 1)
        worst = max(worst, abs(largest_gain(value, count, positives) - plain(value, count, positives)) / count.sum())
    return worst


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("seed", range(8))
def test_all_predictions_pooled(seed, chance):
    assert disagreement(seed, chance) < 1e-15


def test_corners_inside_of_parts_are_needed(monkeypatch):
    """Planted fault: parts are pooled and never cut."""
    source, cut = largest_gain.py_func, isotonic_gain._cut.py_func
    uncut = type(cut)(cut.__code__, dict(cut.__globals__, max=lambda *_: -np.inf))
    faulty = type(source)(source.__code__, dict(source.__globals__, _cut=uncut))
    monkeypatch.setattr(isotonic_gain, "largest_gain", faulty)
    random = np.random.default_rng(3)
    value = np.sort(random.random(500))
    positives = (random.random(500) < value).astype(float)
    found = isotonic_gain.largest_gain(value, np.ones(500), positives)
    assert found < plain(value, np.ones(500), positives) - 0.1


def test_noise_of_any_size():
    """Around recalibrations, as the interval asks: outcomes are any numbers, and values any ascending ones."""
    random = np.random.default_rng(2)
    for m in (1, 2, 30, 1000):
        value, share = np.sort(random.random(m)), random.dirichlet(np.ones(m))
        for scale in (0.01, 0.3, 3.0):
            outcomes = share * (value + random.normal(0, scale, m))
            expected = plain(value, share, outcomes)
            assert largest_gain(value, share, outcomes) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_nothing_to_gain_is_zero():
    value = np.linspace(0, 1, 101)
    assert largest_gain(value, np.ones(101), value) == 0
    assert largest_gain(np.full(100, 0.25), np.ones(100), (np.arange(100) % 4 == 0) * 1.0) == 0
    assert largest_gain(np.array([0.0, 1.0]), np.array([70.0, 30.0]), np.array([0.0, 30.0])) == 0


def test_it_is_the_measure():
    sample = Sample.from_rows(*cs.generators.temperature(2).sample(300, rng=1))
    share = sample.count / sample.n
    found = largest_gain(sample.value, share, share * sample.value + sample.residual)
    assert found == pytest.approx(MCB().estimate(sample), abs=1e-12)
