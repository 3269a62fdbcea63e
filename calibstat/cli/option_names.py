"""Error messages of functions in the words of the command line: arguments are options there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

RENAMED = {  # arguments of functions that have another name as an option
    "sample_weight": "weight",
    "confidence_level": "level",
    "n_quantiles": "quantiles",
    "pos_label": "positive",
}
CALL = r"(?:calibstat|cs|Sample|Predictions)\.[\w.]+\([^()]*\)"  # Python is left as it is, and so is what was given
QUOTED = r"(?<!\w)'[^']*'(?!\w)"
VALUE = r"'(?P<text>[^']*)'|(?P<plain>[\w.+-]*\w)"
_options: ContextVar[dict[str, str]] = ContextVar("_options", default={})  # noqa: B039


@contextmanager
def with_options(parameters: Iterable[str]) -> Iterator[None]:
    """Take the parameters of a command as its options, in which arguments of functions are named."""
    options = {name: f"--{name.strip('_').replace('_', '-')}" for name in parameters if name != "file"}
    also = {name: options[option] for name, option in RENAMED.items() if option in options}
    token = _options.set(options | also)
    try:
        yield
    finally:
        _options.reset(token)


def in_options(message: str) -> str:
    """Name arguments of functions in an error message as options of the command that runs, such as --clip 1e-06.

    An argument is recognised by the sign = behind it, by an underscore in its name, or because the message expects it.
    """
    options = _options.get()
    if not options:
        return message
    names = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    long = "|".join(re.escape(name) for name in options if "_" in name.strip("_")) or "(?!)"

    def spelled(found: re.Match[str]) -> str:
        name = found["named"] or found["expected"] or found["long"]
        if name is None:
            return found[0]
        value = found["text"] or found["plain"] if found["named"] else None
        value = None if value == "True" else value  # a switch
        return f"{options[name]} {shlex.quote(value)}" if value else options[name]

    arguments = rf"\b(?P<named>{names})=(?!=)(?:{VALUE})?|(?<=^expected )(?P<expected>{names})\b|\b(?P<long>{long})\b"
    sentence = re.sub(rf"{CALL}|{arguments}|{QUOTED}", spelled, message)
    sentence = re.sub(r"(--[\w-]+(?: to be)?) None(?:,| or)(?= )", r"\1", sentence)  # an option that is not given
    return re.sub(r"lenses\.one_class\(\w+\)|\bone_class\(k\)", "one_class:NAME", sentence)
