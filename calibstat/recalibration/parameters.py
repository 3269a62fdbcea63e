"""Parameters of a constructor by their names, as scikit-learn reads and sets them, also of objects within."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

from calibstat.data.checks import is_among
from calibstat.data.retired_words import RETIRED_PARAMETERS, refuse_retired

BETWEEN = "__"  # a parameter and one within it, as in scikit-learn


class Parametrised:
    """An object whose attributes are the parameters of its constructor, stored unchanged."""

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            cls.__init__ = _refusing_retired(cls.__name__, vars(cls)["__init__"])  # type: ignore[method-assign]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor by name.

        Parameters
        ----------
        deep : bool
            Whether parameters of a parameter follow, such as ``estimator__C``.

        Returns
        -------
        dict
        """
        found = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        if deep:
            for name, value in [*found.items()]:
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}{BETWEEN}{inner}": each for inner, each in value.get_params().items()}
        return found

    def set_params(self, **params: object) -> Self:
        """Set parameters of the constructor by name, and those within one by ``name__inner``.

        Parameters
        ----------
        **params
            New values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a name is not one of the parameters.
        """
        own = self.get_params(deep=False)
        for name in sorted(params, key=lambda each: BETWEEN in each):  # what holds others comes before them
            outer, _, inner = name.partition(BETWEEN)
            if outer not in own or (inner and not hasattr(getattr(self, outer), "set_params")):
                known = ", ".join(own) or "none"
                raise ValueError(f"expected a parameter of {type(self).__name__} ({known}), found {name!r}")
            if inner:
                getattr(self, outer).set_params(**{inner: params[name]})
            else:
                setattr(self, outer, params[name])
        return self

    def __repr__(self) -> str:
        default = {name: entry.default for name, entry in inspect.signature(type(self)).parameters.items()}
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if not is_default(value, default[name])
        ]
        return f"{type(self).__name__}({', '.join(given)})"


def _refusing_retired(name: str, make: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that writes out what takes the place of a parameter that is gone."""

    @wraps(make)
    def made(self: object, *places: object, **given: object) -> None:
        refuse_retired(name, given, (), RETIRED_PARAMETERS)
        make(self, *places, **given)

    return made


def is_default(value: object, default: object) -> bool:
    """Whether a parameter is its default, also the equal one of a copy."""
    return value is default or (type(value) is type(default) and is_among(value, (default,)))


def need_fitted(fitted: Parametrised, attribute: str) -> None:
    """Raise unless an attribute is there that fitting gives; where scikit-learn is installed, its error."""
    if hasattr(fitted, attribute):
        return
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        NotFittedError = ValueError
    raise NotFittedError(f"expected a fitted {type(fitted).__name__}, found one of which fit has not been called")
