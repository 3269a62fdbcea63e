"""Tables as CSV that spreadsheets can open: no text is taken for a formula."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(frame: pd.DataFrame, **settings: Any) -> str:
    """Return a table as CSV, with an apostrophe before text that a spreadsheet would compute."""
    plain = frame.rename(columns=harmless)
    texts = [*plain.columns]
    for index, kind in enumerate(plain.dtypes):
        if kind.kind not in "biufcmM":
            cells = plain.iloc[:, index].map(harmless).astype(object)
            plain.isetitem(index, cells.to_numpy())
            texts += cells.tolist()
    broken = any("\r" in str(cell) for cell in texts)  # which is only quoted if everything is
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if broken else csv.QUOTE_MINIMAL
    return plain.to_csv(index=False, quoting=quoting, **settings)


def harmless(cell: object) -> object:
    """Return a cell; text that a spreadsheet would compute gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
