"""The command line: what it prints, what it writes, and one line for everything that can be wrong with the input."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import calibstat as cs
from calibstat import demo, report
from calibstat.cli import app, with_progress
from calibstat.measures.registry import everyday_measures

COLUMNS = ["--label", "y", "--prob", "p"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], terminal_width=120)


def words(text):
    """The text without line breaks and colours."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())


@pytest.fixture(scope="module")
def rows():
    y, p = cs.generators.temperature(1.5).sample(400, rng=1)
    return pd.DataFrame({"y": y.astype(int), "p": p, "name": "x"})


@pytest.fixture
def csv(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def fails_with(result, *parts):
    """One line on standard error, exit code 2, nothing on standard output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("calibstat: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def test_version():
    assert run("--version").stdout == f"calibstat {cs.__version__}\n"


def test_help_names_every_command():
    text = run("--help").stdout
    assert all(name in text for name in ("demo", "measures", "test", "interval", "report"))


def test_help_loads_nothing_slow():
    code = "import sys, calibstat.cli; print([m for m in ('pandas', 'statsmodels', 'seaborn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_measures_lists_the_registry():
    text = run("measures").stdout
    assert all(name in text for name in cs.MEASURES)


def test_test_says_what_the_function_says(rows, csv):
    result = run("test", csv, *COLUMNS, "--measure", "ks", "--n-resamples", 199, "--rng", 5)
    assert result.exit_code == 0
    p = cs.calibration_test(rows["y"], rows["p"], measure="ks", n_resamples=199, rng=5).pvalue
    text = words(result.stdout)
    assert f"p = {report.p_text(p)}" in text
    assert "400 rows" in text
    assert "A large p-value is not evidence that the model is calibrated" in text
    assert "held-out" in text


def test_same_seed_same_words_by_default(csv):
    assert run("test", csv, *COLUMNS).stdout == run("test", csv, *COLUMNS).stdout


def test_several_measures_are_taken_together(csv):
    text = words(run("test", csv, *COLUMNS, "--measure", "ks", "--measure", "ece").stdout)
    assert "2 measures were asked the same question" in text
    assert "Multiplied by 2" in text


def test_interval_says_what_the_function_says(rows, csv):
    text = words(run("interval", csv, *COLUMNS, "--level", 0.9, "--rng", 5).stdout)
    found = cs.confidence_interval(rows["y"], rows["p"], confidence_level=0.9, rng=5)
    assert f"{report.number(found.low)} to {report.number(found.high)}" in text
    assert "90 %" in text
    assert "honest method" in text


def test_interval_by_another_method(csv):
    assert "percentile method" in words(run("interval", csv, *COLUMNS, "--method", "percentile").stdout)


def test_parquet_and_csv_agree(rows, csv, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet")
    assert run("test", csv, *COLUMNS).stdout == run("test", tmp_path / "rows.parquet", *COLUMNS).stdout


def test_report_writes_table_pictures_and_strict_json(rows, csv, tmp_path):
    out = tmp_path / "new" / "folder"
    result = run("report", csv, *COLUMNS, "--out", out)
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == {
        "report.json",
        "table.csv",
        "reliability.png",
        "null.png",
        "intervals.png",
    }
    found = json.loads((out / "report.json").read_text(), parse_constant=pytest.fail)
    assert [entry["measure"] for entry in found["findings"]] == everyday_measures()
    assert found["data"] == {"n": 400, "positives": rows["y"].sum(), "distinct_predictions": 400}
    assert found["rng"] == 0
    for entry in found["findings"]:
        honest = cs.MEASURES[entry["measure"]].bind({}).honest
        assert (entry["interval"] is None) == (honest is None)
        assert 0 < entry["test"]["pvalue"] <= 1
    assert list(pd.read_csv(out / "table.csv")["measure"]) == everyday_measures()
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_report_stays_strict_where_a_loss_is_infinite(tmp_path):
    rows = pd.DataFrame({"y": [0, 1, 1, 0] * 10, "p": [1.0, 0.5, 0.7, 0.2] * 10})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = run("report", tmp_path / "rows.csv", *COLUMNS, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    loss = next(entry for entry in found["findings"] if entry["measure"] == "log_loss")
    assert loss["estimate"] is None


def test_strict_replaces_what_json_cannot_say():
    bad = {"a": [float("nan"), (1.5, float("inf"))], "b": "text", "c": None}
    assert report.strict(bad) == {"a": [None, [1.5, None]], "b": "text", "c": None}


def test_missing_file():
    fails_with(run("test", "nowhere.csv", *COLUMNS), "no such file", "nowhere.csv")


def test_directory(tmp_path):
    fails_with(run("test", tmp_path, *COLUMNS), "directory")


def test_unknown_kind_of_file(tmp_path):
    (tmp_path / "rows.xls").write_text("y,p\n1,1\n")
    fails_with(run("test", tmp_path / "rows.xls", *COLUMNS), ".csv or .parquet")


def test_empty_file(tmp_path):
    (tmp_path / "rows.csv").write_text("")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "is empty")


def test_header_alone(tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "at least one row")


def test_missing_column_names_those_there_are(csv):
    fails_with(run("test", csv, "--label", "z", "--prob", "p"), "no column 'z'", "y, p, name")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("y,p\n1,0.5\n0,often\n", ("'p'", "'often'", "row 1")),
        ("y,p\n1,0.5\nno,0.2\nyes,0.1\n", ("'y'", "'no'", "row 1")),
        ("y,p\n1,0.5\n0,\n", ("'p'", "nan", "row 1")),
        ("y,p\n1,0.5\n0,1.5\n", ("'p'", "1.5", "row 1")),
        ("y,p\n1,0.5\n2,0.5\n", ("'y'", "2.0", "row 1")),
        ("y,p\n0.5,1\n0.2,0\n", ("look swapped",)),
    ],
)
def test_bad_value_names_column_row_and_value(tmp_path, text, parts):
    (tmp_path / "rows.csv").write_text(text)
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), *parts)


def test_unreadable_parquet(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 this is not it PAR1")
    fails_with(run("test", tmp_path / "rows.parquet", *COLUMNS), "cannot read")


def test_undecodable_csv(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"y,p\n1,\xff\xfe\n")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "cannot read")


def test_unknown_measure(csv):
    fails_with(run("test", csv, *COLUMNS, "--measure", "ecce"), "'ecce'", "ece, ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("test", "--n-resamples", 0),
        ("test", "--rng", -1),
        ("interval", "--level", 1.5),
        ("interval", "--method", "exact"),
        ("interval", "--measure", "mcb"),
    ],
)
def test_bad_arguments(csv, arguments):
    command, *options = arguments
    fails_with(run(command, csv, *COLUMNS, *options), "calibstat")


def test_folder_that_is_a_file(csv):
    fails_with(run("report", csv, *COLUMNS, "--out", csv), csv.name)


def test_missing_option_is_a_usage_error(csv):
    assert run("test", csv, "--label", "y").exit_code == 2


def test_progress_answers_in_order():
    assert with_progress(["a", "b"], str.upper) == ["A", "B"]


def test_verdicts_do_not_claim_calibration():
    assert "compatible" in report.verdict(0.5)
    assert "strong" in report.verdict(0.01)
    assert "hint" in report.verdict(0.1)


@pytest.mark.parametrize(
    ("x", "text"), [(0.12345, "0.1235"), (0.0, "0.0000"), (0.00012, "1.2e-04"), (float("inf"), "inf")]
)
def test_numbers_stay_visible(x, text):
    assert report.number(x) == text


@pytest.mark.parametrize(("share", "text"), [(0.5, "50 %"), (1.0, "100 %"), (0.999, "99.9 %"), (0.0004, "0.04 %")])
def test_shares_are_not_rounded_away(share, text):
    assert report.percent(share) == text


def test_demo_splits_as_it_says():
    y, p = demo.held_out()
    assert y.size == 10_190
    assert np.unique(p).size == 2_514
    sharper = demo.over_confident(p)
    assert np.allclose(np.log(sharper / (1 - sharper)), np.log(p / (1 - p)) / demo.SHARPENING)


def test_demo_finds_the_over_confident_model(tmp_path):
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reliability.png", "null.png", "intervals.png"}
    text = words(result.stdout)
    assert "10,190" in text
    assert "lies wholly above" in text


def test_the_readme_picture_is_small():
    picture = Path(__file__).parent.parent / "docs" / "images" / "demo.png"
    assert picture.stat().st_size < 150_000
