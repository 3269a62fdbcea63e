"""Folders and patterns: all their rows, one error that names the file, and no more rows than fit into memory."""

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, FAST, fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.large import parts
from calibstat.cli.large.parts import check_memory, naming, number_of_rows, parts_of

Y, P = cs.generators.temperature(1.5).sample(600, rng=1)
NUMBER = np.arange(600)
ROWS = pd.DataFrame(
    {"y": Y.astype(int), "p": P, "q": P**2, "site": NUMBER % 3, "pair": NUMBER // 2, "day": NUMBER // 100}
)
pytestmark = pytest.mark.usefixtures("quick_draws")
SUFFIXES = [".csv", ".csv.gz", ".tsv", ".jsonl", ".parquet"]


def write(frame, file):
    if file.suffix == ".parquet":
        frame.to_parquet(file, index=False)
    elif file.suffix == ".jsonl":
        frame.to_json(file, orient="records", lines=True, double_precision=15)
    else:
        frame.to_csv(file, index=False, sep="\t" if file.suffix == ".tsv" else ",")
    return file


def folder_of(tmp_path, suffix=".csv"):
    """A folder with 200 rows in each of three files, and the same rows in one file beside it."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for k in range(3):
        write(ROWS[200 * k : 200 * k + 200], folder / f"part-{k}{suffix}")
    return folder, write(ROWS, tmp_path / f"all{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_and_a_pattern_are_the_rows_of_their_files(suffix, tmp_path):
    folder, whole = folder_of(tmp_path, suffix)
    (folder / "_SUCCESS").write_text("")
    write(ROWS.assign(y=2), folder / ".part-0.csv")
    (folder / "notes.md").write_text("no rows")
    said = run("interval", whole, *COLUMNS, *FAST)
    assert said.exit_code == 0, said.stderr
    for place in (folder, folder / f"part-*{suffix}", tmp_path / "**" / f"part-[0-2]{suffix}"):
        assert run("interval", place, *COLUMNS, *FAST).stdout == said.stdout
    assert run("interval", folder / f"part-[01]{suffix}", *COLUMNS, *FAST).stdout != said.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["interval", *COLUMNS, *FAST],
        ["equivalence", *COLUMNS, *FAST],
        ["compare", *COLUMNS, "--prob", "q", "--measure", "brier"],
        ["audit", *COLUMNS, "--by", "site", *FAST],
        ["validate", *COLUMNS],
        ["test", *COLUMNS, "--cluster", "pair", *FAST],
        ["report", *COLUMNS, "--by", "site", "--format", "csv", "--title", "rows"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_answers_from_a_folder(command, tmp_path):
    folder, whole = folder_of(tmp_path)
    name, *options = command
    said = run(name, whole, *options)
    assert said.exit_code == 0, said.stderr
    assert run(name, folder, *options).stdout == said.stdout


@pytest.mark.parametrize("options", [[], ["--segment", "site"], ["--prob", "q"], ["--prob", "q", "--each"]])
def test_a_monitor_adds_up_the_files(options, tmp_path):
    folder, whole = folder_of(tmp_path)
    command = [*COLUMNS, "--when", "day", *options]
    said = plain_text(run("monitor", whole, *command).stdout)
    assert "all.csv: 600 rows in 6 periods, 0 of them known already." in said
    assert plain_text(run("monitor", folder, *command).stdout) == said.replace("all.csv", "rows")
    state = tmp_path / "state.json"
    run("monitor", folder / "part-[01].csv", *command, "--state", state)
    after = plain_text(run("monitor", folder, *command, "--state", state).stdout)
    assert "600 rows in 6 periods, 4 of them known already" in after
    assert after.split("rows: 600")[0] == said.split("all.csv: 600")[0]


def test_periods_that_files_share_add_up(tmp_path):
    folder, whole = folder_of(tmp_path)
    write(ROWS.assign(day=0), whole)
    for k, part in enumerate(sorted(folder.iterdir())):
        write(ROWS[200 * k : 200 * k + 200].assign(day=0), part)
    said = [plain_text(run("monitor", place, *COLUMNS, "--when", "day").stdout) for place in (whole, folder)]
    assert said[1] == said[0].replace("all.csv", "rows")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("command", ["test", "audit", "monitor"])
def test_a_column_missing_in_the_third_file_is_named(command, suffix, tmp_path):
    folder, _ = folder_of(tmp_path, suffix)
    write(ROWS[400:].rename(columns={"p": "score"}), folder / f"part-2{suffix}")
    beside = {"test": [], "audit": ["--by", "site"], "monitor": ["--when", "day"]}[command]
    fails_with(run(command, folder, *COLUMNS, *beside), "no column 'p'", f"part-2{suffix}'", "score")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_bad_row_in_the_third_file_is_named(suffix, tmp_path):
    folder, _ = folder_of(tmp_path, suffix)
    bad = ROWS[400:].reset_index(drop=True)
    bad.loc[7, "p"] = 1.5
    write(bad, folder / f"part-2{suffix}")
    message = "found 1.5 in 'p' at row 7 (rows count from 0)"
    fails_with(run("test", folder, *COLUMNS), message, f"in '{folder / f'part-2{suffix}'}'")


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ([], "in the directory"),
        (["a.md", "_a.csv", ".b.csv"], "found none"),
        (["a.csv", "b.parquet"], "expected files of one kind in the directory"),
    ],
)
def test_folders_without_one_kind_of_files(files, part, tmp_path):
    for name in files:
        (tmp_path / name).write_text("y,p\n")
    fails_with(run("test", tmp_path, *COLUMNS), part)
    fails_with(run("test", tmp_path / "*.tsv", *COLUMNS), "that matches", "found none")


def test_no_file_of_a_folder_is_written_over(tmp_path):
    folder, _ = folder_of(tmp_path)
    fails_with(run("report", folder, *COLUMNS, "--out", folder / "part-1.csv"), "expected another file to write to")


def test_parts_are_in_the_order_of_their_names(tmp_path):
    for name in ("b/2.csv", "a/10.csv", "a/1.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(ROWS, tmp_path / name)
    assert [str(part.relative_to(tmp_path)) for part in parts_of(tmp_path)] == ["a/1.csv", "a/10.csv", "b/2.csv"]
    assert parts_of(tmp_path / "b" / "2.csv") == [tmp_path / "b" / "2.csv"]
    magic = write(ROWS, tmp_path / "a[1].csv")
    assert parts_of(magic) == [magic]  # a file of that name comes before the pattern


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_numbers_of_rows(suffix, tmp_path):
    assert number_of_rows(write(ROWS, tmp_path / f"a{suffix}")) == pytest.approx(600, abs=1)
    assert number_of_rows(write(ROWS, tmp_path / "a.csv.gz")) is None
    (tmp_path / "a.parquet").write_text("no Parquet")
    assert number_of_rows(tmp_path / "a.parquet") == 0


def test_more_rows_than_memory_are_refused_where_all_are_needed(tmp_path, monkeypatch):
    folder, whole = folder_of(tmp_path)
    monkeypatch.setattr(parts, "_memory", lambda: 600 * 8)
    for place in (folder, whole):
        found = run("audit", place, *COLUMNS, "--by", "site")
        fails_with(found, "asks for all rows at once", "test, interval, equivalence")
        assert run("test", place, *COLUMNS, *FAST).exit_code == 0
    monkeypatch.setattr(parts, "_memory", lambda: 0)  # where it is not known nothing is refused
    check_memory([whole], 10**9)


def test_errors_name_one_of_several_files(tmp_path):
    one, two = tmp_path / "1.csv", tmp_path / "2.csv"
    for files, expected in (([one], "wrong"), ([one, two], f"wrong, in {str(one)!r}")):
        with pytest.raises(ValueError) as error, naming(one, files):
            raise ValueError("wrong")
        assert str(error.value) == expected
