"""Sums of drawn and of signed rows, against loops over rows."""

import numpy as np
import pytest
from row_examples import CELL, KEY, RESIDUAL, UNIT, N, signs_of

from calibstat.resampling import (
    Clusters,
    Draws,
    Pairs,
    RowSums,
    Signs,
    draw,
    weighted_counts,
)
from calibstat.resampling.streams import stream, word


def drawn_units(replicate, units):
    """Which units a replicate draws: by each word two, its lower half times their number, then its upper one."""
    start = np.uint64(stream(KEY, 1, replicate))
    words = [int(word(start, i)) for i in range((units + 1) // 2)]
    return [half * units >> 32 for w in words for half in (w & (2**32 - 1), w >> 32)][:units]


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("scheme", [Pairs(), Clusters(UNIT)], ids=["rows", "clusters"])
def test_sums_of_drawn_rows(scheme, models):
    unit = UNIT if isinstance(scheme, Clusters) else np.arange(N)
    cell, residual = (CELL, RESIDUAL) if models == 2 else (CELL[:, 0], RESIDUAL[:, 0])
    draws = Draws(KEY, 8)
    found = draw(RowSums(cell, residual), scheme, lambda sums, rows: np.column_stack([rows, sums]), draws, 1)
    for r in range(8):
        rows = [i for u in drawn_units(r, unit.max() + 1) for i in np.flatnonzero(unit == u)]
        sums = np.zeros(3 * models)
        for i in rows:
            for m in range(models):
                sums[CELL[i, m]] += RESIDUAL[i, m]
        assert found[r, 0] == len(rows)
        np.testing.assert_allclose(found[r, 1:], sums, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_weighted_counts(n_jobs):
    weight = np.random.default_rng(0).normal(size=(11, 2))
    expected = np.zeros((9, 2))
    for r in range(11):
        for u in drawn_units(r, 9):
            expected[u] += weight[r]
    found = weighted_counts(9, weight, Draws(KEY, 11, n_jobs), 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(found, weighted_counts(9, weight, Draws(KEY, 11), 1))


@pytest.mark.parametrize("models", [1, 2])
def test_sums_of_signed_rows(models):
    cell, residual = (CELL, RESIDUAL) if models == 2 else (CELL[:, 0], RESIDUAL[:, 0])
    size = 7  # with cells that hold no row
    found = draw(RowSums(cell, residual, size), Signs(UNIT), lambda theta: theta, Draws(KEY, 8), 1)
    for r in range(8):
        theta = np.zeros(size)
        for i, sign in enumerate(signs_of(r, UNIT)):
            for m in range(models):
                theta[CELL[i, m]] += sign * RESIDUAL[i, m] / N
        np.testing.assert_allclose(found[r], theta, rtol=0, atol=1e-12)
