"""The decorator of all kernels: compiled by Numba, cached on disk, without the interpreter lock.

Where Numba is not installed, as in a browser, a kernel is the Python function itself, with the same numbers, or what
`without_numba` names in its place.
"""

from __future__ import annotations

import gc
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

try:
    from numba import njit
    from numba.core import event
    from numba.core.registry import CPUDispatcher
except ModuleNotFoundError as error:
    if error.name != "numba":
        raise
    njit = None  # type: ignore[assignment]

# No code in C calls a kernel: without a function for it each takes less time to compile.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
LONGEST_CALL = 2**25  # steps of a kernel in one call, about: tenths of a second, in which no interrupt is heard
IN_ARRAYS: dict[str, Callable[..., Any]] = {}  # what `without_numba` named, by kernel


def jit(function: Kernel) -> Kernel:
    """Compile a function at its first call, and cache the result on disk if a folder for that can be written to."""
    if njit is None:
        return _silent(function)
    kernel = _compiled(function)
    kernel.__class__ = _Interruptible
    return cast(Kernel, kernel)


def _compiled(function: Callable[..., Any]) -> Any:
    """Return the function of Numba that is compiled at its first call."""
    if _can_be_kept(Path(inspect.getfile(function)).parent):
        try:
            return njit(cache=True, **JIT_OPTIONS)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
    _warn_once()
    return njit(**JIT_OPTIONS)(function)


def short_calls(size: int, steps: float | np.ndarray) -> list[tuple[int, int]]:
    """Cut what takes so many steps, each or one by one, into calls of a kernel, between which an interrupt is heard."""
    if (steps.sum() if isinstance(steps, np.ndarray) else size * steps) <= LONGEST_CALL:
        return [(0, size)]
    done = np.cumsum(np.broadcast_to(steps, size))
    ends = np.searchsorted(done, np.arange(LONGEST_CALL, done.max(initial=0), LONGEST_CALL))
    return list(pairwise([0, *np.unique(ends[ends > 0]).tolist(), size]))


def without_numba(in_arrays: Callable[..., Any]) -> Callable[[Kernel], Kernel]:
    """Name the function of NumPy's arrays that is called in place of a kernel where Numba is not installed.

    It takes the same arguments, fills in and returns the same numbers, and draws from the same words, so that only the
    order of sums differs. Kernels that no loop over many rows calls need none.
    """

    def chosen(kernel: Kernel) -> Kernel:
        IN_ARRAYS[f"{in_arrays.__module__}.{kernel.__name__}"] = _silent(in_arrays)
        return kernel if njit is not None else cast(Kernel, _silent(in_arrays))

    return chosen


def _silent(function: Kernel) -> Kernel:
    """Compute without warnings, as compiled code does: words of 64 bits are meant to wrap around."""
    return cast(Kernel, np.errstate(all="ignore")(function))


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


if njit is not None:
    _call = CPUDispatcher.__call__

    class _Interruptible(CPUDispatcher):
        """A kernel that ends in KeyboardInterrupt if one comes while it runs.

        Numba makes the arrays that a kernel returns in code of Python. There the interrupt is raised, and Numba returns
        all the same, of which Python makes a SystemError, which nobody who waits for an interrupt catches.
        """

        def __call__(self, *arguments: object) -> object:
            try:
                return _call(self, *arguments)
            except SystemError as error:
                cause: BaseException | None = error
                while isinstance(cause, SystemError):  # one for each array
                    cause = cause.__cause__
                if isinstance(cause, KeyboardInterrupt):
                    raise cause from None
                raise

    class _NoCollection(event.Listener):
        """Python looks for no cyclic garbage while a kernel is compiled.

        The compiler makes millions of objects and keeps most of them until it ends: to look through these again and
        again took a fifth of its time.
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
