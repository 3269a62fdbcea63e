"""The decorator of all kernels: compiled by Numba, cached on disk, without the interpreter lock.

Compiling a kernel takes a tenth of a second, and loading Numba half a second. So where `first_calls` says that
something else gives the same bits, that answers calls on few rows, until compiling would have taken no longer. Where
Numba is not installed, as in a browser, nothing is compiled, with the same numbers.
"""

from __future__ import annotations

import gc
import inspect
import os
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

HAS_NUMBA = find_spec("numba") is not None
# No code in C calls a kernel: without a function for it each takes less time to compile.
JIT_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
Plain = TypeVar("Plain", bound=Callable[..., Any])
LONGEST_CALL = 2**25  # steps of a kernel in one call, about: tenths of a second, in which no interrupt is heard
FIRST_SECONDS = 0.1  # that the first calls of a kernel may take before it is compiled, which takes as long
ONE_CALL = 5e-5  # seconds that each of them counts at least: what is called so often is worth compiling
IN_ARRAYS: dict[str, Callable[..., Any]] = {}  # what is called in place of a kernel, by its name
_one_at_a_time = threading.RLock()


class Kernel:
    """A function of Python, and what Numba makes of it once that is needed.

    It ends in KeyboardInterrupt if one comes while it runs. Numba makes the arrays that a kernel returns in code of
    Python. There the interrupt is raised, and Numba returns all the same, of which Python makes a SystemError, which
    nobody who waits for an interrupt catches.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.call: Callable[..., Any] = self.compile_and_call
        self.first: Callable[..., Any] | None = None  # what answers the first calls
        self._compiled: Any = None

    def __call__(self, *arguments: object) -> object:
        """Return what the function returns."""
        try:
            return self.call(*arguments)
        except SystemError as error:
            cause: BaseException | None = error
            while isinstance(cause, SystemError):  # one for each array
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            raise

    @property
    def compiled(self) -> Any:
        """The function of Numba, which compiles itself, or loads what was kept, at its first call."""
        with _one_at_a_time:
            if self._compiled is None:
                self._compiled = _of_numba(self.py_func)
            return self._compiled

    @property
    def _numba_type_(self) -> Any:
        """By which Numba knows a kernel that another one calls."""
        return self.compiled._numba_type_

    def compile_and_call(self, *arguments: object) -> object:
        """Call the function of Numba from now on."""
        self.call = self.compiled
        return self.call(*arguments)


def jit(function: Plain) -> Plain:
    """Compile a function when it is needed, and cache the result on disk if a folder for that can be written to."""
    return cast(Plain, Kernel(function) if HAS_NUMBA else _silent(function))


def without_numba(in_arrays: Callable[..., Any]) -> Callable[[Plain], Plain]:
    """Name the function of NumPy's arrays that is called in place of a kernel where Numba is not installed.

    It takes the same arguments, fills in and returns the same numbers, and draws from the same words, so that only the
    order of sums differs. Kernels that no loop over many rows calls need none.
    """

    def chosen(kernel: Plain) -> Plain:
        IN_ARRAYS[f"{in_arrays.__module__}.{kernel.__name__}"] = _silent(in_arrays)
        return kernel if HAS_NUMBA else cast(Plain, _silent(in_arrays))

    return chosen


def first_calls(
    seconds: float | Callable[..., float] = 3e-7, in_arrays: Callable[..., Any] | None = None
) -> Callable[[Plain], Plain]:
    """Let the Python source of a kernel, or a function of arrays, answer its first calls: it gives the same bits.

    That takes so many seconds for each entry of its arrays, or what a function of the arguments says. Python alone
    rounds numbers of less than 8 bytes otherwise than compiled code does: calls with these are compiled.
    """

    def chosen(kernel: Plain) -> Plain:
        kernel = kernel if in_arrays is None else without_numba(in_arrays)(kernel)
        if not isinstance(kernel, Kernel):
            return kernel
        plain = kernel.first = _silent(in_arrays or kernel.py_func)
        spent = 0.0

        def call(*arguments: object) -> object:
            nonlocal spent
            sized = [each for each in arguments if isinstance(each, np.ndarray | np.generic)]
            more = seconds(*arguments) if callable(seconds) else seconds * sum([each.size for each in sized])
            spent += ONE_CALL + more
            if spent > FIRST_SECONDS or (in_arrays is None and any(each.itemsize < 8 for each in sized)):
                return kernel.compile_and_call(*arguments)
            return plain(*arguments)

        kernel.call = call
        return kernel

    return chosen


def _of_numba(function: Callable[..., Any]) -> Any:
    """Return the function of Numba that is compiled at its first call."""
    from numba import njit

    _listen()
    if _can_be_kept(Path(inspect.getfile(function)).parent):
        try:
            kernel = njit(cache=True, **JIT_OPTIONS)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
        else:
            kernel._cache.__class__ = _cache_of_loaded_code()
            return kernel
    _warn_once()
    return njit(**JIT_OPTIONS)(function)


@lru_cache(maxsize=1)
def _cache_of_loaded_code() -> type:
    """Return a cache that loads compiled code without all that Numba loads to compile some, which takes as long."""
    from numba.core.caching import FunctionCache
    from numba.core.runtime import rtsys

    class OfLoadedCode(FunctionCache):
        def load_overload(self, sig: object, target_context: object) -> Any:
            rtsys.initialize(target_context)  # what counts references to arrays
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

    return OfLoadedCode


def short_calls(size: int, steps: float | np.ndarray) -> list[tuple[int, int]]:
    """Cut what takes so many steps, each or one by one, into calls of a kernel, between which an interrupt is heard."""
    if (steps.sum() if isinstance(steps, np.ndarray) else size * steps) <= LONGEST_CALL:
        return [(0, size)]
    done = np.cumsum(np.broadcast_to(steps, size))
    ends = np.searchsorted(done, np.arange(LONGEST_CALL, done.max(initial=0), LONGEST_CALL))
    return list(pairwise([0, *np.unique(ends[ends > 0]).tolist(), size]))


def _silent(function: Plain) -> Plain:
    """Compute without warnings, as compiled code does: words of 64 bits are meant to wrap around."""
    return cast(Plain, np.errstate(all="ignore")(function))


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


@lru_cache(maxsize=1)
def _listen() -> None:
    """Have Python look for no cyclic garbage while a kernel is compiled.

    The compiler makes millions of objects and keeps most of them until it ends: to look through these again and again
    took a fifth of its time.
    """
    from numba.core import event

    class NoCollection(event.Listener):
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

    event.register("numba:compile", NoCollection())
