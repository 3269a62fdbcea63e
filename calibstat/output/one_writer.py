"""Locks: one process writes at a time, and a lock goes with its process, however that ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where processes are not kept apart
    fcntl = None  # type: ignore[assignment]

POLL = 0.02  # seconds between two looks at a lock that another process holds


@contextmanager
def one_writer(lock: Path, what: str, advice: str, patience: float = 0.0) -> Iterator[None]:
    """Keep other writers out as long as the block runs.

    They wait for `patience` seconds, and then get a ValueError that names `what` is written to and gives the advice.
    The file `lock` is deleted at the end. The file of a dead process does not block.
    """
    if fcntl is None:
        yield
        return
    file = _locked(lock, what, advice, time.monotonic() + patience)
    try:
        os.truncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(file)


def _locked(lock: Path, what: str, advice: str, deadline: float) -> int:
    """Return the open lock, which this process holds."""
    while True:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        if take(file):
            try:
                if os.path.samestat(os.fstat(file), lock.stat()):
                    return file
            except FileNotFoundError:
                pass
            os.close(file)  # its holder has deleted it meanwhile
            continue
        holder = os.read(file, 20).decode(errors="replace")
        os.close(file)
        if time.monotonic() >= deadline:
            raise ValueError(f"expected {what} to which no other process writes, found that process {holder} {advice}")
        time.sleep(POLL)


def take(file: int) -> bool:
    """Lock an open file or folder until it is closed; return whether no other writer holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
