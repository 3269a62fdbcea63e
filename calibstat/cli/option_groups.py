"""Options that several commands share and take as one: a dataclass with an option for each of its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from calibstat.cli.answers import Answer, with_parameters


def takes_groups(command: Callable[..., Answer]) -> Callable[..., Answer]:
    """Let a command have, in place of each parameter that is a group, the options of its fields.

    A field whose metadata say that it `needs` a parameter is an option of commands with this parameter alone.
    """
    known = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: each.annotation for name, each in known.items() if is_dataclass(each.annotation)}
    taken = {
        name: [each for each in fields(group) if each.metadata.get("needs") in (None, *known)]
        for name, group in groups.items()
    }

    @wraps(command)
    def run(**given: Any) -> Answer:
        made = {
            name: group(**{each.name: given.pop(each.name) for each in taken[name]}) for name, group in groups.items()
        }
        return command(**given, **made)

    options: list[inspect.Parameter] = []
    for name, parameter in known.items():
        options += [parameter] if name not in groups else _options(groups[name], taken[name])
    return with_parameters(run, options)


def _options(group: type, taken: list[Field[Any]]) -> list[inspect.Parameter]:
    """Return the options of fields of a group."""
    types = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=types[each.name]
        )
        for each in taken
    ]


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()
