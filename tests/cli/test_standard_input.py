"""Rows from standard input and pipes are those of a file; no command writes over the file that it reads."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text
from typer.testing import CliRunner

from calibstat.cli.app import app
from calibstat.cli.standard_input import kept, suffix_of

Y = np.arange(60) % 2
ROWS = pd.DataFrame({"y": Y, "p": 0.3 + 0.4 * Y, "q": 0.2 + 0.5 * Y, "day": np.arange(60) // 6})
COLUMNS = "--label", "y", "--prob", "p"


def run(*arguments, given=None):
    return CliRunner().invoke(app, [str(each) for each in arguments], input=given, terminal_width=120)


@pytest.fixture(name="file")
def csv_file(tmp_path):
    ROWS.to_csv(tmp_path / "monitor.csv", index=False)
    return tmp_path / "monitor.csv"


def as_lines():
    return ROWS.to_json(orient="records", lines=True, double_precision=15).encode()


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet"])
def test_standard_input_is_read_as_the_file(kind, file, tmp_path):
    given = {"csv": file.read_bytes(), "csv.gz": gzip.compress(file.read_bytes()), "jsonl": as_lines()}
    if kind == "parquet":
        ROWS.to_parquet(tmp_path / "a.parquet", index=False)
        given["parquet"] = (tmp_path / "a.parquet").read_bytes()
    found = run("interval", "-", *COLUMNS, given=given[kind])
    assert found.exit_code == 0, found.stderr
    assert found.stdout == run("interval", file, *COLUMNS).stdout


def test_what_comes_through_is_told_by_its_beginning(tmp_path):
    beginnings = {
        b"PAR1..": ".parquet",
        b"PK\x03\x04": ".npz",
        b"\x93NUMPY": ".npy",
        b'\xef\xbb\xbf {"y": 1}': ".jsonl",
        gzip.compress(b'{"y": 1}'): ".jsonl.gz",
        gzip.compress(b"y,p"): ".csv.gz",
        b"y;p": ".csv",
        b"ARROW1\0\0": ".arrow",
        b' [\n {"y": 1}]': ".json",
        '[{"y": 1}]'.encode("utf-16"): ".json",
        b"[y],[p]": ".csv",
        b"": ".csv",
    }
    for beginning, suffix in beginnings.items():
        (tmp_path / "rows").write_bytes(beginning)
        assert suffix_of(tmp_path / "rows") == suffix


def test_a_pipe_is_copied_and_files_are_not(file, tmp_path):
    assert kept(file) == file
    assert kept(tmp_path) == tmp_path
    assert kept(tmp_path / "nowhere.csv") == tmp_path / "nowhere.csv"
    assert kept(None) is None
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    copy = kept(pipe)
    writer.join()
    assert copy.name == "pipe.csv"
    assert copy.read_bytes() == file.read_bytes()


def test_the_copy_is_gone_when_the_process_ends_and_a_closed_pipe_is_no_error(file):
    code = (
        "import io, sys; from pathlib import Path; from calibstat.cli.standard_input import kept\n"
        "print(kept(Path('-')), flush=True)"
    )
    rows = file.read_bytes()
    found = subprocess.run([sys.executable, "-c", code], input=rows, capture_output=True, check=True)
    assert not Path(found.stdout.decode().strip()).exists()
    code = "import sys; sys.argv = ['calibstat', 'measures']; from calibstat.cli.app import main; main()"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_an_empty_standard_input_is_one_line():
    fails_with(run("test", "-", *COLUMNS, given=b""), "it is empty")


@pytest.mark.parametrize(
    "command",
    [
        ("report", *COLUMNS, "--format", "csv", "--out", "{file}"),
        ("recalibrate", *COLUMNS, "--out", "{file}"),
        ("net-benefit", *COLUMNS, "--out", "{file}"),
        ("risk-coverage", *COLUMNS, "--out", "{file}"),
        ("monitor", *COLUMNS, "--when", "day", "--out", "{folder}"),
    ],
)
def test_no_command_writes_over_its_input(command, file):
    before = file.read_bytes()
    name, *arguments = (part.format(file=file, folder=file.parent) for part in command)
    found = run(name, file, *arguments)
    assert "expected another file to write to than the one that is read" in plain_text(found.stderr)
    assert found.exit_code == 2
    assert file.read_bytes() == before


def test_the_file_that_a_map_is_applied_to_is_kept_too(file):
    other = file.with_name("other.csv")
    other.write_bytes(file.read_bytes())
    found = run("recalibrate", file, *COLUMNS, "--to", other, "--out", other)
    assert "than the one that is read" in plain_text(found.stderr)
    assert other.read_bytes() == file.read_bytes()


def test_groups_are_not_written_over_their_rows(file):
    rows = file.rename(file.with_name("groups.csv"))
    before = rows.read_bytes()
    found = run("audit", rows, *COLUMNS, "--by", "day", "--out", rows.parent, "--n-resamples", 19)
    assert "than the one that is read" in plain_text(found.stderr)
    assert rows.read_bytes() == before
    assert [each.name for each in rows.parent.iterdir()] == ["groups.csv"]
