"""The command `report`: formats, exit codes, and how columns are read."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, PATTERN, fails_with, plain_text, run
from quick_report import quick_report

import calibstat as cs
from calibstat.cli import input_files
from calibstat.cli.app import main
from calibstat.cli.large import rows_in_cells, rows_of_models

pytestmark = pytest.mark.usefixtures("quick_draws")


def found_in(*arguments):
    result = run("report", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_a_page_is_written_and_its_verdict_printed(rows, csv, tmp_path):
    out = tmp_path / "new" / "report.html"
    result = run("report", csv, *COLUMNS, "--out", out)
    assert result.exit_code == 0, result.output
    found = quick_report(rows["y"], {"p": rows["p"]}, rng=0)
    assert plain_text(found.models["p"].answer) in plain_text(result.stdout)
    assert "<title>Calibration of p in rows.csv</title>" in out.read_text()


def test_the_command_is_on_the_page(csv, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["x", "report", "my rows.csv", "--label", "y"])
    assert found_in(csv, *COLUMNS)["command"] == "calibstat report 'my rows.csv' --label y"


def test_each_format_goes_to_the_screen_or_a_file(csv, tmp_path):
    found = found_in(csv, *COLUMNS)
    run("report", csv, *COLUMNS, "--out", tmp_path / "a.txt", "--format", "json")
    assert json.loads((tmp_path / "a.txt").read_text()) | {"command": ""} == found | {"command": ""}
    assert run("report", csv, *COLUMNS, "--format", "csv").stdout.startswith('"model","measure",')
    assert run("report", csv, *COLUMNS, "--format", "md").stdout.startswith("# Calibration of p in rows.csv\n")


def test_a_condition_that_is_met_fails(csv, tmp_path):
    out = tmp_path / "report.csv"
    result = run("report", csv, *COLUMNS, "--out", out, "--fail-if", "ece.low > 1", "--fail-if", "ece.high > 0")
    assert result.exit_code == 1
    assert "calibstat: failed, because models.p.ece.high is 0." in result.stderr
    assert "ece.low" not in result.stderr
    assert out.exists()
    assert run("report", csv, *COLUMNS, "--fail-if", "ece.low > 1").exit_code == 0


EXIT_CODES = {  # options of `report`, the code, and what is said on standard error
    "nothing asked": ([], 0, ""),
    "not met": (["--fail-if", "ece.low > 1"], 0, ""),
    "shown": (["--fail-unless", "ece.high <= 1"], 0, ""),
    "met": (["--fail-if", "ece.high > 0"], 1, "failed, because"),
    "shown not to be": (["--fail-unless", "brier.high <= 0.001"], 1, "failed, because"),
    "wrong input": (["--fail-unless", "ece.hig <= 1"], 2, "did you mean"),
    "rows cannot tell": (["--fail-unless", "ece.high <= 0.0001"], 3, "cannot tell"),
    "one failed, one open": (
        ["--fail-unless", "ece.high <= 0.0001", "--fail-if", "ece.high > 0"],
        1,
        "failed, because",
    ),
}


@pytest.fixture(name="calibrated")
def calibrated_fixture(tmp_path, monkeypatch):
    """A folder with rows of a calibrated model, in which the commands run."""
    y, p = cs.generators.calibrated().sample(200, rng=1)
    pd.DataFrame({"y": y, "p": p}).to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("calibrated")
def test_an_exit_code_of_a_process():
    """Of rows that cannot tell; processes with each of the other codes are those of the steps in test_ci_page.py."""
    options, code, text = EXIT_CODES["rows cannot tell"]
    ask = "from calibstat.cli.app import main; main()"
    command = [sys.executable, "-c", ask, "report", "rows.csv", *COLUMNS, *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert text in ended.stderr


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("case", EXIT_CODES)
def test_each_exit_code(case, monkeypatch, capsys):
    options, code, text = EXIT_CODES[case]
    monkeypatch.setattr(sys, "argv", ["calibstat", "report", "rows.csv", *COLUMNS, *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == code
    assert text in capsys.readouterr().err


def test_a_wrong_condition_is_an_error_and_writes_nothing(csv, tmp_path):
    out = tmp_path / "report.csv"
    fails_with(run("report", csv, *COLUMNS, "--out", out, "--fail-if", "ece.lo > 1"), "did you mean 'ece.low'?")
    fails_with(run("report", csv, *COLUMNS, "--out", out, "--fail-if", "ece.low"), "expected a field, a comparison")
    assert not out.exists()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("ece <= 0.02", "write ece.high (shown) or ece.estimate (by chance)"),
        ("ece.hig <= 0.02", "did you mean 'ece.high'?"),
        ("ece.high", "expected a field, a comparison and a number"),
        ("title > 1", "expected a field that is a number, found title, which is none"),
    ],
)
@pytest.mark.parametrize("option", ["--fail-if", "--fail-unless"])
def test_a_condition_is_read_before_the_file(option, condition, message, csv, monkeypatch):
    for name in ("models_of_many", "read_models", "read_data"):
        monkeypatch.setattr(input_files, name, pytest.fail)
    fails_with(run("report", csv, *COLUMNS, option, condition), message)


def test_a_measure_that_is_left_out_is_told_before_the_report_is_made(csv, monkeypatch):
    monkeypatch.setattr(cs, "report", pytest.fail)
    fails_with(run("report", csv, *COLUMNS, "--fail-unless", "ks.high <= 0.1"), "found ks")


def test_per_cent_of_a_condition(csv):
    assert run("report", csv, *COLUMNS, "--fail-unless", "ece.high <= 100 %").exit_code == 0
    found = run("report", csv, *COLUMNS, "--fail-unless", "ece.high <= 1%")
    assert "and ece.high <= 0.01 is not shown" in found.stderr


def test_groups_clusters_and_recalibration(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.assign(site=np.arange(400) % 2, person=np.arange(400) // 5).to_csv(path, index=False)
    found = found_in(path, *COLUMNS, "--by", "site", "--cluster", "person", "--recalibrate")
    y, p = rows["y"], rows["p"]
    assert found["models.p.groups.rows"] == [400, 200, 200]
    assert found["models.p.ece.low"] == cs.confidence_interval(y, p, cluster=np.arange(400) // 5, rng=0).low
    assert found["models.p.recalibrated.recalibrator"] == "PlattScaling()"


def test_columns_that_sum_to_one_are_classes_and_others_are_models(rows, zoo, tmp_path):
    path = tmp_path / "models.csv"
    pd.read_csv(zoo).rename(columns=lambda name: name.removeprefix("p_")).to_csv(path, index=False)
    found = found_in(path, "--label", "y", "--prob", "cat", "--prob", "dog", "--prob", "hen")
    by_pattern = found_in(zoo, *PATTERN)
    assert found["models.cat, dog, hen.classes.diagrams.names"] == ["cat", "dog", "hen"]
    assert by_pattern["models.p.classes.diagrams.names"] == ["cat", "dog", "hen"]
    assert found["models.cat, dog, hen.ece.low"] == by_pattern["models.p.ece.low"]
    rows.assign(q=rows["p"] ** 2).to_csv(path, index=False)
    assert "comparisons.kernel_ce_squared.pvalue" in found_in(path, *COLUMNS, "--prob", "q")


@pytest.mark.parametrize(
    "lens",
    [
        "class_wise",
        "canonical",
        "groups:cat+hen,dog",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("top_label", "one_class:dog")),
    ],
)
def test_the_verdict_through_a_lens_is_that_of_the_test(lens, zoo):
    by_test = plain_text(run("test", zoo, *PATTERN, "--lens", lens, "--rng", 3).stdout)
    found = found_in(zoo, *PATTERN, "--lens", lens, "--rng", 3)
    p = found["models.p.test.pvalue"]
    assert f"(p = {p:.3g})" in by_test
    assert found["models.p.ece.lens"] == f"lens {lens}" or lens == "class_wise"


def test_strange_data_make_a_report(tmp_path):
    pd.DataFrame({"y": [0, 1] * 20, "p": 0.5, "q": [1.0, 0.5] * 20}).to_csv(tmp_path / "rows.csv", index=False)
    found = found_in(tmp_path / "rows.csv", "--label", "y", "--prob", "p", "--prob", "q")
    assert found["models.q.measures.log_loss.high"] == "Infinity"


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--lens", "top_label"], ("--lens top_label",)),
        (["--out", "folder"], ("expected a file that ends in .html",)),
        (["--format", "pdf"], ("expected a format",)),
        (["--by", "sez"], ("expected one column 'sez' for --by",)),
        (["--cluster", "day"], ("no column 'day'",)),
        (["--level", "95"], ("expected --level between 0 and 1",)),
    ],
)
def test_errors_are_one_line(csv, options, parts):
    fails_with(run("report", csv, *COLUMNS, *options), *parts)


def test_a_report_of_very_many_rows_is_of_cells(tmp_path, monkeypatch):
    """One column of probabilities without groups: the numbers are of the sample of `from_frame`."""
    y, p = cs.generators.temperature(2).sample(900, rng=1)
    frame = pd.DataFrame({"y": y.astype(int), "score": p})
    for k in range(3):
        frame[k::3].to_csv(tmp_path / f"part-{k}.csv", index=False)
    asked = ["report", tmp_path / "part-*.csv", "--label", "y", "--prob", "score", "--format", "json"]
    whole = json.loads(run(*asked).stdout)
    for module in (rows_in_cells, rows_of_models, input_files):
        monkeypatch.setattr(module, "MOST_ROWS", 500)
    cells = json.loads(run(*asked).stdout)
    recalibrated = json.loads(run(*asked, "--recalibrate").stdout)
    sample = cs.Sample.from_frame(frame, "y", "score")
    assert sample.moved > 0
    assert cells["models.score.ece.estimate"] == cs.estimate(sample, measure="ece")
    assert cells["models.score.measures.brier.estimate"] == cs.estimate(sample, measure="brier")
    assert cells["models.score.measures.brier.estimate"] != whole["models.score.measures.brier.estimate"]
    assert recalibrated["models.score.measures.brier.estimate"] == whole["models.score.measures.brier.estimate"]
    assert cells["title"] == whole["title"]
    assert cells["n"] == whole["n"] == 900
    assert any("153,600" in note for note in cells["notes"])
    assert not any("153,600" in note for note in whole.get("notes", []))


def test_a_report_of_several_models_on_very_many_rows(tmp_path, monkeypatch):
    y, p = cs.generators.temperature(2).sample(900, rng=1)
    frame = pd.DataFrame({"y": y.astype(int), "a": p, "b": p**2, "c": 1 - p})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for module in (rows_in_cells, rows_of_models, input_files):
        monkeypatch.setattr(module, "MOST_ROWS", 500)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 800)
    asked = ["report", tmp_path / "rows.csv", "--label", "y", "--format", "json"]
    models = json.loads(run(*asked, "--prob", "a", "--prob", "b").stdout)
    classes = json.loads(run(*asked, "--prob", "a", "--prob", "c").stdout)
    assert models["models.b.ece.estimate"] == cs.estimate(cs.Sample.from_frame(frame, "y", "b"), measure="ece")
    assert models["n"] == classes["n"] == 900
    assert not any(key.startswith("models.a.") for key in classes)


def test_a_fault_in_the_first_rows_of_very_many_is_named(tmp_path, monkeypatch):
    lines = ["y,a", *["1,0.5"] * 600]
    lines[4] += ",7"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    asked = ["report", tmp_path / "rows.csv", "--label", "y", "--prob", "a"]
    for module in (rows_in_cells, rows_of_models, input_files):
        monkeypatch.setattr(module, "MOST_ROWS", 500)
    fails_with(run(*asked), "expected rows of 2 cells", "found 3 at row 3")
