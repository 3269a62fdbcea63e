"""Folds at random."""

import numpy as np
import pytest
from scipy import stats

from calibstat.resampling import fit_seeds, folds, key_of, repeated_folds

ALIKE = np.zeros(200, int)


def test_sizes_differ_by_at_most_one_and_the_seed_decides():
    for n in (1, 4, 5, 17, 200):
        fold = folds(key_of(1), n, 5)
        sizes = np.bincount(fold, minlength=5)
        assert sizes.sum() == n
        assert np.ptp(sizes) <= 1
    assert folds(key_of(1), 200, 5).tolist() == folds(key_of(1), 200, 5).tolist()
    assert folds(key_of(1), 200, 5).tolist() != folds(key_of(2), 200, 5).tolist()


def test_every_partition_is_as_likely():
    """4 positions in 2 folds of 2: 6 partitions, 1000 each on average of 6000 seeds."""
    found = np.array([folds(key_of(seed), 4, 2) @ [8, 4, 2, 1] for seed in range(6000)])
    _, times = np.unique(found, return_counts=True)
    assert times.size == 6
    assert stats.chisquare(times).pvalue > 1e-3


def test_clusters_stay_together_whatever_their_names():
    unit = np.arange(200) // 8
    fold = repeated_folds(key_of(1), ALIKE, 5, 2, unit)
    assert all(len(set(column[unit == u])) == 1 for column in fold.T for u in range(25))
    assert all(np.bincount(column).tolist() == [40] * 5 for column in fold.T)
    renamed = np.random.default_rng(0).permutation(25)[unit]
    assert repeated_folds(key_of(1), ALIKE, 5, 2, renamed).tolist() == fold.tolist()
    alone = repeated_folds(key_of(1), ALIKE, 5, 2, np.arange(200))
    assert alone.tolist() == repeated_folds(key_of(1), ALIKE, 5, 2).tolist()


def test_repeats_are_independent_and_the_first_is_the_only_one_of_one():
    """Pairs of rows that share a fold in both of two repeats are 4 X + 700, X of chi squared with 16 degrees.

    Of 25 pairs of folds each has 8 rows on average, and X is the sum of (rows - 8)^2 / 8. Their squares sum to
    8 X + 25 8^2, of which 200 less and a half are pairs.
    """
    fold = repeated_folds(key_of(1), ALIKE, 5, 2)
    assert fold[:, 0].tolist() == folds(key_of(1), 200, 5).tolist()
    together = [column[:, None] == column for column in fold.T]
    pairs = np.triu(together[0] & together[1], 1).sum()
    assert 1e-4 < stats.chi2.sf((pairs - 700) / 4, 16) < 1 - 1e-4


def in_several_folds(fold, label, unit):
    """Whether no class of two units or more is in one fold."""
    of_class = [label == k for k in set(label.tolist())]
    return all(len(set(fold[own])) > 1 for own in of_class if len(set(unit[own])) > 1)


@pytest.mark.parametrize("rows", [(30, 28, 2), (298, 2), (2,) * 12, (1, 3, 2, 2)])
def test_no_class_of_two_rows_is_dealt_to_one_fold(rows):
    """Alone, `folds` deals two rows of 60 to one of 5 folds in every fifth case: 11 of 59."""
    label, unit = np.repeat(np.arange(len(rows)), rows), np.arange(sum(rows))
    failed = 0
    for seed in range(25):
        for n_folds in (2, min(5, label.size // 2)):
            fold = repeated_folds(key_of(seed), label, n_folds, 2)
            assert all(in_several_folds(column, label, unit) for column in fold.T)
            assert np.ptp(np.bincount(fold[:, 1], minlength=n_folds)) <= 1
            renamed = repeated_folds(key_of(seed), np.array([f"class {9 - k}" for k in label]), n_folds, 2)
            assert renamed.tolist() == fold.tolist()
            failed += not in_several_folds(folds(key_of(seed), label.size, n_folds), label, unit)
    assert failed > 3


def test_two_clusters_of_an_outcome_are_dealt_to_two_folds():
    unit = np.arange(60) // 5
    label = np.isin(unit, (3, 8)) & (np.arange(60) % 2 == 0)
    for seed in range(40):
        fold = repeated_folds(key_of(seed), label, 3, 1, unit)[:, 0]
        assert all(len(set(fold[unit == u])) == 1 for u in range(12))
        assert in_several_folds(fold, label, unit)
        assert np.bincount(fold).tolist() == [20] * 3


def test_what_no_exchange_of_clusters_can_spread_is_dealt_as_it_is():
    """Each pair of three clusters shares a class: of two folds one holds two of them."""
    label, unit = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 0])
    fold = repeated_folds(key_of(1), label, 2, 1, unit)[:, 0]
    assert not in_several_folds(fold, label, unit)


def test_folds_change_only_where_a_class_would_be_alone():
    label = np.repeat([0, 1], (50, 10))
    for seed in range(40):
        alone = folds(key_of(seed), 60, 5)
        assert in_several_folds(alone, label, np.arange(60))
        assert repeated_folds(key_of(seed), label, 5, 1)[:, 0].tolist() == alone.tolist()


def test_seeds_of_fits_differ_and_are_what_numpy_takes():
    seeds = [seed for fit in range(50) for seed in fit_seeds(key_of(1), fit, 3)]
    assert len(set(seeds)) == 150
    assert min(seeds) >= 0
    assert max(seeds) < 2**31
    assert fit_seeds(key_of(1), 7, 3) == seeds[21:24]
