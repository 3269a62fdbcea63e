"""The table that a GROUP BY returns: counts and exact sums of predictions in cells, turned into predictions and counts.

A cell is (b/N, (b + 1)/N] with N = 153,600 = 2**11 * 3 * 5**2, the first closed at 0. Its edges are the doubles b/N, so
that bins of any number that divides N are made of whole cells. What a prediction lies above the edge of its cell is an
exact double, and two whole numbers hold it: `offsets` in units of 2**-44, and what remains, `fine_offsets`, of 2**-71.
Whole numbers add up to the same sum in any order. In the first cell what is below 2**-71 is cut off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.data.checks import quoted, short
from calibstat.data.numbered_labels import is_missing
from calibstat.data.single_precision import is_single

TABLE_CELLS = 153_600
COARSE = 2**44  # units of `offsets` in 1; an offset is below 2**27 of them
FINE = 2**27  # units of `fine_offsets` in one of `offsets`
LARGEST_WEIGHT = 2**31
MOST_ROWS = 2**36  # in a cell; sums of more may not fit into 64 bits
SUMS = ("cell", "n_rows", "count", "positives", "lowest", "highest", "offsets", "fine_offsets", "n_weighted")
STATES = 3  # of an entry: good, missing, or anything else
COLUMN_VALUES = ("0 or 1", "a probability from 0 to 1", f"a whole weight from 0 to {LARGEST_WEIGHT:,}")
REASON = "; only whole weights, which count repeated rows, add up to the same sums in every engine"


@dataclass(frozen=True, eq=False)
class GroupCells:
    """The cells of a group of rows: a prediction for each, rows and positive rows, and what the summary changed.

    `moved` is the largest distance between a prediction and the one that stands for it.
    """

    value: np.ndarray
    count: np.ndarray
    positives: np.ndarray
    moved: float
    n_repeated: int
    n_zero_weight: int


def check_cells(cells: object) -> bool:
    """Return whether every distinct prediction is to be kept; raise for an option that is not known."""
    if cells is None or (isinstance(cells, str) and cells == "distinct"):
        return cells is not None
    raise ValueError(f"expected cells None, which means {TABLE_CELLS:,} cells, or 'distinct'; found {short(cells)}")


def by_columns(by: str | Sequence[str] | None) -> list[str]:
    """Return the names of the columns of groups; raise if one is the name of a column of the answer."""
    names = [] if by is None else [by] if isinstance(by, str) else list(by)
    for name in names:
        if not isinstance(name, str) or name in SUMS or names.count(name) > 1:
            raise ValueError(
                f"expected by, distinct names of columns other than {quoted(SUMS, len(SUMS))}; found {short(by)}"
            )
    if by is not None and not names:
        raise ValueError("expected by, one name of a column or several, found none")
    return names


def groups_of_table(
    columns: Mapping[str, Any], by: str | Sequence[str] | None, names: Sequence[str | None]
) -> dict[Any, GroupCells]:
    """Return the cells of each group, by its value or tuple of values in ascending order; of all rows as group ().

    `names` are the columns of outcomes, predictions and weights, for error messages. One error names all that is wrong.
    """
    keys = by_columns(by)
    missing = [name for name in (*keys, *SUMS[:-1]) if name not in columns]
    if missing:
        raise ValueError(f"expected the columns of the query of calibstat.sql, found none called {quoted(missing)}")
    whole = {name: _whole(columns[name], name) for name in SUMS if not name.endswith("est") and name in columns}
    low, high = (np.asarray(columns[name], np.float64) for name in ("lowest", "highest"))
    if not whole["n_rows"].size or not whole["n_rows"].any():
        raise ValueError("expected at least one row, found none")
    place = _places([_values(columns[name]) for name in keys], low.size)
    faults = [*_faults(whole["cell"], whole["n_rows"], names), *_faults_of_groups(place, keys, whole["n_rows"])]
    if faults:
        raise ValueError("; ".join(faults))
    if whole["count"].max() >= MOST_ROWS:
        raise ValueError(f"expected fewer than 2**36 rows in a cell, found {whole['count'].max():,}")
    value = _means(whole, low, high)
    if not is_single(value):  # what single precision rounded up from the end of its cell is at the end
        value = np.minimum(value, (whole["cell"] + 1) / TABLE_CELLS)
    found = {}
    for key in _ascending(place):
        at = place[key]
        moved = np.maximum(high[at] - value[at], value[at] - low[at])
        rows, total = int(whole["n_rows"][at].sum()), int(whole["count"][at].sum())
        weighted = int(whole["n_weighted"][at].sum()) if "n_weighted" in whole else rows
        found[key[0] if isinstance(by, str) else key] = GroupCells(
            value[at],
            whole["count"][at].astype(np.float64),
            whole["positives"][at].astype(np.float64),
            float(moved.max()),
            weighted if total > weighted else 0,
            rows - weighted,
        )
    return found


def _values(column: object) -> list[Any]:
    """Return a column as a list of Python's own values."""
    values: Any = getattr(column, "tolist", lambda: column)
    return list(values())


