"""Errors about rows, in the words of Python and in others."""

import pickle

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.rows_error import Entry, Given, RowsError


def test_parts_are_said_in_any_words():
    error = RowsError("expected 1, found y_prob in ", Entry(Given.PREDICTIONS, 3, 1), "; give ", Given.FROM_LOGITS)
    assert str(error) == "expected 1, found y_prob in y_prob at row 3, column 1; give calibstat.from_logits(y_prob)"
    assert error.said(lambda part: type(part).__name__) == "expected 1, found y_prob in Entry; give Given"
    assert str(Entry(None, 2)) == "at row 2"
    assert str(Entry("weights", 2)) == "weights at row 2"
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("y", "p", "parts"),
    [
        ([1, 0], [0.5, 75.0], {Entry(Given.PREDICTIONS, 1)}),
        ([1, 0], [0.5, 7.5], {Entry(Given.PREDICTIONS, 1), Given.FROM_LOGITS}),
        ([1, 0], [0.5, -3.0], {Entry(Given.PREDICTIONS, 1), Given.FROM_LOGITS}),
        ([1.0, 0.5], [0.5, 0.5], {Entry(Given.OUTCOMES, 1), Given.SHARES}),
        ([0.25, 0.5], [1.0, 0.0], {Given.OUTCOMES, Given.PREDICTIONS}),
        ([0, 1, 1], [[0.5, 0.25, 0.25], [0.5, 0.5, 0.5], [0, 0, 1]], {Given.ROW_OF_PREDICTIONS, Entry(None, 1)}),
        ([0, 1], [[0.5, 0.25, 0.25], [0.5, 1.5, -1]], {Entry(Given.PREDICTIONS, 1, 1), Given.FROM_LOGITS}),
    ],
)
def test_what_is_wrong_with_rows_is_in_fields(y, p, parts):
    with pytest.raises(RowsError) as found:
        cs.estimate(np.array(y), np.array(p), measure="brier")
    assert {part for part in found.value.args if not isinstance(part, str)} == parts
