"""The largest gain by acting at another threshold: both kernels are brute force over all thresholds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.bounds.decision_gains import largest_gain, largest_signed_gain, mirrored, steepest


@st.composite
def counted(draw, elements, most=24):
    """Distinct ascending predictions, and numbers of rows with outcomes 0 and 1 at each."""
    value = sorted(draw(st.sets(st.integers(0, 40), min_size=1, max_size=most)))
    numbers = st.lists(elements, min_size=len(value), max_size=len(value))
    return np.array(value) / 40, np.array(draw(numbers), float), np.array(draw(numbers), float)


def brute_force(value, negatives, positives, ends=1e-13):
    """Act at t, or at t' instead, for all pairs of thresholds just above and at each prediction."""
    thresholds = np.append(value, value + ends)
    acts = (value >= thresholds[:, None]).astype(float)
    gains = [0.0]
    for t, own in zip(thresholds, acts, strict=True):
        gains.append(np.max((acts - own) @ (positives * (1 - t) - negatives * t)))
    return max(gains)


@given(counted(st.integers(0, 4)))
def test_the_largest_gain_of_rows(rows):
    move = largest_gain(*rows)
    assert move.gain == pytest.approx(brute_force(*rows), abs=1e-9)
    of_0, of_1 = move.weights
    inside = slice(move.first, move.last)
    assert of_0 * rows[1][inside].sum() + of_1 * rows[2][inside].sum() == pytest.approx(move.gain, abs=1e-12)
    assert largest_signed_gain(*rows).gain == pytest.approx(move.gain, abs=1e-12)


def of_intervals(value, negatives, positives):
    """All intervals, begun on by whoever is indifferent at its last prediction, ceased on by one at its first."""
    gains = [0.0]
    for i in range(value.size):
        for j in range(i, value.size):
            one, zero = positives[i : j + 1].sum(), negatives[i : j + 1].sum()
            gains += [one * (1 - value[j]) - zero * value[j], zero * value[i] - one * (1 - value[i])]
    return max(gains)


@given(counted(st.floats(-3, 3, allow_subnormal=False)))
def test_the_largest_gain_of_numbers_of_any_sign(rows):
    move = largest_signed_gain(*rows)
    of_0, of_1 = move.weights
    inside = slice(move.first, move.last)
    assert move.gain == pytest.approx(of_intervals(*rows), abs=1e-9)
    assert of_0 * rows[1][inside].sum() + of_1 * rows[2][inside].sum() == pytest.approx(move.gain, abs=1e-9)


def test_many_rows_are_brute_force_too():
    random = np.random.default_rng(1)
    value = np.sort(random.choice(10**6, 300, replace=False)) / 10**6
    for draw in (lambda: random.integers(0, 3, 300) * 1.0, lambda: random.gamma(0.2, size=300)):
        rows = value, draw(), draw()
        expected = brute_force(*rows)
        assert largest_gain(*rows).gain == pytest.approx(expected, abs=1e-9)
        assert largest_signed_gain(*rows).gain == pytest.approx(expected, abs=1e-9)


def test_by_hand():
    # two of three rows at .5 have outcome 1: with t just above .5 acting on them gains 2 - 1.5
    move = largest_gain(np.array([0.2, 0.5]), np.array([3.0, 1.0]), np.array([0.0, 2.0]))
    # not to act on the rows at .2, with t = .2: 3 * .2, which is more
    assert (move.gain, move.first, move.last, move.threshold, move.acts) == (pytest.approx(0.6), 0, 1, 0.2, False)
    assert move.weights == (pytest.approx(0.2), pytest.approx(-0.8))
    move = largest_gain(np.array([0.2, 0.5]), np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    assert (move.gain, move.first, move.last, move.threshold, move.acts) == (pytest.approx(0.5), 1, 2, 0.5, True)


def test_nobody_gains_where_frequencies_are_predictions():
    move = largest_gain(np.array([0.25, 0.5]), np.array([3.0, 2.0]), np.array([1.0, 2.0]))
    assert (move.gain, move.first, move.last) == (0.0, 0, 0)


@given(counted(st.integers(0, 4)), st.floats(0, 1), st.sampled_from([0.6, 1.0]))
def test_sums_with_squares_are_brute_force(rows, slope, share):
    value, negatives, positives = rows
    threshold, slope = np.append(value[1:], 1.0), slope * share
    found, first, last, squares = steepest(value, negatives, positives, threshold, share, slope)
    best = 0.0
    for j, t in enumerate(threshold):
        for i in range(j + 1):
            one, zero = positives[i : j + 1].sum(), negatives[i : j + 1].sum()
            sums = one * (1 - t) - zero * t, one * (1 - t) ** 2 + zero * t**2
            best = max(best, share * sums[0] + slope * sums[1])
    assert found == pytest.approx(best, abs=1e-9)
    t, inside = threshold[last - 1], slice(first, last)
    assert squares == pytest.approx(positives[inside].sum() * (1 - t) ** 2 + negatives[inside].sum() * t**2, abs=1e-9)


@pytest.mark.parametrize("slope", np.linspace(0, 1, 11))
def test_the_slope_of_the_tangent_falls(slope):
    """Which `steepest` needs: later ends never touch an earlier point."""
    t = np.linspace(0, 1, 1001)[:-1]
    falling = (-t + slope * t**2) / (1 - t + slope * (1 - t) ** 2)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(falling))


def test_reversed_twice_is_the_same():
    rows = np.array([0.25, 0.5]), np.array([3.0, 1.0]), np.array([0.0, 2.0])
    assert [part.tolist() for part in mirrored(*mirrored(*rows))] == [part.tolist() for part in rows]
