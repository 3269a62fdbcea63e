"""Rows to draw from, cells and residuals of two models in clusters, and the units, signs and labels that are drawn."""

import numpy as np

import calibstat as cs
from calibstat.resampling.streams import first_state, key_of, word

KEY = key_of(20240613)
GENERATOR = np.random.default_rng(3)
N = 24
UNIT = np.arange(N) // 3
CELL = GENERATOR.integers(0, 3, (N, 2)) + np.array([0, 3])  # of two models, those of the second after the first's
RESIDUAL = GENERATOR.normal(size=(N, 2))
OUTCOME = (RESIDUAL > 0).astype(float)
SAMPLE = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
PREDICTIONS = cs.Predictions.from_rows(GENERATOR.integers(0, 3, N), GENERATOR.dirichlet(np.ones(3), N))


def drawn_units(replicate, units, stream=1):
    """Which units a replicate draws: by each word two, its lower half times their number, then its upper one."""
    start = np.uint64(first_state(KEY, stream, replicate))
    words = [int(word(start, i)) for i in range((units + 1) // 2)]
    return [half * units >> 32 for w in words for half in (w & (2**32 - 1), w >> 32)][:units]


def signs_of(replicate, unit, stream=1):
    """The sign of each row: the first bit of the word of its unit."""
    start = np.uint64(first_state(KEY, stream, replicate))
    return np.array([1.0 if int(word(start, int(u))) >> 63 else -1.0 for u in unit])


def labels_of(replicate, prediction, unit, stream=1):
    """The label of each row: whether the uniform number of its unit, of 53 bits, is below its prediction."""
    start = np.uint64(first_state(KEY, stream, replicate))
    uniform = [((int(word(start, int(u))) >> 11) + 0.5) * 2.0**-53 for u in unit]
    return np.array(uniform) < prediction
