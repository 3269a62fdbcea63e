"""The inner product of two long vectors, on one thread."""

from __future__ import annotations

import numpy as np


def inner(one: np.ndarray, other: np.ndarray) -> float:
    """Return the sum of the products of two vectors.

    BLAS would share it out among threads, which wait for each other, and the last digits would depend on their number.
    """
    return float(np.einsum("i,i->", one, other))
