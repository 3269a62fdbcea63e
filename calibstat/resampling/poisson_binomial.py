"""Poisson-binomial distribution of the positives in a bin under perfect calibration."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit

NEGLIGIBLE = 1e-24  # probability dropped at each end in each step; in total less than 2**-53 for 1e6 rows
LARGE = 100.0  # standard deviations of the positives, from which a Fourier transform may be worth while
FOURIER_STEP = 30.0  # steps of the convolution that take the time of one of the transform


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


def pmf_of_many_positives(value: np.ndarray, count: np.ndarray) -> tuple[int, np.ndarray]:
    """Return what `pmf_of_positives` does, to about 1e-14, by the cheaper of two ways.

    Few predictions with very many rows each are quicker by a Fourier transform of the characteristic function, centred
    at the mean, over ten standard deviations on each side.
    """
    if count.max() < FOURIER_STEP:
        return pmf_of_positives(value, count)
    deviation = np.sqrt(count * value * (1 - value))
    direct = np.minimum(count, 20 * deviation + 1).sum()  # steps of each number of positives
    spread = float(np.sqrt((deviation**2).sum()))
    if spread < LARGE or direct < FOURIER_STEP * value.size:
        return pmf_of_positives(value, count)
    mean = float(count @ value)
    low = max(int(np.floor(mean - 10 * spread)), 0)
    high = min(int(np.ceil(mean + 10 * spread)), int(count.sum()))
    size = 1 << (high - low + 1).bit_length()
    angle = 2 * np.pi / size * np.arange(size // 2 + 1)
    sine = np.sin(angle / 2) ** 2
    log_size, phase = np.zeros(angle.size), angle * (mean - low)
    for v, c in zip(value.tolist(), count.tolist(), strict=True):
        log_size += c / 2 * np.log(np.maximum(1 - 4 * v * (1 - v) * sine, 1e-300))
        phase += c * (np.arctan2(v * np.sin(angle), 1 - 2 * v * sine) - v * angle)
    pmf = np.fft.irfft(np.exp(log_size - 1j * phase), size)[: high - low + 1]
    return low, np.maximum(pmf, 0)


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
    """Return the convolution of two pmfs; NumPy's takes seconds to compile."""
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
