"""Runs of rows: ties stay together, frequent predictions are alone, and their number."""

import numpy as np
import pytest

from calibstat.bounds.curves.runs_of_rows import FEWEST, Runs, _runs, cells_of

EVEN = (np.arange(10_000) + 0.5) / 10_000


@pytest.mark.parametrize("n", [1000, 10_000])
def test_evenly_spread_predictions_have_about_twice_n_to_two_fifths_runs(n):
    value = (np.arange(n) + 0.5) / n
    assert cells_of(value, np.ones(n)).max() + 1 == pytest.approx(2 * n**0.4, rel=0.15)


def test_few_predictions_are_runs_of_their_own():
    runs = Runs.of(np.linspace(0, 1, 8), np.full(8, 30.0))
    assert runs.is_single.all()
    assert runs.rows.tolist() == [30] * 8


def test_a_frequent_prediction_is_alone():
    value, count = np.append(EVEN[::10], 0.50001), np.append(np.ones(1000), 400.0)
    order = np.argsort(value)
    runs = Runs.of(value[order], count[order])
    alone = runs.cell[value[order] == 0.50001]
    assert runs.rows[alone].tolist() == [400]
    assert runs.rows.sum() == 1400


def test_narrow_predictions_have_few_runs_but_not_fewer_than_ten():
    assert cells_of(0.5 + 0.02 * EVEN, np.ones(EVEN.size)).max() + 1 == pytest.approx(FEWEST, abs=2)


def test_numbers_of_runs_by_hand():
    runs = Runs(np.array([0.1, 0.3, 0.8]), np.array([1.0, 3.0, 2.0]), np.array([0, 0, 1]))
    assert runs.rows.tolist() == [4, 2]
    np.testing.assert_allclose(runs.mean, [0.25, 0.8])
    np.testing.assert_allclose(runs.squares, [0.15**2 + 3 * 0.05**2, 0], atol=1e-15)
    np.testing.assert_allclose(runs.width, [0.2, 0])
    assert runs.is_single.tolist() == [False, True]


def test_predictions_without_rows_and_certain_ones():
    assert cells_of(np.array([0.0, 1.0]), np.array([5.0, 5.0])).tolist() == [0, 1]
    value = np.linspace(0, 1, 40)
    cell = cells_of(value, np.append(np.zeros(20), np.ones(20)))
    assert cell[0] == 0
    assert (np.diff(cell) >= 0).all()
    assert (np.diff(cell) <= 1).all()


@pytest.mark.parametrize("k", [5, 11, 21])
def test_runs_of_reversed_predictions_are_reversed(k):
    """Also where the one in the middle has all the information: rows below and above it are certain. By hand: it has 8
    of 100 rows and so .54 of the weight, which begins at .23 of it, 46 certain rows; it is a run between two others."""
    value = np.concatenate([np.linspace(0, 1e-6, 46), [0.5], np.linspace(1 - 1e-6, 1, 46)])
    count = np.where(value == 0.5, 8.0, 1.0)
    cell = _runs(value, count, k)
    assert np.array_equal(cell[-1] - cell[::-1], cell)
    assert cell[46] - 1 == cell[45]
    assert cell[47] - 1 == cell[46]
