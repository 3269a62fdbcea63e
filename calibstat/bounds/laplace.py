"""Sums over pairs of rows, with Laplace kernels of their predictions by one model or by two."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import first_calls, jit

LARGEST_EXPONENT = 690.0  # exp of more overflows with the numbers that it is multiplied by
LANES = 64  # sets of signs that are added up together: one bit of a word for each
TINY_EXPONENT = 45.0  # exp of minus this is below the rounding of a sum of terms of the size 1


def laplace_square(value: np.ndarray, residual: np.ndarray, bandwidth: float) -> float:
    """Return sum_jk r_j r_k exp(-abs(v_j - v_k) / bandwidth) of ascending predictions v."""
    return float(laplace_squares(laplace_decays(value, bandwidth), residual[None])[0])


def laplace_decays(value: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return exp(-(v_j - v_k) / bandwidth) of each of the ascending predictions v_j and the one before, 1 first."""
    return np.exp(np.diff(value, prepend=value[:1]) / -bandwidth)


def laplace_squares(decay: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return `laplace_square` of each row of residuals, given the decays of the predictions, in one pass."""
    square = np.zeros(len(residual))
    _add_squares(decay, residual, square)
    return square


@first_calls(5e-7)
@jit
def _add_squares(decay: np.ndarray, residual: np.ndarray, square: np.ndarray) -> None:
    """Fill in the square of each row of residuals.

    Four rows go side by side, because each sum waits for the one before.
    `near` is the sum over k < j of r_k exp(-(v_j - v_k) / bandwidth): a step up by d multiplies it by exp(-d /
    bandwidth).
    """
    together = square.size // 4 * 4
    for r in range(0, together, 4):
        near = near_1 = near_2 = near_3 = 0.0
        total = total_1 = total_2 = total_3 = 0.0
        for j in range(decay.size):
            near *= decay[j]
            near_1 *= decay[j]
            near_2 *= decay[j]
            near_3 *= decay[j]
            total += residual[r, j] * (residual[r, j] + 2.0 * near)
            total_1 += residual[r + 1, j] * (residual[r + 1, j] + 2.0 * near_1)
            total_2 += residual[r + 2, j] * (residual[r + 2, j] + 2.0 * near_2)
            total_3 += residual[r + 3, j] * (residual[r + 3, j] + 2.0 * near_3)
            near += residual[r, j]
            near_1 += residual[r + 1, j]
            near_2 += residual[r + 2, j]
            near_3 += residual[r + 3, j]
        square[r] = total
        square[r + 1] = total_1
        square[r + 2] = total_2
        square[r + 3] = total_3
    for r in range(together, square.size):
        near = 0.0
        for j in range(decay.size):
            near *= decay[j]
            square[r] += residual[r, j] * (residual[r, j] + 2.0 * near)
            near += residual[r, j]


def laplace_smoothed(value: np.ndarray, residual: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return sum_k r_k exp(-abs(v_j - v_k) / bandwidth) for every j."""
    smoothed = residual.copy()
    _add_neighbours(value, residual, bandwidth, smoothed)
    return smoothed


@first_calls(1e-6)
@jit
def _add_neighbours(value: np.ndarray, residual: np.ndarray, bandwidth: float, out: np.ndarray) -> None:
    """Add to each sum the terms of all other predictions: one pass upwards, one downwards."""
    near = 0.0
    for j in range(1, value.size):
        near = (near + residual[j - 1]) * math.exp((value[j - 1] - value[j]) / bandwidth)
        out[j] += near
    near = 0.0
    for j in range(value.size - 2, -1, -1):
        near = (near + residual[j + 1]) * math.exp((value[j] - value[j + 1]) / bandwidth)
        out[j] += near


@jit
def laplace_smoothed_within(unit: np.ndarray, value: np.ndarray, residual: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return `laplace_smoothed` of each unit by itself; rows are in the order of units, and then of predictions."""
    out = residual.copy()
    near = 0.0
    for j in range(1, value.size):
        if unit[j] != unit[j - 1]:
            near = 0.0
        else:
            near = (near + residual[j - 1]) * math.exp((value[j - 1] - value[j]) / bandwidth)
        out[j] += near
    near = 0.0
    for j in range(value.size - 2, -1, -1):
        if unit[j] != unit[j + 1]:
            near = 0.0
        else:
            near = (near + residual[j + 1]) * math.exp((value[j] - value[j + 1]) / bandwidth)
        out[j] += near
    return out


@jit
def signed_pairs(
    value: np.ndarray, part: np.ndarray, place: np.ndarray, signs: np.ndarray, bandwidth: float
) -> np.ndarray:
    """Return sum_{j > k} s_j s_k t_j t_k exp(-abs(v_j - v_k) / bandwidth), t = `part`, for every set of signs.

    The predictions are ascending. `signs`, shape (B, n / 8), has a bit for each row, 0 for minus, in an order in which
    row j of the predictions has the place ``place[j]``; as packed by ``np.packbits``. One pass for 64 sets together.
    """
    n = value.size
    sums = np.empty(signs.shape[0])
    word = np.empty(n, np.uint64)
    near, total = np.empty(LANES), np.empty(LANES)
    for first in range(0, sums.size, LANES):
        lanes = min(LANES, sums.size - first)
        word[:] = 0
        for b in range(lanes):
            own = signs[first + b]
            for j in range(n):
                bit = (own[place[j] >> 3] >> np.uint8(7 - (place[j] & 7))) & np.uint8(1)
                word[j] |= np.uint64(bit) << np.uint64(b)
        near[:] = 0.0
        total[:] = 0.0
        for j in range(n):
            fall = math.exp((value[max(j - 1, 0)] - value[j]) / bandwidth)
            bits = word[j]
            for b in range(LANES):
                signed = part[j] * (2.0 * np.float64((bits >> np.uint64(b)) & np.uint64(1)) - 1.0)
                near[b] *= fall
                total[b] += signed * near[b]
                near[b] += signed
        for b in range(lanes):
            sums[first + b] = total[b]
    return sums


def sum_over_pairs(part: np.ndarray, one: np.ndarray, other: np.ndarray, bandwidth: float) -> float:
    """Return sum_ij t_i t_j exp(-(abs(a_i - a_j) + abs(b_i - b_j)) / bandwidth), for t = `part`, i = j included.

    All arrays have shape (n,), and the predictions a = `one` are ascending. Exact, with ties. Time n log n; for
    bandwidths below .003, at which the powers of the fast way overflow, n times the rows within 45 bandwidths.
    """
    if 2.0 / bandwidth > LARGEST_EXPONENT:
        return _near_pairs(part, one, other, bandwidth)
    rank = np.empty(other.size, np.int64)
    rank[np.argsort(other, kind="stable")] = np.arange(1, other.size + 1)
    return _pairs(part, one, other, rank, bandwidth)


@first_calls(5e-6)
@jit
def _pairs(part: np.ndarray, one: np.ndarray, other: np.ndarray, rank: np.ndarray, bandwidth: float) -> float:
    """Return the sum of all pairs, each row with those before it.

    Two Fenwick trees over the ranks of b, from 1, hold t exp((a + b) / h), to be added up over smaller b, and
    t exp((a - b) / h), to be added up over larger b: no sum is a difference of larger ones.
    """
    n = part.size
    smaller = np.zeros(n + 1)
    larger = np.zeros(n + 1)
    total = 0.0
    for i in range(n):
        up = math.exp(-(one[i] + other[i]) / bandwidth)
        down = math.exp(-(one[i] - other[i]) / bandwidth)
        below = 0.0
        place = rank[i]
        while place > 0:
            below += smaller[place]
            place -= place & -place
        above = 0.0
        place = n + 1 - rank[i]
        while place > 0:
            above += larger[place]
            place -= place & -place
        total += part[i] * (part[i] + 2.0 * (below * up + above * down))
        place = rank[i]
        added = part[i] / up
        while place <= n:
            smaller[place] += added
            place += place & -place
        place = n + 1 - rank[i]
        added = part[i] / down
        while place <= n:
            larger[place] += added
            place += place & -place
    return total


@jit
def _near_pairs(part: np.ndarray, one: np.ndarray, other: np.ndarray, bandwidth: float) -> float:
    """Return the sum of all pairs whose kernel is not negligible, one by one."""
    total = 0.0
    first = 0
    for i in range(part.size):
        while one[i] - one[first] > TINY_EXPONENT * bandwidth:
            first += 1
        near = 0.0
        for j in range(first, i):
            near += part[j] * math.exp(-(one[i] - one[j] + abs(other[i] - other[j])) / bandwidth)
        total += part[i] * (part[i] + 2.0 * near)
    return total
