"""Parameters of a constructor by their names, as scikit-learn reads and sets them, also of objects within."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self

from calibstat.data.checks import arguments_of, is_among, unknown_argument
from calibstat.data.retired_words import RETIRED_PARAMETERS, refuse_retired
from calibstat.data.words.names_elsewhere import MEMBERS_OF_MAPS, member_meant

BETWEEN = "__"  # a parameter and one within it, as in scikit-learn


class Parametrised:
    """An object whose attributes are the parameters of its constructor, stored unchanged."""

    _names_elsewhere: ClassVar[Mapping[str, tuple[str, ...]]] = MEMBERS_OF_MAPS

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            cls.__init__ = _refusing_retired(cls.__name__, vars(cls)["__init__"])  # type: ignore[method-assign]

    if not TYPE_CHECKING:  # type checkers would believe that every attribute is there

        def __getattr__(self, name: str) -> Any:
            """Say what is written for the name of a method of another package."""
            meant = "" if name.startswith("_") else member_meant(self, name, self._names_elsewhere)
            found = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{found}{meant}", name=name, obj=self)

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
    """Return a constructor that writes out what takes the place of a parameter that is gone, or of another package."""

    known = arguments_of(make)[1:]  # without self

    @wraps(make)
    def made(self: object, *places: object, **given: object) -> None:
        refuse_retired(name, given, (), RETIRED_PARAMETERS)
        if unknown := [each for each in given if each not in known]:
            raise unknown_argument(name, unknown[0], known)
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
