"""The largest sum of absolute means that an observed sum allows, by loops over a grid: the oracle of its formula."""

from math import erf, exp, pi, sqrt

import numpy as np

STEPS = 801


def density(t):
    return exp(-t * t / 2) / sqrt(2 * pi)


def step_of_grid(first, variance):
    """Return by how much the sum may change between two points of the grid."""
    noisy = variance > 0
    spread = np.sqrt(variance[noisy])
    return spread.sum() * (np.abs(first[noisy]) / spread + 3).max(initial=0) / (STEPS - 1)


def by_grid(first, variance, folded, z, k, rate, covariance=None, most=np.inf, steps=STEPS):
    """The inversion sum by sum, over a grid of standardised means."""
    total, best = np.abs(first).sum(), np.abs(first[~folded]).sum()
    others = None if covariance is None else covariance * (1 - np.eye(first.size))
    size, sign, spread, variance = (x.tolist() for x in (np.abs(first), np.sign(first), np.sqrt(variance), variance))
    caps = [size[j] / spread[j] + max(2, z) for j in range(first.size) if folded[j]]
    for tau in np.linspace(0, max(caps, default=0), steps).tolist():
        mean, var, high, slope, curve = 0.0, 0.0, 0.0, [], []
        for j in range(first.size):
            if folded[j]:
                t = min(size[j] / spread[j] + max(2, z), tau)
                g = 2 * density(t) + t * erf(t / sqrt(2))
                slope.append(sign[j] * erf(t / sqrt(2)))
                curve.append(density(t) / spread[j])
                mean, var, high = mean + spread[j] * g, var + variance[j] * (1 + t * t - g * g), high + spread[j] * t
            else:
                slope.append(sign[j])
                curve.append(0.0)
                mean, var, high = mean + size[j], var + variance[j], high + size[j]
        if covariance is not None:
            var += np.array(slope) @ others @ np.array(slope) + 2 * np.array(curve) @ others**2 @ np.array(curve)
        least = mean - rate * k / 2 - np.sqrt(z * z * min(max(var, 0), most) + (rate * k / 2) ** 2)
        if least <= total:
            best = high
    return best + max(total - least, 0)


def k_of(z):
    return (2 * z * z + 4) / 3


def high_of_rows(y, p, cell, z):
    """The high end row by row, and how exact it is."""
    n, cells = y.size, np.unique(cell)
    first, second, third, variance = np.zeros((4, cells.size))
    for j, b in enumerate(cells):
        here = cell == b
        r = (y - p)[here]
        first[j], second[j], third[j] = r.sum(), (r**2).sum(), (r**3).sum()
        variance[j] = second[j] - first[j] ** 2 / n
    folded = (variance >= 1) & (second >= 0.5)
    variance = np.where(folded, variance, second)
    total = np.abs(first).sum()
    cubes = np.sign(first) @ third
    rate = min((max(cubes, 0) + 2) / (second.sum() - total**2 / n + 2), 1)
    return by_grid(first, variance, folded, z, k_of(z), rate) / n, step_of_grid(first, variance) / n


def high_of_sums(x, z, largest, scale):
    """The high end of rows that add `x`, shape (n, D), to sums over cells and classes, and how exact it is."""
    n, first = x.shape[0], x.sum(axis=0)
    covariance = x.T @ x - np.outer(first, first) / n
    row, variance = x @ np.sign(first), np.diag(covariance)
    rate = min((max((row**3).sum(), 0) + 16) / ((row**2).sum() - row.sum() ** 2 / n + 8), 2)
    folded = (variance >= 1) & ((x**2).sum(axis=0) >= 0.5)
    found = by_grid(first, variance, folded, z, k_of(z), rate, covariance, largest)
    return scale * found / n, scale * step_of_grid(first, variance) / n
