"""The decorator of all kernels: compiled by Numba, cached on disk, without the interpreter lock."""

from __future__ import annotations

import gc
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

# No code in C calls a kernel: without a function for it each takes less time to compile.
OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def jit(function: Kernel) -> Kernel:
    """Compile a function at its first call, and cache the result on disk if a folder for that can be written to."""
    if _can_be_kept(Path(inspect.getfile(function)).parent):
        try:
            return cast(Kernel, njit(cache=True, **OPTIONS)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
    _warn_once()
    return cast(Kernel, njit(**OPTIONS)(function))


def _can_be_kept(sources: Path) -> bool:
    """Whether Numba may look for a folder: without a home it would make one called "~" wherever the user is."""
    of_the_user = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~"))
    if os.environ.get("NUMBA_CACHE_DIR") or os.path.isabs(of_the_user):
        return True
    beside = sources / "__pycache__"
    return os.access(beside if beside.exists() else sources, os.W_OK)


@lru_cache(maxsize=1)
def _warn_once() -> None:
    """Warn that every process will compile anew: once, although there are many kernels."""
    warnings.warn(
        "compiled code cannot be kept: the folders of calibstat and of the user cannot be written to, so that every "
        "process compiles anew, which takes seconds; set NUMBA_CACHE_DIR to a folder that can be written to",
        RuntimeWarning,
        stacklevel=3,
    )


class _NoCollection(event.Listener):
    """Python looks for no cyclic garbage while a kernel is compiled.

    The compiler makes millions of objects and keeps most of them until it ends: to look through these again and again
    took a fifth of its time.
    """

    def __init__(self) -> None:
        self._lock, self._nested, self._was_on = threading.Lock(), 0, False

    def on_start(self, compilation: event.Event) -> None:
        with self._lock:
            if self._nested == 0:
                self._was_on = gc.isenabled()
                gc.disable()
            self._nested += 1

    def on_end(self, compilation: event.Event) -> None:
        with self._lock:
            self._nested -= 1
            if self._nested == 0 and self._was_on:
                gc.enable()


event.register("numba:compile", _NoCollection())
