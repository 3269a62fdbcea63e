"""Poisson-binomial distribution of the positives in a bin under perfect calibration."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from calibstat.compiled import first_calls, jit, short_calls

NO_MASS = 1e-24  # probability dropped at each end in each step; in total less than 2**-53 for 1e6 rows
LARGE_SPREAD = 100.0  # standard deviations of the positives, from which a Fourier transform may be worth while
FOURIER_STEP = 30.0  # steps of the convolution that take the time of one of the transform


Pmfs = tuple[np.ndarray, np.ndarray, np.ndarray]  # the lowest value of each, where each starts, and all of them


def pmf_cost(cell: np.ndarray, value: np.ndarray, count: np.ndarray) -> float:
    """Return the number of multiplications for the pmfs of all cells: steps of each prediction times width."""
    return float(_Cost.of(cell, value, count, int(cell[-1]) + 1).of_cells.sum())


class _Cost(NamedTuple):
    """The work of all pmfs: the values that matter at each prediction, the multiplications, the values in each cell.

    Those matter that are within ten standard deviations on each side.
    """

    widths: np.ndarray
    of_cells: np.ndarray
    spans: np.ndarray

    @classmethod
    def of(cls, cell: np.ndarray, value: np.ndarray, count: np.ndarray, cells: int) -> _Cost:
        variance = count * value * (1 - value)
        widths = 20 * np.sqrt(variance) + 1
        spans = 20 * np.sqrt(np.bincount(cell, variance, cells))
        return cls(widths, np.bincount(cell, np.minimum(count, widths), cells) * spans, spans)


def pmfs_of_positives(low: int, high: int, cell: np.ndarray, value: np.ndarray, count: np.ndarray) -> Pmfs:
    """Return the Poisson-binomial distributions of the positives of cells low..high, of some cells at a time."""
    first, last = np.searchsorted(cell, (low, high))
    cell, value, count = cell[first:last] - low, value[first:last], count[first:last]
    cost = _Cost.of(cell, value, count, high - low)
    calls = short_calls(high - low, cost.of_cells)
    if len(calls) == 1:
        return _pmfs(cell, value, count, cost)
    parts = [pmfs_of_positives(a, b, cell, value, count) for a, b in calls]
    least, start, pmfs = zip(*parts, strict=True)
    begin = np.cumsum([0, *map(np.size, pmfs)])
    starts = [here[:-1] + b for here, b in zip(start, begin, strict=False)]
    return np.concatenate(least), np.append(np.concatenate(starts), begin[-1]), np.concatenate(pmfs)


def _pmfs(cell: np.ndarray, value: np.ndarray, count: np.ndarray, cost: _Cost) -> Pmfs:
    """Return the distributions of all cells.

    A prediction with many rows is convolved with its binomial pmf; then the other rows are added one at a time.
    """
    value = np.ascontiguousarray(value)  # for a column `_add_rows` would be compiled anew
    cells = cost.spans.size
    tied = count > cost.widths
    known = np.zeros(cells, np.int64), np.arange(cells + 1), np.ones(cells)
    if tied.any():  # else the kernels for it need not be compiled
        known = _of_ties(cells, cell[tied], value[tied], count[tied])
        count = np.where(tied, 0, count)
    rows = count.astype(np.int64)
    for a, b in short_calls(cell.size, rows * (cost.spans + 1)[cell]):
        known = _with_rows(cell[a:b], value[a:b], rows[a:b], known)
    return known


def _with_rows(cell: np.ndarray, value: np.ndarray, rows: np.ndarray, before: Pmfs) -> Pmfs:
    """Return the distributions of the positives of all cells with so many rows more, added one at a time."""
    cells = before[0].size
    room = np.diff(before[1]) + np.bincount(cell, rows, cells).astype(np.int64)
    now, then = np.empty((2, room.max(initial=0) + 1))
    least, start, pmfs = np.empty(cells, np.int64), np.zeros(cells + 1, np.int64), np.empty(room.sum())
    _add_rows(cell, value, rows, *before, now, then, least, start, pmfs)
    return least, start, pmfs[: start[-1]]


def pmf_of_positives(value: np.ndarray, count: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the lowest number of positives and the probabilities from there on."""
    least, _, pmf = pmfs_of_positives(0, 1, np.zeros(value.size, np.int64), value, count)
    return int(least[0]), pmf


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
    if spread < LARGE_SPREAD or direct < FOURIER_STEP * value.size:
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


