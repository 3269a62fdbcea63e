"""Rows that readers make: fields of samples by their paths, checked, in a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.data.checks import is_number, quoted, short

if TYPE_CHECKING:
    import pandas as pd


def from_json(text: str | bytes, where: str) -> Any:
    """Return the object of a JSON text; a ValueError that says where it is if it has none."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"expected a JSON object in {where}, found {short(text, 40)}") from error
    if not isinstance(found, dict):
        raise ValueError(f"expected a JSON object in {where}, found {short(found, 40)}")
    return found


def need_file(path: str | Path, suffixes: tuple[str, ...], what: str) -> Path:
    """Return the path of a file that is there, with one of these suffixes."""
    found = Path(path)
    if found.suffix not in suffixes or not found.is_file():
        raise ValueError(f"expected {what}, with suffix {' or '.join(suffixes)}, found {short(str(path))}")
    return found


def field_at(sample: object, path: str, where: str) -> Any:
    """Return what a sample has at a path such as "scores.stated.metadata.confidence"; lists have numbers from 0."""
    found = sample
    for name in path.split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            has = quoted(found) if isinstance(found, dict) else short(found, 40)
            raise ValueError(f"expected a field {path!r} in {where}, found no {name!r} in {has}")
    return found


def need_probability(value: object, where: str) -> float:
    """Return a probability; raise unless it is a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"expected a confidence from 0 to 1 in {where}, found {short(value, 40)}")
    return float(value)


def need_outcome(value: object, known: dict[Any, int], where: str) -> int:
    """Return 0 or 1; raise unless the value is one of those known."""
    if isinstance(value, dict | list) or value not in known:
        raise ValueError(f"expected an outcome of {quoted(known, 8)} in {where}, found {short(value, 40)}")
    return known[value]


def as_frame(rows: Iterable[tuple[int, float, Any]], where: str) -> pd.DataFrame:
    """Return rows of outcome, confidence and cluster as a data frame; raise if there are none."""
    import pandas as pd

    found = pd.DataFrame(list(rows), columns=["y_true", "y_prob", "cluster"])
    if found.empty:
        raise ValueError(f"expected samples in {where}, found none")
    return found