def _whole(column: object, name: str) -> np.ndarray:
    """Return a column of whole numbers; decimals, as databases return sums, may be whole numbers too."""
    array = np.asarray(column)
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    try:
        whole = np.array([int(entry) for entry in array.tolist()], np.int64)
        exact = bool(np.all(whole == array)) and (array.dtype.kind != "f" or bool(np.all(abs(array) <= 2.0**53)))
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise ValueError(f"expected whole numbers in column {name!r} of the answer, found others or rounded ones")
    return whole


def _places(keys: list[list[Any]], size: int) -> dict[tuple[Any, ...], np.ndarray]:
    """Return for each group where its cells are; all missing keys are None."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*keys, strict=True) if keys else [()] * size):
        found.setdefault(tuple(None if is_missing(entry) else entry for entry in key), []).append(i)
    return {key: np.array(at) for key, at in found.items()}


def _ascending(place: Mapping[tuple[Any, ...], Any]) -> list[tuple[Any, ...]]:
    """Return the keys in ascending order, or where they cannot be compared in the order of their text."""
    try:
        return sorted(place)
    except TypeError:
        return sorted(place, key=str)


def _faults(cell: np.ndarray, rows: np.ndarray, names: Sequence[str | None]) -> list[str]:
    """Say what is wrong in each column, and in how many rows; the cell of a bad row is minus its code."""
    faults = []
    for k, (name, expected) in enumerate(zip(names, COLUMN_VALUES, strict=True)):
        state = np.maximum(-cell, 0) // STATES**k % STATES
        missing, other = (int(rows[state == each].sum()) for each in (1, 2))
        counts = [f"{n:,} {what}" for n, what in ((missing, "missing"), (other, "other")) if n]
        if counts:
            found = f"{' and '.join(counts)} {'value' if missing + other == 1 else 'values'}"
            faults.append(f"expected {expected} in column {name!r}, found {found}{REASON * (k == 2)}")
    return faults


def _faults_of_groups(place: Mapping[tuple[Any, ...], np.ndarray], keys: list[str], rows: np.ndarray) -> list[str]:
    """Say how many rows have no group, and how many groups have one row, which is not enough."""
    faults = []
    for k, name in enumerate(keys):
        lost = sum(int(rows[at].sum()) for key, at in place.items() if key[k] is None)
        if lost:
            faults.append(f"expected a group in column {name!r}, found {lost:,} missing {'values'[: 5 + (lost > 1)]}")
    single = [key for key, at in place.items() if None not in key and rows[at].sum() == 1]
    if keys and single:
        first = single[0][0] if len(keys) == 1 else single[0]
        count = "1 group" if len(single) == 1 else f"{len(single):,} groups"
        faults.append(f"expected at least 2 rows in each group of {quoted(keys)}, found {count} of 1 row: {first!r}")
    return faults


def _means(whole: Mapping[str, np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the mean prediction of each cell, rounded once."""
    value = low.copy()
    many = np.flatnonzero((low < high) & (whole["count"] > 0))
    unit = COARSE * FINE
    edge = [int(b / TABLE_CELLS * unit) for b in whole["cell"][many].tolist()]  # exact: b/N is a multiple of 2**-71
    count, coarse, fine = (whole[name][many].tolist() for name in ("count", "offsets", "fine_offsets"))
    value[many] = [
        (start * n + a * FINE + b) / (n * unit) for start, n, a, b in zip(edge, count, coarse, fine, strict=True)
    ]
    return np.clip(value, low, high)
