"""Division of work among threads, and into pieces after which an interrupt is heard; results do not depend on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from calibstat.data.checks import check_jobs
from calibstat.data.predictions import Predictions
from calibstat.progress import announced

T = TypeVar("T")
# Bytes of the draws of one piece of the replicates, at most. Those are made in tenths of a second, after which an
# interrupt is heard.
LARGEST_PIECE = 2**26


def chunks(size: int, n_jobs: int, most: int | None = None) -> list[tuple[int, int]]:
    """Cut the replicates, or cells, into a few pieces for every thread, none of more than `most`."""
    pieces = min(size, 1 if n_jobs == 1 else 4 * n_threads(n_jobs))
    if most is not None:
        pieces = max(pieces, -(-size // max(most, 1)))
    return list(pairwise(size * i // pieces for i in range(pieces + 1)))


def small_chunks(size: int, n_jobs: int, bytes_each: int) -> list[tuple[int, int]]:
    """Cut the replicates, or rows, into pieces whose draws, of so many bytes each, take at most `LARGEST_PIECE`."""
    return chunks(size, n_jobs, LARGEST_PIECE // max(bytes_each, 1))


def n_threads(n_jobs: int) -> int:
    """Return the number of threads; -1 means one for each core that this process may use."""
    check_jobs(n_jobs)
    if n_jobs == -1:
        from joblib import cpu_count  # which knows affinity and the limits of containers

        return int(cpu_count())
    return int(n_jobs)


def in_threads(task: Callable[[int, int], T], pieces: list[tuple[int, int]], n_jobs: int) -> list[T]:
    """Run the task on every piece, in order or in threads; the kernels release the interpreter lock."""
    return [task(*pieces[0])] if len(pieces) == 1 else list(one_after_another(task, pieces, n_jobs))


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Return the parts one after the other; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def one_after_another(task: Callable[[int, int], T], pieces: list[tuple[int, int]], n_jobs: int) -> Iterator[T]:
    """Yield what the task makes of every piece, in order; no more results wait than there are threads.

    What ends this early, such as an interrupt, waits for the pieces at work alone.
    """
    threads = n_threads(n_jobs)
    if threads == 1 or len(pieces) == 1:
        yield from (task(*piece) for piece in pieces)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(task, *piece))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def announced_pieces(task: Callable[[int, int], T], pieces: list[tuple[int, int]], n_jobs: int, what: str) -> list[T]:
    """Run the task on every piece, and say how long `what` takes if it is long."""
    return list(announced(one_after_another(task, pieces, n_jobs), [last - first for first, last in pieces], what))


def of_draws(draws: int, predictions: Predictions) -> str:
    """Say of what the draws are, and how a call with fewer or shared ones is made."""
    rows = f"{draws:,} draws of {predictions.n:,} rows and {predictions.n_classes:,} classes"
    return f"{rows}; a smaller n_resamples or n_jobs=-1 takes less"


def one_by_one(replicate: Callable[[int], T], size: int, n_jobs: int) -> np.ndarray:
    """Return the results of a function for each replicate, along the first axis."""

    def replicates(first: int, last: int) -> list[T]:
        return [replicate(r) for r in range(first, last)]

    parts = in_threads(replicates, chunks(size, n_jobs), n_jobs)
    return np.array([entry for part in parts for entry in part])
