"""Pairs of prediction and label drawn with replacement, for statistics in one pass over the predictions.

Rows outside, a few resamples inside: of each resample only the residuals of a block of rows and the state of the
statistic are held, so that the time for a row does not depend on how many rows there are.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from calibstat.compiled import jit, without_numba
from calibstat.data.sample import Sample
from calibstat.resampling.binary_pairs import few_ties, residuals_of_pairs, rows_of_sample
from calibstat.resampling.one_pass import OnePass
from calibstat.resampling.row_counts import BLOCK, count_block
from calibstat.resampling.schemes import Draws
from calibstat.resampling.streams import first_states
from calibstat.resampling.threads import chunks, in_threads

RESAMPLE_BITS = 4  # 2**4 resamples are drawn together


class _Block(NamedTuple):
    """Rows that are drawn together.

    Attributes
    ----------
    cell, added : ndarray
        The place of the prediction of each row, and what it adds there.
    after : int
        Rows after them.
    begun : bool
        Whether the first prediction has rows in the block before.
    rows : slice
        The distinct predictions without rows in the block after.
    """

    cell: np.ndarray
    added: np.ndarray
    after: int
    begun: bool
    rows: slice

    @classmethod
    def of(cls, cell: np.ndarray, added: np.ndarray, begin: int, end: int) -> Self:
        """Return a block of these rows."""
        goes_on = end < cell.size and cell[end] == cell[end - 1]
        rows = slice(int(cell[begin]), int(cell[end - 1]) + (not goes_on))
        begun = begin > 0 and bool(cell[begin] == cell[begin - 1])
        return cls(cell[begin:end], added[begin:end], cell.size - end, begun, rows)


def pairs_in_one_pass(
    sample: Sample, origin: np.ndarray, step: float, statistic: OnePass, draws: Draws, stream: int
) -> np.ndarray:
    """Return the statistic of origin + step * residual of every resample, of the rows of `residuals_of_pairs`."""
    if not few_ties(sample):
        return residuals_of_pairs(sample, origin, step, statistic.of, draws, stream)
    cell, outcome = rows_of_sample(sample)
    added = (outcome - sample.value[cell]) * (step / sample.n)
    begins = range(0, cell.size, BLOCK)
    blocks = [_Block.of(cell, added, begin, min(begin + BLOCK, cell.size)) for begin in begins]

    def together(first: int, last: int) -> np.ndarray:
        state = first_states(draws.key, stream, first, last)
        left, held = np.full(state.size, cell.size), np.zeros((statistic.size, state.size))
        times, residual = np.empty(BLOCK << RESAMPLE_BITS, np.int32), np.empty((BLOCK + 1, state.size))
        for block in blocks:
            _add_block(state, left, block.after, block.cell, block.added, origin, block.begun, times, residual)
            done = block.rows.stop - block.rows.start
            statistic.add(held, block.rows, residual[:done])
            residual[0] = residual[done]  # of the next prediction, if it has rows in this block
        return statistic.result(held)

    def replicates(first: int, last: int) -> np.ndarray:
        return np.concatenate(
            [together(r, min(r + (1 << RESAMPLE_BITS), last)) for r in range(first, last, 1 << RESAMPLE_BITS)]
        )

    return np.concatenate(in_threads(replicates, chunks(draws.n, draws.n_jobs), draws.n_jobs))


def _added_in_arrays(
    state: np.ndarray,
    left: np.ndarray,
    after: int,
    cell: np.ndarray,
    added: np.ndarray,
    origin: np.ndarray,
    begun: bool,
    times: np.ndarray,
    residual: np.ndarray,
) -> None:
    times[:] = 0
    for b in range(left.size):
        left[b] = count_block(state[b : b + 1], left[b], cell.size, after, times, RESAMPLE_BITS, b)
    drawn = times.reshape(-1, 1 << RESAMPLE_BITS)[: cell.size, : left.size] * added[:, None]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    before = np.repeat(origin[cell[first], None], left.size, axis=1)
    if begun:
        before[0] = residual[0]
    residual[: first.size] = before + np.add.reduceat(drawn, first, axis=0)


@without_numba(_added_in_arrays)
@jit
def _add_block(
    state: np.ndarray,
    left: np.ndarray,
    after: int,
    cell: np.ndarray,
    added: np.ndarray,
    origin: np.ndarray,
    begun: bool,
    times: np.ndarray,
    residual: np.ndarray,
) -> None:
    """Draw the rows of a block in some resamples, and add up what they add at each distinct prediction."""
    times[:] = 0
    for b in range(left.size):
        left[b] = count_block(state[b : b + 1], left[b], cell.size, after, times, RESAMPLE_BITS, b)
    for i in range(cell.size):
        drawn = times[i << RESAMPLE_BITS :]
        total = residual[cell[i] - cell[0]]
        x = added[i]
        if begun if i == 0 else cell[i] == cell[i - 1]:
            for b in range(total.size):
                total[b] += drawn[b] * x
        else:
            y = origin[cell[i]]
            for b in range(total.size):
                total[b] = y + drawn[b] * x
