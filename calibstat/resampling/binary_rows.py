"""Labels of a binary sample given the predictions.

Probabilities are compared at 63 bits, which is exact for every v of at least 2**-11 and right to 2**-63 below; v = 0
and v = 1 are exact.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit
from calibstat.data.sample import Sample
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import OfSample, Value
from calibstat.resampling.streams import GOLDEN, binomial, mix, stream, word
from calibstat.resampling.threads import chunks, in_threads

FEW_DRAWS = 16.0  # up to this many outcomes are drawn one by one
ROW_DRAW, BINOMIAL_DRAW = 3.0, 80.0  # units of time of drawing one outcome, and the positives of many rows


def labels_of_sample(sample: Sample, scheme: Labels, statistic: OfSample, draws: Draws, stage: int) -> np.ndarray:
    """Return ``statistic(value, count, positives)`` of every resample."""
    value, count, _ = sample.arrays
    chance = scheme.chances(value)
    limit = threshold(chance)
    single = bool(count.max() == 1.0)

    def replicates(first: int, last: int) -> list[Value]:
        positives_r = np.empty_like(count)
        drawn = []
        for replicate in range(first, last):
            start = np.uint64(stream(draws.key, stage, replicate))
            if single:
                _labels_of_rows(start, limit, positives_r)
            else:
                _labels_of_cells(start, count, chance, limit, positives_r)
            drawn.append(statistic(value, count, positives_r))
        return drawn

    parts = in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs)
    return np.array([entry for part in parts for entry in part])


def cost_of_labels(count: np.ndarray) -> float:
    """Return the units of time of drawing the positives of every distinct prediction once."""
    return float(np.where(count <= FEW_DRAWS, ROW_DRAW * count, BINOMIAL_DRAW).sum())


def threshold(probability: np.ndarray) -> np.ndarray:
    """Return p * 2**63: a random 63-bit word is below it with probability p."""
    return (probability * 2.0**63).astype(np.uint64)


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _labels_of_rows(start: np.uint64, threshold: np.ndarray, positives: np.ndarray) -> None:
    """Draw one outcome for each prediction: a plain loop that becomes vector code."""
    for j in range(threshold.size):
        start += GOLDEN
        positives[j] = np.float64((mix(start) >> np.uint64(1)) < threshold[j])


@jit
def _labels_of_cells(
    start: np.uint64,
    count: np.ndarray,
    probability: np.ndarray,
    threshold: np.ndarray,
    positives: np.ndarray,
) -> None:
    """Draw the positives of each distinct prediction: row by row if few, else from the binomial distribution."""
    state = np.array([start])
    for j in range(count.size):
        if count[j] <= FEW_DRAWS:
            ones = 0
            for _ in range(int(count[j])):
                ones += (word(state[0], 0) >> np.uint64(1)) < threshold[j]
                state[0] += GOLDEN
            positives[j] = ones
        else:
            positives[j] = binomial(state, count[j], probability[j])
