"""The JSON that commands and reports write: what is empty, and what is of use inside the package alone, is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Draws behind p-values, and parts of a deviation that its sentence says in rows, predictions and shares.
INTERNAL = ("null_distribution", "deviation.rows", "deviation.bias", "deviation.slope")


def json_text(values: Mapping[str, Any], indent: int) -> str:
    """Return plain values as a JSON object, without what is left out."""
    return json.dumps(without_what_is_left_out(dict(values)), indent=indent, allow_nan=False)


def without_what_is_left_out(value: Any) -> Any:
    """Return plain values without the entries that are left out, also in objects within lists."""
    if isinstance(value, dict):
        return {name: without_what_is_left_out(each) for name, each in value.items() if not is_left_out(name, each)}
    return [without_what_is_left_out(each) for each in value] if isinstance(value, list) else value


def is_left_out(name: str, value: object) -> bool:
    """Whether an entry is left out: an empty text, list or object, a number that is missing, or an internal one."""
    is_empty = value is None or (isinstance(value, str | list | dict) and not value)
    return is_empty or any(f".{name}".endswith(f".{each}") for each in INTERNAL)
