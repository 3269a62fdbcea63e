"""Counted rows in groups: rows with outcome 1 of each group and stratum."""

import numpy as np

from calibstat.data.groups import Groups, as_groups
from calibstat.inference.auditing.counted_groups import CountedGroups


def test_positives_of_groups_and_strata():
    made = as_groups(Groups({"a": np.array([True, True, False])}), 3)
    p = np.array([0.1, 0.2, 0.8])
    counted = CountedGroups(p, np.array([5.0, 6, 7]), np.array([1.0, 2, 4]), p, made.mask, made)
    np.testing.assert_array_equal(counted.positives(np.array([1, 1, 2]), 4), [[0, 3, 4, 0], [0, 3, 0, 0]])
