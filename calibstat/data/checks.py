"""Checks of scalar arguments, whole numbers, levels, numbers of jobs, and of names of arguments and options."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeGuard

import numpy as np


def is_whole(value: object, least: int = 1) -> TypeGuard[int]:
    """Whether a value is of an integer type and at least `least`; True and 2.0 are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True is not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_among(value: object, known: Iterable[Any]) -> bool:
    """Whether a value is one of these names; what cannot be hashed, as a list or an array, is not."""
    try:
        return value in frozenset(known)  # by hash: an array is not equal to a name, nor unequal
    except TypeError:
        return False


def refuse_lazy(name: str, data: object) -> None:
    """Raise if data are a query that has not been run, such as a lazy frame of Polars, which has no rows yet."""
    if hasattr(data, "collect") and not hasattr(data, "__array__"):
        found = type(data).__name__
        raise ValueError(f"expected {name}, rows, found a {found}, which has none yet; give {name}.collect()")


def need_text(what: str, names: Iterable[object]) -> None:
    """Raise if a name holds half of a character, a lone surrogate, which no file and no frame can hold."""
    for name in names:
        try:
            str(name).encode() if isinstance(name, str) else None
        except UnicodeEncodeError:
            raise ValueError(f"expected text in {what}, found {name!a}, which holds half of a character") from None


def is_real(value: object) -> bool:
    """Whether a value is a real number of any type, True and False too; a span of time is none."""
    return isinstance(value, Real | Decimal | np.bool_) and not isinstance(value, np.timedelta64)


def as_numbers(value: object) -> np.ndarray:
    """Return a value as an array of floats; an empty one, which no check lets through, if it holds other things."""
    try:
        array = np.asarray(value)
        return array.astype(np.float64) if array.dtype.kind in "iufO" else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def check_switch(name: str, value: object) -> bool:
    """Return an argument that turns something on or off; raise unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"expected {name} True or False, found {short(value)}")
    return bool(value)


def short(value: object, most: int = 80) -> str:
    """Return the repr of a value, cut if it is long; of an array or a frame its type and shape."""
    if getattr(value, "shape", ()):
        return described(value)
    try:
        return cut(repr(value), most)
    except (RecursionError, ValueError):  # too deep, or a whole number of thousands of digits
        return f"{type(value).__name__} that is too long to write"


def cut(text: str, most: int = 1000) -> str:
    """Cut a long text."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def quoted(values: Iterable[Any], most: int = 5) -> str:
    """Return the reprs of values with commas between, of many the first ones and their number."""
    values = list(values)
    more = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(short(value, 30) for value in values[:most]) + more


