"""Rows of a part of a study that are kept in its store, so that a study that was stopped goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def stored(store: Path | None, what: object, rows: Callable[[], list[Row]]) -> list[Row]:
    """Return rows from the file of the store that belongs to `what` and this version; make and keep them at first."""
    if store is None:
        return rows()
    name = hashlib.blake2b(repr((what, version("calibstat"))).encode(), digest_size=12).hexdigest()
    path = store / f"{name}.json"
    if path.exists():
        known: list[Row] = json.loads(path.read_text(encoding="utf-8"))
        return known
    found = rows()
    store.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(found), encoding="utf-8")
    unfinished.rename(path)  # a file is there whole or not at all
    return found
