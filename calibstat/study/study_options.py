"""Options of a study, each of a type: their defaults and values, and how `--set NAME=VALUE` is read."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibstat.data.checks import short

TYPE_WORDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", str: "text", tuple: "names with commas"}


@dataclass(frozen=True)
class Option:
    """An option of a study, whose type is the type of its default.

    Attributes
    ----------
    default : bool, int, str or tuple of str
        What holds if it is not set.
    says : str
        What it does, in a few words.
    among : sequence of str
        The values that a text, or each name of several, may have; empty for any.
    least : int
        The smallest value of a whole number.
    """

    default: Any
    says: str
    among: Sequence[str] = ()
    least: int = 1

    def __post_init__(self) -> None:
        if type(self.default) not in TYPE_WORDS:
            expected = ", ".join(kind.__name__ for kind in TYPE_WORDS)
            raise ValueError(f"expected the default of an option to be of type {expected}, found {short(self.default)}")

    @property
    def expects(self) -> str:
        """The values that it takes, in words."""
        kind = type(self.default)
        least = f" of at least {self.least}" if kind is int else ""
        among = f", {'any' if kind is tuple else 'one'} of {', '.join(self.among)}" if self.among else ""
        return f"{TYPE_WORDS[kind]}{least}{among}"

    def value(self, name: str, given: object) -> Any:
        """Return a value that was set, which may be text from a command line; a ValueError names what was expected."""
        kind: type = type(self.default)
        found: Any = _READ[kind](given) if isinstance(given, str) else given
        if kind is tuple and isinstance(found, list):
            found = tuple(found)
        fits = type(found) is kind
        if fits and kind is int:
            fits = found >= self.least
        if fits and kind is tuple:
            fits = bool(found) and len(set(found)) == len(found) and all(isinstance(each, str) for each in found)
        if fits and self.among:
            fits = set(found if kind is tuple else [found]) <= set(self.among)
        if not fits:
            raise ValueError(f"expected {name} to be {self.expects}; found {short(given)}")
        return found


def _truth(text: str) -> Any:
    return {"true": True, "false": False}.get(text.lower(), text)


def _whole(text: str) -> Any:
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() else text


_READ: Mapping[type, Any] = {
    bool: _truth,
    int: _whole,
    str: str,
    tuple: lambda text: tuple(part.strip() for part in text.split(",")),
}


def chosen(options: Mapping[str, Option], given: Mapping[str, Any], study: str) -> dict[str, Any]:
    """Return the value of every option of a study, those that were given and defaults."""
    for name in given:
        if name not in options:
            known = "; ".join(f"{each} ({option.says}; {option.expects})" for each, option in options.items())
            near = difflib.get_close_matches(name, options, 1)
            guess = f", perhaps {near[0]}" if near else ""
            raise ValueError(f"expected an option of study {study!r}: {known or 'it has none'}; found {name!r}{guess}")
    return {
        name: option.value(name, given[name]) if name in given else option.default for name, option in options.items()
    }


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Return names and values of texts such as "splits=20", each name once."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        name = name.strip()
        if not sign or not name:
            raise ValueError(f"expected --set NAME=VALUE, found {text!r}")
        if name in found:
            raise ValueError(f"expected every option once, found {name} twice for --set")
        found[name] = value.strip()
    return found
