"""Random subsets: all equally likely, of the right size, the same for any number of threads."""

from itertools import combinations

import numpy as np
from scipy.stats import chisquare

from calibstat.resampling import Draws, sums_of_subsets

CODE = 2.0 ** np.arange(6)


def test_every_subset_is_as_likely_as_any_other():
    """The 20 subsets of 3 of 6, by their codes: chi-squared with 19 degrees of freedom, false alarm 1e-4."""
    drawn = sums_of_subsets(CODE[None], 3, Draws.of(1, 20_000))[:, 0]
    codes = sorted(sum(CODE[list(each)]) for each in combinations(range(6), 3))
    value, count = np.unique(drawn, return_counts=True)
    assert value.tolist() == codes
    assert chisquare(count).pvalue > 1e-4


def test_a_planted_fault_is_seen():
    """Draws that do not begin with the same order of members would be of another law: members in turn."""
    drawn = np.array([CODE[[r % 6, (r + 1) % 6, (r + 2) % 6]].sum() for r in range(20_000)])
    assert np.unique(drawn).size < 20


def test_sums_of_several_columns_are_of_the_same_subset():
    columns = np.stack([np.ones(30), np.arange(30.0), 2 * np.arange(30.0)])
    drawn = sums_of_subsets(columns, 12, Draws.of(1, 100))
    assert (drawn[:, 0] == 12).all()
    assert np.array_equal(drawn[:, 2], 2 * drawn[:, 1])
    assert np.array_equal(drawn, sums_of_subsets(columns, 12, Draws.of(1, 100, 2)))
    assert np.unique(drawn[:, 1]).size > 30


def test_all_members_are_one_subset():
    assert (sums_of_subsets(CODE[None], 6, Draws.of(1, 5)) == 63).all()