@first_calls(lambda cell, value, rows, *_: 1.4e-7 * rows.sum() * (20.0 + math.sqrt(rows.sum())))
@jit
def _add_rows(
    cell: np.ndarray,
    value: np.ndarray,
    rows: np.ndarray,
    least_before: np.ndarray,
    start_before: np.ndarray,
    pmfs_before: np.ndarray,
    now: np.ndarray,
    then: np.ndarray,
    least: np.ndarray,
    start: np.ndarray,
    pmfs: np.ndarray,
) -> None:
    """Fill in the pmfs of the positives of all cells with so many rows more; `now` and `then` are room for one pmf."""
    j = 0
    for b in range(least.size):
        low = 0
        high = start_before[b + 1] - start_before[b]
        for k in range(high):  # numba takes a second to compile the assignment of a slice
            now[k] = pmfs_before[start_before[b] + k]
        while j < cell.size and cell[j] == b:
            v = value[j]
            for _ in range(rows[j]):
                old, new = now[low:high], then[low : high + 1]
                new[0] = old[0] * (1.0 - v)
                for k in range(1, old.size):
                    new[k] = old[k] * (1.0 - v) + old[k - 1] * v
                new[old.size] = old[old.size - 1] * v
                now, then = then, now
                high += 1
                while now[low] < NO_MASS:
                    low += 1
                while now[high - 1] < NO_MASS:
                    high -= 1
            j += 1
        least[b] = least_before[b] + low
        start[b + 1] = start[b] + high - low
        for k in range(low, high):
            pmfs[start[b] + k - low] = now[k]


@first_calls()
@jit
def _of_ties(cells: int, cell: np.ndarray, value: np.ndarray, count: np.ndarray) -> Pmfs:
    """Return the pmfs of the positives of all cells, of predictions with many rows each."""
    least = np.zeros(cells, np.int64)
    start = np.zeros(cells + 1, np.int64)
    pmfs = np.empty(1024)
    j = 0
    for b in range(cells):
        pmf = np.ones(1)
        while j < cell.size and cell[j] == b:
            shift, other = _binomial_pmf(count[j], value[j])
            pmf = convolve(pmf, other)
            first, last = 0, pmf.size
            while pmf[first] < NO_MASS:
                first += 1
            while pmf[last - 1] < NO_MASS:
                last -= 1
            least[b] += shift + first
            pmf = pmf[first:last]
            j += 1
        if start[b] + pmf.size > pmfs.size:
            longer = np.empty(2 * (start[b] + pmf.size))
            for k in range(start[b]):
                longer[k] = pmfs[k]
            pmfs = longer
        for k in range(pmf.size):
            pmfs[start[b] + k] = pmf[k]
        start[b + 1] = start[b] + pmf.size
    return least, start, pmfs[: start[cells]]


def _convolved_in_arrays(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros(a.size + b.size - 1)
    for i, one in enumerate(a.tolist()):
        out[i : i + b.size] += one * b
    return out


@first_calls(lambda a, b: a.size * (2e-6 + 1e-9 * b.size), _convolved_in_arrays)
@jit
def convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the convolution of two pmfs; NumPy's takes seconds to compile."""
    out = np.zeros(a.size + b.size - 1)
    for i in range(a.size):
        for k in range(b.size):
            out[i + k] += a[i] * b[k]
    return out


@first_calls(lambda n, p: 1e-5 * (1.0 + math.sqrt(n)))
@jit
def _binomial_pmf(n: float, p: float) -> tuple[int, np.ndarray]:
    """Return the lowest value and the probabilities of Binomial(n, p), outwards from the mode."""
    mode = min(math.floor((n + 1.0) * p), n)
    width = math.ceil(20.0 * math.sqrt(n * p * (1.0 - p)) + 1.0)
    low = max(mode - width, 0.0)
    high = min(mode + width, n)
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
