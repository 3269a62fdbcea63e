"""Sizes of clusters, uniform numbers that rows share, and wrong arguments."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from calibstat.generators import calibrated, six_points
from calibstat.generators.row_clusters import find_clusters, shared_uniform

SIZES = ["equal", "geometric", "one_giant"]


def sizes(n, clusters, size, seed=1):
    return find_clusters(n, clusters, size, 1.0, 0.0).kinds(np.random.default_rng(seed))[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("n", "clusters"), [(1, 1), (2, 1), (2, 2), (7, 3), (8, 7), (9, 9), (1000, 30)])
def test_sizes_add_up(n, clusters, size):
    drawn = sizes(n, clusters, size)
    assert drawn.sum() == n
    assert drawn.size == clusters
    assert drawn.min() >= 1


def test_sizes_by_hand():
    assert sizes(8, 3, "equal").tolist() == [3, 3, 2]
    assert sizes(10, 6, "one_giant").tolist() == [5, 1, 1, 1, 1, 1]
    assert sizes(11, 3, "one_giant").tolist() == [6, 3, 2]
    assert sizes(5, 4, "one_giant").tolist() == [2, 1, 1, 1]  # the others have one row each
    assert sizes(6, None, [1, 2, 3]).tolist() == [1, 2, 3]
    assert sizes(6, 3, np.array([1, 2, 3])).tolist() == [1, 2, 3]


def unequal(cuts, n, clusters):
    """Whether some way to cut n rows into clusters is not one of equally likely ones, by exact binomial limits."""
    ways = [tuple(np.diff((0, *cut, n))) for cut in combinations(range(1, n), clusters - 1)]
    found = [tuple(cut) for cut in cuts]
    low, high = stats.binom.interval(1 - 1e-4 / len(ways), len(found), 1 / len(ways))
    return not all(low <= found.count(way) <= high for way in ways)


def test_geometric_sizes_are_any_cut():
    random = np.random.default_rng(5)
    drawn = [find_clusters(6, 3, "geometric", 1.0, 0.0).kinds(random)[0] for _ in range(3000)]
    assert not unequal(drawn, 6, 3)
    spread = 1 + random.multinomial(3, [1 / 3] * 3, 3000)  # planted: each further row joins any cluster
    assert unequal(spread, 6, 3)


def test_shares_are_probabilities():
    share, alike = [0.0, 1.0, 0.3], [1.0, 0.3, 0.0]
    random = np.random.default_rng(5)
    grouped = find_clusters(3, 3, "equal", share, alike)
    kinds = [grouped.kinds(random)[1:] for _ in range(2000)]
    for which, chances in enumerate((share, alike)):
        number = np.sum([kind[which] for kind in kinds], axis=0)
        for found, chance in zip(number, chances, strict=True):
            low, high = stats.binom.interval(1 - 1e-5, 2000, chance) if 0 < chance < 1 else (2000 * chance,) * 2
            assert low <= found <= high
    both = sum(bool(together[1] and alike[1]) for together, alike in kinds)
    assert both == sum(bool(alike[1]) for _, alike in kinds)


def test_rows_share_a_number():
    cluster, together = np.array([0, 0, 1, 1, 2]), np.array([True, False, True])
    drawn = shared_uniform(np.random.default_rng(1), cluster, together)
    assert drawn[0] == drawn[1]
    assert np.unique(drawn).size == 4
    again = np.random.default_rng(1)
    of_clusters, of_rows = again.random(3), again.random(5)
    assert drawn.tolist() == [*of_clusters[[0, 0]], *of_rows[2:4], of_clusters[2]]


@pytest.mark.parametrize("family", [calibrated(), six_points()])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": "geometric"}, "size together with clusters, found size='geometric' alone"),
        ({"share": 0.5}, "share together with clusters"),
        ({"alike": 0.5}, "alike together with clusters"),
        ({"share": [1.0, 0.5]}, "share together with clusters"),
        ({"clusters": 0}, "clusters to be a whole number of at least 1, found 0"),
        ({"clusters": 2.0}, "clusters to be a whole number"),
        ({"clusters": True}, "clusters to be a whole number"),
        ({"clusters": 11}, "at most as many clusters as rows, 10, found 11"),
        ({"clusters": 3, "size": "log"}, "size 'equal', 'geometric', 'one_giant' or a size of each, found 'log'"),
        ({"size": [5, 6]}, "size with sum 10, the number of rows, found sum 11"),
        ({"size": [10, 0]}, "size of whole numbers of at least 1"),
        ({"size": [5.0, 5.0]}, "size of whole numbers"),
        ({"size": [[5, 5]]}, "size of whole numbers"),
        ({"size": []}, "sum 10, the number of rows, found sum"),
        ({"size": [5, 5], "clusters": 3}, "clusters to be 2, as there are sizes, found 3"),
        ({"clusters": 2, "share": 1.5}, "share from 0 to 1, found 1.5"),
        ({"clusters": 2, "share": np.nan}, "share from 0 to 1"),
        ({"clusters": 2, "share": "half"}, "share from 0 to 1, found 'half'"),
        ({"clusters": 2, "alike": [0.1, -1]}, "alike from 0 to 1"),
        ({"clusters": 2, "alike": [0.1] * 3}, "alike one number or 2, one for each cluster"),
        ({"size": [5, 5], "share": [1.0]}, "share one number or 2"),
    ],
)
def test_wrong_arguments(family, arguments, message):
    with pytest.raises(ValueError, match=message):
        family.sample(10, 1, **arguments)
