"""Reads columns of numbers of a file of cells or a Parquet file in batches, of which one is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibstat.cli.file_checks import check_size
from calibstat.cli.formats.cell_format import format_of
from calibstat.cli.formats.csv_rows import check_cells
from calibstat.cli.formats.text_files import CSV_FILES, check_expanded, kind_of
from calibstat.data.validation import ready

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH_ROWS = 2**18  # of a batch
BYTES = 8  # of a number

Batches = Iterator[list[np.ndarray]]


def batches_of(file: Path, columns: Sequence[str]) -> Batches | None:
    """Return batches of float64 columns, or None for a file that is not read so.

    Reading raises a ValueError if an entry is missing or is not a number. The whole file has to be read then, because
    the meaning of the other entries may depend on it.
    """
    kind = kind_of(file)
    if kind in CSV_FILES:
        return _of_cells(file, columns)
    return _of_parquet(file, columns) if kind == ".parquet" else None


def mixed_batches(file: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the same batches of columns of any kind; of a file of cells the texts as they are written."""
    import pandas as pd

    if kind_of(file) in CSV_FILES:
        how = format_of(file).of_pandas
        with pd.read_csv(file, usecols=list(columns), chunksize=BATCH_ROWS, dtype=str, **how) as batches:
            yield from batches
        return
    from pyarrow import parquet

    with parquet.ParquetFile(file) as source:
        for group in range(source.num_row_groups):
            for batch in source.iter_batches(BATCH_ROWS, row_groups=[group], columns=list(columns)):
                yield batch.to_pandas()


def parquet_columns(file: Path) -> tuple[list[str], int]:
    """Name the columns of a Parquet file, and say how many rows it declares."""
    try:
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ValueError("reading Parquet needs pyarrow: python -m pip install pyarrow") from None
    declared = parquet.read_metadata(file)
    return declared.schema.to_arrow_schema().names, declared.num_rows


def _of_cells(file: Path, columns: Sequence[str]) -> Batches:
    import pandas as pd

    check_expanded(file)
    written = format_of(file)
    check_cells(file, written)
    with pd.read_csv(file, usecols=list(columns), chunksize=BATCH_ROWS, **written.of_pandas) as batches:
        for batch in batches:
            yield [_as_floats(batch[name].to_numpy(), name) for name in columns]


def _of_parquet(file: Path, columns: Sequence[str]) -> Batches:
    import pyarrow as pa
    from pyarrow import parquet

    check_size(file, parquet_columns(file)[1] * len(columns) * BYTES)
    with parquet.ParquetFile(file) as source:
        for group in range(source.num_row_groups):  # asked for one at a time, as what is asked for is read at once
            for batch in source.iter_batches(BATCH_ROWS, row_groups=[group], columns=list(columns)):
                yield [_as_floats(_numbers(batch.column(name)), name) for name in columns]
    pa.default_memory_pool().release_unused()  # it would be kept while all rows are sorted


def _numbers(column: pa.Array) -> np.ndarray:
    """Return a column; the truth values of this format are 0 and 1 in all batches."""
    import pyarrow as pa

    if column.null_count == 0 and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.from_dlpack(column)  # pyarrow would import pandas, 50 MB, which nothing else needs here
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    return values.view(np.uint8) if values.dtype == bool else values


def _as_floats(column: np.ndarray, name: str) -> np.ndarray:
    """Return a column as float64; raise unless it holds numbers.

    Words such as True are none: a batch of them beside batches of numbers is a column of neither.
    """
    if column.dtype.kind not in "iuf":
        raise ValueError(f"expected numbers in column {name!r}, found {column.dtype}")
    return ready(column, np.float64)
