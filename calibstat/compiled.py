"""How calibstat compiles: one decorator, so that every kernel is cached on disk and releases the interpreter lock."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from numba import njit


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, and keep the result on disk wherever there is a folder for that."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _say_once()
        return njit(nogil=True)(function)


@lru_cache(maxsize=1)
def _say_once() -> None:
    """Warn that every process will compile anew; once, because there are many functions."""
    warnings.warn(
        "compiled code cannot be kept: the folders of calibstat and of the user cannot be written to, so that every "
        "process compiles anew, which takes seconds; set NUMBA_CACHE_DIR to a folder that can be written to",
        RuntimeWarning,
        stacklevel=3,
    )
