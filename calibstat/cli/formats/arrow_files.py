"""Columns of Feather and Arrow files, of both formats in which tables of Arrow are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ARROW_FILES = (".feather", ".arrow")


def names_of_table(file: Path) -> list[str]:
    """Name the columns."""
    return list(_table(file, None).columns)


def columns_of_table(file: Path, wanted: Sequence[str]) -> pd.DataFrame:
    """Return these columns."""
    return _table(file, wanted)


def _table(file: Path, wanted: Sequence[str] | None) -> pd.DataFrame:
    """Return columns as a frame, without rows if `wanted` is None."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise ValueError("reading Feather and Arrow files needs pyarrow: python -m pip install pyarrow") from None
    with pa.memory_map(str(file)) as source:
        try:
            reader = pa.ipc.open_file(source)
        except pa.ArrowInvalid:  # it has no footer
            reader = pa.ipc.open_stream(source)
        table = reader.schema.empty_table() if wanted is None else reader.read_all().select(list(wanted))
        return table.to_pandas(ignore_metadata=True)
