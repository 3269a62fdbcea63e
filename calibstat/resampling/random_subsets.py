"""Random subsets of a given size: sums over their members."""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.resampling.schemes import Draws, Stream
from calibstat.resampling.streams import GOLDEN, LOW_HALF, first_state, mix
from calibstat.resampling.threads import in_threads, small_chunks


def sums_of_subsets(columns: np.ndarray, size: int, draws: Draws) -> np.ndarray:
    """Return the sums of columns, shape (K, n), over random subsets of so many members: shape (B, K)."""
    columns = np.ascontiguousarray(columns)

    def of(first: int, last: int) -> np.ndarray:
        return np.asarray(_sums(draws.key, Stream.DESIGN, first, last, columns, size))

    return np.concatenate(
        in_threads(of, small_chunks(draws.n, draws.n_jobs, 8 * columns.shape[0] * size), draws.n_jobs)
    )


@jit
def _sums(key: np.uint64, stream: int, first: int, last: int, columns: np.ndarray, size: int) -> np.ndarray:
    """Choose members one by one among those that are left; each draw begins with the same order."""
    kinds, n = columns.shape
    order = np.arange(n)
    place = np.empty(size, np.int64)
    sums = np.zeros((last - first, kinds))
    for b in range(last - first):
        state = np.uint64(first_state(key, stream, first + b))
        for i in range(size):
            state += GOLDEN
            left = np.uint64(n - i)
            at = i + np.int64(((mix(state) & LOW_HALF) * left) >> np.uint64(32))
            place[i] = at
            chosen = order[at]
            order[at] = order[i]
            order[i] = chosen
            for k in range(kinds):
                sums[b, k] += columns[k, chosen]
        for i in range(size - 1, -1, -1):
            at = place[i]
            chosen = order[i]
            order[i] = order[at]
            order[at] = chosen
    return sums
