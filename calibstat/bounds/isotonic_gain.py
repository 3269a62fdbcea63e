"""The gain by isotonic regression, without most of the pooling.

Isotonic regression is the slope of the greatest convex function below the running sums of the outcomes. Its corners are
few, about m**(1/3). The same function below every 32nd running sum is never lower: a part of 32 predictions whose sums
all lie above it has no corner. For that it suffices to know how deep the sums of a part dip below a line of one slope.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit

LEVEL_PART = 32  # predictions: with more of them parts are fewer, and more of them need a look at every sum


# Fields of a part of the predictions: the one in its middle, the rows and the positives of the part, by how much the
# positives exceed rows times the middle, the lowest running sum of that, and the gain if all values become the middle.
MIDDLE, ROWS_FIELD, EVENTS, EXCESS, DIP, GAIN = range(6)


@jit
def largest_gain(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return by how much the squared errors fall if values are replaced by the best non-decreasing ones.

    That is the sum of (value - fitted) * (count * (value + fitted) - 2 * positives), where `fitted` is the isotonic
    regression of positives / count with weights `count`. All have shape (m,), values are ascending, and positives are
    0 where the count is 0.
    """
    part = _parts(value, count, positives)
    block_sums, block_end = _pooled_parts(part)
    fit_sums, fit_end = _cut(count, positives, part, block_sums, block_end)
    return _gain(value, count, positives, part, fit_sums, fit_end)


@jit
def _parts(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the fields of each part of the predictions."""
    m = value.size
    part = np.empty(((m + LEVEL_PART - 1) // LEVEL_PART, 6))
    for k in range(part.shape[0]):
        first = k * LEVEL_PART
        end = min(first + LEVEL_PART, m)
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
        part[k, MIDDLE], part[k, ROWS_FIELD], part[k, EVENTS] = middle, rows, events
        part[k, EXCESS], part[k, DIP], part[k, GAIN] = running, lowest, gain
    return part


@jit
def _pooled_parts(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks of isotonic regression of whole parts: positives and rows of each, and the part at its end."""
    sums, end = np.empty((part.shape[0], 2)), np.empty(part.shape[0], np.int64)
    blocks = 0
    for k in range(part.shape[0]):
        blocks = _pool(sums, end, blocks, part[k, EVENTS], part[k, ROWS_FIELD], k + 1)
    return sums[:blocks], end[:blocks]


@jit
def _cut(
    count: np.ndarray, positives: np.ndarray, part: np.ndarray, block_sums: np.ndarray, block_end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cut blocks of parts where a running sum is below the line of the block, pool them again, and return the same."""
    m = count.size
    sums, fit_end = np.empty((m, 2)), np.empty(m, np.int64)
    fits = 0
    k = 0
    for block in range(block_end.size):
        slope = block_sums[block, 0] / block_sums[block, 1]
        rows = events = 0.0
        above = 0.0  # the running sum, less the line of the block
        while k < block_end[block]:
            if above + part[k, DIP] >= max(slope - part[k, MIDDLE], 0.0) * part[k, ROWS_FIELD]:
                rows += part[k, ROWS_FIELD]
                events += part[k, EVENTS]
                above += part[k, EVENTS] - slope * part[k, ROWS_FIELD]
            else:
                end = min((k + 1) * LEVEL_PART, m)
                for j in range(k * LEVEL_PART, end):
                    rows += count[j]
                    events += positives[j]
                    above += positives[j] - slope * count[j]
                    if above < 0.0 and j < end - 1:
                        fits = _pool(sums, fit_end, fits, events, rows, j + 1)
                        rows = events = 0.0
            k += 1
        fits = _pool(sums, fit_end, fits, events, rows, min(k * LEVEL_PART, m))
    return sums[:fits], fit_end[:fits]


@jit
def _gain(
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    part: np.ndarray,
    fit_sums: np.ndarray,
    fit_end: np.ndarray,
) -> float:
    """Return the gain by these fits, of parts that lie within one from their fields."""
    total = 0.0
    j = 0
    for fit in range(fit_end.size):
        mean = fit_sums[fit, 0] / fit_sums[fit, 1]
        while j < fit_end[fit]:
            k = j // LEVEL_PART
            if j == k * LEVEL_PART and min(j + LEVEL_PART, value.size) <= fit_end[fit]:
                move = mean - part[k, MIDDLE]
                total += part[k, GAIN] + move * (2.0 * part[k, EXCESS] - move * part[k, ROWS_FIELD])
                j += LEVEL_PART
            else:
                total += (value[j] - mean) * (count[j] * (value[j] + mean) - 2.0 * positives[j])
                j += 1
    return total


@jit
def _pool(sums: np.ndarray, ends: np.ndarray, blocks: int, positives: float, count: float, end: int) -> int:
    """Add a block that ends there, pooled with those before whose means are not below its own; return their number."""
    while blocks > 0 and sums[blocks - 1, 0] * count >= positives * sums[blocks - 1, 1]:
        blocks -= 1
        positives += sums[blocks, 0]
        count += sums[blocks, 1]
    sums[blocks, 0], sums[blocks, 1], ends[blocks] = positives, count, end
    return blocks + 1
