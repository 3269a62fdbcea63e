"""Reads columns of features and of periods from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibstat.cli.formats.chosen_columns import need_features
from calibstat.cli.input_files import COUNTED, columns_of, read_column, read_columns
from calibstat.monitoring.period_labels import as_label, date_of

if TYPE_CHECKING:
    import pandas as pd

DATE = re.compile(r"\d{4}-\d{2}-\d{2}($|[T ])")


def read_features(file: Path, names: Sequence[str]) -> pd.DataFrame:
    """Read columns of features; texts that are all dates, such as 2016-06-30, become dates."""
    check_features(file, names)
    frame = read_columns(file, names[0], names[1:], text=False)[list(names)]
    return frame.assign(**{name: with_dates(frame[name]) for name in names})


def check_features(file: Path, names: Sequence[str]) -> None:
    """Raise unless the file has a column of each name, which are different."""
    need_features(columns_of(file), names)


def with_dates(column: pd.Series) -> pd.Series:
    """Return a column, of texts that are all dates as dates."""
    import pandas as pd

    texts = column.dropna()
    if len(texts) and all(isinstance(text, str) and DATE.match(text) for text in texts):
        return pd.to_datetime(column.str.slice(stop=10), format="%Y-%m-%d")
    return column


def read_periods(file: Path, when: str) -> dict[int | str, np.ndarray]:
    """Read the column of periods: return the indices of the rows of each, in the order of time.

    Rows whose dates are spelled differently belong to one period, and so do equal times in different zones.
    """
    import pandas as pd

    code, values = pd.factorize(read_column(file, when))
    if (code < 0).any():
        raise ValueError(f"expected a period in column {when!r}, found nothing at row {(code < 0).argmax()} {COUNTED}")
    names: list[int | str] = []
    for i, value in enumerate(pd.Index(values)):
        try:
            names.append(as_label(value))
            moment(names[-1])
        except ValueError:
            raise ValueError(
                f"expected dates such as 2026-11-22, or whole numbers, in column {when!r}; found {value!r} at row "
                f"{(code == i).argmax()} {COUNTED}"
            ) from None
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}  # one for all spellings of a date
    code, labels = np.array([number[name] for name in names], dtype=np.intp)[code], list(number)
    rows = np.split(np.argsort(code, kind="stable"), np.cumsum(np.bincount(code))[:-1])
    return {labels[i]: rows[i] for i in sorted(range(len(labels)), key=lambda i: moment(labels[i]))}


def moment(period: int | str) -> float:
    """Return where a period is in time: a whole number, or a date, month or week in ISO 8601; else a ValueError."""
    return period if isinstance(period, int) else date_of(period).replace(tzinfo=UTC).timestamp()
