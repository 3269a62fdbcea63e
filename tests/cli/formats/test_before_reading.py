"""What is checked before rows are read: that files and columns are there, in a process that loads nothing slow."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from command_line import COLUMNS, PATTERN, fails_with, run

import calibstat
from calibstat.cli.app import COMMANDS
from calibstat.cli.formats import before_reading
from calibstat.cli.formats.before_reading import names_in
from calibstat.cli.input_files import columns_of

SHOW = """
import sys
from calibstat.cli.app import app
try:
    app(sys.argv[1:])
except SystemExit as ended:
    print(ended.code, [name for name in ("numba", "pandas", "pyarrow", "scipy") if name in sys.modules])
"""
TOLD = {
    "no file": (["test", "none.csv", *COLUMNS], "no such file: 'none.csv'"),
    "no column": (["test", "rows.csv", "--label", "y", "--prob", "q"], "no column 'q'; the file has 'y', 'p', 'name'"),
    "no cluster": (["interval", "rows.csv", *COLUMNS, "--cluster", "who"], "no column 'who'"),
    "no group": (["audit", "rows.csv", *COLUMNS, "--by", "sex"], "expected one column 'sex' for --by"),
    "no period": (["monitor", "rows.csv", *COLUMNS, "--when", "day"], "no column 'day'"),
    "no prediction": (["power", "rows.csv", "--prob", "q"], "no column 'q'"),
    "no match": (["test", "rows.csv", "--label", "y", "--prob", "p_*"], "none that matches 'p_*'"),
}


def loaded(arguments, folder):
    """What a fresh process says, and what it loads of what is slow."""
    command, here = [sys.executable, "-c", SHOW, *arguments], str(Path(calibstat.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": here}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stderr, done.stdout.splitlines()[-1]


@pytest.mark.parametrize("case", ["no file", "no column"])
def test_what_is_not_there_is_told_before_anything_slow_is_loaded(case, csv):
    arguments, message = TOLD[case]
    said, found = loaded(arguments, csv.parent)
    assert message in said
    assert found == "2 []", said


def test_what_is_slow_is_seen_where_it_is_loaded(csv):
    """A planted fault: an error that only reading finds."""
    csv.write_text("y,p\n1,0.7\n2,0.4\n")
    said, found = loaded(["test", "rows.csv", *COLUMNS], csv.parent)
    assert "found 2.0" in said
    assert "pandas" in found


@pytest.mark.parametrize("case", TOLD)
def test_each_is_told_before_reading(case, csv, monkeypatch):
    arguments, message = TOLD[case]
    monkeypatch.chdir(csv.parent)
    monkeypatch.setattr("calibstat.cli.input_files.columns_of", pytest.fail)
    fails_with(run(*arguments), message)


def test_reading_tells_the_same_where_it_is_not_checked_before(csv, monkeypatch):
    monkeypatch.setattr("calibstat.cli.answers.check_before_reading", lambda given, columns: None)
    monkeypatch.chdir(csv.parent)
    for case in set(TOLD) - {"no file"}:
        fails_with(run(*TOLD[case][0]), TOLD[case][1])


HEADS = {
    "plain": "y,p,a b\n",
    "blanks behind separators": "y, p, a b\n",
    "quotes": '"y","p","a, b"\n',
    "a quote": '"y","p","a ""b"""\n',
    "a line of two": '"y","p","a\nb"\n',
    "semicolons": "y;p;a,b\n",
    "blank lines above": "\n  \ny,p,q\n",
    "said": "sep=;\ny;p;q\n",
    "one name twice": "y,p,p\n",
    "no name": "y,p,\n",
    "a mark of bytes": "\ufeffy,p,ä\n",
    "other line ends": "y,p,q\r\n",
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_names_are_those_that_pandas_reads(head, encoding, tmp_path):
    file = tmp_path / "rows.csv"
    separator = ";" if ";" in HEADS[head] else ","
    text = (
        HEADS[head] if encoding == "utf-8" else HEADS[head].removeprefix("\ufeff")
    )  # which this encoding writes itself
    file.write_bytes((text + separator.join("101") + "\n").encode(encoding))
    if head == "no name":  # which pandas takes as missing, and no option can name
        assert names_in(file)[:2] == columns_of(file)[:2]
    else:
        assert names_in(file) == columns_of(file)


def test_names_that_are_not_cheap_are_left_to_reading(tmp_path, monkeypatch):
    file = tmp_path / "rows.csv"
    for text in (b"", b"\xff\xfe\x00", b"\n\n", b"y p\n1 0.5\n"):
        file.write_bytes(text)
        assert names_in(file) is None
    file.write_text("y,p\n1,0.5\n")
    monkeypatch.setattr(before_reading, "HEAD", 3)  # in which the names do not end
    assert names_in(file) is None
    assert names_in(tmp_path / "rows.npz") is None


