"""The list of durations, which says what is `thorough`, and the time of the plain tests, which two pages state."""

import json
import os
import re
import subprocess
import sys
import tomllib

import durations
import pytest
from durations import Line
from project_folder import PROJECT

PAGES = ("README.md", "CONTRIBUTING.md")
FILE = "tests/promises/tests/test_durations.py"
LINES = {
    "tests/a": Line(9, ""),
    "tests/a/test_b.py::test_kept": Line(0.9, "plain"),
    "tests/test_c.py::test_first": Line(2, "first"),
    "tests/test_c.py::test_one[2]": Line(1.1, "plain"),
}


def test_every_line_names_a_test(request):
    whole = not any("::" in argument for argument in request.config.args)
    assert durations.stale(durations.read(), request.config.stash[durations.COLLECTED] if whole else []) == []


def test_a_line_that_names_no_test_is_found():
    gone = [f"{FILE}::test_gone", f"{FILE}::test_case[gone]", "tests/gone", "tests/test_gone.py::test_a"]
    there = ["tests", FILE, f"{FILE}::test_case", f"{FILE}::test_case[a]", "tests/bounds/test_norms.py::test_unread"]
    lines = dict.fromkeys([*gone, *there], Line(1, ""))
    assert durations.stale(lines, [f"{FILE}::test_case[a]"]) == sorted(gone)


def test_the_plain_run_keeps_nothing_that_takes_long():
    assert durations.too_long(durations.read()) == []


def test_what_takes_long_and_is_kept_is_found():
    assert durations.too_long(LINES) == ["tests/test_c.py::test_one[2]"]


def test_the_list_is_as_the_program_writes_it(tmp_path):
    durations.write(durations.read(), tmp_path / "list")
    assert (tmp_path / "list").read_text(encoding="utf-8") == durations.LIST.read_text(encoding="utf-8")


def test_the_longest_name_decides():
    tests = ["a/test_b.py::test_kept", "a/test_b.py::test_other", "test_c.py::test_first[x y]"]
    tests += ["test_c.py::test_first[2]", "test_c.py::test_one[2]", "test_c.py::test_one[3]", "ab/test_d.py::test_e"]
    left_out = {"a/test_b.py::test_other", "test_c.py::test_first[2]"}
    assert durations.thorough([f"tests/{test}" for test in tests], LINES) == {f"tests/{test}" for test in left_out}


def test_files_are_not_read_if_nothing_of_them_is_kept():
    lines = LINES | {"tests/f": Line(1, ""), "tests/test_g.py": Line(1, ""), "tests/f/test_h.py": Line(1, "")}
    found = [durations.is_left_out(PROJECT / "tests" / name, lines) for name in ("a", "f", "f/test_h.py", "test_g.py")]
    assert found == [False, True, True, True]
    assert not durations.is_left_out(PROJECT / "tests", lines)
    assert not durations.is_left_out(PROJECT.parent, lines)


def test_what_takes_more_than_the_limit_gets_a_line():
    """Lines by hand stay, lines of other files too, and those of files that were run are made anew."""
    old = {"tests/test_other.py::test_old": Line(3, ""), "tests/test_c.py::test_gone": Line(3, "first")}
    seconds = {"tests/a/test_b.py::test_kept": 0.5, "tests/a/test_b.py::test_more": 2.0}
    seconds |= {f"tests/test_c.py::test_first[{k}]": durations.LIMIT / 2 for k in range(3)}
    seconds |= {"tests/test_c.py::test_one[2]": 0.7, "tests/test_c.py::test_one[3]": 0.8}
    seconds |= {"tests/test_c.py::test_quick[1]": 0.0, "tests/test_c.py::test_quick[2]": durations.LIMIT}
    assert durations.updated(LINES | old, seconds) == {
        "tests/a": Line(2.5, ""),
        "tests/a/test_b.py::test_kept": Line(0.5, "plain"),
        "tests/test_c.py::test_first": Line(pytest.approx(1.5 * durations.LIMIT), "first"),
        "tests/test_c.py::test_one": Line(1.5, ""),
        "tests/test_c.py::test_one[2]": Line(0.7, "plain"),
        "tests/test_other.py::test_old": Line(3, ""),
    }


def test_a_fixture_that_tests_share_is_divided_among_them(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "import time, pytest\n\n"
        "def spend(seconds):\n    end = time.process_time() + seconds\n    while time.process_time() < end: pass\n\n"
        "@pytest.fixture(scope='module')\ndef shared(): spend(0.2)\n\n"
        "@pytest.fixture\ndef own(): spend(0.1)\n\n"
        "def test_one(shared, own): pass\n\ndef test_two(shared): pass\n\ndef test_none(): pass\n"
    )
    code = "import durations, json; print(json.dumps(durations.run(['-p', 'no:cacheprovider'])))"
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "tests" / "helpers")}
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    found = json.loads(ran.stdout.splitlines()[-1])
    rounded = [round(found[f"tests/test_a.py::test_{name}"], 1) for name in ("one", "two", "none")]
    assert rounded == [0.2, 0.1, 0.0], ran.stdout + ran.stderr


def test_the_plain_command_asks_for_the_plain_tests():
    with (PROJECT / "pyproject.toml").open("rb") as file:
        options = tomllib.load(file)["tool"]["pytest"]["ini_options"]
    assert f"-m '{durations.PLAIN}'" in options["addopts"]
    assert set(durations.APART) | {"thorough"} == {each.partition(":")[0] for each in options["markers"]}


def stated(text):
    """How many seconds a page says that the plain tests take."""
    return re.findall(r"plain tests take (\d+) seconds", " ".join(text.split()))


def test_two_pages_state_one_time():
    times = {page: stated((PROJECT / page).read_text(encoding="utf-8")) for page in PAGES}
    assert [len(found) for found in times.values()] == [1, 1]
    assert len({found for (found,) in times.values()}) == 1


def test_a_time_is_found_over_two_lines():
    assert stated("All plain tests\ntake 70 seconds. Plain tests take 5 minutes.") == ["70"]
