"""The programme over non-decreasing curves in its plain form: exact laws, no rounding, nothing left out for speed."""

import numpy as np
from scipy.stats import binom

PARTS = 8


def log_expectation(chances, p, theta, power=1):
    """log E exp(-theta * distance) of independent outcomes with these chances, by convolution, row by row."""
    n = len(chances)
    law = np.array([1.0])
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    distance = np.abs(np.arange(n + 1) - n * p) ** power / n ** (power - 1)
    return float(np.log(law @ np.exp(-theta * distance)))


def objective(curve, cells, theta, eta, power=1):
    """The sum of log E and of eta * |c - v| ** power, with the curve and the predictions of the rows of each cell."""
    total = 0.0
    for c, v in zip(curve, cells, strict=True):
        total += log_expectation(c, v.mean(), theta, power) + eta * (np.abs(c - v) ** power).sum()
    return total


def largest_on_grid(cells, levels, theta, eta, power=1):
    """The largest objective of curves that jump once in each cell, after any row, between these levels.

    Also the curve that attains it. Where a cell is constant the law is binomial, else it is convolved.
    """
    best, path = np.zeros(levels.size), [[] for _ in levels]
    for v in cells:
        new, new_path = np.full(levels.size, -np.inf), [None] * levels.size
        for low in range(levels.size):
            for high in range(low, levels.size):
                for k in range(v.size if low < high else 1):
                    c = np.where(np.arange(v.size) < k, levels[low], levels[high])
                    value = best[low] + log_expectation(c, v.mean(), theta, power)
                    value += eta * (np.abs(c - v) ** power).sum()
                    if value > new[high]:
                        new[high], new_path[high] = value, [*path[low], c]
        for high in range(1, levels.size):
            if new[high - 1] > new[high]:
                new[high], new_path[high] = new[high - 1], new_path[high - 1]
        best, path = new, new_path
    return float(best.max()), path[int(best.argmax())]


def constant_cells(cells, levels, theta, eta):
    """The same for curves that are constant in each cell, by binomial laws: for many cells."""
    best = np.zeros(levels.size)
    for v in cells:
        y = np.arange(v.size + 1)
        law = binom.pmf(y[:, None], v.size, levels)
        value = np.log(np.exp(-theta * np.abs(y - v.sum())) @ law) + eta * np.abs(levels[:, None] - v).sum(axis=1)
        best = np.maximum.accumulate(best) + value
    return float(best.max())
