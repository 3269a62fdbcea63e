"""Labels given the predictions, for norms in one pass: nothing of a resample is held but the state of the norm."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit

from calibstat.bounds.norms import Running
from calibstat.data.sample import Sample
from calibstat.resampling.binary_rows import threshold
from calibstat.resampling.schemes import Draws
from calibstat.resampling.streams import GOLDEN, mix, stream
from calibstat.resampling.threads import chunks, in_threads


def running_labels(sample: Sample, running: Running, draws: Draws, stage: int) -> np.ndarray:
    """Return the norm of every resample of a sample whose predictions all differ; its labels are drawn."""
    limit, kernel, norm = threshold(sample.value), _kernel(running), np.empty(draws.n)

    def replicates(first: int, last: int) -> None:
        kernel(draws.key, stage, first, sample.value, limit, np.zeros(running.size), norm[first:last])

    in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return norm


@cache
def _kernel(running: Running) -> Any:
    """Compile the loop for one norm, at its first use in a process: what is given functions cannot be kept on disk."""
    step, result = running.step, running.result

    @njit(nogil=True)
    def of_replicates(
        key: np.uint64,
        stage: int,
        first: int,
        value: np.ndarray,
        limit: np.ndarray,
        state: np.ndarray,
        norm: np.ndarray,
    ) -> None:
        for r in range(norm.size):
            word = np.uint64(stream(key, stage, first + r))
            state[:] = 0.0
            for j in range(value.size):
                word += GOLDEN
                outcome = np.float64((mix(word) >> np.uint64(1)) < limit[j])
                step(state, value[j], (outcome - value[j]) / value.size)
            norm[r] = result(state)

    return of_replicates
