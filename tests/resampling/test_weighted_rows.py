"""Resamples of rows with weights, against loops over the same random words."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.weighted_sample import as_weights, weighted_sample
from calibstat.resampling import Consistency, Draws, Labels, Pairs, draw, in_cells
from calibstat.resampling.streams import first_state, key_of, word

KEY = key_of(5)
N = 9


def sample_of(seed=1):
    random = np.random.default_rng(seed)
    y, p = random.integers(0, 2, N), random.integers(0, 5, N) / 4
    return weighted_sample(y, p, as_weights(random.lognormal(0, 1, N), N))


def below(w, p):
    return (int(w) >> 1) < int(p * 2**63)


def times_of(start):
    """How often each row is drawn: two from each word, the lower half first, and one from the last word."""
    times, words = np.zeros(N, int), [int(word(start, i)) for i in range(N // 2 + 1)]
    halves = [half for w in words for half in (w & 0xFFFFFFFF, w >> 32)][:N]
    for half in halves:
        times[half * N >> 32] += 1
    return times


def slow(sample, scheme, replicate):
    """Sums of weights at the distinct predictions, row by row."""
    start = np.uint64(first_state(KEY, 1, replicate))
    count, positives = np.zeros((2, sample.value.size))
    if isinstance(scheme, Labels):
        for i in range(N):
            positives[sample.cell[i]] += sample.weight[i] * below(word(start, i), sample.prediction[i])
        return sample.count, positives
    times, used = times_of(start), 0
    for i in range(N):
        for _ in range(times[i]):
            count[sample.cell[i]] += sample.weight[i]
            event = (
                sample.outcome[i] if isinstance(scheme, Pairs) else below(word(start, N + used), sample.prediction[i])
            )
            positives[sample.cell[i]] += sample.weight[i] * event
            used += 1
    return count, positives


@pytest.mark.parametrize("scheme", [Labels(), Pairs(), Consistency()], ids=lambda scheme: type(scheme).__name__)
def test_resamples_of_weighted_rows(scheme):
    sample = sample_of()
    found = draw(sample, scheme, lambda value, count, positives: np.stack([count, positives]), Draws(KEY, 20), 1)
    for r in range(20):
        assert np.array(slow(sample, scheme, r)) == pytest.approx(found[r], abs=1e-12)
    threads = draw(sample, scheme, lambda value, count, positives: count @ positives, Draws(KEY, 20, 3), 1)
    assert np.array_equal(threads, [count @ positives for count, positives in found])


@pytest.mark.parametrize("scheme", [Labels(), Pairs(), Consistency()], ids=lambda scheme: type(scheme).__name__)
def test_sums_in_cells_are_those_of_the_same_resamples(scheme):
    sample = sample_of()
    cell = np.arange(sample.value.size) // 2
    of_cells = draw(in_cells(sample, cell), scheme, lambda count, residual, value: residual * 1.0, Draws(KEY, 20), 1)
    each = draw(sample, scheme, lambda value, count, positives: np.stack([count, positives]), Draws(KEY, 20), 1)
    for found, (count, positives) in zip(of_cells, each, strict=True):
        expected = np.bincount(cell, positives - count * sample.value) / count.sum()
        assert found == pytest.approx(expected, abs=1e-12)


def test_labels_follow_another_truth():
    sample = sample_of()
    truth = np.zeros(sample.value.size)
    found = draw(sample, Labels(truth), lambda value, count, positives: positives.sum(), Draws(KEY, 5), 1)
    assert np.array_equal(found, np.zeros(5))
    cells = in_cells(sample, np.arange(truth.size))
    found = draw(cells, Labels(truth), lambda count, residual, value: residual + value, Draws(KEY, 5), 1)
    assert np.array_equal(found, np.zeros((5, truth.size)))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_certain_rows_have_no_residual(value):
    """To the last digit, in cells of their own: otherwise a drawn label would seem to be one that is forbidden."""
    weight = np.random.default_rng(2).lognormal(size=200)
    p = np.where(np.arange(200) < 100, value, 0.4)
    sample = weighted_sample((p == 1) * 1.0, p, as_weights(weight, 200))
    cells = in_cells(sample, np.arange(2))
    found = draw(cells, Labels(), lambda count, residual, value: residual * 1.0, Draws(KEY, 20), 1)
    assert np.array_equal(found[:, int(value)], np.zeros(20))


def test_few_heavy_rows_find_only_larger_effects():
    """The detectable effect of rows with weights draws their labels from an alternative, with the weights."""
    y, p = cs.generators.calibrated().sample(300, rng=1)
    options = {"families": "shift_up", "n_resamples": 499, "n_datasets": 200, "rng": 0}
    heavy = cs.detectable_effect(y, p, sample_weight=np.where(np.arange(300) < 15, 30.0, 1.0), **options)
    equal = cs.detectable_effect(y, p, sample_weight=np.full(300, 2.5), **options)
    assert heavy.effect[0] > 1.5 * equal.effect[0]
