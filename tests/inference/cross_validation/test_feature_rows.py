"""Rows of features in every container: their number, their parts, and hashes that depend on values alone."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats

from calibstat.inference.cross_validation.feature_rows import count_rows, row_hashes, rows_at

VALUES = np.array([[1.0, 0.0, 2.5], [0.0, -1.0, np.nan], [3.0, 0.0, 0.0], [1.0, 0.0, 2.5]])
CONTAINERS = {
    "array": lambda values: values,
    "list": lambda values: values.tolist(),
    "pandas": lambda values: pd.DataFrame(values, index=list("dcba")[: len(values)] or None),
    "polars": lambda values: pl.DataFrame({f"f{j}": column for j, column in enumerate(values.T)}),
    "sparse": sparse.coo_matrix,
    "objects": lambda values: values.astype(object),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_part_is_in_the_container_in_which_the_rows_came(name):
    X = CONTAINERS[name](VALUES)
    part = rows_at(X, np.array([2, 0]))
    assert count_rows(X) == 4
    assert count_rows(part) == 2
    if name != "sparse":
        assert type(part) is type(X)
    dense = part.toarray() if name == "sparse" else np.asarray(part, dtype=float)
    np.testing.assert_array_equal(dense, VALUES[[2, 0]])


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_container_does_not_matter_and_neither_do_other_rows(name):
    found = row_hashes(CONTAINERS[name](VALUES), 1)
    assert found.tolist() == row_hashes(VALUES, 1).tolist()
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    assert row_hashes(rows_at(CONTAINERS[name](VALUES), np.array([1])), 1)[0] == found[1]
    assert not set(found.tolist()) & set(row_hashes(VALUES, 2).tolist())


@given(arrays(np.float64, (5, 3), elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, np.inf, np.nan])))
def test_rows_have_equal_hashes_if_and_only_if_they_are_equal(values):
    found = row_hashes(values, 7)
    for i in range(5):
        for j in range(5):
            assert (found[i] == found[j]) == np.array_equal(values[i], values[j], equal_nan=True)


def test_words_dates_and_categories_are_taken_as_text_and_numbers_by_their_value():
    mixed = {"word": ["a", "b", "a"], "day": [datetime.date(2024, 1, d) for d in (1, 2, 1)], "n": [1, 2, 1]}
    frame = pd.DataFrame(mixed)
    found = row_hashes(frame, 3)
    assert found[0] == found[2] != found[1]
    others = [frame.assign(word=frame["word"].astype("category")), frame.assign(n=frame["n"].astype("float32"))]
    assert all(row_hashes(other, 3).tolist() == found.tolist() for other in [*others, pl.DataFrame(mixed)])
    assert row_hashes(["one text", "another", "one text"], 3)[[0, 2]].tolist() == [row_hashes(["one text"], 3)[0]] * 2


def test_texts_that_look_like_numbers_are_texts_and_mixed_lists_are_as_frames():
    texts = np.array([["1", "2"]])
    assert row_hashes(texts, 1) == row_hashes(texts.astype(object), 1) == row_hashes(pd.DataFrame(texts), 1)
    assert row_hashes(texts, 1) != row_hashes([[1, 2]], 1)
    assert row_hashes([["a", 1]], 1) == row_hashes(pd.DataFrame({"word": ["a"], "number": [1.0]}), 1)
    assert row_hashes(pd.Series(["a", "b"]), 1).tolist() == row_hashes(["a", "b"], 1).tolist()


def test_columns_that_change_places_make_another_row():
    assert row_hashes([[1, 2]], 1) != row_hashes([[2, 1]], 1)
    assert row_hashes([[1, 1]], 1) != row_hashes([[0, 0]], 1)


def test_remainders_of_hashes_are_as_likely_as_each_other():
    """Of numbers one after another, whose bits hardly differ: 30,000 rows in 15 parts."""
    times = np.bincount(row_hashes(np.arange(30_000.0)[:, None], 1) % np.uint64(15), minlength=15)
    assert stats.chisquare(times).pvalue > 1e-3


def test_no_rows_have_no_hashes_and_what_has_no_rows_is_refused():
    assert row_hashes(np.empty((0, 2)), 1).size == 0
    with pytest.raises(ValueError, match=r"expected X, an array, a data frame, .* found int 3"):
        count_rows(3)