def test_every_command_with_a_file_is_checked():
    plain = {"demo", "measures", "generators"}
    for command in set(COMMANDS) - plain:
        options = ["--label", "y"] if command not in ("power", "sample-size") else []
        options += {
            "audit": ["--by", "a"],
            "monitor": ["--when", "a"],
            "recalibrate": ["--out", "new.csv"],
        }.get(command, [])
        fails_with(run(command, "none.csv", *options, "--prob", "p"), "no such file: 'none.csv'")


# --- several files ---------------------------------------------------------------------------------------------------


@pytest.fixture(name="two")
def two_fixture(rows, tmp_path):
    """The rows in two files, and all in another folder."""
    (tmp_path / "whole").mkdir()
    rows.to_csv(tmp_path / "whole" / "rows.csv", index=False)
    rows[:200].to_csv(tmp_path / "a.csv", index=False)
    rows[200:].to_csv(tmp_path / "b.csv", index=False)
    return tmp_path / "a.csv", tmp_path / "b.csv"


MANY = {
    "test": ["--n-resamples", 99],
    "interval": ["--n-resamples", 99],
    "equivalence": [],
    "compare": ["--prob", "q", "--measure", "brier"],
    "decompose": [],
    "sharpness": [],
    "validate": [],
    "net-benefit": [],
    "risk-coverage": [],
    "audit": ["--by", "name", "--n-resamples", 99],
}


@pytest.mark.parametrize("command", MANY)
def test_several_files_are_all_their_rows_in_any_order(command, two, rows):
    whole = two[0].parent / "whole" / "rows.csv"
    for file in (*two, whole):
        frame = pd.read_csv(file)
        frame.assign(q=frame["p"] ** 2).to_csv(file, index=False)
    asked = [*COLUMNS, *MANY[command]]
    said = run(command, whole, *asked)
    assert said.exit_code == 0, said.stderr
    for files in (two, two[::-1]):
        assert run(command, *files, *asked).stdout == said.stdout
    assert run(command, two[0], *asked).stdout != said.stdout


def test_several_files_of_a_stream_a_plan_and_a_report(two):
    for k, file in enumerate(two):
        pd.read_csv(file).assign(day=k).to_csv(file, index=False)
    said = run("monitor", *two[::-1], *COLUMNS, "--when", "day").stdout
    assert "a.csv and 1 more: 400 rows in 2 periods" in " ".join(said.split())
    assert "400 rows of predictions" in run("power", *two, "--prob", "p").stdout
    found = run("report", *two, *COLUMNS, "--format", "md").stdout
    assert "# Calibration of p in a.csv and 1 more" in found


def test_files_that_are_not_alike_are_named(two, rows, zoo, animals):
    a, b = two
    fails_with(run("test", a, a, *COLUMNS), f"expected different files, found '{a}' twice")
    fails_with(run("test", a.parent / "whole", a, a.parent / "whole" / "rows.csv", *COLUMNS), "twice")
    fails_with(run("test", a, a.parent / "c.csv", *COLUMNS), f"no such file: '{a.parent / 'c.csv'}'")
    fails_with(run("test", "-", "-", *COLUMNS), "expected standard input once")
    rows.rename(columns={"p": "q"}).to_csv(b, index=False)
    fails_with(run("test", b, a, *COLUMNS), f"no column 'p' in '{b}', file 2 of 2, which has 'y', 'q', 'name'")
    rows.to_parquet(a.parent / "c.parquet")
    fails_with(run("test", a, a.parent / "c.parquet", *COLUMNS), "expected files of one kind in all, found '.csv', ")
    one_more = a.parent / "more.csv"
    animals.assign(p_pig=0.0).to_csv(one_more, index=False)
    found = run("test", zoo, one_more, *PATTERN)
    fails_with(found, f"expected the same columns that match 'p_*' in all files; '{one_more}' has 'p_pig', and '{zoo}'")
    animals[animals.columns[::-1]].to_csv(one_more, index=False)  # in another order they are the same
    assert "240 rows" in run("test", zoo, one_more, *PATTERN, "--n-resamples", 9).stdout


def test_a_pattern_behind_an_option_is_not_taken_for_more_rows(two):
    a, b = two
    found = run("recalibrate", a, *COLUMNS, "--out", a.parent / "new.csv", "--to", b, a.parent / "whole" / "rows.csv")
    fails_with(found, "expected one FILE beside --to, found 2; give several as a folder, or as a pattern in quotes")
    assert not (a.parent / "new.csv").exists()
