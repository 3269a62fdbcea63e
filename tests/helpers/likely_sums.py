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
    cubes = 0.0
    for j, b in enumerate(cells):
        up, down = (upward(sign * (y - p)[cell == b], p[cell == b], sign) for sign in (1, -1))
        own, most = (down if first[j] < 0 else up), max(up, down)
        spread = sqrt(second[j] - first[j] ** 2 / n) if second[j] > first[j] ** 2 / n else 0.0
        sure = min(max(abs(first[j]) / spread - max(2, z), 0), 1) if spread > 0 else 1
        cubes += most + (own - most) * sure
    rate = min((cubes + 2) / (second.sum() - total**2 / n + 2), 1)
    found = by_grid(first, variance, folded, z, k_of(z), rate) / n
    for sign in (1, -1):  # the bound of the sum of all residuals
        x = sign * (y - p)
        square = max((x**2).sum() - x.sum() ** 2 / n, 0.0)
        added = min((upward(x, p, sign) + 2) / (square + 2), 1) * k_of(z) / 2
        found = max(found, (x.sum() + added + sqrt(z * z * square + added**2)) / n)
    return found, step_of_grid(first, variance) / n


def upward(x, p, sign):
    """The third moment of a sum of residuals with a sign, of rare events and of rare non-events apart."""
    parts = [0.0, 0.0]
    for one, v in zip(x.tolist(), p.tolist(), strict=True):
        share = min(max((0.6 - v) / 0.2, 0), 1)
        parts[0] += share * one**3
        parts[1] += (1 - share) * one**3
    return max(parts[0], 0) + max(parts[1], 0)  # which of them is skewed upwards does not matter, given one sign


def high_of_sums(x, z, largest, scale, prob, number):
    """The high end of rows that add `x`, shape (n, D), to sums over cells and classes, and how exact it is.

    Class k of row i adds to sum number[i, k], and has the prediction prob[i, k].
    """
    n, first = x.shape[0], x.sum(axis=0)
    covariance = x.T @ x - np.outer(first, first) / n
    variance, cubes = np.diag(covariance), (x**3).sum(axis=0)
    unsure = np.abs(first) <= max(2, z) * np.sqrt(variance)
    rate, floor = 0.0, 0.0
    for sign in (np.sign(first), np.where(unsure, np.sign(cubes), np.sign(first))):
        third, square, total = up_of_classes(x, sign, prob, number), np.var(x @ sign) * n, (x @ sign).sum()
        rate = max(rate, min((third + 16) / (square + 8), 2))
        floor = 0.0  # along the second signs alone
        for s in (1, -1):
            added = min((up_of_classes(x, s * sign, prob, number) + 16) / (square + 8), 2) * k_of(z) / 2
            floor = max(floor, s * total + added + np.sqrt(z * z * square + added**2))
    folded = (variance >= 1) & ((x**2).sum(axis=0) >= 0.5)
    found = max(by_grid(first, variance, folded, z, k_of(z), rate, covariance, largest), floor)
    return scale * found / n, scale * step_of_grid(first, variance) / n


def up_of_classes(x, sign, prob, number):
    """The third moment of sums of rows, by two kinds: a row has the sign of a class less the mean of all its signs."""
    parts = [0.0, 0.0]
    for row, p, at in zip(x @ sign, prob, number, strict=True):
        middle = (sign[at].max() + sign[at].min()) / 2 - sign[at] @ p
        half = (sign[at].max() - sign[at].min()) / 2
        share = min(max(0.5 + 2.5 * middle / half, 0), 1) if half > 0 else 0.5
        parts[0] += share * row**3
        parts[1] += (1 - share) * row**3
    third = sum(parts)
    return max(third, 0) + (min(abs(parts[0]), abs(parts[1])) if parts[0] * parts[1] < 0 else 0)
