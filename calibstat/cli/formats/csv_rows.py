"""Checks that no row of a file of cells has more than the first, the surplus of which would be lost."""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path

from calibstat.cli.formats.cell_format import CellFormat
from calibstat.cli.formats.text_files import PIECE, UTF8, opened

COUNTED = "(rows count from 0)"
LONGEST = 2**31 - 1  # characters of a cell; the module csv stops at 131,072 unless it is told otherwise


def check_cells(file: Path, written: CellFormat) -> None:
    """Raise if a row has more cells than the first."""
    if written.encoding == UTF8 and not written.lines_before and _is_even(file, written):
        return
    usual = csv.field_size_limit(LONGEST)
    try:
        with opened(file) as stream, io.TextIOWrapper(stream, written.encoding) as lines:
            below = islice(lines, written.lines_before, None)  # line ends of any kind
            rows = (row for row in csv.reader(below, **written.of_csv) if row)
            width = len(next(rows, []))
            for number, row in enumerate(rows):
                if len(row) > width:
                    raise ValueError(
                        f"expected rows of {width} cells, as many as there are columns; found {len(row)} at row "
                        f"{number} {COUNTED}"
                    )
    finally:
        csv.field_size_limit(usual)


def _is_even(file: Path, written: CellFormat) -> bool:
    """Whether separators and line ends alone, without quotes below the first row, show that no row is too long."""
    separator = written.separator.encode()
    others = bytes(set(range(256)) - set(separator + b"\r\n"))
    with opened(file) as stream:
        first = stream.readline(PIECE)
        names = first.rstrip(b"\r\n")
        if not names or not names.isascii() or b"\r" in names or b"\0" in names or names.count(b'"') % 2:
            return False
        cells = next(csv.reader([names.decode()], **written.of_csv))
        surplus, rest = separator * len(cells), b""
        while piece := stream.read(PIECE):
            if not piece.isascii() or b'"' in piece or b"\0" in piece:
                return False
            ends = rest + piece.translate(None, others)
            if surplus in ends:
                return False
            rest = ends[-len(surplus) :]
    return True
