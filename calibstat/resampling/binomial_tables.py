"""Tables of binomial distributions, from which the positives of tied predictions are drawn by inversion."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit

REACH = 10.0  # standard deviations on each side of the mode, and as many values more: beyond it is less than 2**-60
SMALLEST = 2.0**-60  # of the probability of the mode, at which a distribution ends: far below 2**-53, the step of words


def widths(count: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the largest number of values of each binomial distribution."""
    return np.minimum(2 * REACH * np.sqrt(count * chance * (1 - chance)) + 6 * REACH, count + 1).astype(np.int64)


def binomial_tables(
    count: np.ndarray, chance: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the distributions of Binomial(count, chance) with at most so many values each; none where that is 0.

    They are the lowest value of each, where its cumulative distribution starts, all of these, how many leading bits of
    a word index its table of starting points (Chen, Asau 1974), where that starts, and all of these tables.
    """
    total = int(most.sum())
    low, bits = np.zeros((2, count.size), np.int64)
    start, guide_start = np.zeros((2, count.size + 1), np.int64)
    cdf, guide = np.empty(total), np.empty(2 * (total + count.size), np.int64)
    _fill_tables(count, chance, most, low, start, cdf, bits, guide_start, guide)
    return low, start, cdf[: start[-1]], bits, guide_start, guide[: guide_start[-1]]


@jit
def _fill_tables(
    count: np.ndarray,
    chance: np.ndarray,
    most: np.ndarray,
    low: np.ndarray,
    start: np.ndarray,
    cdf: np.ndarray,
    bits: np.ndarray,
    guide_start: np.ndarray,
    guide: np.ndarray,
) -> None:
    """Fill in the tables."""
    for j in range(count.size):
        if most[j] == 0:
            start[j + 1] = start[j]
            guide_start[j + 1] = guide_start[j]
            continue
        s = start[j]
        low[j], size = _fill_distribution(count[j], chance[j], cdf[s : s + most[j]])
        start[j + 1] = s + size
        bits[j] = 1
        while 2 ** bits[j] < size:
            bits[j] += 1
        g = guide_start[j]
        places = 2 ** bits[j]
        k = 0
        for i in range(places):
            while cdf[s + k] * places < i * cdf[s + size - 1]:
                k += 1
            guide[g + i] = k
        guide_start[j + 1] = g + places


@jit
def _fill_distribution(n: float, p: float, cdf: np.ndarray) -> tuple[int, int]:
    """Fill in the cumulative distribution of Binomial(n, p), in units of the probability of its mode.

    Return the lowest value in it and the number of its values, at most as many as there is room for.
    """
    mode = min(math.floor((n + 1.0) * p), n)
    odds = p / (1.0 - p) if p < 1.0 else 0.0
    below = 0  # values below the mode
    mass = 1.0
    while p < 1.0 and below < mode and below < cdf.size - 1 and mass > SMALLEST:
        mass *= (mode - below) / (odds * (n - mode + below + 1.0))
        below += 1
    least = mode - below
    cdf[below] = 1.0
    mass = 1.0
    for k in range(below - 1, -1, -1):
        mass *= (least + k + 1.0) / (odds * (n - least - k))
        cdf[k] = mass
    size = below + 1
    mass = 1.0
    while size < cdf.size and least + size <= n and mass > SMALLEST:
        mass *= odds * (n - least - size + 1.0) / (least + size)
        cdf[size] = mass
        size += 1
    for k in range(1, size):
        cdf[k] += cdf[k - 1]
    return int(least), size
