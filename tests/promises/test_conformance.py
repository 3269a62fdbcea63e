"""The conformance cases: calibstat agrees, they are as the script writes them, and they fit the schema."""

import ast
import json
import math
import re
import runpy
import subprocess
import sys
from collections import Counter

import jsonschema
import pytest
from project_folder import PROJECT
from quick_report import quick
from result_schemas import misfits, validator
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli.app import app

FOLDER = PROJECT / "conformance"
TEXT = (FOLDER / "cases-1.json").read_text(encoding="utf-8")
CASES = json.loads(TEXT)["cases"]
SCHEMA = json.loads((FOLDER / "schema-1.json").read_text(encoding="utf-8"))
NAMES = list(dict.fromkeys(case["measure"] for case in CASES))
FUNCTIONS = runpy.run_path(str(FOLDER / "packages" / "for_calibstat.py"))["FUNCTIONS"]
QUICK = ["ece", "kernel_ce", "smooth_ce", "lower_distance", "spiegelhalter_pvalue", "general_ce", "net_benefit"]
KINDS = {"ties", "zero_and_one", "weights", "one_row", "rare", "constant", "no_event", "on_edges", "decimals"}


def found_of(case, shift=0.0):
    """The value of calibstat, its standard error, and whether they agree with a case, moved by a planted error."""
    found = FUNCTIONS[case["measure"]](case["y"], case["p"], case.get("weights"), **case["options"])
    value, error = found if isinstance(found, tuple) else (found, 0.0)
    answer = float(case["answer"])
    return value + shift == answer or math.isclose(value + shift, answer, rel_tol=1e-9, abs_tol=1e-9 + 5 * error)


@pytest.mark.parametrize("name", NAMES)
def test_calibstat_agrees(name):
    for case in CASES:
        if case["measure"] == name:
            assert found_of(case), case["id"]


def test_a_wrong_answer_is_found():
    cases = [case for case in CASES if case["id"] in ("ks-1", "kernel_ce-2", "smooth_ce-3", "unc-4", "skce-5")]
    assert len(cases) == 5
    assert all(found_of(case) for case in cases)
    assert not any(found_of(case, shift) for case in cases for shift in (1e-7, -1e-7))
    drawn = [case for case in CASES if case["measure"] == "exact_pvalue" and 0.05 < case["answer"] < 0.95]
    assert len(drawn) >= 4
    assert not any(found_of(case, shift) for case in drawn for shift in (0.05, -0.05))  # ten standard errors at most


def test_there_are_ten_cases_of_fifty_measures_of_all_kinds():
    assert set(Counter(case["measure"] for case in CASES).values()) == {10}
    assert len(NAMES) == len(FUNCTIONS) == 50
    assert {case["kind"] for case in CASES} >= KINDS
    assert len({case["id"] for case in CASES}) == 500
    rows = {json.dumps({**case, "id": "", "answer": "", "exact": ""}) for case in CASES}
    assert len(rows) == 500  # no case is there twice
    assert sum("weights" in case for case in CASES) >= 30


def test_the_cases_fit_their_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(TEXT), SCHEMA)


@pytest.mark.parametrize("change", [{"p": [1.5]}, {"answer": None}, {"more": 1}, {"y": []}, {"exact": "1/"}])
def test_a_case_that_does_not_fit_is_found(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(TEXT), "cases": [{**CASES[0], **change}]}, SCHEMA)


def script(*arguments):
    """What the script prints, run by itself: without the site's packages, so that it can import none."""
    command = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, '.'); import make_cases as made;"]
    command[-1] += f"sys.stdout.write(made.text_of(made.cases({list(arguments)} or list(made.QUANTITIES))))"
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True).stdout


def test_some_cases_are_written_again_as_they_are():
    lines = [line.rstrip(",") for line in script(*QUICK).splitlines()[1:-1]]
    stored = [line.rstrip(",") for line in TEXT.splitlines()[1:-1] if json.loads(line.rstrip(","))["measure"] in QUICK]
    assert lines == sorted(stored, key=lambda line: QUICK.index(json.loads(line)["measure"]))
    assert len(lines) == 70


@pytest.mark.slow
def test_all_cases_are_written_again_as_they_are():
    assert script() == TEXT


