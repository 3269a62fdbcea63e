"""A damaged or special file ends in one line on standard error, or in an answer."""

import io
import os
import struct
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, fails_with, run

import calibstat as cs
from calibstat.cli import file_checks
from calibstat.cli.file_checks import check_size, readable
from calibstat.cli.input_files import read_data

pytestmark = pytest.mark.usefixtures("quick_draws")

Y, P = cs.generators.temperature(1.5).sample(40, rng=1)
ROWS = pd.DataFrame({"y": Y.astype(int), "p": P})
QUICK = ["--n-resamples", 9]
LONG = "1" * 401


def good(kind):
    """The bytes of a file of the rows, and how its columns are called."""
    out = io.BytesIO()
    if kind in ("npz", "compressed npz"):
        (np.savez if kind == "npz" else np.savez_compressed)(out, y=Y, p=P)
    elif kind == "npy":
        np.save(out, ROWS.to_numpy())
    elif kind == "parquet":
        ROWS.to_parquet(out)
    else:
        out.write(ROWS.to_csv(index=False).encode())
    return out.getvalue(), ["--label", "0", "--prob", "1"] if kind == "npy" else COLUMNS


def damaged(data, rng):
    """The same with a byte or a bit flipped, a piece cut out or doubled, or the end cut off."""
    at = int(rng.integers(len(data)))
    to = min(at + int(rng.integers(1, 60)), len(data))
    flipped = data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]
    changed = data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]
    cut, doubled = data[:at] + data[to:], data[:to] + data[at:]
    return [flipped, changed, cut, doubled, data[:at]][int(rng.integers(5))]


@pytest.mark.parametrize("kind", ["npz", "compressed npz", "npy", "parquet", "csv"])
def test_a_damaged_file_is_a_value_error_or_an_answer(kind, tmp_path):
    """On the command line a ValueError is one line."""
    data, (_, label, _, prob) = good(kind)
    path, rng = tmp_path / f"a.{kind.rpartition(' ')[2]}", np.random.default_rng(7)
    path.write_bytes(data)
    right = cs.estimate(read_data(path, label, [prob])[0])
    refused = 0
    for _ in range(100):
        path.write_bytes(damaged(data, rng))
        try:
            found = cs.estimate(read_data(path, label, [prob])[0])
        except ValueError:
            refused += 1
        else:
            assert "npz" not in kind or found == right  # it has checksums
    assert 0 < refused < 100 or kind == "parquet"


@pytest.mark.parametrize("kind", ["npz", "npy", "parquet", "csv"])
def test_half_a_file_is_one_line(kind, tmp_path):
    data, columns = good(kind)
    path = tmp_path / f"a.{kind}"
    path.write_bytes(data[: len(data) // 2] + b'"')
    fails_with(run("test", path, *columns, *QUICK), repr(str(path)) if kind != "csv" else "")


def array_file(header):
    """An .npy file with any header."""
    text = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(32)


def described(shape, kind="<f8"):
    return f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}}}"


HEADERS = {
    "a shape of 8 TB": described("(1000000000000,)"),
    "a wide shape": described("(2, 100000000000)"),
    "a shape beyond 64 bits": described(f"({10**23},)"),
    "no rows of very many columns": described("(0, 100000000000)"),
    "very many rows of nothing": described("(100000000000,)", "<U0"),
    "wide text": described("(2,)", "<U99999999"),
    "a negative shape": described("(-1, 2)"),
    "fewer rows than there are": described("(1, 2)"),
    "a list as a key": "{[]: 1}",
    "brackets": "[" * 5000,
    "signs": "-" * 9000,
    "no literal": "{'shape': (1if 2else 3,)}",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_lies_is_refused_before_its_array_is_read(header, tmp_path):
    path, packed = tmp_path / "a.npy", tmp_path / "a.npz"
    path.write_bytes(array_file(HEADERS[header]))
    with zipfile.ZipFile(packed, "w") as file:
        file.write(path, "y.npy")
    fails_with(run("test", path, "--label", "0", "--prob", "1"), f"cannot read {str(path)!r}")
    fails_with(run("test", packed, *COLUMNS), f"cannot read {str(packed)!r}")


def test_a_small_file_that_unpacks_to_very_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_checks, "FILE_LIMIT", 10**6)
    np.savez_compressed(tmp_path / "a.npz", y=np.zeros(10**5), p=np.zeros(10**5))
    fails_with(run("test", tmp_path / "a.npz", *COLUMNS), "at most 1,000,000 bytes of data", "1,600,", "declared")
    pd.DataFrame({"y": np.zeros(10**5), "p": np.zeros(10**5)}).to_parquet(tmp_path / "a.parquet")
    fails_with(run("test", tmp_path / "a.parquet", *COLUMNS), "at most 1,000,000 bytes of data", "1,600,000 declared")
    monkeypatch.undo()
    assert run("test", tmp_path / "a.npz", *COLUMNS, *QUICK).exit_code == 0
    check_size(tmp_path / "a.npz", file_checks.FILE_LIMIT)


