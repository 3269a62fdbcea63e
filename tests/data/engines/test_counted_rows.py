"""Rows of several models by counts: the same as the rows, and errors that name the entry."""

import numpy as np
import pytest

import calibstat as cs


def test_counts_are_the_rows_of_each_model():
    models = cs.Models.from_counts([1, 0, 0, 1], {"A": [0.2, 0.2, 0.7, 0.5], "B": [0.1, 0.1, 0.1, 0.5]}, [2, 3, 4, 0])
    rows = [1, 1, 0, 0, 0, 0, 0, 0, 0], [0.2] * 5 + [0.7] * 4, [0.1] * 9
    assert repr(models) == "Models('A', 'B': 9 rows, 2 with outcome 1)"
    for name, p in {"A": rows[1], "B": rows[2]}.items():
        assert cs.estimate(models, measure="brier")[name] == pytest.approx(cs.estimate(rows[0], p, measure="brier"))
    assert list(models.counted.count) == [2, 3, 4]
    only = models.some("B")
    assert list(only) == list(only.counted.value) == ["B"]


@pytest.mark.parametrize(
    ("y", "prob", "count", "message"),
    [
        ([0, 1], {"A": [0.1, 0.2]}, [1], "expected one count for each outcome, found 1 counts and 2 outcomes"),
        ([0, 1], {"A": [0.1, 0.2]}, [1, 1.5], "expected a whole count, found 1.5"),
        ([0, 1], {"A": [0.1, 0.2]}, [1, -1], "expected a whole count, found -1"),
        ([0, 1], {"A": [0.1, 0.2]}, [0, 0], "expected at least one row, found none"),
        ([0, 1], {"A": [0.1, 1.2]}, [1, 1], "expected a probability"),
        ([0, 2], {"A": [0.1, 0.2]}, [1, 1], "expected 0 or 1, found 2"),
        ([0, 1], np.array([0.1, 0.2]), [1, 1], "expected y_prob, a mapping from different names"),
        ([0, 1], {}, [1, 1], "expected y_prob, a mapping from different names"),
        ([0, 1], {1: [0.1, 0.2], "1": [0.3, 0.4]}, [1, 1], "expected y_prob, a mapping from different names"),
    ],
)
def test_what_is_wrong_is_said(y, prob, count, message):
    with pytest.raises(ValueError, match=message):
        cs.Models.from_counts(y, prob, count)
