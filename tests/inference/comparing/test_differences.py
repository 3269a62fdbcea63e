"""What comparisons share: ties, and an order of models and rows that does not show how they came."""

import numpy as np
import pytest

from calibstat.inference.comparing.differences import (
    TIE,
    adjusted,
    by_name,
    pairs_of,
    same_order,
    sort_columns,
    zero_if_rounding,
)


def test_differences_of_rounding_are_ties():
    assert zero_if_rounding(np.array([TIE / 2, -TIE / 2, 2 * TIE]), 0.5).tolist() == [0, 0, 2 * TIE]
    assert zero_if_rounding(50 * TIE, 100.0) == 0  # beside numbers of size 100 rounding is 100 times as large
    assert zero_if_rounding(0.25, 1.0) == 0.25


def test_models_are_taken_by_their_names():
    assert by_name(("b", "c", "a"), range(3)) == [2, 0, 1]
    assert by_name(("b", "c", "a"), (1, 0)) == [0, 1]


def test_rows_are_ordered_by_outcomes_first():
    y, p, q = np.zeros(1), np.ones(1), np.full(1, 2.0)
    assert [column.item() for column in sort_columns([(y, p), (y, q)])] == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="zip"):
        sort_columns([(y, p), (y,)])


def test_the_same_order_is_one_of_all_rows_with_their_ties():
    a = np.array([0.3, 0.1, 0.3, 0.8])
    for b, same in (
        ([0.4, 0.2, 0.4, 0.9], True),
        ([0.4, 0.2, 0.5, 0.9], False),  # a tie of the one alone
        ([0.4, 0.4, 0.4, 0.9], False),
        ([0.9, 0.95, 0.9, 0.1], False),  # backwards
        ([0.4, 0.2, 0.4, 0.3], False),
    ):
        assert same_order(a, np.array(b)) == same_order(np.array(b), a) == same
    assert same_order(a[:1], a[1:2])


def test_pairs_are_all_or_those_of_the_reference():
    assert pairs_of(("a", "b", "c"), None) == [(0, 1), (0, 2), (1, 2)]
    assert pairs_of(("a", "b", "c"), "b") == [(1, 0), (1, 2)]


def test_p_values_are_adjusted_for_their_number():
    """Holm: 3 * .01, then 2 * .02, and the largest of those before; Benjamini and Hochberg: 3 * p / rank."""
    pvalue = np.array([0.02, 0.01, 0.3])
    assert adjusted(pvalue, "holm") == pytest.approx([0.04, 0.03, 0.3])
    assert adjusted(pvalue, "bh") == pytest.approx([0.03, 0.03, 0.3])
    assert adjusted(pvalue[:1], "holm") == pytest.approx([0.02])
