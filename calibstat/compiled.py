"""How calibstat compiles: one decorator, so that every kernel is cached on disk and releases the interpreter lock."""

from numba import njit

jit = njit(cache=True, nogil=True)
