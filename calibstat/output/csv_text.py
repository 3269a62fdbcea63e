"""Tables as CSV that spreadsheets can open: no text is taken for a formula."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
FIRST = ("\t", "\r", "\n")  # with which a text is computed, whatever follows
# What separates columns, or rows, in some spreadsheets, as a semicolon in much of Europe: those do not read quotes as
# quotes where a column does not begin with one, and see a text behind each of these.
SEPARATORS = (";", *FIRST)


def as_csv(frame: pd.DataFrame, **settings: Any) -> str:
    """Return a table as CSV, each text in quotes and with an apostrophe before what a spreadsheet would compute."""
    plain = frame.rename(columns=harmless)
    for index, kind in enumerate(plain.dtypes):
        if kind.kind not in "biufcmM":
            plain.isetitem(index, plain.iloc[:, index].map(harmless).astype(object).to_numpy())
    return plain.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, **settings)


def harmless(cell: object) -> object:
    """Return a cell; text that a spreadsheet would compute gets an apostrophe before it."""
    if not isinstance(cell, str):
        return cell
    text = cell.lstrip()
    guarded = "'" * (cell.startswith(FIRST) or text.startswith(SIGNS)) + cell[: len(cell) - len(text)]
    for place, character in enumerate(text):
        guarded += character
        if character in SEPARATORS and text[place + 1 :].lstrip().startswith(SIGNS):
            guarded += "'"
    return guarded
