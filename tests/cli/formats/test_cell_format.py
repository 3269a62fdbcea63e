"""Text as spreadsheets and statistics programs write it: separators, decimals, per cent, encodings and line ends."""

import gzip

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, fails_with, run

from calibstat.cli import input_files
from calibstat.cli.formats.cell_format import format_of
from calibstat.cli.input_files import columns_of, read_column, read_data, read_rows, sample_in_batches
from calibstat.cli.large import parts
from calibstat.cli.reading import AS_WRITTEN

Y, P = [1, 0, 1, 0, 0], [0.7928, 0.25, 1.0, 0.0, 5e-05]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.csv", "y,p\n", ","),
        ("a.csv", "y;p\n", ";"),
        ("a.csv", "y\tp\n", "\t"),
        ("a.csv", "y|p\n", "|"),
        ("a.csv", "\ny;p\n", ";"),
        ("a.csv", "y;p\r1;0\r0;0,5\r", ";"),
        ("a.csv", "sep=;\na,b;c\n", ";"),
        ("a.tsv", '"SEP=,"\r\na,b;c\n', ","),
        ("a.csv", "y\n", ","),
        ("a.csv", '"a,b,c";d\n', ";"),
        ("a.csv", "a;b,c\n", ","),
        ("a.tsv", "a,b,c\n", "\t"),
    ],
)
def test_the_separator_makes_the_most_cells(name, text, found, tmp_path):
    (tmp_path / name).write_text(text)
    assert format_of(tmp_path / name).separator == found


WRITTEN = {
    "semicolons, decimal commas": "y;p\n1;0,7928\n0;0,25\n1;1\n0;0\n0;5e-05\n",
    "tabs, decimal commas": "y\tp\n1\t0,7928\n0\t,25\n1\t1,0\n0\t0\n0\t0,00005\n",
    "pipes": "y|p\n1|0.7928\n0|0.25\n1|1\n0|0\n0|5e-05\n",
    "per cent": "y,p\n1,79.28%\n0,25%\n1,100%\n0,0%\n0,.005%\n",
    "per cent of a German spreadsheet": "y;p\n1;79,28 %\n0;25,00 %\n1;100 %\n0;0\u00a0%\n0;0,005\u202f%\n",
    "per cent between quotes": 'y,p\n1,"79,28%"\n0,"25%"\n1,"100%"\n0,"0%"\n0,"0,005%"\n',
    "its separator said": "sep=;\ny;p\n1;0.7928\n0;0.25\n1;1\n0;0\n0;5e-05\n",
    "its separator said, decimal commas": 'sep=;\n"y";"p"\n1;"0,7928"\n0;0,25\n1;1\n0;0\n0;5e-05\n',
    "blanks behind separators": 'y, p, "a, b"\n1, 0.7928, "c, d"\n 0, 0.25, e\n1,  1, f\n0, 0, g\n0, 5e-05, h\n',
    "blanks behind semicolons": "y; p\n1; 0,7928\n0; 0,25\n1; 1\n0; 0\n0; 5e-05\n",
    "another column of texts": "y;note;p\n1;1,2,3;0,7928\n0;ö;0,25\n1;x.y;1\n0;1.2.2026;0\n0;;5e-05\n",
}
ENDS, ENCODINGS = ["\n", "\r\n", "\r"], ["utf-8", "utf-8-sig", "utf-16", "utf-16-be with mark"]


def write(file, text, end="\n", encoding="utf-8"):
    text = text.replace("\n", end)
    is_big = encoding.startswith("utf-16-be")
    data = ("\ufeff" + text).encode("utf-16-be") if is_big else text.encode(encoding)
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)
    return file


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("end", ENDS, ids=repr)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_it_is_read_as_the_plain_file(kind, end, encoding, tmp_path):
    for name in ("a.csv", "a.txt.gz"):
        file = write(tmp_path / name, WRITTEN[kind], end, encoding)
        assert columns_of(file)[0] == "y"
        (y, p), _ = read_rows(file, "y", ["p"])
        assert (y.tolist(), p.tolist()) == (Y, P)
        sample, _ = read_data(file, "y", ["p"])
        assert sample.value.tolist() == sorted(P)
        if "per cent" not in kind:
            assert sample_in_batches(file, "y", ["p"], AS_WRITTEN).value.tolist() == sorted(P)


def test_a_command_answers_alike(tmp_path):
    rows = pd.DataFrame({"y": np.arange(60) % 2, "p": np.linspace(0.1, 0.9, 60).round(4), "g": np.arange(60) // 20 / 2})
    rows.to_csv(tmp_path / "a.csv", index=False)
    expected = run("audit", tmp_path / "a.csv", *COLUMNS, "--by", "g", "--n-resamples", 99)
    rows.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",", encoding="utf-16", lineterminator="\r\n")
    assert run("audit", tmp_path / "a.csv", *COLUMNS, "--by", "g", "--n-resamples", 99).stdout == expected.stdout
    assert expected.exit_code == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"y,p\n1,79.28%\n0,0.5\n", "found '79.28%' at row 0 (rows count from 0); write a per cent sign behind every"),
        (
            b'y,p\n1,"0,79"\n',
            "found '0,79' at row 0 (rows count from 0); write decimals behind a point, or cells between",
        ),
        (b"y;p\n1;0,79\n0;0.5\n", "found '0,79' at row 0 (rows count from 0); write decimals behind a point"),
        (b"y,p \n1,0.5\n", "no column 'p'; the file has 'y', 'p '"),
        ("y,p,ö\n1,0.5,a\n".encode("latin-1"), "found other bytes; save it as UTF-8"),
        ("y,p\n1,0.5\n0,ö\n".encode("cp1252"), "found other bytes; save it as UTF-8"),
        ("y,p\n1,0.5\n".encode("utf-16-le"), "found zeros; save it as UTF-8"),
        ("y,p\n1,0.5\n".encode("utf-16")[:-1], "found other bytes; save it as UTF-8"),
        (b'y,p\n1,"0.5\n0,0.2\n', "expected quotation marks in pairs around cells, found one that is never closed"),
        (b"y,p\r1,0.5,3\r", "expected rows of 2 cells"),
        (
            b'"y" "p"\n"1" 1 0.79\n',
            "expected cells between commas, semicolons, tabs or |, found blanks alone; save",
        ),
        (b"sep=;\ny;p\n1;0,5;3\n", "expected rows of 2 cells"),
        ("sep=;\ny;p\n1;0,5;3\n".encode("utf-16"), "expected rows of 2 cells"),
    ],
)
def test_what_cannot_be_read_is_said_without_the_words_of_a_codec(text, found, tmp_path):
    (tmp_path / "a.csv").write_bytes(text)
    result = run("test", tmp_path / "a.csv", *COLUMNS)
    fails_with(result, found)
    for word in ("codec", "universal", "tokeniz", "Error", "encod"):
        assert word not in result.stderr


def test_many_rows_of_other_line_ends_and_decimals_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "MOST_ROWS", 3)
    file = write(tmp_path / "a.csv", WRITTEN["semicolons, decimal commas"], "\r")
    assert parts.number_of_rows(file) == 6
    models = input_files.models_of_many(file, "y", ["p"], AS_WRITTEN)
    assert list(models) == ["p"]


def test_groups_keep_their_per_cent(tmp_path):
    file = write(tmp_path / "a.csv", "y;p;g\n1;0,5;10 %\n0;0,5;20 %\n")
    assert read_column(file, "g").tolist() == ["10 %", "20 %"]
