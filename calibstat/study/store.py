"""Durable results: what a study has computed survives the loss of the process at any moment."""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

DESCRIPTION = "study.json"
UNFINISHED = ".unfinished"  # a file that was being written; it becomes a batch only by being renamed


class Store:
    """A folder with the description of one study and its finished cells, one Parquet file a batch.

    A batch carries the digest of its bytes in its name, so that whatever happens to it is noticed. One process at a
    time may write to a store.

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
            raise ModuleNotFoundError("a store needs pyarrow: python -m pip install 'calibstat[simulations]'")
        self.folder, self.columns = Path(folder), list(columns)
        path = self.folder / DESCRIPTION
        if path.exists():
            _refuse_another(path, dict(description))
        elif self.folder.exists() and any(not f.name.endswith(UNFINISHED) for f in self.folder.iterdir()):
            raise ValueError(f"expected the store of a study or an empty folder, found other files in {self.folder}")
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(path, json.dumps(description, indent=1).encode())
        for leftover in self.folder.glob(f"*{UNFINISHED}"):
            leftover.unlink()

    def append(self, cells: np.ndarray, answers: np.ndarray) -> None:
        """Write a batch. When this returns, no loss of process or power can undo it."""
        import pyarrow as pa
        from pyarrow import parquet

        data = {"cell": pa.array(cells), **{name: answers[:, k] for k, name in enumerate(self.columns)}}
        buffer = io.BytesIO()
        parquet.write_table(pa.table(data), buffer)
        content = buffer.getvalue()
        _write(self.folder / f"cells-{cells.min():09d}-{_digest(content)}.parquet", content)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the finished cells and their answers. What is damaged is named, and deleted."""
        batches = [self._batch(path) for path in sorted(self.folder.glob("*.parquet"))]
        found = [batch for batch in batches if batch is not None]
        if not found:
            return np.empty(0, np.int64), np.empty((0, len(self.columns)))
        return np.concatenate([cells for cells, _ in found]), np.concatenate([answers for _, answers in found])

    def _batch(self, path: Path) -> tuple[np.ndarray, np.ndarray] | None:
        from pyarrow import parquet

        content = path.read_bytes()
        if path.stem.rpartition("-")[2] != _digest(content):
            # an explicit level, because readers are called from the study that a user started
            warnings.warn(f"{path} is damaged; its cells are computed again", RuntimeWarning, stacklevel=4)
            path.unlink()
            return None
        table = parquet.read_table(io.BytesIO(content))
        return table["cell"].to_numpy(), np.column_stack([table[name].to_numpy() for name in self.columns])


def _refuse_another(path: Path, here: dict[str, str]) -> None:
    there = json.loads(path.read_text(encoding="utf-8"))
    differences = [
        f"{key} is {there.get(key, 'absent')} there and {here.get(key, 'absent')} here"
        for key in dict.fromkeys([*there, *here])
        if there.get(key) != here.get(key)
    ]
    if differences:
        raise ValueError(f"expected the store of this study, found another in {path.parent}: {'; '.join(differences)}")


def _write(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also after a loss of power."""
    unfinished = path.with_name(path.name + UNFINISHED)
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    if os.name == "posix":  # elsewhere a folder cannot be opened, and renaming is durable by itself
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()
