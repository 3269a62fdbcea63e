"""Poisson-binomial distribution of the positives in a bin under perfect calibration."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit

NEGLIGIBLE = 1e-24  # probability dropped at each end in each step; in total less than 2**-53 for 1e6 rows


@jit
def pmf_cost(cell: np.ndarray, value: np.ndarray, count: np.ndarray) -> float:
    """Return the number of multiplications for the pmfs of all cells: steps of each prediction times width."""
    variance = np.zeros(cell[-1] + 1)
    steps = np.zeros(cell[-1] + 1)
    for j in range(cell.size):
        variance[cell[j]] += count[j] * value[j] * (1.0 - value[j])
        steps[cell[j]] += min(count[j], _width(count[j], value[j]))
    cost = 0.0
    for b in range(steps.size):
        cost += steps[b] * 20.0 * math.sqrt(variance[b])
    return cost


@jit
def pmf_of_positives(value: np.ndarray, count: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the lowest number of positives and the probabilities from there on: a Poisson-binomial distribution.

    A prediction with many rows is convolved with its binomial pmf; then the other rows are added one at a time.
    """
    pmf = np.ones(1)
    start = 0
    rows = 0
    for j in range(value.size):
        if count[j] > _width(count[j], value[j]):
            shift, other = _binomial_pmf(count[j], value[j])
            pmf = _convolve(pmf, other)
            first, last = 0, pmf.size
            while pmf[first] < NEGLIGIBLE:
                first += 1
            while pmf[last - 1] < NEGLIGIBLE:
                last -= 1
            start += shift + first
            pmf = pmf[first:last]
        else:
            rows += int(count[j])
    now = np.zeros(pmf.size + rows)
    then = np.zeros(pmf.size + rows)
    for k in range(pmf.size):  # numba takes a second to compile the assignment of a slice
        now[k] = pmf[k]
    low = 0
    high = pmf.size
    for j in range(value.size):
        v = value[j]
        if count[j] > _width(count[j], v):
            continue
        for _ in range(int(count[j])):
            old = now[low:high]
            new = then[low : high + 1]
            new[0] = old[0] * (1.0 - v)
            for k in range(1, old.size):
                new[k] = old[k] * (1.0 - v) + old[k - 1] * v
            new[old.size] = old[old.size - 1] * v
            now, then = then, now
            high += 1
            while now[low] < NEGLIGIBLE:
                low += 1
            while now[high - 1] < NEGLIGIBLE:
                high -= 1
    return start + low, now[low:high].copy()


@jit
def _width(n: float, p: float) -> float:
    """Return the number of values of Binomial(n, p) that matter: ten standard deviations on each side."""
    return 20.0 * math.sqrt(n * p * (1.0 - p)) + 1.0


@jit
def _convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the convolution of two pmfs; that of NumPy takes seconds to compile."""
    out = np.zeros(a.size + b.size - 1)
    for i in range(a.size):
        for k in range(b.size):
            out[i + k] += a[i] * b[k]
    return out


@jit
def _binomial_pmf(n: float, p: float) -> tuple[int, np.ndarray]:
    """Return the lowest value and the probabilities of Binomial(n, p), outwards from the mode."""
    mode = min(math.floor((n + 1.0) * p), n)
    low = max(mode - math.ceil(_width(n, p)), 0.0)
    high = min(mode + math.ceil(_width(n, p)), n)
    pmf = np.zeros(int(high - low) + 1)
    centre = int(mode - low)
    pmf[centre] = 1.0
    total = 1.0
    if 0.0 < p < 1.0:
        odds = p / (1.0 - p)
        for k in range(centre + 1, pmf.size):
            pmf[k] = pmf[k - 1] * odds * (n - (low + k) + 1.0) / (low + k)
            total += pmf[k]
        for k in range(centre - 1, -1, -1):
            pmf[k] = pmf[k + 1] * (low + k + 1.0) / (odds * (n - (low + k)))
            total += pmf[k]
    for k in range(pmf.size):
        pmf[k] /= total
    return int(low), pmf
