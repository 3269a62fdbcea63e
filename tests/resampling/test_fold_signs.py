"""Signs centred within folds: beside plain loops, their variance, and keys of repeats."""

import numpy as np
import pytest

from calibstat.resampling import Draws, Stream, repeat_key, sums_of_fold_signs
from calibstat.resampling.row_sums import signs

RANDOM = np.random.default_rng(3)
FOLD = np.repeat([0, 1, 2], [2, 7, 11])
CELL = RANDOM.integers(0, 4, 20)
RESIDUAL = RANDOM.uniform(-1, 1, 20)


ROWS = np.arange(20)
UNIT = np.array([0, 0, 1, 1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 5, 6, 6, 7, 7, 7, 7])
FOLD_OF_UNIT = np.array([0, 1, 0, 1, 2, 2, 0, 2])


def multipliers(draws, fold, unit):
    """The signs of units in each resample, less their means over the rows of folds, by loops, and a factor.

    With shares f of the rows a unit adds e less f times the sum of all; of variances v that are squares of sizes there
    is left sum (1 - f)**2 v + f**2 (sum v - v) of the variance sum v. Of m rows that is 1 - 1 / m.
    """
    found = np.empty((draws.n, fold.size))
    for r in range(draws.n):
        sign = 2.0 * signs(draws.key, Stream.FOLD_SIGNS, r, unit.max() + 1)[unit] - 1
        for k in range(fold.max() + 1):
            rows = fold == k
            size = np.unique(unit[rows], return_counts=True)[1]
            f, v = size / size.sum(), size**2
            left = ((1 - f) ** 2 * v + f**2 * (v.sum() - v)).sum() / v.sum()
            found[r, rows] = (sign[rows] - sign[rows].mean()) / np.sqrt(left)
    return found


@pytest.mark.parametrize(("fold", "unit"), [(FOLD, ROWS), (FOLD_OF_UNIT[UNIT], UNIT)])
def test_it_is_a_loop_over_rows(fold, unit):
    draws = Draws.of(5, 130)
    found = sums_of_fold_signs((CELL, RESIDUAL), 4, fold, unit, lambda sums: sums, draws)
    by_row = multipliers(draws, fold, unit) * RESIDUAL
    expected = np.stack([by_row[:, cell == CELL].sum(axis=1) for cell in range(4)], axis=1)
    assert found == pytest.approx(expected, abs=1e-12)
    threads = sums_of_fold_signs((CELL, RESIDUAL), 4, fold, unit, lambda sums: sums, Draws.of(5, 130, 2))
    assert np.array_equal(threads, found)


def test_the_variance_is_that_within_folds():
    """Of a sum of a_i times the multipliers it is the sum over folds of m / (m - 1) times sum (a_i - mean a)**2."""
    draws = Draws.of(7, 20_000)
    found = sums_of_fold_signs((np.zeros(20, np.int64), RESIDUAL), 1, FOLD, ROWS, lambda sums: sums[:, 0], draws)
    expected = sum(rows.size * rows.var(ddof=1) for rows in np.split(RESIDUAL, [2, 9]))
    assert found.mean() == pytest.approx(0, abs=4 * np.sqrt(expected / draws.n))
    squares = found**2
    assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(draws.n)
    twin = np.mean(((2.0 * RANDOM.integers(0, 2, (20_000, 20)) - 1) @ RESIDUAL) ** 2)  # not centred
    assert abs(twin - expected) > 4 * squares.std() / np.sqrt(draws.n)


def test_a_constant_in_each_fold_has_no_noise():
    for fold, unit in ((FOLD, ROWS), (FOLD_OF_UNIT[UNIT], UNIT)):
        column = np.zeros(20, np.int64), fold + 1.0
        found = sums_of_fold_signs(column, 1, fold, unit, lambda sums: sums, Draws.of(1, 70))
        assert found == pytest.approx(np.zeros((70, 1)), abs=1e-12)


@pytest.mark.parametrize("alike", [True, False])
def test_the_variance_within_folds_is_not_too_small(alike):
    """Of clusters of rows that are all alike the variance is right in the mean; of independent rows it is larger."""
    random, size = np.random.default_rng(3), np.array([30, 1, 1, 2, 5, 9])
    unit, fold = np.repeat(np.arange(6), size), np.zeros(48, np.int64)
    found, true = [], (size**2).sum() if alike else 48.0
    for r in range(3000):
        row = random.normal(size=6)[unit] if alike else random.normal(size=48)
        column = np.zeros(48, np.int64), row
        noise = sums_of_fold_signs(column, 1, fold, unit, lambda sums: sums[:, 0], Draws.of(r, 20))
        found.append(np.mean(noise**2))
    error = 4 * np.std(found) / np.sqrt(len(found))
    assert np.mean(found) > true - error
    assert (np.mean(found) < true + error) == alike


def test_clusters_of_one_size_have_the_variance_between_them():
    """Of clusters of two rows with sums a_g it is the sum over folds of m / (m - 1) times sum (a_g - mean a)**2."""
    unit, fold = ROWS // 2, np.repeat([0, 1], [8, 12])
    draws = Draws.of(9, 20_000)
    found = sums_of_fold_signs((np.zeros(20, np.int64), RESIDUAL), 1, fold, unit, lambda sums: sums[:, 0], draws)
    of_unit = RESIDUAL.reshape(10, 2).sum(axis=1)
    expected = sum(sums.size * sums.var(ddof=1) for sums in np.split(of_unit, [4]))
    squares = found**2
    assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(draws.n)
    by_rows = sums_of_fold_signs((np.zeros(20, np.int64), RESIDUAL), 1, fold, ROWS, lambda sums: sums[:, 0], draws)
    assert abs((by_rows**2).mean() - expected) > 4 * squares.std() / np.sqrt(draws.n)


def test_repeats_have_keys_of_their_own():
    key = Draws.of(1, 1).key
    assert repeat_key(key, 0) == key
    assert len({int(repeat_key(key, r)) for r in range(50)}) == 50
