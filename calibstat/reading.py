"""Reads outcomes and predictions from a CSV or Parquet file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.sample import Sample

if TYPE_CHECKING:
    import pandas as pd


def read_sample(file: Path, label: str, prob: str) -> Sample:
    """Read two columns of a file; a ValueError or OSError says in one line what is wrong with them."""
    frame = read_columns(file, [label, prob])
    y, p = (as_numbers(frame[column], column) for column in (label, prob))
    try:
        return Sample.from_rows(y, p)
    except ValueError as error:
        named = str(error).replace("y_true", repr(label)).replace("y_prob", repr(prob))
        raise ValueError(f"{named} (rows count from 0)" if "at row" in named else named) from None


def read_columns(file: Path, columns: list[str]) -> pd.DataFrame:
    """Read the named columns of a CSV or Parquet file."""
    import pandas as pd

    if file.is_dir():
        raise ValueError(f"expected a file, found the directory {str(file)!r}")
    if not file.exists():
        raise ValueError(f"no such file: {str(file)!r}")
    kind = file.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise ValueError(f"expected a .csv or .parquet file, found {str(file)!r}")
    try:
        if kind == ".csv":
            there = pd.read_csv(file, nrows=0).columns
        else:
            from pyarrow import parquet

            there = parquet.read_schema(file).names
        for column in columns:
            if column not in there:
                raise KeyError(column)
        if kind == ".csv":
            return pd.read_csv(file, usecols=columns, low_memory=False)
        return pd.read_parquet(file, columns=columns)
    except KeyError as error:
        raise ValueError(f"no column {error.args[0]!r} in {str(file)!r}; it has {', '.join(there)}") from None
    except pd.errors.EmptyDataError:
        raise ValueError(f"{str(file)!r} is empty") from None
    except ModuleNotFoundError:
        raise ValueError("reading Parquet needs pyarrow: python -m pip install pyarrow") from None
    except (ValueError, OSError) as error:
        raise ValueError(f"cannot read {str(file)!r}: {error}") from None


def as_numbers(column: pd.Series, name: str) -> Any:
    """Return a column as numbers; a ValueError names the first row that is none."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy("float64", na_value=float("nan"))
    numbers = pd.to_numeric(column, errors="coerce")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"expected numbers in column {name!r}, found {column.iloc[row]!r} at row {row} (rows count from 0)"
        )
    return numbers.to_numpy("float64", na_value=float("nan"))
