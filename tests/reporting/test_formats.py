"""The formats of a report."""

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from quick_report import quick_report

from calibstat.reporting.formats import as_text, format_of

MODELS = {"=A()": [0.2, 0.6, 0.9] * 20, "@B": [0.3, 0.5, 0.8] * 20}


@pytest.fixture(scope="module")
def report():
    return quick_report([0, 1, 1] * 20, MODELS)


def test_the_suffix_decides_unless_a_format_is_given():
    assert [format_of(Path(f"a.{end}")) for end in ("html", "HTM", "json", "csv", "md")] == [
        "html", "html", "json", "csv", "md"]  # fmt: skip
    assert format_of(Path("a.txt"), "csv") == "csv"
    with pytest.raises(ValueError, match=r"expected a file that ends in .html, .json, .csv or .md, found 'report'"):
        format_of(Path("report"))
    with pytest.raises(ValueError, match="did you mean 'html'"):
        format_of(Path("a.html"), "htm l")


def test_json_is_strict_and_flat(report):
    found = json.loads(as_text(report, "json"), parse_constant=pytest.fail)
    plain = report.to_dict()
    assert all(plain[key] == value for key, value in found.items() if key in plain)
    assert set(found) - set(plain) <= {"answer", "next_step"}
    assert found["models.@B.ece.low"] == report.models["@B"].ece.low


def test_csv_has_a_row_for_each_measure_and_no_formula(report):
    text = as_text(report, "csv")
    table = pd.read_csv(StringIO(text))
    assert set(table.model) == {"'=A()", "'@B"}
    assert table.estimate.tolist() == pytest.approx(report.to_frame().estimate.tolist())


def test_html_and_markdown_begin_as_they_should(report):
    assert as_text(report, "html").lstrip().startswith("<!DOCTYPE html>")
    assert as_text(report, "md").startswith("# Calibration of =A(), `@B`\n")
