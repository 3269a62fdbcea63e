"""Rows drawn with replacement: the counts of each row, in blocks of rows whose counts stay in the first-level cache.

The number of draws that fall in a block is binomial given the draws in the blocks before it. In a block of 2**10 rows
ten bits of a random word are a row, so that a word serves six draws. In the last, shorter block no more bits are taken
than its rows need, and numbers beyond its last row are passed over. So the rows of a block are equally likely to the
last digit.
"""

from __future__ import annotations

import numpy as np

from calibstat.compiled import jit, without_numba
from calibstat.resampling.streams import GOLDEN, binomial, mix, words

ROW_BITS, DRAWS_OF_A_WORD = 10, 6
BLOCK = 2**ROW_BITS  # rows


def _counted_in_arrays(
    state: np.ndarray, left: int, rows: int, after: int, times: np.ndarray, shift: int, lane: int
) -> int:
    draws = left if after == 0 else int(binomial(state, float(left), rows / (rows + after)))
    mask = np.uint64(2 ** int(rows - 1).bit_length() - 1)
    digit = np.arange(DRAWS_OF_A_WORD, dtype=np.uint64) * np.uint64(ROW_BITS)
    drawn = words(state[0], 0, draws // 2 + 64)  # enough: at least every second number is that of a row
    row = (drawn[:, None] >> digit & mask).ravel()
    taken = np.flatnonzero(row < rows)[:draws]
    times[lane :: 2**shift][:rows] += np.bincount(row[taken].astype(np.int64), minlength=rows).astype(times.dtype)
    state[0] += np.uint64(taken[-1] // DRAWS_OF_A_WORD + 1 if draws else 0) * GOLDEN
    return left - draws


@without_numba(_counted_in_arrays)
@jit
def count_block(state: np.ndarray, left: int, rows: int, after: int, times: np.ndarray, shift: int, lane: int) -> int:
    """Count how often each row of a block is drawn, and return how many draws are left.

    `left` draws fall on the `rows` rows of the block and on `after` rows after it. The counts, of 32 bits, are added to
    ``times[lane], times[lane + 2**shift], ...``.
    """
    draws = left if after == 0 else int(binomial(state, float(left), rows / (rows + after)))
    s, b = np.uint64(shift), np.uint64(lane)
    z = state[0]
    done = 0
    if rows == BLOCK:
        for _ in range(draws // DRAWS_OF_A_WORD):
            z += GOLDEN
            w = mix(z)
            for _ in range(DRAWS_OF_A_WORD):
                times[(w & np.uint64(BLOCK - 1)) << s | b] += 1
                w >>= np.uint64(ROW_BITS)
        done = draws - draws % DRAWS_OF_A_WORD
    last = np.uint64(rows - 1)
    mask = np.uint64(0)
    while mask < last:
        mask = mask << np.uint64(1) | np.uint64(1)
    while done < draws:
        z += GOLDEN
        w = mix(z)
        for _ in range(DRAWS_OF_A_WORD):
            if w & mask <= last and done < draws:
                times[(w & mask) << s | b] += 1
                done += 1
            w >>= np.uint64(ROW_BITS)
    state[0] = z
    return left - draws
