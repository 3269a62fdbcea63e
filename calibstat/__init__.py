"""Statistics for calibrated probabilities: measures, exact tests, honest intervals, diagrams, studies of measures."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any

from calibstat.result import Result, drawn_by

# The one list of public names is the stub, which type checkers and editors read too.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_IMPORTS = [line for line in _STUB.body if isinstance(line, ast.ImportFrom)]
_HOMES = {public.name: str(line.module) for line in _IMPORTS for public in line.names}

__all__ = sorted(_HOMES)
# Python gives a thread a module of which a part is loaded, rather than let it wait for a thread that waits for it.
_LOADING = RLock()
__version__ = "0.2.0"  # the one place: pyproject.toml reads it here


def __getattr__(name: str) -> Any:
    """Load a public name, or a folder of the package, when it is first asked for, which keeps the import short."""
    with _LOADING:
        if name in _HOMES:
            home = import_module(_HOMES[name])
            value = vars(home)[name] if name in vars(home) else import_module(f"{_HOMES[name]}.{name}")
        elif name.isidentifier() and find_spec(f"{__name__}.{name}"):
            value = import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_advice(name)}")
        globals()[name] = value  # from now on it is found without this function
    return value


def _advice(name: str) -> str:
    """Say what is written in place of a name that is gone, that another package has, or that stands in a module."""
    if name.startswith("_"):  # which tools ask for, and nobody writes
        return ""
    if gone := import_module(f"{__name__}.data.retired_words").RETIRED_FUNCTIONS.get(name):
        return f"; write {__name__}.{gone}"
    words = import_module(f"{__name__}.data.words.names_elsewhere")
    if call := words.call_meant(name):
        return f"; the call is {words.in_full(call, __name__)}"
    measures = {words.letters(each): each for each in __getattr__("MEASURES")}
    if measure := measures.get(words.letters(name)):
        return f"; the call is {__name__}.estimate(y, p, measure={measure!r})"
    homes = [home for home in _HOMES if home.islower() and name in getattr(__getattr__(home), "__all__", ())]
    return f"; write {__name__}.{homes[0]}.{name}" if homes else ""


def __dir__() -> list[str]:
    """Name what is public, and no module that was only loaded."""
    return [*__all__]


def _picture(result: Result) -> str:
    """Draw a result for a notebook; pictures are loaded when the first is drawn."""
    return str(import_module("calibstat.plots.inline_svg").picture_of_result(result))


drawn_by(_picture)
