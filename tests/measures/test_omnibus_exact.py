"""The exact null distribution of the omnibus measure on few rows: all label vectors, weighted by their probability."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs

LEVELS = (0.01, 0.05, 0.1, 0.2, 0.5)
RESAMPLES = 199
ROUNDING = 1e-9
PREDICTIONS = {
    "one row": [0.3],
    "one certain row": [1.0],
    "two rows": [0.1, 0.6],
    "a tie": [0.4, 0.4],
    "0 and 1": [0.0, 0.5, 1.0],
    "three rows": [0.02, 0.5, 0.97],
    "four tied rows": [0.25] * 4,
    "ties, 0 and 1": [0.0, 0.2, 0.2, 0.7, 1.0],
    "five rows": [0.001, 0.05, 0.4, 0.5, 0.95],
    "six rows": [0.1, 0.2, 0.45, 0.55, 0.8, 0.9],
    "seven rows": [0.03, 0.2, 0.35, 0.5, 0.6, 0.85, 0.99],
    "seven rows, two values": [0.3] * 4 + [0.8] * 3,
    "seven rare rows": [0.001] * 3 + [0.01] * 3 + [0.05],
}


def all_labels(p):
    """Every label vector, shape (2**n, n), and its probability if calibrated."""
    labels = np.array(list(product((0, 1), repeat=len(p))))
    return labels, np.where(labels == 1, p, 1 - np.array(p)).prod(axis=1)


def statistics(p, labels):
    return np.array([cs.estimate(y, p, measure="omnibus") for y in labels])


def sizes(observed, null, weight):
    """P(p <= a), summed over all data: of the exact p-value, and of that with resamples.

    `null` has one row for each data set: the statistic of every label vector as a test of these data computes it.
    """
    tail = np.array([min(weight[row >= t - ROUNDING].sum(), 1.0) for t, row in zip(observed, null, strict=True)])
    exact = [weight[tail <= a + ROUNDING].sum() for a in LEVELS]
    # p = (1 + X) / (1 + B) <= a where X, the number of resamples at least as large, is binomial
    drawn = [weight @ binom.cdf(np.floor(a * (RESAMPLES + 1) + ROUNDING) - 1, RESAMPLES, tail) for a in LEVELS]
    return np.array(exact), np.array(drawn)


@pytest.mark.parametrize("p", PREDICTIONS.values(), ids=PREDICTIONS)
def test_size_by_enumeration(p):
    labels, weight = all_labels(p)
    assert weight.sum() == pytest.approx(1)
    observed = statistics(p, labels)
    assert not np.isnan(observed).any()
    for size in sizes(observed, np.tile(observed, (len(labels), 1)), weight):
        assert np.all(size <= np.array(LEVELS) + ROUNDING)


@pytest.mark.parametrize("p", PREDICTIONS.values(), ids=PREDICTIONS)
def test_resamples_have_the_exact_distribution(p):
    """The null distribution is the same for all labels, and each value is as frequent as its labels are likely."""
    labels, weight = all_labels(p)
    observed = statistics(p, labels)
    possible = np.flatnonzero(weight > 0)
    tests = [
        cs.calibration_test(labels[i], p, measure="omnibus", n_resamples=RESAMPLES, rng=5)
        for i in possible[:: max(1, possible.size // 8)]
    ]
    null = tests[0].null_distribution
    assert all(np.array_equal(test.null_distribution, null) for test in tests)
    far = 1e-3 / (2 * possible.size * len(PREDICTIONS))
    for value in observed[possible]:
        same = np.abs(observed - value) < ROUNDING
        drawn = int((np.abs(null - value) < ROUNDING).sum())
        chance = min(weight[same].sum(), 1.0)
        assert binom.ppf(far, RESAMPLES, chance) <= drawn <= binom.isf(far, RESAMPLES, chance)
    assert all(np.abs(observed[possible] - t).min() < ROUNDING for t in null)
    for i, test in zip(possible[:: max(1, possible.size // 8)], tests, strict=True):
        assert test.statistic == pytest.approx(observed[i], abs=ROUNDING)
        above = int((null >= observed[i] - ROUNDING).sum())
        assert test.pvalue == pytest.approx((1 + above) / (1 + RESAMPLES))


def test_a_forbidden_label():
    """A label that a prediction of 0 or 1 excludes cannot be drawn: the smallest p-value that there is."""
    found = cs.calibration_test([1, 0, 1], [0.0, 0.5, 1.0], measure="omnibus", n_resamples=RESAMPLES, rng=1)
    assert found.pvalue == pytest.approx(1 / (1 + RESAMPLES))
    assert np.isinf(found.statistic)


def test_sizes_by_hand():
    """Two rows of 1/2 and the number of events: 0, 1, 1, 2, with tails 1, 3/4, 3/4, 1/4."""
    labels, weight = all_labels([0.5, 0.5])
    count = labels.sum(axis=1).astype(float)
    exact, drawn = sizes(count, np.tile(count, (4, 1)), weight)
    assert exact == pytest.approx([0, 0, 0, 0, 0.25])
    assert drawn[-1] == pytest.approx(0.25 * binom.cdf(99, 199, 0.25) + 0.5 * binom.cdf(99, 199, 0.75), abs=1e-12)


@pytest.mark.parametrize("chosen_by", ["predictions", "labels"])
def test_cells_chosen_by_the_labels_break_it(chosen_by):
    """Two cells, the second beginning at one of the rows: where is decided by the predictions or by the labels.

    The null distribution keeps the cells of the data, which is a test only if labels do not choose them.
    """
    p = np.array(PREDICTIONS["seven rows"])
    labels, weight = all_labels(p)
    residual = np.cumsum(labels - p, axis=1)[:, :-1]  # below each of the six places
    variance = np.cumsum(p * (1 - p))
    statistic = residual**2 / variance[:-1] + (residual - (labels - p).sum(axis=1)[:, None]) ** 2 / (
        variance[-1] - variance[:-1]
    )
    place = statistic.argmax(axis=1) if chosen_by == "labels" else np.full(len(labels), 3)
    observed = statistic[np.arange(len(labels)), place]
    broken = [np.any(size > np.array(LEVELS) + ROUNDING) for size in sizes(observed, statistic[:, place].T, weight)]
    assert broken == [chosen_by == "labels"] * 2
