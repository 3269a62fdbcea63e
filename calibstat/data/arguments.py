"""Arguments of verbs: an unknown one is named beside those that there are, and rows must have the same names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from calibstat.data.checks import UnknownOption, unknown_argument
from calibstat.data.row_names import check_row_names

F = TypeVar("F", bound=Callable[..., Any])
OF_ROWS = ("sample_weight", "cluster", "groups", "by")  # arguments with an entry for each row


def checks_arguments(verb: F) -> F:
    """Let a function name its own arguments if it is given an unknown one, and refuse rows in another order.

    An option that no measure takes may be a misspelt argument of the function. Arguments with an entry for each row
    must not name their rows otherwise than `y_true` does.
    """
    parameters = inspect.signature(verb).parameters.values()
    own = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    takes_options = len(own) < len(parameters)

    @wraps(verb)
    def ask(*arguments: Any, **options: Any) -> Any:
        for name in options:
            if name not in own and not takes_options:
                raise unknown_argument(verb.__name__, name, own)
        given = dict(zip(own, arguments, strict=False)) | options
        for name in OF_ROWS:
            check_row_names(given.get("y_true"), given.get(name), ("y_true", name))
        try:
            return verb(*arguments, **options)
        except UnknownOption as error:
            if error.name not in options:
                raise
            raise UnknownOption(error.what, error.name, error.known, own, verb.__name__) from None

    return cast("F", ask)
