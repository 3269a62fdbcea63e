"""Tables in text: cells between commas, semicolons or tabs, and JSON lines, as they are or compressed by gzip."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from calibstat.cli.file_checks import check_text

CELLS, LINES = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson")
COMPRESSED = ".gz"
SEPARATORS = ",;\t"
PIECE = 2**20  # bytes


def kind_of(file: Path) -> str:
    """Return the suffix that says what a file is, such as .csv of rows.csv.gz."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if suffixes[1:] and suffixes[-1] == COMPRESSED else "".join(suffixes[-1:])


def opened(file: Path) -> IO[bytes]:
    """Open a file that may be compressed."""
    if file.suffix.lower() != COMPRESSED:
        return file.open("rb")
    return gzip.open(file)  # type: ignore[return-value]


def check_expanded(file: Path) -> None:
    """Raise if a compressed file holds far more than fits its size."""
    if file.suffix.lower() != COMPRESSED:
        return
    held = 0
    with opened(file) as stream:
        while piece := stream.read(PIECE):
            held += len(piece)
            check_text(file, held)


# --- cells -----------------------------------------------------------------------------------------------------------


def separator(file: Path) -> str:
    """Return what separates the cells of a file: a tab in .tsv, and else what makes the most cells of the first line.

    Of two that make as many it is the comma.
    """
    if kind_of(file) == ".tsv":
        return "\t"
    with opened(file) as stream:
        line = stream.readline().decode("utf-8-sig", "replace")
    return max(SEPARATORS, key=lambda each: len(next(csv.reader([line], delimiter=each), [])))


# --- JSON lines ------------------------------------------------------------------------------------------------------


def names_of_lines(file: Path) -> list[str]:
    """Return the names in the first line of a file of JSON objects, one in each line."""
    first = next(_objects(file), None)
    if first is None:
        raise ValueError("it is empty")
    return list(first)


def columns_of_lines(file: Path, wanted: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of these names, None where an object lacks the name."""
    columns: dict[str, list[Any]] = {name: [] for name in wanted}
    for each in _objects(file):
        for name, column in columns.items():
            column.append(each.get(name))
    return columns


def _objects(file: Path) -> Iterator[dict[str, Any]]:
    with opened(file) as stream:
        for number, line in enumerate(stream):
            if not line.strip():
                continue
            try:
                found = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_once)
            except ValueError as error:
                raise ValueError(f"expected one JSON object a line, found in line {number + 1}: {error}") from None
            if not isinstance(found, dict):
                raise ValueError(f"expected one JSON object a line, found {line[:40]!r} in line {number + 1}")
            yield found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if it holds a name twice, of which JSON would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} twice")
    return found
