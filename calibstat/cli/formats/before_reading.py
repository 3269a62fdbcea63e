"""Checks of what a command is given that need no rows, and nothing that is slow to load: files and names of columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from typer.models import OptionInfo

from calibstat.cli.file_checks import check_file
from calibstat.cli.formats.cell_format import format_of
from calibstat.cli.formats.chosen_columns import WILD, choose, need_column, need_features
from calibstat.cli.formats.text_files import CSV_FILES, JSON_FILES, kind_of, names_of_lines, opened
from calibstat.cli.large.parts import check_columns, parts_of

if TYPE_CHECKING:
    from inspect import Parameter

HEAD = 2**16  # characters in which the names of columns end
UNREADABLE = (ValueError, OSError, EOFError, csv.Error)  # reading says what is wrong


def column_options(parameters: Mapping[str, Parameter]) -> list[str]:
    """Return the options that name columns, as their metavar says; of those for rows none that is refused."""
    options = {name: get_args(each.annotation)[1:] for name, each in parameters.items()}
    return [
        name
        for name, (*_, option) in ((name, each) for name, each in options.items() if each)
        if isinstance(option, OptionInfo) and option.metavar == "COLUMN" and not option.hidden
    ]


def check_before_reading(given: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raise for a file that is not there, and for a column that a file of cells or JSON lines has not."""
    parts = parts_of(given["file"])
    for part in parts:
        check_file(part)
    wanted = {name: given[name] for name in columns if given[name]}
    patterns = [entry for entry in wanted.get("prob", []) if WILD.search(entry)]
    if patterns and len(parts) > 1:
        check_classes(parts, patterns, _outcomes(given))
    there = names_in(parts[0])
    if there is not None:
        check_names(parts, there, wanted)


def check_names(parts: Sequence[Path], there: Sequence[str], wanted: Mapping[str, Any]) -> None:
    """Raise unless the first file, which has these columns, has all that are wanted, and so have the others."""
    prob, label = wanted.get("prob", []), _outcomes(wanted)
    named = [column for entry in prob for column in choose(there, label, [entry])[0]]
    need_features(there, wanted.get("by", []))
    for name, given in wanted.items():
        named += [] if name == "prob" else given if isinstance(given, list) else [given]
    for column in named:
        need_column(there, column)
    known = [(part, names) for part in parts if (names := names_in(part)) is not None]
    check_columns([part for part, _ in known], [names for _, names in known], named)


def _outcomes(given: Mapping[str, Any]) -> str | None:
    """Return the column of outcomes, of models with outcomes of their own the first."""
    label = given.get("label")
    return label[0] if isinstance(label, list) else label


def check_classes(parts: Sequence[Path], patterns: Sequence[str], label: str | None) -> None:
    """Raise unless a pattern matches the same columns in all files, in whatever order."""
    from calibstat.cli.input_files import columns_of

    first, *others = ((part, columns_of(part)) for part in parts)
    for pattern in patterns:
        if pattern in first[1]:
            continue
        columns, _ = choose(first[1], label, [pattern])
        for part, there in others:
            matched, _ = choose(there, label, [pattern])
            if other := sorted({*matched} ^ {*columns}):
                has, lacks = (part, first[0]) if other[0] in matched else (first[0], part)
                raise ValueError(
                    f"expected the same columns that match {pattern!r} in all files; {str(has)!r} has "
                    f"{other[0]!r}, and {str(lacks)!r} has not"
                )


def names_in(file: Path) -> list[str] | None:
    """Name the columns of a file whose names are cheap to read; None of another, and of one that cannot be read."""
    with suppress(*UNREADABLE):
        if kind_of(file) in JSON_FILES:
            return names_of_lines(file)
        return names_of_cells(file) if kind_of(file) in CSV_FILES else None
    return None


def names_of_cells(file: Path) -> list[str] | None:
    """Return the cells of the first line that has any, as pandas reads them."""
    written = format_of(file)
    with opened(file) as stream, io.TextIOWrapper(stream, written.encoding, newline="") as lines:
        head = lines.read(HEAD)
    below = head.splitlines(keepends=True)[written.lines_before :]
    filled = [*dropwhile(lambda line: not line.strip(), below)]
    is_cut = len(head) == HEAD and len(filled) < 2
    return None if is_cut else next(csv.reader(filled, **written.of_csv), None)
