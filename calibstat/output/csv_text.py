"""Tables as CSV that spreadsheets can open: no text is taken for a formula."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled

if TYPE_CHECKING:
    import pandas as pd

FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
FIRST = ("\t", "\r", "\n")  # with which a text is computed, whatever follows
# What separates columns, or rows, in some spreadsheets, as a semicolon in much of Europe: those do not read quotes as
# quotes where a column does not begin with one, and see a text behind each of these.
SEPARATORS = (";", *FIRST)


class SixDigits(float):
    """A number that is written with six significant digits."""

    def __str__(self) -> str:
        return f"{settled(float(self)):.6g}"


def as_csv(frame: pd.DataFrame, number: type[float] = float) -> str:
    """Return a table as CSV, each text in quotes and with an apostrophe before what a spreadsheet would compute.

    Numbers with decimals are written as by `number`; by pandas' own setting they would be texts, in quotes.
    """
    plain = frame.rename(columns=harmless)
    for index, kind in enumerate(plain.dtypes):
        column = plain.iloc[:, index]
        if kind.kind == "f" and number is not float:
            plain.isetitem(index, np.array([number(each) for each in column], dtype=object))
        elif kind.kind not in "biufcmM":
            plain.isetitem(index, column.map(harmless).astype(object).to_numpy())
    return plain.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def harmless(cell: object) -> object:
    """Return a cell; text that a spreadsheet would compute gets an apostrophe before it."""
    if not isinstance(cell, str):
        return cell
    text = cell.lstrip()
    guarded = "'" * (cell.startswith(FIRST) or text.startswith(FORMULA_SIGNS)) + cell[: len(cell) - len(text)]
    for place, character in enumerate(text):
        guarded += character
        if character in SEPARATORS and text[place + 1 :].lstrip().startswith(FORMULA_SIGNS):
            guarded += "'"
    return guarded
