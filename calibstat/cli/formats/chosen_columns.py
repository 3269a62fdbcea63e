"""The columns of a file that options name: by their names, or by one pattern for the columns of classes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from calibstat.data.checks import quoted

WILD = re.compile(r"[*?\[]")


def need_column(there: Sequence[str], name: str) -> None:
    """Raise unless a file has a column of this name."""
    if name not in there:
        raise ValueError(f"no column {name!r}; the file has {quoted(there, 40)}")


def choose(there: Sequence[str], label: str | None, prob: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of probabilities and the names of their classes, from names of columns or one pattern."""
    given = [name for name in prob if name in there or not WILD.search(name)]
    for column in given if label is None else [label, *given]:
        need_column(there, column)
        if there.count(column) > 1:
            raise ValueError(f"expected one column {column!r}, found {there.count(column)} of that name")
    patterns = [name for name in prob if name not in there]
    if patterns and len(prob) > 1:
        among = f"{patterns[0]!r} among {len(prob)}"
        raise ValueError(f"expected one pattern or several columns for --prob, found {among}")
    columns = matching(there, label, patterns[0]) if patterns else list(prob)
    twice = [column for column, times in Counter(columns).items() if times > 1]
    if twice:
        raise ValueError(f"expected different columns for --prob, found {twice[0]!r} twice")
    if label in columns:
        raise ValueError(f"expected a column of probabilities, found the column of outcomes, {label!r}, for --prob")
    if not patterns:
        return columns, columns
    before, after = len(WILD.split(prob[0])[0]), len(re.split(r"[*?\]]", prob[0])[-1])
    return columns, [column[before : len(column) - after] for column in columns]


def matching(there: Sequence[str], label: str | None, pattern: str) -> list[str]:
    """Return the columns, except the outcomes, which a shell-style pattern matches; there have to be several."""
    columns = [column for column in there if column != label and fnmatchcase(column, pattern)]
    if not columns:
        raise ValueError(f"expected several columns for --prob, found none that matches {pattern!r} in {quoted(there)}")
    if len(columns) == 1:
        raise ValueError(f"expected several columns for --prob, found only {columns[0]!r} that matches {pattern!r}")
    return columns


def need_features(there: Sequence[str], names: Sequence[str]) -> None:
    """Raise unless a file has one column of each name, which are different."""
    for name in names:
        if there.count(name) != 1:
            found = f"found {there.count(name)} of that name" if name in there else f"the file has {quoted(there, 40)}"
            raise ValueError(f"expected one column {name!r} for --by; {found}")
    if len(set(names)) < len(names):
        raise ValueError(f"expected different columns for --by, found {quoted(names)}")
