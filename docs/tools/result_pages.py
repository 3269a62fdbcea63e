"""A page for each class of results: what returns it, how to read it, its fields, and whether it has a picture."""

from __future__ import annotations

import inspect
import re

from markdown_parts import linked, rows_of
from result_advice import RESULTS

import calibstat as cs
from calibstat.plots.plot import PLOTS
from calibstat.result import Result

ENTRY = re.compile(r"^(\w[\w, ]*?) : (.+)$")


def classes() -> dict[str, type[Result]]:
    """The classes of results, by name."""
    for name in cs.__all__:  # functions are loaded at their first use, and their results with them
        getattr(cs, name)
    found: dict[str, type[Result]] = {}
    waiting: list[type[Result]] = [Result]
    while waiting:
        each = waiting.pop()
        found[each.__name__] = each
        waiting += each.__subclasses__()
    return found


def fields(documented: type[Result]) -> list[list[str]]:
    """The names, types and meanings in the section of attributes of a docstring, and of those it is a subclass of."""
    rows: dict[str, list[str]] = {}
    for each in reversed(documented.__mro__):
        text = inspect.cleandoc(each.__dict__.get("__doc__") or "")
        part = re.split(r"\n\n[A-Z]\w+\n-+\n", text.partition("Attributes\n----------\n")[2])[0]
        for line in part.splitlines():
            if entry := ENTRY.match(line):
                rows[entry[1]] = [f"`{entry[1].replace(', ', '`, `')}`", f"`{entry[2]}`", ""]
                meaning = rows[entry[1]]
            elif line.strip() and rows:
                meaning[2] += f" {line.strip()}"
    return [[name, kind, linked(meaning.strip().replace("*", r"\*"))] for name, kind, meaning in rows.values()]


def call(name: str) -> str:
    """A call with a link to its page."""
    kind = "meth" if name.count(".") and name[0].isupper() else "func"
    return f"{{py:{kind}}}`cs.{name} <calibstat.{name}>`"


def result_page(name: str) -> str:
    """Write the page of one class of results."""
    documented = classes()[name]
    _, advice = RESULTS[name]
    text = inspect.cleandoc(documented.__doc__ or "").partition("\n\nAttributes\n")[0]
    picture = "`cs.plot(result)` draws it." if is_drawn(documented) else "It has no picture: print it."
    parts = [
        f"# {name}",
        f"Returned by {calls_of(name)}." + ("" if text.startswith("Result of") else f" {text}"),
        "## How to read it",
        advice,
        "## Picture",
        picture,
        "## Fields",
        rows_of(["field", "type", "meaning"], fields(documented)),
        "`print(result)` answers in words. `to_dict()` has all fields as one flat dictionary, which JSON can hold, and "
        "`to_frame()` is a table. A result is read-only and holds no rows of data.",
    ]
    return "\n\n".join(parts) + "\n"


def results_table() -> str:
    """List the classes of results."""
    loaded = classes()
    rows = [
        [f"[{name}]({name}.md)", calls_of(name), "drawn by `cs.plot`" if is_drawn(loaded[name]) else "no picture"]
        for name in RESULTS
    ]
    return rows_of(["result", "returned by", "picture"], rows)


def calls_of(name: str) -> str:
    """The calls that return a result."""
    return ", ".join(map(call, RESULTS[name][0].split(", ")))


def is_drawn(documented: type[Result]) -> bool:
    """Whether `cs.plot` draws a result."""
    return any(each in PLOTS for each in documented.__mro__)
