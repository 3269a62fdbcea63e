"""Quantiles over rows that share a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.classical.row_quantiles import row_quantiles

SHARES = np.array([0.0, 0.05, 0.5, 0.9, 1.0])


@given(st.dictionaries(st.floats(-5, 5), st.integers(1, 6), min_size=1, max_size=12))
def test_of_counted_rows_they_are_those_of_numpy(rows):
    value, count = np.array(sorted(rows.items()), float).T
    every = np.repeat(value, count.astype(int))
    assert row_quantiles(value, count, SHARES, True) == pytest.approx(np.quantile(every, SHARES), abs=1e-12)


@given(st.dictionaries(st.floats(-5, 5), st.floats(0.1, 9), min_size=1, max_size=12))
def test_of_weights_they_are_the_smallest_values_with_enough_weight(rows):
    value, weight = np.array(sorted(rows.items())).T
    found = row_quantiles(value, weight, SHARES[1:], False)
    for share, at in zip(SHARES[1:], found, strict=True):
        slow = next(v for v in value if weight[value <= v].sum() >= share * weight.sum() * (1 - 1e-12))
        assert at == slow


def test_by_hand():
    value, count = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    assert row_quantiles(value, count, np.array([0.5, 5 / 6]), True) == pytest.approx([2.0, 3.0])
    assert row_quantiles(value, count, np.array([0.5, 5 / 6]), False).tolist() == [2.0, 4.0]
