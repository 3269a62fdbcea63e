"""The registry of generators and its decorator."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

Family = TypeVar("Family", bound=type[object])

_REGISTERED: dict[str, Any] = {}
GENERATORS: Mapping[str, Any] = MappingProxyType(_REGISTERED)


def register(family: Family) -> Family:
    """Add a generator to the registry under its name, and return it.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    name = family.__name__
    if name in _REGISTERED:
        raise ValueError(f"expected a generator of a new name, found {name!r} again")
    _REGISTERED[name] = family
    return family
