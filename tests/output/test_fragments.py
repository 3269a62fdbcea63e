"""Fragments of pages: tables of frames, and the page of a result."""

import pandas as pd

from calibstat.output.fragments import LONGEST, Section, Table, cell, page_of, sections_of, table_of, table_of_models


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


def test_lines_of_a_printed_table_stay_below_each_other():
    found = page_of([Section("", ["Words.", "a    1", "bb   2", "More words.", "c    3"])])
    assert "<p>Words.</p>\n<pre><span>a    1</span><span>bb   2</span></pre>\n<p>More words.</p>" in found
    assert found.count("<pre>") == 2


def test_the_answer_is_shown_without_the_lines_of_a_table():
    """The table of rows has them; in print they are all there, behind the fold."""
    found = page_of(sections_of("", ["Answer."], "Answer.\nx   1\ny   2", pd.DataFrame({"a": [1, 2]})))
    shown, folded = found.split("<details", 1)
    assert "<p>Answer.</p>" in shown
    assert "x   1" not in shown
    assert "<span>x   1</span><span>y   2</span>" in folded


def test_a_number_that_one_model_lacks_is_an_empty_cell():
    found = table_of_models({"A": {"low": 0.5}, "B": {"low": 0.25, "pvalue": 1.0}})
    assert found.header == ["model", ">low", ">pvalue"]
    assert found.rows == [["A", "0.5", ""], ["B", "0.25", "1"]]


def test_an_interval_may_go_below_its_estimate():
    found = page_of([Section("", tables=[Table(("m", ">x"), [("[a]", "0.5 [0.1, 0.9]"), ("b [c]", "2")])])])
    assert '0.5 <span class="ends">[0.1, 0.9]</span>' in found
    assert "<td>[a]</td>" in found


def test_what_fits_on_a_page_is_not_parted_in_print():
    short, long = ([("a", str(k)) for k in range(n)] for n in (14, 15))
    for rows, whole in ((short, True), (long, False)):
        found = page_of([Section("Heading", ["words"], tables=[Table(("", ">"), rows)])])
        assert ('<div class="scroll whole">' in found) == whole
        assert ('<section class="whole">' in found) == whole
    assert 'class="whole"' not in page_of([Section("Heading", ["words " * 1000])])
