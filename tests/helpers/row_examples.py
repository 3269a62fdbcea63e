"""Rows to draw from: cells and residuals of two models in clusters, a sample and predictions."""

import numpy as np

import calibstat as cs
from calibstat.resampling.streams import stream, word

KEY = np.uint64(20240613)
GENERATOR = np.random.default_rng(3)
N = 24
UNIT = np.arange(N) // 3
CELL = GENERATOR.integers(0, 3, (N, 2)) + np.array([0, 3])  # of two models, those of the second after the first's
RESIDUAL = GENERATOR.normal(size=(N, 2))
OUTCOME = (RESIDUAL > 0).astype(float)
SAMPLE = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
PREDICTIONS = cs.Predictions.from_rows(GENERATOR.integers(0, 3, N), GENERATOR.dirichlet(np.ones(3), N))


def signs_of(replicate, unit):
    """The sign of each row: the first bit of the word of its unit."""
    start = np.uint64(stream(KEY, 1, replicate))
    return np.array([1.0 if int(word(start, int(u))) >> 63 else -1.0 for u in unit])
