"""Feather and Arrow files have the same rows as other files."""

import pandas as pd
import pyarrow as pa
import pytest
from command_line import COLUMNS, fails_with, run
from pyarrow import feather

from calibstat.cli.input_files import columns_of, read_rows

ROWS = pd.DataFrame({"y": [1, 0, 1], "p": [0.7928, 0.25, 1.0], "day": pd.to_datetime(["2026-01-01"] * 3)})


def write(file, how):
    table = pa.Table.from_pandas(ROWS.set_index("y").reset_index() if how == "file" else ROWS)
    if how == "feather":
        feather.write_feather(ROWS, str(file), compression="lz4")
        return
    with pa.OSFile(str(file), "wb") as sink:
        maker = pa.ipc.new_file if how == "file" else pa.ipc.new_stream
        with maker(sink, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize(
    ("name", "how"), [("a.feather", "feather"), ("a.arrow", "file"), ("a.arrow", "stream"), ("A.ARROW", "file")]
)
def test_every_format_is_read(name, how, tmp_path):
    write(tmp_path / name, how)
    assert columns_of(tmp_path / name) == ["y", "p", "day"]
    (y, p), _ = read_rows(tmp_path / name, "y", ["p"])
    assert (y.tolist(), p.tolist()) == ([1, 0, 1], [0.7928, 0.25, 1.0])


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"ARROW1\0\0and no more")
    fails_with(run("test", tmp_path / "a.feather", *COLUMNS), "cannot read", "a.feather")
    fails_with(run("test", tmp_path / "a.xlsx", *COLUMNS), "no such file")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    fails_with(run("test", tmp_path / "a.xlsx", *COLUMNS), "a.xlsx'; save it as CSV")
