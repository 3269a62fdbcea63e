"""Columns as levels: cuts, periods, missing values, and names that say exactly which rows there are."""

import datetime
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.data.features import levels


def rows_of(column, n_quantiles=4, name="x"):
    names, code = levels(name, column, n_quantiles)
    assert len(set(names)) == len(names) == code.max() + 1
    return {level: np.flatnonzero(code == k).tolist() for k, level in enumerate(names)}


def test_texts_booleans_and_categories_are_as_they_are():
    assert rows_of(pd.Series(["b", "a", "b"])) == {"x = a": [1], "x = b": [0, 2]}
    assert rows_of(pd.Series([True, False])) == {"x = False": [1], "x = True": [0]}
    assert rows_of(pd.Series([3, 3, 1, 2, 5, 4]).astype("category"), 2) == {
        f"x = {k}": np.flatnonzero(np.array([3, 3, 1, 2, 5, 4]) == k).tolist() for k in range(1, 6)
    }
    assert rows_of(pd.Series([1.5, "a", 1.5], dtype=object)) == {"x = 1.5": [0, 2], "x = a": [1]}


def test_numbers_are_cut_at_quantiles():
    """Of 1, ..., 12 the quarters end at 3, 6 and 9; up to four different numbers are levels."""
    assert rows_of(pd.Series(range(1, 13))) == {
        "x <= 3": [0, 1, 2], "3 < x <= 6": [3, 4, 5], "6 < x <= 9": [6, 7, 8], "x > 9": [9, 10, 11]
    }  # fmt: skip
    assert rows_of(pd.Series([2.0, 1.0, 2.0, 0.5])) == {"x = 0.5": [3], "x = 1": [1], "x = 2": [0, 2]}
    assert rows_of(pd.Series([0.5, 0.5], dtype=object)) == {"x = 0.5": [0, 1]}


def test_quantiles_that_coincide():
    assert list(rows_of([0, 0, 0, 0, 0, 0, 1, 2, 3, 4])) == ["x <= 0", "0 < x <= 2", "x > 2"]  # of 10 the 8th is 2
    assert list(rows_of([0, 1, 2, 3] + [9] * 96)) == ["x <= 3", "x > 3"]
    assert list(rows_of([1, 2, 3, 4, np.inf, -np.inf, np.inf, np.inf])) == [
        "x <= 1",
        "1 < x <= 3",
        "3 < x <= 4",
        "x > 4",
    ]


def test_dates_are_cut_into_calendar_periods():
    """Of 30 days each is a level; 90 days are 4 months; 40 months are 14 quarters; 15 years are years."""
    start = pd.Timestamp("2016-01-01")
    days = lambda n: pd.Series(start + pd.to_timedelta(np.arange(n), "D"))  # noqa: E731
    assert list(rows_of(days(30)))[:2] == ["x = 2016-01-01", "x = 2016-01-02"]
    assert list(rows_of(days(92))) == ["x = 2016-01", "x = 2016-02", "x = 2016-03", "x = 2016-04"]
    assert list(rows_of(days(1300)))[:5] == ["x = 2016 Q1", "x = 2016 Q2", "x = 2016 Q3", "x = 2016 Q4", "x = 2017 Q1"]
    assert list(rows_of(days(365 * 15)))[-1] == "x = 2030"
    assert rows_of(days(92))["x = 2016-02"] == list(range(31, 60))
    plain = [datetime.date(2016, 5, 1), None, datetime.datetime(2016, 5, 1, 23)]  # fmt: skip
    assert rows_of(pd.Series(plain, dtype=object)) == {"x = 2016-05-01": [0, 2], "x missing": [1]}
    late = pd.Series(pd.to_datetime(["2016-05-31 23:30"])).dt.tz_localize("America/New_York")
    assert rows_of(late) == {"x = 2016-05-31": [0]}  # where the clock was, and not in Greenwich


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.0, np.nan, 2.0, np.nan]),
        pd.Series([1, None, 2, None], dtype="Int64"),
        pd.Series(["a", None, "b", np.nan], dtype=object),
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Series([True, None, False, None], dtype="boolean"),
        pd.to_datetime(pd.Series(["2016-01-01", None, "2017-01-01", None])),
    ],
)
def test_missing_values_are_a_level(column):
    found = rows_of(column)
    assert found["x missing"] == [1, 3]
    assert sorted(chain(*found.values())) == [0, 1, 2, 3]
    assert len(found) == 3


def test_only_missing_values():
    assert rows_of(pd.Series([None, None])) == {"x missing": [0, 1]}


@given(st.lists(st.floats(allow_nan=False, width=32) | st.integers(-3, 3), min_size=1, max_size=40), st.integers(2, 6))
def test_names_are_exact(values, n_quantiles):
    """Each row is in one level, of which the name, read as Python, is true; there are no more than wanted."""
    found = rows_of(np.array(values, float), n_quantiles)
    assert sorted(chain(*found.values())) == list(range(len(values)))
    assert len(found) <= n_quantiles
    for name, rows in found.items():
        code = name.replace(" = ", " == ")
        assert [i for i, x in enumerate(values) if eval(code, {"x": float(x), "inf": np.inf})] == rows


@pytest.mark.parametrize("values", [np.array([1j]), np.array([1], "timedelta64[s]"), np.zeros((2, 2))])
def test_other_columns_raise(values):
    with pytest.raises(ValueError, match=r"expected .*'x'"):
        rows_of(values)
