"""Sections of the reference on what functions return: how to read a result, its fields, and if it has a picture."""

from __future__ import annotations

import inspect
import re

from markdown_parts import rows_of
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


def fields(documented: type[Result]) -> dict[str, tuple[str, str]]:
    """The types and meanings in the section of attributes of a docstring, and of those it is a subclass of, by name."""
    found: dict[str, tuple[str, str]] = {}
    for each in reversed(documented.__mro__):
        text = inspect.cleandoc(each.__dict__.get("__doc__") or "")
        part = re.split(r"\n\n[A-Z]\w+\n-+\n", text.partition("Attributes\n----------\n")[2])[0]
        names = ""
        for line in part.splitlines():
            if entry := ENTRY.match(line):
                names = entry[1]
                found[names] = entry[2], ""
            elif line.strip() and names:
                found[names] = found[names][0], f"{found[names][1]} {line.strip()}".strip()
    return found


def page_of(call: str) -> str:
    """The name whose page describes what a call returns: of a method, its class."""
    return call.partition(".")[0] if call[0].isupper() else call


def call(name: str) -> str:
    """A call with a link to its page, as a role of Sphinx."""
    kind = "meth" if name.count(".") and name[0].isupper() else "func"
    return f":py:{kind}:`cs.{name} <calibstat.{name}>`"


def result_section(name: str) -> str:
    """Write the section of one class of results, for the page of the first call that returns it."""
    documented = classes()[name]
    calls, advice = RESULTS[name]
    also = [call(each) for each in calls.split(", ") if page_of(each) != page_of(calls.split(", ")[0])]
    text = inspect.cleandoc(documented.__doc__ or "").partition("\n\nAttributes\n")[0]
    said = ["" if text.startswith("Result of") else text, advice, f"Returned by {', '.join(also)} too." if also else ""]
    listed = [f"**{names}** : {kind}\n    {meaning}\n" for names, (kind, meaning) in fields(documented).items()]
    parts = [
        f".. _result-{name}:",
        f"{name}\n{'-' * len(name)}",
        *filter(None, said),
        "`calibstat.plot` draws it." if is_drawn(documented) else "",
        "\n".join(listed),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def result_sections() -> dict[str, str]:
    """Write the sections of all results by the full name of the function or class that returns them first."""
    found: dict[str, str] = {}
    for name, (calls, _) in RESULTS.items():
        page = f"calibstat.{page_of(calls.split(', ')[0])}"
        found[page] = f"{found.get(page, '')}{result_section(name)}\n"
    return found


def results_table() -> str:
    """List the classes of results."""
    loaded = classes()
    rows = [
        [f"{{ref}}`{name} <result-{name}>`", myst(RESULTS[name][0]), "yes" if is_drawn(loaded[name]) else "no"]
        for name in RESULTS
    ]
    return rows_of(["result", "returned by", "drawn by `cs.plot`"], rows)


def myst(calls: str) -> str:
    """The calls with links to their pages, in Markdown."""
    return ", ".join(re.sub(r"^:(py:\w+):", r"{\1}", call(each)) for each in calls.split(", "))


def is_drawn(documented: type[Result]) -> bool:
    """Whether `cs.plot` draws a result."""
    return any(each in PLOTS for each in documented.__mro__)
