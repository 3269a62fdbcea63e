"""Pages of the reference: parameters in groups, and all that a function takes.

A docstring says of arguments that many functions share "as for `estimate`", and of words about rows "as for `Data`".
A page of the reference has these arguments written out. Many parameters stand in three groups: the rows, what is asked
of them, and how it is computed.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import calibstat as cs

FEWEST = 6  # parameters that are put into groups
ROWS = {
    *("y_true", "y_prob", "X", "y", "frame", "train", "test", "lens"),
    *("sample_weight", "cluster", "folds", "judge", "labels", "pos_label"),
}
COMPUTED = {
    *("method", "resample", "n_resamples", "n_datasets", "stop_after", "adjust", "confidence_level"),
    *("rng", "n_jobs"),
}
GROUPS = {"Rows": ROWS, "What is asked": None, "How it is computed": COMPUTED}
ENTRY = re.compile(r"(?:\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .+)?$")
OPTIONS = {"**about", "**options"}
FIRST = re.compile(r"As for `estimate`[;,:.]?\s*")

Entry = tuple[list[str], str, list[str]]  # names, type, meaning


def entries(text: str) -> list[Entry]:
    """Return the parameters of a docstring."""
    found: list[Entry] = []
    for line in section(text).splitlines():
        if line and not line.startswith(" ") and ENTRY.match(line):
            names, _, kind = line.partition(" : ")
            found.append((names.split(", "), kind, []))
        elif found:
            found[-1][2].append(line)
    return found


def section(text: str) -> str:
    """Return the section of parameters."""
    part = text.partition("Parameters\n----------\n")[2]
    return re.split(r"\n\n[A-Z][\w ]+\n-{4,}\n", part)[0]


def written_out(found: list[Entry]) -> list[Entry]:
    """Replace what stands elsewhere by what it says there, and keep what is said beside it."""
    shared = {name: entry for entry in entries(inspect.getdoc(cs.estimate) or "") for name in entry[0]}
    about = [entry for entry in entries(inspect.getdoc(cs.Data) or "") if "y_true" not in entry[0]]
    given = {name for names, *_ in found for name in names}
    complete: list[Entry] = []
    for names, kind, meaning in found:
        said = " ".join(line.strip() for line in meaning)
        if not FIRST.match(said):
            complete.append((names, kind, meaning))
            continue
        beside = FIRST.sub("", said)
        complete += [shared[name] for name in names if name in shared and name not in OPTIONS]
        if OPTIONS & set(names):
            complete += [entry for entry in about if not given & set(entry[0])]
            complete += [shared["**options"]] if "**options" in names else []
        if beside:
            complete.append((names, "", [f"    {beside[0].upper()}{beside[1:]}"]))
    return complete


def group_of(names: list[str]) -> str:
    """Return the group of a parameter, or of several that stand together."""
    first = names[0].lstrip("*")
    return next((title for title, members in GROUPS.items() if members and first in members), "What is asked")


def grouped(found: list[Entry]) -> dict[str, list[Entry]]:
    """Put many parameters into groups; a few stay together."""
    if len(found) < FEWEST:
        return {"Parameters": found}
    found = sorted(found, key=lambda entry: entry[0][0].startswith("**"))  # options of measures last
    groups = {title: [entry for entry in found if group_of(entry[0]) == title] for title in GROUPS}
    return {title: entries for title, entries in groups.items() if entries}


def listed(title: str, found: list[Entry]) -> list[str]:
    """Write a group as a field, as numpydoc does."""
    lines = [f":{title}:", ""]
    for names, kind, meaning in found:
        shown = ", ".join(name.replace("*", r"\*") for name in names)
        lines += [f"    **{shown}** : {kind}" if kind else f"    **{shown}**"]
        lines += [f"    {line}" if line else "" for line in meaning] + [""]
    return lines


def arrange(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Write the parameters of a docstring that numpydoc has read out, in groups."""
    found = entries(inspect.getdoc(thing) or "")
    if not found or ":Parameters:" not in lines:
        return
    start = lines.index(":Parameters:")
    end = next(
        (place for place, line in enumerate(lines[start + 1 :], start + 1) if line and not line.startswith(" ")),
        len(lines),
    )
    groups = grouped(written_out(found))
    lines[start:end] = [line for title, part in groups.items() for line in listed(title, part)]


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", arrange)  # behind numpydoc, which is loaded before
    return {"parallel_read_safe": True, "parallel_write_safe": True}
