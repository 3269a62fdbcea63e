"""Rows of CSV files: surplus cells are found as by the csv module, and plain files are not parsed for that."""

import csv

import pytest

from calibstat.cli.formats import csv_rows
from calibstat.cli.formats.cell_format import CellFormat
from calibstat.cli.formats.csv_rows import check_cells

COMMAS = CellFormat("utf-8-sig", ",", ".", 0)


def widest(text):
    rows = [row for row in csv.reader(text.splitlines(keepends=True)) if row]
    return max(map(len, rows)) > len(rows[0])


FILES = {
    "plain": "y,p\n1,0.5\n0,0.25\n",
    "missing": "y,p\n1,\n\n,\n0\n",
    "surplus": "y,p\n1,0.5\n0,0.25,7\n",
    "empty surplus": "y,p\n1,0.5\n0,0.25,\n",
    "quoted names": '"y","p, of 1"\n1,0.5\n',
    "quoted names, surplus": '"y","p, of 1"\n1,0.5,2\n',
    "a name on two lines": '"y\nz",p\n1,0.5\n',
    "quoted comma": 'y,p\n"1,2",0.5\n',
    "quoted comma, surplus": 'y,p\n"1,2",0.5,3\n',
    "line ends of Windows": "y,p\r\n1,0.5\r\n0,0.1,2\r\n",
    "old line ends": "y,p\r1,0.5\r0,0.1\r",
    "blank first": "\ny,p\n1,0.5\n",
    "blank first, surplus": "\ny,p\n1,0.5,3\n",
    "one column": "y\n1\n0\n",
    "one column, surplus": "y\n1\n0,1\n",
    "no ASCII": "y,p,Größe\n1,0.5,é\n",
    "no ASCII, surplus": "y,p\n1,0.5,é\n",
    "no last line end": "y,p\n1,0.5\n0,0.25,7",
    "header alone": "y,p",
}


@pytest.mark.parametrize("piece", [2**20, 3, 1])
@pytest.mark.parametrize("kind", FILES)
def test_surplus_cells_are_found(kind, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_rows, "PIECE", piece)
    file = tmp_path / "a.csv"
    file.write_bytes(FILES[kind].encode())
    if not widest(FILES[kind]):
        check_cells(file, COMMAS)
        return
    with pytest.raises(ValueError, match=r"found \d at row \d \(rows count from 0\)"):
        check_cells(file, COMMAS)


def test_rows_of_plain_files_are_not_parsed(tmp_path, monkeypatch):
    parsed, reader = [], csv.reader
    monkeypatch.setattr(csv_rows.csv, "reader", lambda lines, **how: parsed.append(lines) or reader(lines, **how))
    (tmp_path / "a.csv").write_text('"y","p"\n' + "1,0.5\n" * 100)
    check_cells(tmp_path / "a.csv", COMMAS)
    assert parsed == [['"y","p"']]


@pytest.mark.parametrize("surplus", ["", ",7"])
def test_surplus_cells_are_found_beside_a_text_of_any_length(surplus, tmp_path):
    """The module csv takes cells of up to 131,072 characters; beside a longer one a surplus cell was lost."""
    text = "z" * 200_000
    (tmp_path / "a.csv").write_text(f'y,p,"q"\n1,0.5,"{text}"\n0,0.25,"b"{surplus}\n')
    limit = csv.field_size_limit()
    if surplus:
        with pytest.raises(ValueError, match=r"expected rows of 3 cells, .* found 4 at row 1 \(rows count from 0\)"):
            check_cells(tmp_path / "a.csv", COMMAS)
    else:
        check_cells(tmp_path / "a.csv", COMMAS)
    assert csv.field_size_limit() == limit
