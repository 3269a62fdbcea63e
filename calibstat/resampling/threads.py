"""Sharing the work among threads without changing a number."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from calibstat.data.checks import check_jobs

LARGEST_PIECE = 2**26  # bytes that the draws of one piece of the replicates may take


def chunks(size: int, n_jobs: int, most: int | None = None) -> list[tuple[int, int]]:
    """Cut the replicates, or cells, into a few pieces for every thread, none of more than `most`."""
    pieces = min(size, 1 if n_jobs == 1 else 4 * n_threads(n_jobs))
    if most is not None:
        pieces = max(pieces, -(-size // max(most, 1)))
    return list(pairwise(size * i // pieces for i in range(pieces + 1)))


def small_chunks(size: int, n_jobs: int, bytes_each: int) -> list[tuple[int, int]]:
    """Cut the replicates into pieces whose draws, of so many bytes each, take at most `LARGEST_PIECE`."""
    return chunks(size, n_jobs, LARGEST_PIECE // bytes_each)


def n_threads(n_jobs: int) -> int:
    """Return how many threads are asked for; -1 is one for each core that this process may use."""
    check_jobs(n_jobs)
    if n_jobs == -1:
        from joblib import cpu_count  # which knows affinity and the limits of containers

        return int(cpu_count())
    return int(n_jobs)


def in_threads(task: Callable[[int, int], Any], pieces: list[tuple[int, int]], n_jobs: int) -> list[Any]:
    """Run the task on every piece, in order or in threads; the kernels release the interpreter lock."""
    if n_threads(n_jobs) == 1 or len(pieces) == 1:
        return [task(*piece) for piece in pieces]
    with ThreadPoolExecutor(n_threads(n_jobs)) as pool:
        return list(pool.map(lambda piece: task(*piece), pieces))


def one_by_one(replicate: Callable[[int], Any], size: int, n_jobs: int) -> np.ndarray:
    """Return what a function finds in each replicate, along the first axis."""

    def replicates(first: int, last: int) -> list[Any]:
        return [replicate(r) for r in range(first, last)]

    parts = in_threads(replicates, chunks(size, n_jobs), n_jobs)
    return np.array([entry for part in parts for entry in part])
