"""Fragments of pages: tables of frames, and the page of a result."""

import pandas as pd

from calibstat.output.fragments import LONGEST, cell, page_of, sections_of, table_of


def test_one_row_becomes_one_column():
    found = table_of(pd.DataFrame({"low": [0.123456], "lens": ["event"]}))
    assert found.rows == [("low", "0.1235"), ("lens", "event")]


def test_numbers_are_aligned_and_many_rows_are_cut():
    found = table_of(pd.DataFrame({"name": ["a"] * 40, "n": range(40)}))
    assert found.header == ["name", ">n"]
    assert len(found.rows) == LONGEST
    assert found.note == "and 10 more rows: to_frame() has all"


def test_a_missing_number_is_empty():
    assert [cell(x) for x in (float("nan"), 1234567.0, 3, True, "a")] == ["", "1.235e+06", "3", "True", "a"]


def test_the_page_has_words_table_and_picture():
    found = page_of(
        sections_of("", ["first <line>"], "first <line>\nsecond", pd.DataFrame({"a<": [1, 2]}), "<svg></svg>")
    )
    assert "<p>first &lt;line&gt;</p>" in found
    assert "<p>second</p>" in found
    assert "<figure><svg></svg></figure>" in found
    assert "a&lt;" in found


def test_an_empty_table_is_left_out():
    assert "<table>" not in page_of(sections_of("", ["words"], "words", pd.DataFrame()))
