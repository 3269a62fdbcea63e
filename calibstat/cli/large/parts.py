"""The files that a place names: one file, all tables in a folder, all that match a pattern, or several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path

from calibstat.cli.formats.text_files import CSV_FILES, JSON_FILES, PIECE, kind_of, opened
from calibstat.cli.large.several_files import SeveralFiles
from calibstat.data.checks import cut, quoted
from calibstat.digits import settled

TABLES = (*CSV_FILES, *JSON_FILES, ".parquet")
BYTES = 8  # of a number
SHARE = 1 / 16  # of the memory of this machine that the rows of a command may take
PARTS_HELP = (
    "test, interval, equivalence, compare by the default measure or brier, audit, report without groups, and monitor "
    "of one model read any number of rows of columns of numbers; for all else give a random part of the rows, or one "
    "site or month after the other"
)


def parts_of(place: Path) -> list[Path]:
    """Return the files that a path names, in the order of their names; a ValueError if they are not of one kind.

    Files in a folder whose names begin with a dot or an underscore are left out, as those that engines write beside
    tables.
    """
    if isinstance(place, SeveralFiles):
        return _of_one_kind(_different([part for each in place.places for part in parts_of(each)]), "in all")
    if place.is_dir():
        found = [each for each in place.rglob("*") if each.is_file() and not _is_hidden(each.relative_to(place))]
        parts = [each for each in sorted(found) if kind_of(each) in TABLES]
        where = f"in the directory {str(place)!r}"
    elif not place.exists() and has_magic(str(place)):
        parts = [Path(each) for each in sorted(glob(str(place), recursive=True)) if Path(each).is_file()]
        where = f"that matches {str(place)!r}"
    else:
        return [place]
    if not parts:
        raise ValueError(f"expected a file of {', '.join(TABLES)} {where}, found none")
    return _of_one_kind(parts, where)


def _of_one_kind(parts: list[Path], where: str) -> list[Path]:
    """Return files; raise if they are not of one kind."""
    kinds = sorted({kind_of(each) for each in parts})
    if len(kinds) > 1:
        raise ValueError(f"expected files of one kind {where}, found {quoted(kinds)}; a pattern chooses among them")
    return parts


def _different(parts: list[Path]) -> list[Path]:
    """Return files; raise if one is there twice, as it is of a file beside its folder."""
    seen = set[Path]()
    for each in parts:
        if (whole := each.resolve()) in seen:
            raise ValueError(f"expected different files, found {str(each)!r} twice")
        seen.add(whole)
    return parts


def _is_hidden(path: Path) -> bool:
    return any(name.startswith((".", "_")) for name in path.parts)


def need_other_file(read: Path, *written: Path) -> None:
    """Raise if a file that is to be written is the one that is read, or one of several."""
    parts = parts_of(read)
    for each in written:
        if each.exists() and any(each.samefile(part) for part in parts):
            raise ValueError(
                f"expected another file to write to than the one that is read, found {str(each)!r} for both"
            )


def check_columns(parts: Sequence[Path], there: Iterable[Sequence[str]], wanted: Sequence[str]) -> None:
    """Raise unless every file has the columns; `there` holds the names of the columns of each file."""
    for number, (part, names) in enumerate(zip(parts, there, strict=True)):
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(
                f"no column {missing[0]!r} in {str(part)!r}, file {number + 1} of {len(parts)}, which has "
                f"{cut(quoted(names), 200)}"
            )


@contextmanager
def naming(part: Path, parts: Sequence[Path]) -> Iterator[None]:
    """Name one of several files in an error about it."""
    try:
        yield
    except ValueError as error:
        if len(parts) == 1 or str(part) in str(error):
            raise
        raise ValueError(f"{error}, in {str(part)!r}") from None


def number_of_rows(part: Path) -> int | None:
    """Return how many rows a file declares or, in text, has if all are as long as its first; None of compressed text.

    A Parquet file that cannot be read has none: reading it says why.
    """
    if kind_of(part) == ".parquet":
        from calibstat.cli.batches import parquet_columns

        try:
            return parquet_columns(part)[1]
        except (ValueError, OSError):
            return 0
    if part.suffix.lower() not in TABLES:
        return None
    with opened(part) as stream:
        begin = stream.read(PIECE)
    return part.stat().st_size * max(begin.count(end) for end in (b"\n", b"\r")) // max(len(begin), 1)


def check_memory(parts: Sequence[Path], columns: int) -> None:
    """Raise if so many columns of all rows take more than a sixteenth of the memory of this machine."""
    rows = sum(number_of_rows(part) or 0 for part in parts)
    needed, there = rows * columns * BYTES, _memory()
    if there and needed > SHARE * there:
        raise ValueError(
            f"this asks for all rows at once, of which there are about {rows:,}; their {columns} columns take "
            f"{settled(needed / 1e9):.1f} GB, more than a sixteenth of the memory of this machine; {PARTS_HELP}"
        )


def _memory() -> int:
    """Return the bytes of memory of this machine, or 0 where that is not known."""
    names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
    if not hasattr(os, "sysconf") or any(name not in os.sysconf_names for name in names):
        return 0
    pages, size = (os.sysconf(name) for name in names)
    return pages * size
