"""Rows of planned data sets: uniform, nested, different for each key."""

import numpy as np
import pytest
from scipy import stats

from calibstat.resampling import key_of, planned_key, planned_rows

MISS = 1e-5


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_every_row_is_as_likely(size):
    n = 20_000
    found = planned_rows(key_of(1), n, size)
    assert found.min() >= 0
    assert found.max() <= size - 1
    counts = np.bincount(found, minlength=size)
    if size > 1:
        assert stats.chisquare(counts).pvalue > MISS
        biased = np.where(np.arange(n) % 10 == 0, 0, found)  # the planted fault
        assert stats.chisquare(np.bincount(biased, minlength=size)).pvalue < MISS


def test_rows_are_those_of_words():
    """The high 64 bits of word * size, in whole numbers of Python."""
    from calibstat.resampling.schemes import Stream
    from calibstat.resampling.streams import first_state, word

    start = np.uint64(first_state(key_of(5), int(Stream.PLANNED), 0))
    expected = [int(word(start, i)) * 977 >> 64 for i in range(50)]
    assert planned_rows(key_of(5), 50, 977).tolist() == expected


def test_fewer_rows_are_the_first_of_more():
    assert planned_rows(key_of(3), 10, 99).tolist() == planned_rows(key_of(3), 40, 99)[:10].tolist()


def test_keys_differ():
    keys = {int(planned_key(key_of(seed), number)) for seed in (1, 2) for number in range(50)}
    assert len(keys) == 100
