"""Saves the state of a monitor as JSON, written whole or not at all by one process at a time, and reads it back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from calibstat.data.checks import is_whole, short
from calibstat.output.one_writer import one_writer
from calibstat.output.whole_folder import is_special, write_file

VERSION = 1  # of the file: the directions, their order and the units belong to it
LOCK_WAIT = 60.0  # seconds to wait for another process, which has a file of rows to read at most


@contextmanager
def one_feeder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from this state, from reading it until it is written; they wait for their turn."""
    if is_special(Path(path)):  # a device, which holds nothing that could be lost
        yield
        return
    path = Path(os.path.realpath(path))
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with one_writer(path.with_name(f".{path.name}.lock"), "a state", f"writes to {path}; wait for it", LOCK_WAIT):
            yield
    except BaseException:
        for folder in missing:  # the innermost first
            if not any(folder.iterdir()):
                folder.rmdir()
        raise


def write_state(path: str | os.PathLike[str], kind: str, state: dict[str, Any]) -> None:
    """Write a state that JSON has; a file that is there is replaced in one step."""
    periods = state["periods"]
    head = json.dumps({"kind": kind, "version": VERSION} | {k: v for k, v in state.items() if k != "periods"})
    lines = ",\n".join(json.dumps(period, separators=(",", ":")) for period in periods)  # a line for each period
    write_file(Path(path), f'{head[:-1]}, "periods": [\n{lines}\n]}}\n')


def read_state(path: str | os.PathLike[str], kind: str, *before: str) -> dict[str, Any]:
    """Read a state of a kind, which had other names before; a ValueError says what is wrong with the file."""
    path = Path(path)
    wanted = f"expected the saved state of a {kind} in {str(path)!r}"
    if is_special(path):
        raise ValueError(f"{wanted}, found what is not a file")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no text, no JSON, or too deep
        raise ValueError(f"{wanted}, found no JSON: {error}") from None
    if not isinstance(state, dict) or state.get("kind") not in (kind, *before):
        raise ValueError(f"{wanted}, found {short(state.get('kind') if isinstance(state, dict) else state)}")
    version = state.get("version")
    if not is_whole(version) or version != VERSION:
        raise ValueError(f"expected version {VERSION} of a saved {kind}, found {short(version)} in {str(path)!r}")
    if not isinstance(state.get("periods"), list):
        raise ValueError(f"expected a list of periods in {str(path)!r}, found {short(state.get('periods'))}")
    return state


class Origin(NamedTuple):
    """The file that a state was read from or written to, without links, and the digest of what it held, if any."""

    file: str
    digest: str | None

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Origin:
        """Return where a path leads, and what is there now."""
        content = Path(path).read_bytes() if Path(path).is_file() else None
        return cls(os.path.realpath(path), None if content is None else hashlib.blake2b(content).hexdigest())


def refuse_a_change(known: Origin | None, now: Origin) -> None:
    """Raise if another process has changed the file of this state since it was read or written here."""
    if known is not None and known.file == now.file and now.digest not in (None, known.digest):
        raise ValueError(
            f"expected the state in {now.file!r} as this monitor knows it, found that it was changed since, by another "
            "writer: load it again and feed the periods that it does not have"
        )
