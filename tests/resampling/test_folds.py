"""Folds at random."""

import numpy as np
from scipy import stats

from calibstat.resampling import folds, key_of


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
