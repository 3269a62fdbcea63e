"""The correlation of neighbouring clusters: by hand, where there is none, and how often chance shows it."""

import datetime

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.days.neighbours import correlation_of_neighbours

DAYS = np.arange("2026-01-01", "2026-02-01", dtype="datetime64[D]")


def test_the_correlation_by_hand():
    """Ten clusters of one row, 1 in the first five: t = 1/2, X = 1/2 or -1/2, squares 10/4.

    Of nine pairs of neighbours eight are equal and one is not: (8 - 1)/4 over 10/4 is 0.7, above 2/sqrt(10) = 0.63.
    """
    total, found = [1.0] * 5 + [0.0] * 5, []
    for label in (range(10), DAYS[:10], [datetime.date(2026, 1, k) for k in range(1, 11)], np.arange(10) / 7):
        found.append(correlation_of_neighbours(total, [1] * 10, label))
    assert {each.correlation for each in found} == {0.7}
    assert found[0].limit == pytest.approx(0.632456, abs=1e-6)
    assert found[0].alike
    assert found[0].sentence.startswith("Caution: neighbouring clusters are alike (correlation 0.70), so that")


def test_the_correlation_of_clusters_of_unequal_sizes_by_hand():
    """Sizes 1 and 3 in turn, sums 1 and 0: t = 5/20, X = 1 - 1/4 and -3/4 in turn, nine products of -9/16: -0.9.

    In the order of other labels, all of one row first: four pairs and four pairs are equal, one is not: 0.7.
    """
    total, size = [1.0, 0.0] * 5, [1, 3] * 5
    found = correlation_of_neighbours(total, size, range(10))
    assert found.correlation == pytest.approx(-0.9)
    assert (found.alike, found.sentence) == (False, "")
    other = [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]
    assert correlation_of_neighbours(total, size, other).correlation == pytest.approx(0.7)


def test_there_is_no_correlation_without_an_order_few_clusters_or_of_equal_means():
    total = np.arange(12.0)
    for label in (list("abcdefghijkl"), [*range(11), "l"], np.arange(12) > 5):
        assert correlation_of_neighbours(total, np.ones(12), label) is None
    assert correlation_of_neighbours(total[:9], np.ones(9), range(9)) is None
    assert correlation_of_neighbours(0.1 * total, total, range(12)) is None
    assert correlation_of_neighbours(np.zeros(12), np.ones(12), range(12)) is None
    assert correlation_of_neighbours(1e-12 * total, np.full(12, 1e6), range(12)) is not None


@pytest.mark.parametrize(("rho", "alike"), [(0.0, False), (0.6, True)])
def test_independent_clusters_are_rarely_called_alike(rho, alike):
    """Above 2/sqrt(60) about in 1 - Phi(2) = 2.3 % of data sets; with a correlation of 0.6 nearly always."""
    random, called = np.random.default_rng(20261128), 0
    for _ in range(400):
        total = random.normal(size=60)
        for k in range(1, 60):
            total[k] += rho * total[k - 1]
        called += correlation_of_neighbours(total, np.ones(60), range(60)).alike
    assert (called > cs.study.most_rejections(0.0228, 400, 1e-3)) == alike
