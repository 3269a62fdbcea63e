"""The search for the least bound, and the mean sum of a calibrated model."""

import numpy as np
import pytest
from scipy.stats import binom

from calibstat.bounds.curves.least_bound import expected_sum, least
from calibstat.bounds.curves.runs_of_rows import Runs


def test_mean_sums_by_the_binomial_law():
    runs = Runs(np.array([0.0, 0.02, 0.4, 0.95, 1.0]), np.array([9.0, 30.0, 7.0, 12.0, 4.0]), np.arange(5))
    absolute = squares = 0.0
    for n, p in zip(runs.rows, runs.mean, strict=True):
        y = np.arange(n + 1)
        absolute += binom.pmf(y, n, p) @ np.abs(y - n * p)
        squares += binom.pmf(y, n, p) @ (y - n * p) ** 2 / n
    assert expected_sum(runs, 1) == pytest.approx(absolute)
    assert expected_sum(runs, 2) == pytest.approx(squares)


def test_the_least_of_a_valley_is_found():
    def valley(theta, eta):
        return np.log(theta / 0.3) ** 2 + np.log(eta / 0.1) ** 2

    theta, eta = least(valley, 1.0, 1000)
    assert valley(theta, eta) < 0.03


def test_the_search_is_short():
    trials = []

    def slope(theta, eta):
        trials.append(theta)
        return -theta

    least(slope, 1.0, 1000)
    assert len(trials) <= 25
