"""Pairs drawn from a binary sample: rows by their counts, the sums of what they add, and the number of threads."""

import numpy as np
import pytest
from binary_draws import KEY, SMALL, TIED
from oracles import follows
from scipy import stats

import calibstat as cs
from calibstat.resampling import Consistency, Draws, Pairs, Stream, binary_pairs, pairs_of_sample, residuals_of_pairs
from calibstat.resampling.binary_pairs import rows_of_sample

ROWS = cs.Sample.from_rows(*cs.generators.temperature(2).sample(2500, rng=1))
DRAWS = Draws(KEY, 12)


def both(_, count, positives):
    return np.array([count, positives])


def test_rows_of_a_sample():
    cell, outcome = rows_of_sample(SMALL)
    assert np.array_equal(np.bincount(cell), SMALL.count)
    assert np.array_equal(np.bincount(cell, outcome), SMALL.positives)
    assert np.array_equal(cell, np.sort(cell))


@pytest.mark.parametrize("sample", [SMALL, TIED, ROWS], ids=["ties", "cells", "rows"])
def test_sums_are_of_the_same_rows(sample):
    """Of the residuals of the drawn pairs, a row at a time."""
    counted = pairs_of_sample(sample, Pairs(), both, DRAWS, 1)
    origin = np.sin(sample.value)
    found = residuals_of_pairs(sample, origin, 2.0, np.copy, DRAWS, 1)
    for r, (count, positives) in enumerate(counted):
        residual = [(a - c * v) / sample.n for v, c, a in zip(sample.value, count, positives, strict=True)]
        np.testing.assert_allclose(found[r], origin + 2 * np.array(residual), rtol=0, atol=1e-12)
        assert count.sum() == sample.n


def test_positives_given_the_count_of_a_tied_prediction():
    """Of three draws at .35, where one row of three has outcome 1, a binomial number has it."""
    drawn = pairs_of_sample(SMALL, Pairs(), both, Draws(KEY, 20_000), 1)
    three = drawn[drawn[:, 0, 2] == 3][:, 1, 2]
    assert follows(three, stats.binom.pmf(np.arange(4), 3, 1 / 3))
    assert not follows(three, stats.binom.pmf(np.arange(4), 3, 0.4))  # planted fault


@pytest.mark.parametrize("scheme", [Pairs(), Consistency()], ids=["pairs", "consistency"])
@pytest.mark.parametrize("sample", [SMALL, TIED, ROWS], ids=["ties", "cells", "rows"])
def test_threads_do_not_show(sample, scheme):
    found = pairs_of_sample(sample, scheme, both, DRAWS, Stream.ROWS)
    assert np.array_equal(pairs_of_sample(sample, scheme, both, Draws(KEY, 12, 2), Stream.ROWS), found)
    assert np.array_equal(pairs_of_sample(sample, scheme, both, Draws(KEY, 5), Stream.ROWS), found[:5])
    assert not np.array_equal(pairs_of_sample(sample, scheme, both, DRAWS, Stream.COMPARE), found)


def test_few_and_many_ties_have_the_same_law(monkeypatch):
    """Rows one by one, or the number of rows at each prediction: a two-sample test of the residuals in a direction."""
    direction = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 1.5])

    def found(most, shift=0.0):
        monkeypatch.setattr(binary_pairs, "ROWS_OF_A_VALUE", most)
        return residuals_of_pairs(SMALL, np.zeros(6), 1.0, lambda theta: direction @ theta + shift, Draws(KEY, 4000), 1)

    assert stats.ks_2samp(found(32), found(0)).pvalue > 1e-3
    assert stats.ks_2samp(found(32), found(0, 0.1)).pvalue < 1e-3  # planted fault
