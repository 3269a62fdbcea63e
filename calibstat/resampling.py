"""The only file that draws: labels, rows with labels, and rows, as summaries or as sums over fixed cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.measures import BoundMeasure
from calibstat.measures.registry import cell_sums
from calibstat.sample import Sample


def key_of(rng: Any) -> np.uint64:
    """Turn None, an int, a SeedSequence or a Generator into one 64-bit key; a Generator gives exactly one word."""
    if isinstance(rng, np.random.Generator):
        return rng.integers(0, 2**64, dtype=np.uint64)
    if isinstance(rng, np.random.SeedSequence):
        return rng.generate_state(1, np.uint64)[0]
    return np.random.SeedSequence(rng).generate_state(1, np.uint64)[0]


def draw(
    sample: Sample,
    scheme: str,
    statistic: Callable[..., Any],
    n_resamples: int,
    key: np.uint64,
    stage: int,
    n_jobs: int = 1,
) -> np.ndarray:
    rng = np.random.default_rng([int(key), stage])
    out = []
    value, count, positives = sample.arrays
    n = int(count.sum())
    for _ in range(n_resamples):
        if scheme == "labels":
            a = rng.binomial(count.astype(np.int64), value).astype(float)
            c = count
        elif scheme == "both":
            c = rng.multinomial(n, count / n).astype(float)
            a = rng.binomial(c.astype(np.int64), value).astype(float)
        else:
            both = rng.multinomial(n, np.concatenate([positives, count - positives]) / n).astype(float)
            a = both[: value.size]
            c = a + both[value.size :]
        out.append(statistic(value, c, a))
    return np.array(out)


def draw_cells(
    sample: Sample, cell: np.ndarray, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sums = draw(sample, scheme, lambda v, c, a: cell_sums(cell, v, c, a), n_resamples, key, stage, n_jobs)
    return sums[:, 0], sums[:, 1], sums[:, 2]


def resample(
    bound: BoundMeasure, sample: Sample, scheme: str, n_resamples: int, key: np.uint64, stage: int, n_jobs: int = 1
) -> np.ndarray:
    """Return the statistic of every resample."""
    cells_fixed = bound.measure.cells is not None and (scheme == "labels" or not bound.cells_move)
    if cells_fixed:
        cell = bound.cells(sample.value, sample.count)
        return np.asarray(bound.reduce(*draw_cells(sample, cell, scheme, n_resamples, key, stage, n_jobs)))
    return draw(sample, scheme, bound.statistic, n_resamples, key, stage, n_jobs)
