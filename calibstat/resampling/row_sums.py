"""Sums over drawn rows: how often each row, or cluster, is drawn with replacement; and random signs of units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from calibstat.compiled import jit, short_calls
from calibstat.resampling.schemes import Draws
from calibstat.resampling.sources import OfLabels
from calibstat.resampling.streams import GOLDEN, LOW_HALF, first_state, mix, word
from calibstat.resampling.threads import one_after_another, one_by_one

T = TypeVar("T")
Column = tuple[np.ndarray, np.ndarray]  # the cell of each row, and what it adds there
BLOCK = 32  # resamples whose draws are held together
TILE = 64  # units whose counts of a block are floats in the first-level cache


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Counts of how often each unit is drawn in each resample, with replacement, as many units as there are.

    Counts are bytes: a unit is drawn more than 255 times with a probability below 1e-500.

    Attributes
    ----------
    units : int
        Number of units.
    draws : Draws
        The resamples.
    stream : int
        The stream of the draws.
    most : int
        The bytes up to which all counts are kept. If they take more, each pass draws them again with the same words.
    """

    units: int
    draws: Draws
    stream: int
    most: int = 0
    _kept: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @property
    def are_stored(self) -> bool:
        """Whether counts are kept once they are drawn."""
        return self.units * self.draws.n <= self.most

    def in_blocks(self, of: Callable[[np.ndarray], T], n: int | None = None) -> Iterator[T]:
        """Yield ``of(counts)`` of blocks of the first `n` resamples, or of all; counts have shape (resamples, units).

        The blocks are in order, and the same for any number of threads.
        """
        n = self.draws.n if n is None else min(n, self.draws.n)
        blocks = [(first, min(first + BLOCK, n)) for first in range(0, n, BLOCK)]
        return one_after_another(lambda first, last: of(self._counts(first, last)), blocks, self.draws.n_jobs)

    def _counts(self, first: int, last: int) -> np.ndarray:
        kept = self._kept.get(first)
        if kept is not None and len(kept) >= last - first:
            return kept[: last - first]
        counts = np.empty((last - first, self.units), np.uint8)
        for a, b in short_calls(last - first, self.units):
            _draw(self.draws.key, self.stream, first + a, counts[a:b])
        if self.are_stored:
            self._kept[first] = counts
        return counts

    def weighted(self, weight: np.ndarray) -> np.ndarray:
        """Return the sum over resamples of weight[k, r] times how often each unit is drawn, shape (K, units)."""
        total = np.zeros((len(weight), self.units))
        first = 0
        for counts in self.in_blocks(lambda counts: counts):
            _add_weighted(counts, np.ascontiguousarray(weight[:, first : first + len(counts)]), total)
            first += len(counts)
        return total

    def products(self, added: np.ndarray) -> np.ndarray:
        """Return the sums over drawn units of what they add, of shape (K, units), in each resample: shape (B, K)."""
        return np.concatenate(list(self.in_blocks(lambda counts: products_of_counts(counts, added))))


