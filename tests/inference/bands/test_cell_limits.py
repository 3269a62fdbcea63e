"""Limits of the distances of all cells: a loop over sets of classes, coverage where the truth is known, and faults."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import calibstat as cs
from calibstat.inference.bands.cell_limits import limits_of_distances

LABEL, PROB = cs.generators.dirichlet((0.6, 0.5, 0.4), temperature=2).sample(900, rng=1)


def lower_limit(seen, n, miss):
    """The mean probability at which so many outcomes or more have this probability: Clopper and Pearson by search."""
    if seen == 0:
        return 0.0
    return optimize.brentq(lambda p: stats.binom.sf(seen - 1, n, p) - miss, 0, 1, xtol=1e-14)


def slow_limits(mean, frequency, count, level):
    cells, classes = mean.shape
    sets = list(chain.from_iterable(combinations(range(classes), size) for size in range(1, classes)))
    miss, found = (1 - level ** (1 / cells)) / len(sets), []
    for m, f, n in zip(mean, frequency, count, strict=True):
        lower, upper = [], []
        for each in map(list, sets):
            seen = round(f[each].sum() * n)
            lower.append(lower_limit(seen, n, miss) - m[each].sum())
            upper.append(1 - lower_limit(n - seen, n, miss) - m[each].sum())
        found.append((max(0, *lower), min(1, max(upper))))
    return np.transpose(found)


@given(st.lists(st.tuples(*[st.integers(2, 30)] * 3), min_size=1, max_size=4), st.sampled_from([0.95, 0.8]))
def test_limits_equal_a_loop_over_sets(seen, level):
    seen = np.array(seen)
    count = seen.sum(axis=1)
    mean = (seen[:, ::-1] + 0.5) / (count[:, None] + 1.5)
    found = limits_of_distances(mean, seen / count[:, None], count, level)
    # of sets with several outcomes the limit is the one of Clopper and Pearson
    np.testing.assert_allclose(found, slow_limits(mean, seen / count[:, None], count, level), atol=1e-9)
    distance = np.abs(seen / count[:, None] - mean).sum(axis=1) / 2
    assert np.all((found[0] <= distance) & (distance <= found[1]))


def misses(chance, prob, true_of, n_datasets=300):
    """How many data sets have a cell whose true distance is outside of its limits, at 80 %."""
    random, missed = np.random.default_rng(4), 0
    for _ in range(n_datasets):
        label = (random.random((len(prob), 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
        found = cs.reliability(label, prob, lens="canonical", band="confidence", confidence_level=0.8, n_bins=2)
        true = true_of(found.mean_prediction)
        missed += bool(np.any((true < found.low) | (true > found.high)))
    return missed


def test_limits_hold_all_distances_at_once():
    """Four vectors, each a cell, that are wrong by .1 or right; the twin takes another distance for the true one."""
    prob = np.repeat([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]], 40, axis=0)
    chance = prob + 0.1 * np.repeat([[1, -1, 0], [0, 0, 0], [-1, 0, 1], [0, 0, 0]], 40, axis=0)
    wrong = {0.6: 0.1, 0.2: 0.0, 0.1: 0.1, 0.4: 0.0}
    limit = cs.study.most_rejections(0.2, 300, 1e-4)
    assert misses(chance, prob, lambda mean: np.array([wrong[m] for m in mean[:, 0].round(9)])) <= limit
    assert misses(chance, prob, lambda mean: np.full(len(mean), 0.35)) > limit


def test_the_worst_cell_and_what_is_said():
    found = cs.reliability(LABEL, PROB, lens="canonical", band="confidence", n_bins=3)
    assert found.worst == (found.low.max(), found.high.max())
    assert found.band_level == 0.95
    assert np.all((found.low <= found.distance) & (found.distance <= found.high))
    last = str(found).split("\n")[-1]
    assert last == (
        f"The largest distance of the outcome probabilities of a cell is between {found.worst[0]:.3g} and "
        f"{found.worst[1]:.3g}, with probability at least 95 % if outcomes are independent. A calibrated model has a "
        "low end above 0 with probability at most 5 %."
    )
    assert list(found.to_frame().columns)[-3:] == ["total_variation", "low", "high"]
    without = cs.reliability(LABEL, PROB, lens="canonical", n_bins=3)
    assert without.worst is without.low is without.band_level is None
    assert str(without) + "\n" + last == str(found)


def test_two_classes_have_the_limits_of_one_event():
    """The distance is the absolute deviation; the limits of its probability are cut at the same level."""
    y, p = cs.generators.temperature(2).sample(500, rng=1)
    both = cs.reliability(y, np.column_stack((1 - p, p)), lens="canonical", band="confidence", n_bins=4)
    event = cs.reliability(y, p, band="confidence", n_bins=4, interval=False)
    order = np.argsort(both.mean_prediction[:, 1])
    off = event.low - event.mean_prediction, event.mean_prediction - event.high
    np.testing.assert_allclose(both.low[order], np.maximum(0, np.maximum(*off)), atol=1e-12)
    np.testing.assert_allclose(both.high[order], np.maximum(-off[0], -off[1]), atol=1e-12)


def test_too_many_classes_are_refused():
    with pytest.raises(ValueError, match="expected at most 10 classes for limits of the distances of cells, found 11"):
        cs.reliability([0, 1], np.full((2, 11), 1 / 11), lens="canonical", band="confidence")


@pytest.mark.parametrize("band", ["monotone", "binomial", "pointwise_confidence"])
def test_a_band_that_cells_do_not_have_is_refused(band):
    """It was left out without a word."""
    with pytest.raises(ValueError, match=f"expected band 'confidence' or None for .*, found '{band}'"):
        cs.reliability(LABEL, PROB, lens="canonical", band=band)
