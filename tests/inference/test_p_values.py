"""P-values by hand."""

from itertools import product

import numpy as np
import pytest

from calibstat.inference.p_values import p_value, step_down


def test_p_value_by_hand():
    null = np.array([0.1, 0.2, 0.2, 0.3])
    # greater: 3 of 4 are at least 0.2, so (1 + 3) / 5; below: 3 of 4 at most 0.2, twice the smaller tail is capped at 1
    assert p_value(0.2, null, "greater") == 4 / 5
    assert p_value(0.2, null, "two-sided") == 1.0
    assert p_value(0.05, null, "two-sided") == 2 / 5
    assert p_value(9.0, null, "greater") == 1 / 5
    assert p_value(0.2 + 1e-15, null, "greater") == 4 / 5  # a tie up to rounding is a tie
    assert p_value(0.2 * (1 + 9e-11), null, "greater") == 4 / 5  # and one up to 1e-10 of it
    assert p_value(0.2 * (1 + 2e-10), null, "greater") == 2 / 5


def test_step_down_by_hand():
    """4 is compared with the largest, 5 3 2 6; 3 with that of the other two, 1 3 2 6; 1 with 1 0 2 1."""
    null = np.array([[1.0, 5, 0], [0, 2, 3], [2, 1, 1], [1, 0, 6]])
    assert step_down(np.array([1.0, 4, 3]), null) == pytest.approx([4 / 5, 3 / 5, 3 / 5])
    assert step_down(np.array([1.0, np.inf, 3]), null)[1] == 1 / 5
    # 3 is below both draws of the largest, 4 and 4; 2.9 alone is above 0 and 0, but comes after it
    assert step_down(np.array([2.9, 3]), np.array([[0.0, 4], [0, 4]])).tolist() == [1, 1]
    assert step_down(np.array([2.0, 2.0, 2.0 - 1e-15]), null) == pytest.approx([1, 1, 1])  # ties, none below another


def by_itself(statistic, null):
    return np.array([p_value(t, column, "greater") for t, column in zip(statistic, null.T, strict=True)])


def largest_error(adjust):
    """The most by which the family-wise error is above the level, from all labels of 5 rows with their probabilities.

    Rows are predicted 1/4 or 1/2; those of groups 0 to 3 are right, those of groups 4 to 6 partly wrong.
    """
    p = np.array([0.25, 0.25, 0.5, 0.25, 0.5])
    truth = np.array([0.25, 0.25, 0.5, 0.9, 0.05])
    groups = np.array([[*map(int, g)] for g in ("10000", "01100", "11100", "00100", "00111", "10010", "00001")])
    scale = np.sqrt(groups @ (p * (1 - p)))
    of_quarters = [[0, 0, 0, 1] if v == 0.25 else [0, 0, 1, 1] for v in p]
    null = np.abs((np.array([*product(*of_quarters)]) - p) @ groups.T) / scale  # each as often as it is likely
    chance, least = [], []
    for y in product([0, 1], repeat=5):
        chance.append(np.prod(np.where(y, truth, 1 - truth)))
        least.append(adjust(np.abs((np.array(y) - p) @ groups.T) / scale, null)[:4].min())
    chance, least = np.array(chance), np.array(least)
    return max(chance[least <= a].sum() - a for a in least)


def test_family_wise_error_by_enumeration():
    """Any group with right probabilities is rejected at a with probability of at most a, whatever the others are."""
    assert largest_error(step_down) <= 1e-9
    assert largest_error(by_itself) > 0.1
