"""What comparisons share: ties, and an order of models and rows that does not show how they came."""

import numpy as np
import pytest

from calibstat.inference.differences import TIE, by_name, columns, settled


def test_differences_of_rounding_are_ties():
    assert settled(np.array([TIE / 2, -TIE / 2, 2 * TIE]), 0.5).tolist() == [0, 0, 2 * TIE]
    assert settled(50 * TIE, 100.0) == 0  # beside numbers of size 100 rounding is 100 times as large
    assert settled(0.25, 1.0) == 0.25


def test_models_are_taken_by_their_names():
    assert by_name(("b", "c", "a"), range(3)) == [2, 0, 1]
    assert by_name(("b", "c", "a"), (1, 0)) == [0, 1]


def test_rows_are_ordered_by_outcomes_first():
    y, p, q = np.zeros(1), np.ones(1), np.full(1, 2.0)
    assert [column.item() for column in columns([(y, p), (y, q)])] == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="zip"):
        columns([(y, p), (y,)])
