"""Durable storage of the finished cells of a study."""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from calibstat.data.checks import short
from calibstat.output.one_writer import one_writer
from calibstat.output.whole_folder import move

DESCRIPTION = "study.json"
UNFINISHED = ".unfinished"  # a file that was being written; it becomes a batch only by being renamed
LOCK = ".lock"


class Store:
    """A folder with the description of one study and its finished cells, one Parquet file a batch.

    A batch carries the digest of its bytes in its name, so that damage is noticed. One process at a
    time may write to a store: that which is inside `locked`.

    Parameters
    ----------
    folder : path
        Made if it is not there. Otherwise an empty folder, or the store of the same study, which is then continued.
    description : mapping from str to str
        All that the numbers depend on.
    columns : sequence of str
        Names of the answers of a cell.

    Raises
    ------
    ValueError
        If the folder holds another study (the differences are named) or something else.
    ModuleNotFoundError
        If pyarrow is not installed.
    """

    def __init__(self, folder: str | Path, description: Mapping[str, str], columns: Sequence[str]) -> None:
        if find_spec("pyarrow") is None:
            raise ModuleNotFoundError("a store needs pyarrow: python -m pip install pyarrow")
        self.folder, self.columns = Path(folder), list(columns)
        path = self.folder / DESCRIPTION
        for place in (self.folder, *self.folder.parents):
            if place.exists() and not place.is_dir():
                raise ValueError(f"expected a folder for the store, found the file {str(place)!r}")
        if path.exists():
            _refuse_another(path, dict(description))
        elif self.folder.exists() and any(not _own(path) for path in self.folder.iterdir()):
            raise ValueError(f"expected the store of a study or an empty folder, found other files in {self.folder}")
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(path, json.dumps(description, indent=1).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out, which get a ValueError; the lock of a process goes with it, however it ends."""
        advice = f"writes to {self.folder}; wait for it, stop it, or choose another store"
        with one_writer(self.folder / LOCK, "a store", advice):
            for leftover in self.folder.glob(f"*{UNFINISHED}"):
                leftover.unlink()
            yield

    def append(self, cells: np.ndarray, answers: np.ndarray) -> None:
        """Write a batch. When this returns, no loss of process or power can undo it."""
        import pyarrow as pa
        from pyarrow import parquet

        data = {"cell": pa.array(cells), **{name: answers[:, k] for k, name in enumerate(self.columns)}}
        buffer = io.BytesIO()
        parquet.write_table(pa.table(data), buffer)
        content = buffer.getvalue()
        _write(self.folder / f"cells-{cells.min():09d}-{_digest(content)}.parquet", content)

    def read(self, size: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the finished cells, below `size` if given, and their answers.

        What is damaged is named, and deleted. What is whole but does not belong to this study raises a ValueError.
        """
        batches = [self._batch(path, size) for path in sorted(self.folder.glob("*.parquet"))]
        whole = [batch for batch in batches if batch is not None]
        if not whole:
            return np.empty(0, np.int64), np.empty((0, len(self.columns)))
        cells, answers = (np.concatenate(part) for part in zip(*whole, strict=True))
        _, first, which = np.unique(cells, return_index=True, return_inverse=True)
        twice = ~np.equal(answers, answers[first][which]) & ~np.isnan(answers)
        if twice.any():
            cell = cells[twice.any(axis=1)][0]
            raise ValueError(f"expected one answer for every cell in {self.folder}, found two for cell {cell}")
        return cells, answers

    def _batch(self, path: Path, size: int | None) -> tuple[np.ndarray, np.ndarray] | None:
        from pyarrow import parquet

        content = path.read_bytes()
        if path.stem.rpartition("-")[2] != _digest(content):
            # an explicit level, because readers are called from the study that a user started
            warnings.warn(f"{path} is damaged; its cells are computed again", RuntimeWarning, stacklevel=4)
            path.unlink()
            return None
        try:
            table = parquet.read_table(io.BytesIO(content))
        except (ValueError, OSError) as error:
            raise ValueError(
                f"expected a batch of this study, found {path}, which is not a Parquet file: {error}"
            ) from None
        for name in ("cell", *self.columns):
            if name not in table.column_names:
                raise ValueError(f"expected a batch of this study, found {path}, which has no column {name!r}")
            kind = table[name].to_numpy().dtype.kind
            if kind not in ("iu" if name == "cell" else "f"):
                raise ValueError(f"expected a batch of this study, found {path}, whose column {name!r} is not a number")
        cells = table["cell"].to_numpy().astype(np.int64)
        outside = (cells < 0) | (cells >= (np.inf if size is None else size))
        if outside.any():
            raise ValueError(
                f"expected a batch of this study, found {path}, which has cell {cells[outside][0]}"
                + ("" if size is None else f" where there are {size}, from 0")
            )
        return cells, np.column_stack([table[name].to_numpy() for name in self.columns])


def _refuse_another(path: Path, here: dict[str, str]) -> None:
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no JSON, no text, or too deep
        raise ValueError(f"expected the description of a study in {path}, found what is damaged: {error}") from None
    if not isinstance(there, dict) or not all(isinstance(value, str) for value in there.values()):
        raise ValueError(f"expected the description of a study in {path}, found {short(there)}")
    differences = [
        f"{key} is {there.get(key, 'absent')} there and {here.get(key, 'absent')} here"
        for key in dict.fromkeys([*there, *here])
        if there.get(key) != here.get(key)
    ]
    if differences:
        raise ValueError(f"expected the store of this study, found another in {path.parent}: {'; '.join(differences)}")


def _own(path: Path) -> bool:
    """Whether this is what a run that was stopped at its beginning leaves."""
    return path.name == LOCK or path.name.endswith(UNFINISHED)


def _write(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also after a loss of power."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}{UNFINISHED}")
    unfinished.write_bytes(content)
    move(unfinished, path)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()