def test_an_encrypted_member(tmp_path):
    data = bytearray(good("npz")[0])
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    data[data.rfind(b"PK\x03\x04") + 6] |= 1
    (tmp_path / "a.npz").write_bytes(data)
    fails_with(run("test", tmp_path / "a.npz", *COLUMNS), "is encrypted")


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"y": Y, "p": P + 0.3j}, ("column 'p'", "complex numbers")),
        ({"y": Y + 1j, "p": P}, ("column 'y'", "complex numbers")),
        ({"y": Y, "p": np.zeros(40, "m8[ns]")}, ("numbers in column 'p'", "Timedelta('0 days 00:00:00') at row 0")),
        ({"y": Y, "p": np.zeros(40, "M8[s]")}, ("numbers in column 'p'", "Timestamp('1970-01-01 00:00:00') at row 0")),
        ({"y": Y.astype("M8[ns]"), "p": P}, ("numbers in column 'y'", "Timestamp('1970-01-01")),
        ({"y": np.zeros(40, "V3"), "p": P}, ("column 'y'", "raw bytes")),
    ],
)
def test_columns_that_are_no_numbers_are_refused_by_name(columns, parts, tmp_path):
    np.savez(tmp_path / "a.npz", **columns)
    fails_with(run("test", tmp_path / "a.npz", *COLUMNS), *parts)


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"y": [[1, 2], [0]] * 20, "p": P}, ("column 'y'", "nested values (ndarray)")),
        ({"y": [{"a": 1}] * 40, "p": P}, ("column 'y'", "nested values (dict)")),
        ({"y": Y, "p": pd.to_timedelta(np.zeros(40))}, ("numbers in column 'p'", "Timedelta", "row 0")),
        ({"y": Y, "p": pd.date_range("2026-01-01", periods=40, tz="UTC")}, ("numbers in column 'p'", "Timestamp")),
    ],
)
@pytest.mark.parametrize("positive", [[], ["--positive", "1"]])
def test_columns_of_parquet_that_are_no_numbers(columns, parts, positive, tmp_path):
    pd.DataFrame(columns).to_parquet(tmp_path / "a.parquet")
    fails_with(run("test", tmp_path / "a.parquet", *COLUMNS, *positive), *parts)


def test_a_column_that_pandas_wrote_as_index(tmp_path):
    path = tmp_path / "a.parquet"
    ROWS.to_parquet(path)
    right = run("test", path, *COLUMNS, *QUICK)
    ROWS.set_index("y").to_parquet(path)
    assert run("test", path, *COLUMNS, *QUICK).stdout == right.stdout


@pytest.mark.parametrize(
    ("cells", "options", "parts"),
    [
        (f"{LONG},0.5,1", [], ("numbers in column 'y'", "(401 characters) at row 1")),
        (f"1,{LONG},1", [], ("'p' at row 1",)),
        (f"1,0.5,{LONG}", ["--weight", "x"], ("numbers in column 'x'", "(401 characters) at row 1")),
    ],
)
def test_numbers_of_very_many_digits(cells, options, parts, tmp_path):
    (tmp_path / "a.csv").write_text(f"y,p,x\n0,0.5,1\n{cells}\n")
    fails_with(run("test", tmp_path / "a.csv", *COLUMNS, *options), *parts)


def test_features_of_very_many_digits(tmp_path):
    (tmp_path / "a.csv").write_text(f"y,p,x\n0,0.5,1\n1,0.5,{LONG}\n")
    fails_with(run("audit", tmp_path / "a.csv", *COLUMNS, "--by", "x"), "too large")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "npy"])
def test_a_device_is_refused(ending, tmp_path):
    os.symlink(os.devnull, tmp_path / f"b.{ending}")
    fails_with(run("test", tmp_path / f"b.{ending}", *COLUMNS), "expected a regular file", "found", "a device")


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError("deep"), TypeError("a\nb"), EOFError(), MemoryError()])
def test_every_error_of_a_reader_names_the_file(error, tmp_path):
    with (
        pytest.raises(ValueError, match=r"cannot read '.*a\.npz': (\w*Error: |that takes more memory)"),
        readable(tmp_path / "a.npz"),
    ):
        raise error
