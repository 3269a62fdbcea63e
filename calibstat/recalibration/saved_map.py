"""A fitted map as a dictionary that JSON has, and back; the numbers are the same to the last bit."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from calibstat.data.checks import is_among, is_whole, quoted, short, unknown_name
from calibstat.recalibration.parameters import Parametrised

VERSION = 1  # of the dictionary
SAVED_KEYS = ("kind", "version", "parameters", "fitted")


def as_dict(fitted: Parametrised) -> dict[str, Any]:
    """Return a fitted map as a dictionary that JSON has."""
    who, given = type(fitted).__name__, fitted.get_params(deep=False)
    found = {name: value for name, value in vars(fitted).items() if name not in given}
    if unknown := sorted({*found} - {*_attributes(type(fitted))}):
        raise ValueError(
            f"expected the type of each fitted attribute in the class {who}, as in 'slope_: np.ndarray', found none of "
            f"{quoted(unknown)}; save the map by pickle or joblib instead"
        )
    remedy = "; a fitted map does not need it: write map.set_params({}=None).to_dict()"
    return {
        "kind": who,
        "version": VERSION,
        "parameters": {name: _plain(value, name, remedy.format(name)) for name, value in given.items()},
        "fitted": {
            name: _plain(found[name], f"{name} of {who}", "; save the map by pickle or joblib instead")
            for name in _attributes(type(fitted))
        },
    }


def restored(cls: type[Parametrised], saved: object, known: Mapping[str, type[Parametrised]]) -> Any:
    """Return the map of a dictionary, of a class or of one of those known by name."""
    if not isinstance(saved, Mapping) or {*saved} != {*SAVED_KEYS}:
        raise ValueError(f"expected a dictionary of to_dict, with {quoted(SAVED_KEYS)}, found {short(saved)}")
    if not is_among(saved["kind"], known):
        raise unknown_name("the kind of a map", saved["kind"], known)
    kind = known[saved["kind"]]
    if not issubclass(kind, cls):
        raise ValueError(f"expected a {cls.__name__}, found a {kind.__name__}; write {kind.__name__}.from_dict(...)")
    if not is_whole(saved["version"]) or saved["version"] != VERSION:
        raise ValueError(f"expected version {VERSION} of a saved {kind.__name__}, found {short(saved['version'])}")
    parameters = _entries(saved, "parameters", inspect.signature(kind).parameters, kind)
    made = kind(**parameters)
    hints = _attributes(kind)
    for name, value in _entries(saved, "fitted", hints, kind).items():
        setattr(made, name, _typed(hints[name], value, f"{name} of a saved {kind.__name__}"))
    _try_out(made)
    return made


def _entries(saved: Mapping[str, Any], part: str, names: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return a part of what was saved, which has to have these names."""
    found = saved[part]
    if not isinstance(found, Mapping) or {*found} != {*names}:
        raise ValueError(f"expected {part} of a saved {kind.__name__} with {quoted(names)}, found {short(found)}")
    return dict(found)


def _attributes(kind: type) -> dict[str, Any]:
    """Return the types of what `fit` sets."""
    return {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}


def _plain(value: object, what: str, remedy: str) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry, what, remedy) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, what, remedy) for entry in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"expected what JSON has in {what}, found {short(value)}{remedy}")


def _typed(hint: object, value: object, what: str) -> Any:
    """Return a value of JSON as a fitted attribute of this type."""
    origin: Any = get_origin(hint) or hint
    inner = get_args(hint)
    if type(None) in inner:
        return None if value is None else _typed(next(each for each in inner if each is not type(None)), value, what)
    if origin is np.ndarray:
        return _array(value, get_args(inner[1])[0] if inner else np.float64, what)
    if is_dataclass(origin):
        types = get_type_hints(origin)
        if not isinstance(value, Mapping) or {*value} != {*types}:
            raise ValueError(f"expected {quoted(types)} in {what}, found {short(value)}")
        made: Any = origin
        return made(**{name: _typed(types[name], entry, what) for name, entry in value.items()})
    if origin in (list, tuple):
        if not isinstance(value, list) or (origin is tuple and len(value) != len(inner)):
            raise ValueError(f"expected a list in {what}, found {short(value)}")
        return origin(_typed(each, entry, what) for each, entry in zip(_each(inner, value), value, strict=True))
    if not isinstance(value, (int, float) if origin is float else origin) or isinstance(value, bool) != (
        origin is bool
    ):
        raise ValueError(f"expected {origin.__name__} in {what}, found {short(value)}")
    return origin(value)


def _each(inner: tuple[Any, ...], value: list[Any]) -> list[Any]:
    """Return the type of each entry of a list, or of a tuple."""
    return [*inner] if len(inner) == len(value) else [inner[0]] * len(value)


def _array(value: object, kind: object, what: str) -> np.ndarray:
    """Return a list of JSON as an array: of numbers of a kind, or of any names."""
    dtype: Any = None if kind is Any else kind
    try:
        found = np.array(value if isinstance(value, list) else None, dtype)
    except (ValueError, TypeError, OverflowError):
        found = np.array(None)
    if found.ndim == 0 or found.size == 0 or found.dtype == object:
        raise ValueError(f"expected a list of numbers in {what}, found {short(value)}")
    if kind is not Any and not np.isfinite(found).all():
        raise ValueError(f"expected finite numbers in {what}, found {short(value)}")
    return found


def _try_out(made: Any) -> None:
    """Raise unless a map makes probabilities of a prediction."""
    classes = made.classes_.size
    try:
        out = made.predict_proba(np.full((1, classes), 1 / classes))
        good = classes > 1 and out.shape == (1, classes) and bool(np.all((out >= 0) & (out <= 1)))
    except (ValueError, IndexError, AssertionError):
        good = False
    if not good:
        raise ValueError(
            f"expected fitted numbers of {classes} classes in a saved {type(made).__name__}, found some that make no "
            "probabilities"
        )
