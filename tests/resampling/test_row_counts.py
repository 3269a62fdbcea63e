"""How often rows are drawn with replacement: its law, row by row and for pairs of rows."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from binary_draws import KEY
from oracles import follows
from scipy import stats

from calibstat.compiled import jit
from calibstat.resampling.row_counts import BLOCK, count_block
from calibstat.resampling.streams import first_state


def one_row_twice(state, left, rows, after, times, shift, lane):
    """The planted fault: the last row that is drawn in a block is drawn again, and the first one less often."""
    rest = count_block(state, left, rows, after, times, shift, lane)
    drawn = np.flatnonzero(times[:rows])
    times[drawn[0]] -= 1
    times[drawn[-1]] += 1
    return rest


def counts(n, replicate, count=count_block):
    """How often each of n rows is drawn in one resample, block by block."""
    state = np.array([first_state(KEY, 1, replicate)], np.uint64)
    times, left, found = np.empty(BLOCK, np.int32), n, []
    for first in range(0, n, BLOCK):
        rows = min(BLOCK, n - first)
        times[:] = 0
        left = count(state, left, rows, n - first - rows, times, 0, 0)
        found.append(times[:rows].copy())
    assert left == 0
    return np.concatenate(found)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_every_vector_of_counts_is_as_likely_as_enumeration_says(n):
    """All n**n sequences of draws: n! / (product of the factorials of the counts) give the same counts."""
    vectors = [v for v in product(range(n + 1), repeat=n) if sum(v) == n]
    pmf = np.array([factorial(n) / np.prod([factorial(t) for t in v]) for v in vectors]) / n**n
    assert pmf.sum() == pytest.approx(1)
    for count, right in ((count_block, True), (one_row_twice, n == 1)):
        drawn = [vectors.index(tuple(counts(n, r, count).tolist())) for r in range(20_000)]
        assert follows(drawn, pmf) == right


@jit
def moments(key, replicates, n, apart):
    """Mean products of the counts of two rows so far apart, and of a row's count with itself; the sums of counts."""
    times = np.empty(BLOCK, np.int32)
    drawn = np.empty(n, np.int32)
    found = np.zeros((replicates, apart.size))
    for r in range(replicates):
        state = np.array([first_state(key, 1, r)])
        left = n
        for first in range(0, n, BLOCK):
            rows = min(BLOCK, n - first)
            times[:] = 0
            left = count_block(state, left, rows, n - first - rows, times, 0, 0)
            for i in range(rows):
                drawn[first + i] = times[i]
        for k in range(apart.size):
            total = 0
            for i in range(n - apart[k]):
                total += drawn[i] * drawn[i + apart[k]]
            found[r, k] = total / (n - apart[k])
    return found


def test_products_of_counts_of_many_rows():
    """Of one row E t**2 = 2 - 1 / n, of two rows E t s = 1 - 1 / n, in one block, in two, and in the last one."""
    n, apart = 100_000, np.array([0, 1, 2, 512, BLOCK - 1, BLOCK, 3 * BLOCK, 99_990])
    found = moments(KEY, 100, n, apart)
    expected = np.where(apart == 0, 2.0, 1.0) - 1 / n
    off = np.abs(found.mean(axis=0) - expected) / (found.std(axis=0, ddof=1) / 10)
    assert np.all(off < stats.t.isf(1e-6, 99))
    wrong = np.abs(found.mean(axis=0) - expected * 1.002) / (found.std(axis=0, ddof=1) / 10)
    assert np.any(wrong > stats.t.isf(1e-6, 99))  # planted fault: counts that vary .2 % more


def test_rows_of_full_and_of_short_blocks_are_equally_likely():
    """The draws on each row, of which the last block has fewer than any power of two: chi-squared."""
    n, draws = BLOCK + 700, 4000
    total = sum(counts(n, r) for r in range(draws))
    assert total.sum() == n * draws
    fit = ((total - draws) ** 2 / draws).sum()
    assert 1e-6 < stats.chi2.sf(fit, n - 1) < 1 - 1e-6
    total[:500] += int(np.sqrt(draws))  # planted fault
    assert stats.chi2.sf(((total - draws) ** 2 / draws).sum(), n - 1) < 1e-6


def test_counts_beyond_16_bits():
    for rows in (1, 2, BLOCK):
        times = np.zeros(BLOCK, np.int32)
        assert count_block(np.array([np.uint64(5)]), 10**6, rows, 0, times, 0, 0) == 0
        assert times[:rows].sum() == 10**6
        assert times[rows:].sum() == 0


def test_lanes_hold_the_same_counts():
    """Each resample in every fourth place: as alone."""
    together = np.zeros(4 * BLOCK, np.int32)
    for lane in (3, 1):
        alone = np.zeros(BLOCK, np.int32)
        for times, shift, b in ((together, 2, lane), (alone, 0, 0)):
            count_block(np.array([np.uint64(lane)]), 5000, BLOCK, 3000, times, shift, b)
        assert np.array_equal(together[lane::4], alone)
    assert together[0::4].sum() + together[2::4].sum() == 0
