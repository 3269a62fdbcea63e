"""Results in tests: all their kinds, and all that one holds, in fields, closures, containers, arrays and frames."""

import functools
import types
from collections.abc import Mapping

import numpy as np
import pandas as pd

from calibstat.result import Result

PLAIN = (str, int, float, complex, bool, type(None), type, types.ModuleType, np.dtype, np.generic)


def kinds(base=Result):
    """Return all classes of results."""
    return {
        kind for each in base.__subclasses__() if each.__module__.startswith("calibstat") for kind in kinds(each)
    } | ({base} - {Result})


def held(thing, path="result", seen=None):
    """Yield every object within one, with the path to it, once each."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing  # which keeps it alive, and so its id its own
    yield path, thing
    if isinstance(thing, PLAIN):
        return
    for name, part in parts(thing):
        yield from held(part, f"{path}{name}", seen)


def parts(thing):
    """Return what one object holds, each with the way to it."""
    if isinstance(thing, np.ndarray):
        entries = list(enumerate(thing.ravel().tolist())) if thing.dtype == object else []
        return [*((f"[{i}]", part) for i, part in entries), (".base", thing.base)]
    if isinstance(thing, pd.DataFrame):
        return [(f"[{name!r}]", thing[name]) for name in thing] + [(".index", thing.index), (".attrs", thing.attrs)]
    if isinstance(thing, pd.Series | pd.Index):
        return [(".values", thing.to_numpy())]
    if isinstance(thing, Mapping):
        return [
            part for key, value in thing.items() for part in ((f".key({key!r})"[:40], key), (f"[{key!r}]"[:40], value))
        ]
    if isinstance(thing, list | tuple | set | frozenset):
        return [(f"[{i}]", part) for i, part in enumerate(thing)]
    if isinstance(thing, functools.partial):
        return [(".func", thing.func), (".args", thing.args), (".keywords", thing.keywords)]
    if isinstance(thing, types.MethodType | types.BuiltinMethodType):
        return [(".self", thing.__self__), (".func", getattr(thing, "__func__", None))]
    if isinstance(thing, types.FunctionType):
        cells = zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
        inside = [(f".closure({name})", cell.cell_contents) for name, cell in cells if _filled(cell)]
        return [
            *inside,
            (".defaults", thing.__defaults__),
            (".kwdefaults", thing.__kwdefaults__),
            (".dict", vars(thing)),
        ]
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    inside = {name: getattr(thing, name) for name in slots if name != "__dict__" and hasattr(thing, name)}
    inside |= getattr(thing, "__dict__", {})  # dataclass fields, cached properties and what was set beside them
    return [(f".{name}", part) for name, part in inside.items()]


def _filled(cell):
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def length(thing):
    """The length of an array, frame, text or container along its longest axis, 0 of anything else."""
    if isinstance(thing, np.ndarray | pd.DataFrame | pd.Series | pd.Index):
        return max((*thing.shape, 0))
    if isinstance(thing, str | bytes | bytearray | memoryview | Mapping | list | tuple | set | frozenset):
        return len(thing)
    return 0
