"""Tables in text: what kind a file is, and JSON, as it is or compressed by gzip."""

from __future__ import annotations

import codecs
import gzip
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from calibstat.cli.file_checks import check_text
from calibstat.data.checks import short

CSV_FILES, JSON_FILES = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson")
ARRAY = ".json"  # an array of objects, or lines after all
COMPRESSED = ".gz"
UTF8 = "utf-8-sig"  # which reads UTF-8 with and without a byte order mark
ENCODINGS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # by how a file begins
PIECE = 2**20  # bytes
AS_ARRAY = "or an array of objects, such as to_json(orient='records') of pandas writes"


def kind_of(file: Path) -> str:
    """Return the suffix that says what a file is, such as .csv of rows.csv.gz."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    return suffixes[-2] if suffixes[1:] and suffixes[-1] == COMPRESSED else "".join(suffixes[-1:])


def opened(file: Path) -> IO[bytes]:
    """Open a file that may be compressed."""
    if file.suffix.lower() != COMPRESSED:
        return file.open("rb")
    return gzip.open(file)  # type: ignore[return-value]


def encoding_of(begin: bytes) -> str:
    """Return the encoding of a text that begins so."""
    return next((name for mark, name in ENCODINGS.items() if begin.startswith(mark)), UTF8)


def check_expanded(file: Path) -> None:
    """Raise if a compressed file holds far more than fits its size."""
    if file.suffix.lower() != COMPRESSED:
        return
    held = 0
    with opened(file) as stream:
        while piece := stream.read(PIECE):
            held += len(piece)
            check_text(file, held)


def names_of_lines(file: Path) -> list[str]:
    """Return the names in the first object of a file of JSON objects, one in each line, or all in one array."""
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
        encoding = encoding_of(stream.read(2))
    with opened(file) as stream, io.TextIOWrapper(stream, encoding) as lines:
        if kind_of(file) == ARRAY and (text := lines.read()).lstrip().startswith("["):
            yield from map(_flat, _objects_of_array(text))
            return
        lines.seek(0)
        advice = f"; {AS_ARRAY}" if kind_of(file) == ARRAY else ""
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                found = json.loads(line, object_pairs_hook=_once)
            except ValueError as error:
                raise ValueError(
                    f"expected one JSON object a line, found in line {number + 1}: {error}{advice}"
                ) from None
            if not isinstance(found, dict):
                raise ValueError(f"expected one JSON object a line, found {line[:40]!r} in line {number + 1}")
            yield _flat(found)


def _objects_of_array(text: str) -> Iterator[dict[str, Any]]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise ValueError(f"expected an array of JSON objects, found {error}") from None
    for number, each in enumerate(found):
        if not isinstance(each, dict):
            raise ValueError(f"expected an array of JSON objects, found {short(each, 40)} at row {number}")
        yield each


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object without objects in it, whose entries are called by both names, with a dot."""
    if not any(isinstance(value, dict) for value in found.values()):
        return found
    pairs: list[tuple[str, Any]] = []
    for name, value in found.items():
        inner = _flat(value) if isinstance(value, dict) else None
        pairs += [(name, value)] if inner is None else [(f"{name}.{each}", entry) for each, entry in inner.items()]
    return _once(pairs)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise if it holds a name twice, of which JSON would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} twice")
    return found
