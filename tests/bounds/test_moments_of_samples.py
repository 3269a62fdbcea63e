"""Moments over independent samples: the sums of the moments of each, and of one sample its own."""

import numpy as np
import pytest

from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.moments_of_samples import MomentsOfSamples
from calibstat.bounds.tail_bound import TailBound
from calibstat.bounds.unit_sums import ClusterSums

RANDOM = np.random.default_rng(1)
CELL, OTHER = RANDOM.integers(0, 6, 40), RANDOM.integers(0, 6, 90)
X, Z = RANDOM.uniform(-1, 1, 40), RANDOM.uniform(-0.4, 0.4, 90)
ONE, TWO = SeparableMoments.of_rows(CELL, X, 6), SeparableMoments.of_rows(OTHER, Z, 6)
BOTH = MomentsOfSamples([ONE, TWO], 40.0, TailBound.of_rows)
W = RANDOM.uniform(-1, 1, 6)


def plain(w):
    parts = [(w[CELL] * X, 40), (w[OTHER] * Z, 90)]
    return (
        sum(x.sum() for x, _ in parts),
        sum((x**2).sum() - x.sum() ** 2 / n for x, n in parts),
        sum((x**3).sum() for x, _ in parts),
    )


def test_a_weighted_sum_has_the_moments_of_both_samples():
    assert BOTH.of(W)[:3] == pytest.approx(plain(W))
    assert BOTH.total @ W == pytest.approx(plain(W)[0])
    assert BOTH.square.sum() == pytest.approx((X**2).sum() + (Z**2).sum())
    assert BOTH.cube.sum() == pytest.approx((X**3).sum() + (Z**3).sum())
    assert (
        BOTH.of(W).variance > ((W[CELL] * X) ** 2).sum() - (W[CELL] * X).sum() ** 2 / 40
    )  # a planted fault: one sample


def test_prefixes_and_intervals_are_weighted_sums():
    total, variance, third, _ = BOTH.prefixes()
    for end in range(7):
        assert (total[end], variance[end], third[end]) == pytest.approx(plain((np.arange(6) < end) * 1.0))
    ends = np.array([0, 2, 6])
    between = BOTH.between(ends)
    inside = ((np.arange(6) >= 2) & (np.arange(6) < 6)) * 1.0
    assert between.total[1, 2] == pytest.approx(plain(inside)[0])
    assert between.variance[1, 2] == pytest.approx(plain(inside)[1])


def test_variances_and_covariances_are_of_single_cells():
    for k in range(6):
        assert BOTH.variances()[k] == pytest.approx(plain((np.arange(6) == k) * 1.0)[1])
    assert W @ BOTH.covariance() @ W == pytest.approx(plain(W)[1])


def test_what_bounds_weights_bounds_both():
    variance, third = BOTH.largest()
    assert variance >= BOTH.of(W).variance
    assert third >= abs(BOTH.of(W).third)
    majorant = BOTH.majorant()
    assert W**2 @ majorant.variance >= BOTH.of(W).variance
    rest = BOTH.remainder(W, lambda sums: sums)
    assert rest == pytest.approx(ONE.remainder(W, lambda sums: sums) + TWO.remainder(W, lambda sums: sums))
    with pytest.raises(NotImplementedError, match="negative"):
        BOTH.largest_spread()


def test_the_bound_of_absolute_sums_is_above_them_and_grows_with_the_level():
    low, high = (BOTH.absolute_sum_bound(BOTH.tail_bound(tail)) for tail in (0.2, 0.01))
    assert low < high
    assert high > np.abs(BOTH.total).sum() * 0.9
    assert BOTH.numbers_per_sum == 1
    assert BOTH.factor == 1
    assert not BOTH.is_central


def test_one_sample_of_clusters_is_itself():
    own = JointMoments(ClusterSums(CELL, X, np.arange(40) // 4, 6))
    alone = MomentsOfSamples([own], own.n, own.tail_bound)
    assert alone.of(W) == pytest.approx(own.of(W))
    assert alone.is_central
    assert alone.factor == own.factor
    assert np.allclose(alone.by_unit(), own.by_unit())
    assert alone.absolute_sum_bound(alone.tail_bound(0.025)) == own.absolute_sum_bound(own.tail_bound(0.025))
