"""The format of cells in a text file: its encoding, what separates cells, and the sign before decimals."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibstat.cli.formats.text_files import UTF8, encoding_of, kind_of, opened

DELIMITERS = ",;\t|"
SAID = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line of files that spreadsheets open in any country
LINE_END = re.compile(r"\r\n|\r|\n")
SAMPLE = 2**16  # bytes that show how all are written
DECIMAL_COMMA, DECIMAL_POINT = (re.compile(rf"[+-]?\d*{sign}\d+([eE][+-]?\d+)?") for sign in (",", r"\."))


@dataclass(frozen=True)
class CellFormat:
    """The format of the cells of a file.

    Attributes
    ----------
    encoding : str
        "utf-8-sig" or "utf-16".
    separator : str
        What is between cells.
    decimal : str
        What is before decimals: a point or a comma.
    lines_before : int
        Number of lines above the names of the columns, such as "sep=;".
    """

    encoding: str
    separator: str
    decimal: str
    lines_before: int

    @property
    def of_pandas(self) -> dict[str, Any]:
        """The arguments of `pandas.read_csv`; blanks after separators do not count."""
        return {
            "sep": self.separator,
            "encoding": "utf-8" if self.encoding == UTF8 else self.encoding,
            "decimal": self.decimal,
            "skiprows": self.lines_before,
            "skipinitialspace": True,
            "low_memory": False,
        }

    @property
    def of_csv(self) -> dict[str, Any]:
        """The arguments of `csv.reader`."""
        return {"delimiter": self.separator, "skipinitialspace": True}


def format_of(file: Path) -> CellFormat:
    """Tell from its beginning how a file is written.

    A first line such as "sep=;" says what separates cells. Else that is a tab in .tsv, and in other files what makes
    the most cells of the names, of two that make as many the comma. Decimals are behind commas if the first cells that
    have decimals all have commas, and cells are not separated by them.
    """
    with opened(file) as stream:
        begin = stream.read(SAMPLE)
    encoding = encoding_of(begin)
    lines = LINE_END.split(begin.decode(encoding, "replace"))
    if "\0" in lines[0]:
        raise ValueError("expected text in UTF-8, or in UTF-16 with a byte order mark, found zeros; save it as UTF-8")
    said = SAID.fullmatch(lines[0].strip(" "))
    lines = [line for line in lines[1 if said else 0 :] if line.strip(" ")] or [""]
    if said:
        separator = said[1]
    elif kind_of(file) == ".tsv":
        separator = "\t"
    else:
        names = {each: len(next(csv.reader(lines[:1], delimiter=each), [])) for each in DELIMITERS}
        separator = max(DELIMITERS, key=lambda each: names[each])
        if names[separator] == 1 and len(lines) > 1 and all(" " in line.strip() for line in lines[:2]):
            raise ValueError("expected cells between commas, semicolons, tabs or |, found blanks alone; save it as CSV")
    found = CellFormat(encoding, separator, ".", 1 if said else 0)
    if separator == ",":
        return found
    whole = lines[1:] if len(begin) < SAMPLE else lines[1:-1]
    cells = [cell.strip("% \u00a0") for row in csv.reader(whole, **found.of_csv) for cell in row]
    commas, points = (any(map(sign.fullmatch, cells)) for sign in (DECIMAL_COMMA, DECIMAL_POINT))
    return CellFormat(encoding, separator, "," if commas and not points else ".", found.lines_before)