def products_of_counts(counts: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Return the sums over units of count times what they add, of shape (K, units): shape (resamples, K)."""
    total = np.zeros((len(added), BLOCK))
    _add_products(counts, added, total)
    return total[:, : len(counts)].T


def sums_of_counts(times: np.ndarray, columns: Iterable[Column], cells: int) -> np.ndarray:
    """Return the sums in cells of what rows add, by how often each is drawn: shape (resamples, cells)."""
    sums = np.zeros((len(times), cells))
    for cell, contribution in columns:
        _add_rows(times, cell, contribution, sums)
    return sums


def times_in_clusters(start: np.uint64, unit: np.ndarray) -> np.ndarray:
    """Return how often each row is drawn where clusters are drawn with replacement, the rows of one together."""
    times = np.empty(int(unit.max()) + 1, np.int32)
    draw_units(start, times)
    return times[unit]


def random_signs(units: int, statistic: OfLabels, draws: Draws, stream: int) -> np.ndarray:
    """Return ``statistic(signs)`` of every resample, the sign of each unit 0 for minus and 1 for plus, uint8."""
    return one_by_one(lambda r: statistic(signs(draws.key, stream, r, units)), draws.n, draws.n_jobs)


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def draw_units(state: np.uint64, times: np.ndarray) -> None:
    """Count how often each unit is drawn, two from each word: the upper half of 32 bits times the number of units.

    Probabilities are right to 2**-32; 64 bits for each draw would take twice as long.
    """
    units = np.uint64(times.size) & LOW_HALF
    times[:] = 0
    for _ in range(times.size // 2):
        state += GOLDEN
        w = mix(state)
        times[((w & LOW_HALF) * units) >> np.uint64(32)] += 1
        times[((w >> np.uint64(32)) * units) >> np.uint64(32)] += 1
    if times.size % 2 == 1:
        times[((mix(state + GOLDEN) & LOW_HALF) * units) >> np.uint64(32)] += 1


@jit
def _draw(key: np.uint64, stream: int, first: int, counts: np.ndarray) -> None:
    """Draw units with replacement in each resample."""
    for r in range(counts.shape[0]):
        draw_units(np.uint64(first_state(key, stream, first + r)), counts[r])


@jit
def _add_rows(times: np.ndarray, cell: np.ndarray, contribution: np.ndarray, sums: np.ndarray) -> None:
    """Add up what rows add in cells, as often as each is drawn: row by row, of four resamples side by side.

    Side by side, because a sum waits for the row before if that is in the same cell.
    """
    together = times.shape[0] // 4 * 4
    for r in range(0, together, 4):
        for i in range(cell.size):
            c = cell[i]
            x = contribution[i]
            sums[r, c] += x * times[r, i]
            sums[r + 1, c] += x * times[r + 1, i]
            sums[r + 2, c] += x * times[r + 2, i]
            sums[r + 3, c] += x * times[r + 3, i]
    for r in range(together, times.shape[0]):
        for i in range(cell.size):
            sums[r, cell[i]] += contribution[i] * times[r, i]


@jit
def _add_products(counts: np.ndarray, added: np.ndarray, total: np.ndarray) -> None:
    """Add up what units add, as often as they are drawn, in `total` of shape (K, BLOCK): unit by unit.

    A matrix product whose sums are in one order, on any machine and for any number of threads.
    """
    drawn = np.zeros((TILE, BLOCK))
    for begin in range(0, counts.shape[1], TILE):
        size = min(TILE, counts.shape[1] - begin)
        for i in range(size):
            for r in range(counts.shape[0]):
                drawn[i, r] = counts[r, begin + i]
        together = size // 4 * 4
        for k in range(added.shape[0]):
            for i in range(0, together, 4):
                a = added[k, begin + i]
                b = added[k, begin + i + 1]
                c = added[k, begin + i + 2]
                d = added[k, begin + i + 3]
                for r in range(BLOCK):
                    sum_ = total[k, r] + a * drawn[i, r]
                    sum_ += b * drawn[i + 1, r]
                    sum_ += c * drawn[i + 2, r]
                    total[k, r] = sum_ + d * drawn[i + 3, r]
            for i in range(together, size):
                for r in range(BLOCK):
                    total[k, r] += added[k, begin + i] * drawn[i, r]


@jit
def _add_weighted(counts: np.ndarray, weight: np.ndarray, total: np.ndarray) -> None:
    """Add the weights of each resample, of shape (K, resamples), times how often it draws each unit."""
    for k in range(weight.shape[0]):
        for r in range(counts.shape[0]):
            w = weight[k, r]
            for i in range(counts.shape[1]):
                total[k, i] += w * counts[r, i]


@jit
def signs(key: np.uint64, stream: int, replicate: int, n: int) -> np.ndarray:
    """Draw n random signs: 0 for minus, 1 for plus."""
    start = np.uint64(first_state(key, stream, replicate))
    drawn = np.empty(n, np.uint8)
    for i in range(n):
        drawn[i] = np.uint64(word(start, i)) >> np.uint64(63)
    return drawn
