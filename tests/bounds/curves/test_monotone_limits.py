"""Whether rows contradict a curve that does not decrease."""

import numpy as np
import pytest
from scipy.stats import beta, binom

import calibstat as cs
from calibstat.bounds.curves.monotone_limits import cell_starts, falls, information_share, lower_limit, monotone_limits

SETS = 200


def test_limits_are_those_of_clopper_and_pearson():
    positives, rows = np.array([0.0, 3.0, 10.0]), np.array([10.0, 10.0, 10.0])
    expected = [0, beta.ppf(0.05, 3, 8), beta.ppf(0.05, 10, 1)]
    np.testing.assert_allclose(lower_limit(positives, rows, 0.05), expected)


def test_a_fall_is_found_and_placed():
    sample = cs.Sample.from_counts([0.2, 0.4, 0.6], [200, 200, 200], [60, 150, 40])
    assert falls(sample).startswith("the outcome is more likely at some prediction up to 0.4 than at some from 0.6 on")
    assert falls(cs.Sample.from_counts([0.2, 0.4, 0.6], [200, 200, 200], [40, 60, 150])) == ""


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_curves_that_do_not_decrease_are_hardly_rejected(slope):
    """At most 5 %; the flat curve is the nearest to falling. Its twin, which falls, is."""
    random = np.random.default_rng(4)
    rejected = fallen = 0
    for _ in range(SETS):
        p = random.random(400)
        rejected += falls(cs.Sample.from_rows(random.random(400) < 0.5 + slope * (p - 0.5), p)) != ""
        fallen += falls(cs.Sample.from_rows(random.random(400) < 1 - p, p)) != ""
    assert rejected <= binom.ppf(0.9995, SETS, 0.05)
    assert fallen > binom.ppf(0.9995, SETS, 0.05)


def test_one_prediction_has_one_cell():
    limits = monotone_limits(cs.Sample.from_counts([0.5], [10], [5]), 0.1)
    assert limits.low.size == 1
    assert limits.low[0] < 0.5 < limits.high[0]


def test_shares_of_rows_and_of_information_by_hand():
    """Half of the rows are at .5, and all of the information: p (1 - p) is 0 at 0 and at 1."""
    found = information_share(np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(found, [0.125, 0.25 + 0.5, 0.125])


@pytest.mark.parametrize(("n", "cells"), [(1000, 64), (8000, 128), (200_000, 256)])
def test_numbers_of_cells_by_hand(n, cells):
    """6 n^(1/3) is 60, 120 and 351: the nearest powers of two on the scale of logarithms."""
    value = (np.arange(1000) + 0.5) / 1000
    assert cell_starts(cs.Sample.from_counts(value, np.full(1000, n // 1000), np.zeros(1000))).size == cells
