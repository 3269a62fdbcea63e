"""The omnibus statistic by its formulas, one cell and one function after the other."""

import math

import numpy as np
from scipy.stats import norm


def omnibus(value, count, positives) -> tuple[float, float, float, float]:
    """Return T and its parts A, M and G, for distinct ascending predictions strictly between 0 and 1."""
    v, c, a = (np.asarray(each, float) for each in (value, count, positives))
    information = c * v * (1 - v)
    t = np.empty(v.size)
    for j in range(v.size):
        by_information = (information[:j].sum() + information[j] / 2) / information.sum()
        t[j] = by_information / 2 + (c[:j].sum() + c[j] / 2) / c.sum() / 2
    smooth = largest_sum(root_of_each(v, c, a, t), information.sum())
    scattered, local = cells(v, c, a, t, information.sum())
    parts = smooth, scattered - 1, local - 4
    most = max(parts)
    return most + math.log(sum(math.exp(part - most) for part in parts)), smooth, scattered, local


def root_of_each(v, c, a, t) -> list[float]:
    """Return the likelihood-ratio root of each component, solved for the tilt instead of read from a table."""
    information = c * v * (1 - v)
    size = int(min(max(math.floor(8 * math.sqrt(information.sum())), 16), 64))
    clipped = np.clip(v, 1e-6, 1 - 1e-6)
    functions = [np.ones(v.size), np.log(clipped / (1 - clipped))]
    functions += [np.cos(math.pi * k * t) for k in range(1, size - 1)]
    basis: list[np.ndarray] = []
    roots = []
    for function in functions:
        left = function.copy()
        for _ in range(2):
            for other in basis:
                left -= (information * left) @ other * other
        length = math.sqrt((information * left) @ left)
        if length <= 1e-6 * math.sqrt((information * function) @ function):
            roots.append(0.0)
            continue
        basis.append(left / length)
        roots.append(root_at((a - c * v) @ basis[-1], v, c, basis[-1]))
    return roots


def cumulant(v, c, b, tilts) -> np.ndarray:
    """Return the cumulant generating function of the component at each tilt."""
    z = np.multiply.outer(tilts, b)
    return (np.logaddexp(np.log1p(-v), np.log(v) + z) - z * v) @ c


def slope(v, c, b, tilts) -> np.ndarray:
    """Return its derivative."""
    return (1 / (1 + (1 - v) / v * np.exp(-np.multiply.outer(tilts, b))) - v) @ (c * b)


def root_at(x, v, c, b) -> float:
    """Return the signed root of the likelihood ratio at x, by linear interpolation between the 61 tilts."""
    tilts = np.sinh(np.linspace(-5, 5, 61)) / 4
    with np.errstate(over="ignore"):
        xs = slope(v, c, b, tilts)
        ratio = tilts * xs - cumulant(v, c, b, tilts)
    return float(np.interp(x, xs, np.sign(tilts) * np.sqrt(2 * np.maximum(ratio, 0))))


def largest_sum(roots, information) -> float:
    """Return the largest standardised sum of the first squared roots."""
    return max(
        (sum(r * r for r in roots[:d]) - d) / math.sqrt(2 * d) - 0.2 * (d > 20) for d in range(2, len(roots) + 1)
    )


def deviance(v, c, a) -> float | None:
    """Return the deviance of the rows of a cell; None if there are none."""
    rows, events, expected = c.sum(), a.sum(), c @ v
    if rows == 0:
        return None
    first = events * math.log(events / expected) if events else 0.0
    second = (rows - events) * math.log((rows - events) / (c @ (1 - v))) if rows > events else 0.0
    return 2 * (first + second)


def cells(v, c, a, t, information) -> tuple[float, float]:
    """Return the largest standardised sum of deviances over a scale, and the most surprising cell with its penalty."""
    finest = np.minimum(np.floor(128 * t), 127)
    scattered, local = [], []
    for k in (2, 4, 8, 16, 32, 64, 128):
        if k > max(4, information):
            continue
        width = 128 / k
        aligned = [(finest >= i * width) & (finest < (i + 1) * width) for i in range(k)]
        found = [z for z in (deviance(v[i], c[i], a[i]) for i in aligned) if z is not None]
        scattered.append((sum(found) - len(found)) / math.sqrt(2 * len(found)))
        if k <= 64:
            moved = [(finest >= (i + 0.5) * width) & (finest < (i + 1.5) * width) for i in range(k - 1)]
            found += [z for z in (deviance(v[i], c[i], a[i]) for i in moved) if z is not None]
            local.append(-math.log(2) - norm.logsf(math.sqrt(max(found))) - math.log(k))
    return max(scattered), max(local)