def described(data: object) -> str:
    """Name the type of an argument and its shape or length, and no entry."""
    shape, name = getattr(data, "shape", None), type(data).__name__
    if isinstance(shape, tuple):
        return f"{name} of shape {tuple(shape)}"
    if isinstance(data, str | bytes) or not hasattr(data, "__len__"):
        return f"{name} {short(data, 40)}" if isinstance(data, str | bytes | int | float | None) else name
    return f"{name} of length {len(data)}"


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return an argument as an int; raise unless it is a whole number of at least `least`."""
    if not is_whole(value, least):
        raise ValueError(f"expected {name} to be a whole number of at least {least}, found {short(value)}")
    return int(value)


def check_level(name: str, value: object) -> None:
    """Raise unless an argument is a number between 0 and 1; not one so near to 1 that (1 + value) / 2 is 1."""
    if not is_number(value) or not 0 < value < 1 or 1 - (1 - value) / 2 == 1:
        raise ValueError(f"expected {name} between 0 and 1, found {short(value)}")


def check_jobs(n_jobs: object) -> None:
    """Raise unless the number of threads or processes is a whole number of at least 1, or -1."""
    if not is_whole(n_jobs) and not (is_whole(n_jobs, -1) and n_jobs == -1):
        raise ValueError(
            f"expected n_jobs to be a whole number of at least 1, or -1 for all cores; found {short(n_jobs)}"
        )


def unknown_name(
    what: str,
    name: object,
    known: Iterable[str],
    others: str = "",
    titles: Mapping[str, str] | None = None,
    advice: str = "",
) -> ValueError:
    """Return the error that lists the known names of something, and others in words, and asks for the nearest one.

    `titles` are further spellings, each with the known name that it stands for. Where there is `advice` on the very
    name, it is given in place of the list and of the nearest name.
    """
    known = list(known)
    if advice:
        return ValueError(f"expected {what}, found {short(name)}{advice}")
    advice = nearest(name, {each: each for each in known} | dict(titles or {}))
    return ValueError(f"expected {what}, one of {_listed(known)}{others}; found {short(name)}{advice}")


def _listed(names: Sequence[str], most: int = 180) -> str:
    """Return names with commas between, as many as there is room for, and the number of the others."""
    shown = [name for i, name in enumerate(names) if len(", ".join(names[: i + 1])) <= most] or names[:1]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(shown) < len(names) else "")


def nearest(name: object, known: Iterable[str] | Mapping[str, str], least: float = 0.6) -> str:
    """Return the known name that is spelled most like this one, as a question to add to a message; or nothing.

    A mapping has for each spelling the known name that it stands for. `least` is how alike they are, from 0 to 1.
    """
    from difflib import get_close_matches

    from calibstat.data.words.names_elsewhere import letters

    spellings = known if isinstance(known, Mapping) else {each: each for each in known}
    names = {letters(spelling): each for spelling, each in spellings.items()}
    found = get_close_matches(letters(name), names, n=1, cutoff=least)
    return f"; did you mean {names[found[0]]!r}?" if found else ""


class UnknownOption(ValueError):
    """An unknown option.

    `known` are the names of the options, and `own` the arguments of the function. Where one of them is meant, the
    message names it, and otherwise it lists them.
    """

    def __init__(self, what: str, name: str, known: Iterable[str], own: Sequence[str] = (), verb: str = "") -> None:
        self.what, self.name, self.known = what, name, list(known)
        super().__init__(_of_unknown(name, {verb: own, what: self.known} if verb else {what: self.known}, verb))


def unknown_argument(verb: str, name: str, own: Sequence[str]) -> TypeError:
    """Return the error for an argument that a function without options does not have."""
    return TypeError(_of_unknown(name, {verb: own}, verb))


def _of_unknown(name: str, places: Mapping[str, Sequence[str]], verb: str) -> str:
    """Return the message for an argument that none of these has, functions and measures by what they are called.

    It begins with the one that another package calls so. Else it asks for the nearest one, or lists all that there are.
    """
    from calibstat.data.words.names_elsewhere import ARGUMENTS, advice_of_absent, arguments_meant

    for place, known in places.items():
        begun = [f"{each}=" for each in known if each.startswith(f"{name}_")]
        if meant := begun or arguments_meant(name, known):
            return f"expected {' or '.join(meant)} of {place}, found {short(name)}"
    every = [each for known in places.values() for each in known]
    least = 0.9 if f"{name}=" in ARGUMENTS else 0.6  # what other functions have is hardly misspelt
    if advice := nearest(name, every, 0.9) or advice_of_absent(name) or nearest(name, every, least):
        return f"expected an argument of {verb or next(iter(places))}, found {short(name)}{advice}"
    lists = [
        f"expected {'arguments' if place == verb else 'options'} of {place} ({_listed(known) if known else 'none'})"
        for place, known in places.items()
    ]
    return f"{', or '.join(lists)}, found {short(name)}"


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments of a function, without its options."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]


def refuse_unknown(function: Callable[..., Any], unknown: Iterable[str]) -> None:
    """Raise if there are arguments that a public function does not have, and ask for the nearest one that it has."""
    for name in unknown:
        raise unknown_argument(function.__name__, name, arguments_of(function))


class options_of:  # one made of a generator takes as long as some measures
    """Name the arguments of a function too, where an option of it is unknown: it may be a misspelt argument.

    `beside` are further arguments, which the function takes through its options.
    """

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any], beside: Iterable[str] = ()) -> None:
        self.function, self.options, self.beside = function, options, beside

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, UnknownOption) and error.name in self.options:
            own = [*arguments_of(self.function), *self.beside]
            raise UnknownOption(error.what, error.name, error.known, own, self.function.__name__) from None


def calls_within() -> int:
    """Return the stack level, for the function that calls this one, of the line that called calibstat."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("calibstat."):
        frame, level = frame.f_back, level + 1
    return level
