"""Signs centred within folds: beside plain loops, their variance, and keys of repeats."""

import numpy as np
import pytest

from calibstat.resampling import Draws, Stage, repeat_key, sums_of_fold_signs
from calibstat.resampling.row_sums import signs

RANDOM = np.random.default_rng(3)
FOLD = np.repeat([0, 1, 2], [2, 7, 11])
CELL = RANDOM.integers(0, 4, 20)
RESIDUAL = RANDOM.uniform(-1, 1, 20)


def multipliers(draws, fold):
    """The signs of each resample, less the means of folds, times sqrt(m / (m - 1)): by loops."""
    found = np.empty((draws.n, fold.size))
    for r in range(draws.n):
        sign = 2.0 * signs(draws.key, Stage.FOLD_SIGNS, r, fold.size) - 1
        for k in range(fold.max() + 1):
            rows = fold == k
            found[r, rows] = (sign[rows] - sign[rows].mean()) * np.sqrt(rows.sum() / (rows.sum() - 1))
    return found


def test_it_is_a_loop_over_rows():
    draws = Draws.of(5, 130)
    found = sums_of_fold_signs((CELL, RESIDUAL), 4, FOLD, lambda sums: sums, draws)
    by_row = multipliers(draws, FOLD) * RESIDUAL
    expected = np.stack([by_row[:, cell == CELL].sum(axis=1) for cell in range(4)], axis=1)
    assert found == pytest.approx(expected, abs=1e-12)
    threads = sums_of_fold_signs((CELL, RESIDUAL), 4, FOLD, lambda sums: sums, Draws.of(5, 130, 2))
    assert np.array_equal(threads, found)


def test_the_variance_is_that_within_folds():
    """Of a sum of a_i times the multipliers it is the sum over folds of m / (m - 1) times sum (a_i - mean a)**2."""
    draws = Draws.of(7, 20_000)
    found = sums_of_fold_signs((np.zeros(20, np.int64), RESIDUAL), 1, FOLD, lambda sums: sums[:, 0], draws)
    expected = sum(rows.size * rows.var(ddof=1) for rows in np.split(RESIDUAL, [2, 9]))
    assert found.mean() == pytest.approx(0, abs=4 * np.sqrt(expected / draws.n))
    squares = found**2
    assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(draws.n)
    twin = np.mean(((2.0 * RANDOM.integers(0, 2, (20_000, 20)) - 1) @ RESIDUAL) ** 2)  # not centred
    assert abs(twin - expected) > 4 * squares.std() / np.sqrt(draws.n)


def test_a_constant_in_each_fold_has_no_noise():
    found = sums_of_fold_signs((np.zeros(20, np.int64), FOLD + 1.0), 1, FOLD, lambda sums: sums, Draws.of(1, 70))
    assert found == pytest.approx(np.zeros((70, 1)), abs=1e-12)


def test_repeats_have_keys_of_their_own():
    key = Draws.of(1, 1).key
    assert repeat_key(key, 0) == key
    assert len({int(repeat_key(key, r)) for r in range(50)}) == 50
