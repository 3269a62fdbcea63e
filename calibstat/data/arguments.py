"""Arguments of public functions: an unknown one is named beside those that there are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from calibstat.data.checks import UnknownOption, unknown_argument


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments of a function, without its options."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]


def refuse_unknown(function: Callable[..., Any], unknown: Iterable[str]) -> None:
    """Raise if there are arguments that a public function does not have, and ask for the nearest one that it has."""
    for name in unknown:
        raise unknown_argument(function.__name__, name, arguments_of(function))


@contextmanager
def options_of(function: Callable[..., Any], options: Mapping[str, Any]) -> Iterator[None]:
    """Name the arguments of a function too, where an option of it is unknown: it may be a misspelt argument."""
    try:
        yield
    except UnknownOption as error:
        if error.name not in options:
            raise
        own = arguments_of(function)
        raise UnknownOption(error.what, error.name, error.known, own, function.__name__) from None
