"""Tables of binomial distributions against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from calibstat.resampling.binomial_tables import binomial_tables, widths

COUNT = np.array([17.0, 17.0, 20.0, 20.0, 1000.0, 1000.0, 1e6, 1e6, 50.0])
CHANCE = np.array([0.0, 1.0, 0.5, 1e-12, 0.3, 0.999, 0.5, 2e-6, 0.7])


def test_they_are_scipys():
    low, start, cdf, bits, guide_start, guide = binomial_tables(COUNT, CHANCE, widths(COUNT, CHANCE))
    for j, (n, p) in enumerate(zip(COUNT, CHANCE, strict=True)):
        table = cdf[start[j] : start[j + 1]]
        expected = stats.binom.cdf(low[j] + np.arange(table.size), n, p)
        assert table / table[-1] == pytest.approx(expected, rel=1e-9, abs=1e-15)
        assert stats.binom.cdf(low[j] - 1, n, p) < 2.0**-56
        assert stats.binom.sf(low[j] + table.size - 1, n, p) < 2.0**-56
        # the first value whose cumulative distribution reaches the part of a word that is its leading bits
        places = np.arange(2 ** bits[j]) / 2 ** bits[j]
        assert np.array_equal(guide[guide_start[j] : guide_start[j + 1]], np.searchsorted(table / table[-1], places))


def test_none_where_none_is_asked():
    low, start, cdf, bits, _, _ = binomial_tables(np.array([5.0, 20.0]), np.array([0.5, 0.5]), np.array([0, 21]))
    assert start.tolist() == [0, 0, 21]
    assert (low[0], bits[0]) == (0, 0)
    assert cdf[:21] / cdf[20] == pytest.approx(stats.binom.cdf(np.arange(21), 20, 0.5))
