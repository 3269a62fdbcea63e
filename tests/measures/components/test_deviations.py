"""Deviations of three kinds: the time of predictions, and what is kept between data and draws."""

import math

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures.components import deviations
from calibstat.measures.components.deviations import Diagnostics, cells_of_time, time_of


def test_time():
    """Half the share of information below the middle of a prediction, half that of rows.

    Information 1 * .25 and 3 * .09: shares .125 / .52 and (.25 + .135) / .52; of rows 1 / 8 and 5 / 8.
    """
    found = time_of(np.array([0.5, 0.9]), np.array([1.0, 3.0]))
    assert np.allclose(found, [(0.125 / 0.52 + 1 / 8) / 2, (0.385 / 0.52 + 5 / 8) / 2])


def test_cells_of_time():
    few = np.linspace(0, 1, 1024)
    assert np.array_equal(cells_of_time(few, np.ones(1024)), np.arange(1024))
    many = np.linspace(0, 1, 4000)
    cell = cells_of_time(many, np.ones(4000))
    assert cell[0] == 0
    assert cell[-1] == 1025
    assert set(np.diff(cell)) == {0, 1}
    inner = np.bincount(cell)[1:-1]
    assert inner.max() < 9  # 3998 rows in 1024 cells, more of them where they carry more information


def test_look_is_kept():
    """Data and draws of the same rows share what does not depend on labels."""
    count, value = np.array([2.0, 3.0]), np.array([0.1, 0.4])
    assert Diagnostics.of(count, value) is Diagnostics.of(count.copy(), value.copy())
    assert Diagnostics.of(count, value) is not Diagnostics.of(count, value[::-1])


def test_labels_and_draws_of_ten_classes_share_what_does_not_depend_on_them():
    random = np.random.default_rng(1)
    prob = random.dirichlet(np.ones(10), 40)
    y = np.array([random.choice(10, p=row) for row in prob])
    deviations._diagnostics.cache_clear()
    cs.calibration_test(y, prob, lens="class_wise", n_resamples=9, rng=1)
    assert deviations._diagnostics.cache_info().misses == 10


def test_weighted_rows_are_not_rounded():
    """Half a row more is half a row more."""
    count, value = np.array([2.5, 3.5]), np.array([0.5, 1.75]) / 6
    diagnostics = Diagnostics.at(count, value)
    assert not diagnostics.whole
    assert np.allclose(diagnostics.positives(np.array([[0.25, 0.0]]) / 6), [[0.75, 1.75]])


def test_mean_prediction_that_rounds_to_one():
    """A cell whose mean prediction is 1 up to rounding forbids a label 0."""
    rows = 49.0
    diagnostics = Diagnostics.at(np.array([rows]), np.array([1 / 49 * 49]))
    assert diagnostics.value[0] == 1
    assert diagnostics.statistic(np.array([[-1 / 49]]))[0] == math.inf


@pytest.mark.parametrize("size", [129, 1000, 4097])
def test_a_long_sum_of_information_is_the_one_at_once_to_the_last_bit(size, monkeypatch):
    """NumPy halves sums of more than 128 terms, at a multiple of eight."""
    random = np.random.default_rng(size)
    value, count = random.random(size), random.integers(1, 9, size).astype(float)
    monkeypatch.setattr(deviations, "LONGEST", 128)
    assert deviations._information(value, count) == (count * value * (1 - value)).sum()


def test_certain_predictions_have_no_cells_to_describe():
    assert cs.detail([0, 1, 1], [0, 1, 1.0], measure="omnibus").fields == {}


@pytest.mark.parametrize("rows", [2, 3, 64, 99])
def test_the_first_roots_alone_are_those_among_all_to_the_last_bit(rows):
    value = np.sort(np.random.default_rng(1).random(120))
    diagnostics = Diagnostics.of(np.ones(120), value / 120)
    residual = ((np.random.default_rng(2).random((rows, 120)) < value) - value) / 120
    every = diagnostics.roots(residual)
    assert every.shape[1] > 2
    assert np.array_equal(diagnostics.roots(residual, first=2), every[:, :2])
