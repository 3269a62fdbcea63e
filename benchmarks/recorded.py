"""What calls return, as text that shows every bit of every number.

``python benchmarks/recorded.py CHECKOUT LIST PART PARTS`` prints a line for each call of the list, "combinations" or
"calls", whose place is PART modulo PARTS, from the calibstat of this checkout, which PYTHONPATH has to name.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import calibstat

REFUSED = "refused"
CLASS, WORDS = ":class", ":words"  # what ends the way to the class of a result, and to the words of an error


def entries(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each number, text and None within a result, with the way to it such as ``.low`` or ``[a].low[0]``."""
    if isinstance(thing, np.ndarray | np.generic):
        yield from entries(thing.tolist(), path)
    elif isinstance(thing, Mapping | list | tuple) and not thing:
        yield path, "<nothing>"
    elif isinstance(thing, Mapping):
        for key in thing:
            yield from entries(thing[key], f"{path}[{key}]")
    elif any(each.__name__ == "InWords" for each in type(thing).__mro__):  # text in checkouts of before
        yield path, str(thing)
    elif is_dataclass(thing):
        yield path + CLASS, type(thing).__name__
        for each in fields(thing):
            if not each.name.startswith("_"):
                yield from entries(getattr(thing, each.name), f"{path}.{each.name}")
    elif isinstance(thing, list | tuple):
        for i, entry in enumerate(thing):
            yield from entries(entry, f"{path}[{i}]")
    elif thing is None or isinstance(thing, str | int | float):
        yield path, thing
    else:
        yield path, f"<{type(thing).__name__}>"


def answer(call: Callable[[], Any]) -> dict[str, Any]:
    """Return the entries of what a call returns, or the built-in type and the words of the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call()
        except Exception as error:
            kind = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
            return {REFUSED: kind.__name__, REFUSED + WORDS: str(error)}
    return dict(entries(result))


def exact(entry: Any) -> str:
    """Write an entry so that no two different ones are written alike."""
    return entry.hex() if isinstance(entry, float) else json.dumps(entry)


def recorded(call: Callable[[], Any]) -> dict[str, str]:
    """Return the answer to a call, its entries written exactly."""
    return {path: exact(entry) for path, entry in answer(call).items()}


def line(name: str, found: Mapping[str, str]) -> str:
    """Write a combination, a tab and its entries."""
    return f"{name}\t{json.dumps(found)}"


def read_line(text: str) -> tuple[str, dict[str, str]]:
    """Return the combination and the entries of a line."""
    name, _, found = text.partition("\t")
    return name, json.loads(found)


def main() -> None:
    """Print the lines of one part of a list of calls."""
    from combinations import register
    from spellings import SPELLINGS, has_answer

    checkout, asked, part, parts = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    found = Path(calibstat.__file__).resolve()
    if found.parent.parent != checkout.resolve():
        raise SystemExit(f"expected calibstat of {checkout}, found {found}")
    register()
    if part == 0:
        known = sum(has_answer(example) for example, _, _ in SPELLINGS)
        print(f"{checkout} knows {known} of {len(SPELLINGS)} new spellings", file=sys.stderr)
    for i, (name, call) in enumerate(getattr(import_module(asked), asked)().items()):
        if i % parts == part:
            print(line(name, recorded(call)))


if __name__ == "__main__":
    main()
