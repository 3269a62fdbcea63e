"""Checks that no row of a CSV file has more cells than the first, the surplus of which would be lost."""

from __future__ import annotations

import csv
from pathlib import Path

COUNTED = "(rows count from 0)"
PIECE = 2**20  # bytes
OTHERS = bytes(set(range(256)) - set(b",\r\n"))


def check_cells(file: Path) -> None:
    """Raise if a row has more cells than the first."""
    if _is_even(file):
        return
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = (row for row in csv.reader(lines) if row)
        try:
            width = len(next(rows, []))
            for number, row in enumerate(rows):
                if len(row) > width:
                    raise ValueError(
                        f"expected rows of {width} cells, as many as there are columns; found {len(row)} at row "
                        f"{number} {COUNTED}"
                    )
        except csv.Error:
            return  # it is read by another parser, which says what is wrong or takes it


def _is_even(file: Path) -> bool:
    """Whether commas and line ends alone, without quotes below the first row, show that no row has too many cells."""
    with file.open("rb") as stream:
        first = stream.readline()
        names = first.rstrip(b"\r\n")
        if not names or not names.isascii() or b"\r" in names or b"\0" in names or names.count(b'"') % 2:
            return False
        surplus, rest = b"," * len(next(csv.reader([names.decode()]))), b""
        while piece := stream.read(PIECE):
            if not piece.isascii() or b'"' in piece or b"\0" in piece:
                return False
            ends = rest + piece.translate(None, OTHERS)
            if surplus in ends:
                return False
            rest = ends[-len(surplus) :]
    return True
