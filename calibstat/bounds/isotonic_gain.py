"""The gain by isotonic regression, without most of the pooling.

Isotonic regression is the slope of the greatest convex function below the running sums of the outcomes. Its corners are
few, about m**(1/3). The same function below every 32nd running sum is never lower: a part of 32 predictions whose sums
all lie above it has no corner. For that it suffices to know how deep the sums of a part dip below a line of one slope.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit

PART = 32  # predictions: with more of them parts are fewer, and more of them need a look at every sum


@jit
def largest_gain(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return by how much the squared errors fall if values are replaced by the best non-decreasing ones.

    That is the sum of (value - fitted) * (count * (value + fitted) - 2 * positives), where `fitted` is the isotonic
    regression of positives / count with weights `count`. All have shape (m,), values are ascending, and positives are
    0 where the count is 0.
    """
    m = value.size
    parts = (m + PART - 1) // PART
    centre = np.empty(parts)
    count_k, positives_k = np.empty(parts), np.empty(parts)
    excess = np.empty(parts)  # of positives over count * centre
    dip = np.empty(parts)  # the lowest running sum of that
    centred = np.empty(parts)  # the gain if all values are replaced by the centre
    block_positives, block_count, block_end = np.empty(parts), np.empty(parts), np.empty(parts, np.int64)
    blocks = 0
    for k in range(parts):
        first = k * PART
        end = min(first + PART, m)
        middle = value[(first + end) // 2]
        rows = events = running = lowest = gain = 0.0
        for j in range(first, end):
            lowest = min(lowest, running)
            distance = value[j] - middle
            over = positives[j] - count[j] * middle
            rows += count[j]
            events += positives[j]
            running += over
            gain += distance * (count[j] * distance - 2.0 * over)
        centre[k], count_k[k], positives_k[k] = middle, rows, events
        excess[k], dip[k], centred[k] = running, lowest, gain
        blocks = _pool(block_positives, block_count, block_end, blocks, events, rows, k + 1)

    # blocks of parts are cut where a running sum is below the line of the block, and pooled again
    fit_positives, fit_count, fit_end = np.empty(m), np.empty(m), np.empty(m, np.int64)
    fits = 0
    k = 0
    for block in range(blocks):
        slope = block_positives[block] / block_count[block]
        rows = events = 0.0
        above = 0.0  # the running sum, less the line of the block
        while k < block_end[block]:
            if above + dip[k] >= max(slope - centre[k], 0.0) * count_k[k]:
                rows += count_k[k]
                events += positives_k[k]
                above += positives_k[k] - slope * count_k[k]
            else:
                end = min((k + 1) * PART, m)
                for j in range(k * PART, end):
                    rows += count[j]
                    events += positives[j]
                    above += positives[j] - slope * count[j]
                    if above < 0.0 and j < end - 1:
                        fits = _pool(fit_positives, fit_count, fit_end, fits, events, rows, j + 1)
                        rows = events = 0.0
            k += 1
        fits = _pool(fit_positives, fit_count, fit_end, fits, events, rows, min(k * PART, m))

    total = 0.0
    j = 0
    for fit in range(fits):
        mean = fit_positives[fit] / fit_count[fit]
        while j < fit_end[fit]:
            k = j // PART
            if j == k * PART and min(j + PART, m) <= fit_end[fit]:
                move = mean - centre[k]
                total += centred[k] + move * (2.0 * excess[k] - move * count_k[k])
                j += PART
            else:
                total += (value[j] - mean) * (count[j] * (value[j] + mean) - 2.0 * positives[j])
                j += 1
    return total


@jit
def _pool(
    block_positives: np.ndarray,
    block_count: np.ndarray,
    block_end: np.ndarray,
    blocks: int,
    positives: float,
    count: float,
    end: int,
) -> int:
    """Add a block that ends there, pooled with those before whose means are not below its own; return their number."""
    while blocks > 0 and block_positives[blocks - 1] * count >= positives * block_count[blocks - 1]:
        blocks -= 1
        positives += block_positives[blocks]
        count += block_count[blocks]
    block_positives[blocks], block_count[blocks], block_end[blocks] = positives, count, end
    return blocks + 1
