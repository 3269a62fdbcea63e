"""The last answer about an array, kept for the next caller that asks about the same array."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np


class Cache:
    """The last thing that was made of an array, kept as long as the array is: observed and drawn labels share it."""

    def __init__(self) -> None:
        self.last: tuple[weakref.ref[np.ndarray], object, list[int], Any] | None = None

    def of(self, array: np.ndarray, make: Callable[[], Any], by: object = None) -> Any:
        """Return what `make` made of this array `by` this object, or makes of it now, or of what was written since."""
        content = [hash(array[i : i + 1024].tobytes()) for i in range(0, len(array), 1024)]
        last = self.last
        if last is None or last[0]() is not array or last[1] is not by or last[2] != content:
            last = self.last = weakref.ref(array, self._forget), by, content, make()
        return last[3]

    def _forget(self, array: weakref.ref[np.ndarray]) -> None:
        if self.last is not None and self.last[0] is array:
            self.last = None