def imported(source):
    """The top-level names of what a source imports."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.partition(".")[0] for name in plain | {n.module for n in nodes if isinstance(n, ast.ImportFrom)}}


def test_the_answers_are_computed_without_any_package():
    for path in [FOLDER / "make_cases.py", *(FOLDER / "exact").glob("*.py")]:
        assert imported(path.read_text(encoding="utf-8")) - {"exact"} <= set(sys.stdlib_module_names), path.name
    assert imported("import numpy as np\nfrom calibstat.data import x") == {"numpy", "calibstat"}


def run(package):
    """The exit code and the output of the runner."""
    done = subprocess.run([sys.executable, "run.py", package], cwd=FOLDER, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_runner_is_short_and_finds_a_wrong_function(tmp_path):
    assert len((FOLDER / "run.py").read_text(encoding="utf-8").splitlines()) <= 30
    package = tmp_path / "mine.py"
    package.write_text(
        "VERSION = 'mine 1'\n"
        "def brier(y, p, w): return sum(v * (a - b) ** 2 for v, a, b in zip(w, y, p)) / sum(w)\n"
        "FUNCTIONS = {'brier': lambda y, p, w: brier(y, p, w or [1] * len(y))}\n",
        encoding="utf-8",
    )
    assert run(str(package)) == (0, "\nmine 1\nbrier: {'passed': 10}\n")
    package.write_text(package.read_text(encoding="utf-8").replace("/ sum(w)", "/ (1 + sum(w))"), encoding="utf-8")
    code, text = run(str(package))
    assert code == 1
    assert text.endswith("\nmine 1\nbrier: {'failed': 10}\n")


def test_what_was_shown_is_of_four_packages_with_versions():
    shown = (FOLDER / "shown-1.txt").read_text(encoding="utf-8")
    for version in ("calibstat 0", "scikit-learn 1", "uncertainty-calibration 0", "relplot 1"):
        assert re.search(rf"^{version}\.\d", shown, flags=re.MULTILINE), version
    ours = shown.partition("\n\n$ ")[0]
    assert sum(map(int, re.findall(r"'passed': (\d+)", ours))) == 500
    assert "failed" not in ours


def test_every_measure_and_kind_is_in_the_readme():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in [*NAMES, *{case["kind"] for case in CASES}] if f"`{name}`" not in readme] == []


def test_the_schemas_of_results_are_as_their_classes_say():
    made = runpy.run_path(str(FOLDER / "make_result_schemas.py"))
    text = made["text"]()
    assert text == (FOLDER / "results-2.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_a_changed_result_changes_its_schema(monkeypatch):
    made = runpy.run_path(str(FOLDER / "make_result_schemas.py"))
    monkeypatch.setitem(made["PLAIN"], float, {"type": "number"})
    assert made["text"]() != (FOLDER / "results-2.json").read_text(encoding="utf-8")


def test_json_of_commands_fits_the_schema(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("y,p\n" + "1,0.7\n0,0.4\n0,0.1\n1,0.6\n" * 20, encoding="utf-8")
    columns = ["--label", "y", "--prob", "p"]
    done = CliRunner().invoke(app, ["interval", str(rows), *columns, "--measure", "ks", "--format", "json"])
    values = json.loads(done.output)
    inside = {key.removeprefix("ks."): value for key, value in values.items() if key.startswith("ks.")}
    assert misfits(cs.confidence_interval([0, 1], [0.2, 0.7], measure="ks").__class__, inside) == []
    said = {key: value for key, value in values.items() if not key.startswith("ks.")}
    assert [*said] == ["answer", "next_step", "data", "seed"]
    assert validator("Said").is_valid(said)
    assert not validator("Said").is_valid({"answer": "One."})


def test_json_of_a_report_fits_the_schema(tmp_path):
    with quick():
        page = cs.report([0, 1, 1, 0] * 20, [0.2, 0.7, 0.9, 0.6] * 20, rng=1)
    values = json.loads(page.save(tmp_path / "report.json").read_text(encoding="utf-8"))
    assert misfits(type(page), values) == []
    assert misfits(type(page), page.to_dict()) == []
    assert misfits(type(page), {**values, "another": 1}) != []
