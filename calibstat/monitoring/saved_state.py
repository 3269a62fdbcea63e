"""Saves the state of a monitor as JSON, written whole or not at all, and reads it back."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from calibstat.data.checks import short
from calibstat.output.whole_folder import whole_folder

VERSION = 1  # of the file: the directions, their order and the units belong to it


def write_state(path: str | PathLike[str], kind: str, state: dict[str, Any]) -> None:
    """Write a state that JSON has; a file that is there is replaced in one step."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"expected a file to write to, found the folder {str(path)!r}")
    periods = state["periods"]
    head = json.dumps({"kind": kind, "version": VERSION} | {k: v for k, v in state.items() if k != "periods"})
    lines = ",\n".join(json.dumps(period, separators=(",", ":")) for period in periods)  # a line for each period
    with whole_folder(path.parent) as draft:
        (draft / path.name).write_text(f'{head[:-1]}, "periods": [\n{lines}\n]}}\n', encoding="utf-8")


def read_state(path: str | PathLike[str], kind: str) -> dict[str, Any]:
    """Read a state; a ValueError says what is wrong with the file."""
    try:
        state = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"expected the saved state of a {kind} in {str(path)!r}, found no JSON: {error}") from None
    if not isinstance(state, dict) or state.get("kind") != kind:
        found = state.get("kind") if isinstance(state, dict) else state
        raise ValueError(f"expected the saved state of a {kind} in {str(path)!r}, found {short(found)}")
    if state.get("version") != VERSION:
        raise ValueError(f"expected version {VERSION} of a saved {kind}, found {short(state.get('version'))}")
    if not isinstance(state.get("periods"), list):
        raise ValueError(f"expected a list of periods in {str(path)!r}, found {short(state.get('periods'))}")
    return state
