"""Rows from a pipe: standard input as a file that can be read twice."""

from __future__ import annotations

import atexit
import gzip
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from calibstat.cli.formats.text_files import ARRAY, encoding_of
from calibstat.cli.large.several_files import SeveralFiles

PIPE = Path("-")
BEGINNINGS = {b"PAR1": ".parquet", b"PK": ".npz", b"\x93NUMPY": ".npy", b"ARROW1": ".arrow"}
ARRAY_OF_OBJECTS = re.compile(r"\[\s*[{\]]")
GZIP = b"\x1f\x8b"
HEAD_BYTES = 2**12  # bytes to tell what a file is


def kept(file: Path | None) -> Path | None:
    """Return a file, or for - and for pipes a temporary copy of what comes through, gone when the process ends."""
    if file is None or not (file == PIPE or file.is_fifo()):
        return file
    folder = Path(tempfile.mkdtemp(prefix="calibstat-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = folder / "rows"
    with source.open("wb") as copy:
        if file == PIPE:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        else:
            with file.open("rb") as pipe:
                shutil.copyfileobj(pipe, copy)
    return source.rename(folder / f"{'standard input' if file == PIPE else 'pipe'}{suffix_of(source)}")


def place_of(files: Sequence[Path]) -> Path:
    """Return the place of one file, or of several in the order of their names, whatever order they are given in."""
    ordered = sorted(files)
    if ordered.count(PIPE) > 1:
        raise ValueError("expected standard input once, found - twice")
    kept_files = [kept(file) or file for file in ordered]
    return kept_files[0] if len(kept_files) == 1 else SeveralFiles.of(kept_files)


def suffix_of(file: Path) -> str:
    """Tell by how a file begins what it is: a Parquet, Arrow or NumPy file, JSON, or else cells in text."""
    with file.open("rb") as stream:
        begin = stream.read(HEAD_BYTES)
    for beginning, suffix in BEGINNINGS.items():
        if begin.startswith(beginning):
            return suffix
    compressed = ""
    if begin.startswith(GZIP):
        compressed = ".gz"
        with gzip.open(file) as expanded:
            begin = expanded.read(HEAD_BYTES)
    text = begin.decode(encoding_of(begin), "replace").lstrip()
    if ARRAY_OF_OBJECTS.match(text):
        return ARRAY + compressed
    return (".jsonl" if text.startswith("{") else ".csv") + compressed
