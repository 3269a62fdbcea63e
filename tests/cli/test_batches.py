"""Columns of numbers in batches: the same rows as from the whole file, and no batch of what is no number."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.cli import batches, input_files
from calibstat.cli.batches import batches_of
from calibstat.cli.input_files import read_data, read_rows
from calibstat.cli.reading import Reading


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 7)


def rows_of(kind, n=60):
    random = np.random.default_rng(1)
    p = np.round(random.random(n), 3)
    y = (random.random(n) < p).astype(int)
    outcomes = {"whole": y, "float": y.astype(float), "true": y == 1, "single": y.astype(np.float32)}
    return pd.DataFrame({"other": p[::-1], "y": outcomes[kind], "p": p, "text": "a"})


def write(frame, file):
    frame.to_csv(file, index=False) if file.suffix == ".csv" else frame.to_parquet(file, index=False)
    return file


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", ["whole", "float", "true", "single"])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_batches_are_the_whole_file(suffix, kind, clip, tmp_path, monkeypatch):
    """Truth values in a CSV file are read from all rows, and everything else is not."""
    file = write(rows_of(kind), tmp_path / f"a{suffix}")
    expected = cs.Sample.from_rows(*read_rows(file, "y", ["p"], Reading(clip=clip))[0])
    if (suffix, kind) != (".csv", "true"):
        monkeypatch.setattr(input_files, "read_rows", None)
    sample, how = read_data(file, "y", ["p"], Reading(clip=clip))
    assert [*map(list, sample.arrays)] == [*map(list, expected.arrays)]
    assert how == ""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("column", "row", "value", "match"),
    [
        ("p", 50, 1.5, "expected a probability from 0 to 1, found 1.5 in 'p' at row 50 "),
        ("p", 50, np.nan, "found nan in 'p' at row 50 "),
        ("y", 3, 2, "found 2.0 in 'y' at row 3 "),
    ],
)
def test_a_bad_row_is_named_as_in_the_whole_file(suffix, column, row, value, match, tmp_path):
    frame = rows_of("whole")
    frame.loc[row, column] = value
    file = write(frame, tmp_path / f"a{suffix}")
    with pytest.raises(ValueError, match=match):
        read_data(file, "y", ["p"])


def test_a_word_below_many_numbers_is_named(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("y,p\n" + "1,0.5\n" * 30 + "yes,0.5\n")
    with pytest.raises(ValueError, match=r"expected numbers in column 'y', found 'yes' at row 30 .*--positive"):
        read_data(file, "y", ["p"])
    with pytest.raises(ValueError, match="expected two outcomes in column 'y', one of them 'no'"):
        read_data(file, "y", ["p"], Reading(positive="no"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_no_rows(suffix, tmp_path):
    file = write(rows_of("whole").iloc[:0], tmp_path / f"a{suffix}")
    with pytest.raises(ValueError, match="expected at least one row, found none"):
        read_data(file, "y", ["p"])


def test_no_batch_is_longer_than_asked(tmp_path):
    for suffix in (".csv", ".parquet"):
        file = write(rows_of("whole"), tmp_path / f"a{suffix}")
        found = [batch[0].size for batch in batches_of(file, ["y", "p"])]
        assert max(found) == 7
        assert sum(found) == 60
    assert batches_of(tmp_path / "a.npz", ["y", "p"]) is None


def test_numbers_of_a_parquet_file_are_read_without_pandas(tmp_path):
    """It takes as much memory as six million predictions."""
    file = write(rows_of("whole"), tmp_path / "a.parquet")
    code = (
        "import sys; from pathlib import Path; from calibstat.cli.batches import batches_of\n"
        f"print(sum(len(y) for y, _ in batches_of(Path({str(file)!r}), ['y', 'p'])), 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == ["60", "False"]
