"""Names of rows: the index of series and frames of pandas, which must not say that rows belong together otherwise."""

from __future__ import annotations

import sys
from typing import Any

from calibstat.data.checks import short


def check_row_names(first: object, second: object, names: tuple[str, str] = ("y_true", "y_prob")) -> None:
    """Raise if two series or frames of pandas have the same index in another order, or other labels.

    Rows belong together as they stand. The index that pandas gives by default, 0 to n - 1, names nothing: a model
    returns an array, and a series made of it has the default index. But if the outcomes have the default index and the
    predictions the same numbers in another order, the predictions were sorted. Arguments without an index, or of
    another length, are not checked here.
    """
    indices = [_index(each) for each in (first, second)]
    if any(index is None for index in indices) or len(indices[0]) != len(indices[1]) or indices[0].equals(indices[1]):
        return
    same = set(indices[0]) == set(indices[1])
    if _is_default(indices[1]) or (not same and _is_default(indices[0])):
        return
    labels = [index.tolist() for index in indices]
    row = next(i for i, (one, other) in enumerate(zip(*labels, strict=True)) if one is not other and one != other)
    found = "the same labels in another order" if same else "other labels"
    remedy = f"reorder them, as in {names[1]}.loc[{names[0]}.index], or " if same else ""
    raise ValueError(
        f"expected {names[1]} with the index of {names[0]}, found {found}: {short(labels[1][row])} where "
        f"{names[0]} has {short(labels[0][row])}, at row {row}; {remedy}give arrays, as in {names[1]}.to_numpy(), if "
        "rows belong together as they stand"
    )


def _index(data: object) -> Any:
    """Return the index of a series or a frame of pandas, else None."""
    pandas = sys.modules.get("pandas")  # who has not imported it has no series
    return data.index if pandas is not None and isinstance(data, pandas.Series | pandas.DataFrame) else None


def _is_default(index: Any) -> bool:
    """Whether an index numbers the rows from 0."""
    return bool(index.equals(sys.modules["pandas"].RangeIndex(len(index))))
