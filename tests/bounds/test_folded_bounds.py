"""Sums of absolute values: their bias and upper bounds against quadrature, grids, loops and all signs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likely_sums import by_grid, step_of_grid
from scipy import integrate, stats

from calibstat.bounds import folded_bounds
from calibstat.bounds.folded_bounds import AbsoluteSums
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.tail_bound import TailBound
from calibstat.bounds.unit_sums import ClusterSums

SCORE = TailBound(1.96)


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0, 3.0])
def test_folded_bias(t):
    mean, _ = integrate.quad(lambda z: abs(z + t) * stats.norm.pdf(z), -12, 12, points=[-t])
    assert folded_bounds.folded_bias(np.array([t]))[0] == pytest.approx(mean - t, abs=1e-9)


def test_largest_bias_by_hand():
    # one gap of at most one spread may be zero in truth, and then its bias is E|Z| = sqrt(2 / pi) spreads
    assert folded_bounds.largest_bias(np.array([0.03]), np.array([0.05])) == pytest.approx(0.05 * np.sqrt(2 / np.pi))
    assert folded_bounds.largest_bias(np.array([0.03]), np.array([0.0])) == 0


def test_last_below():
    assert folded_bounds.last_below(lambda x: x * x, 2.0, 4.0) == pytest.approx(np.sqrt(2), abs=1e-9)
    assert folded_bounds.last_below(lambda x: x, 9.0, 4.0) == 4.0
    assert folded_bounds.last_below(lambda x: x + 1, 0.0, 4.0) == 0.0
    # (x - 1)**2 is 0.25 at 0.5 and at 1.5, and above it below 0.5
    assert folded_bounds.last_below(lambda x: (x - 1) ** 2, 0.25, 4.0) == pytest.approx(1.5, abs=1e-9)


# --- independent rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("correlated", [False, True])
def test_inversion_by_grid(seed, correlated):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(6, 9)) * random.uniform(0.2, 2, 6)[:, None]
    covariance = factor @ factor.T
    first = random.normal(size=6) * random.choice([0.3, 1, 3], 6) * np.sqrt(np.diag(covariance))
    folded = np.diag(covariance) > 1
    rate, given = 0.3, ((covariance, 40.0) if correlated else ())
    signed = (covariance, np.sign(first), 40.0) if correlated else ()
    exact = by_grid(first, np.diag(covariance), folded, 1.96, SCORE.k, rate, *given)
    found = AbsoluteSums(first, np.diag(covariance), folded, *signed).high(SCORE, rate)
    assert found == pytest.approx(exact, abs=step_of_grid(first, np.diag(covariance)))


def test_covariance_of_two_centred_absolute_values():
    """Of correlation r it is 2 / pi (sqrt(1 - r**2) + r asin r - 1), about r**2 / pi (Nabeya 1951)."""
    r = 0.2
    sums = AbsoluteSums(
        np.array([0.5, -0.5]), np.ones(2), np.full(2, True), np.array([[1, r], [r, 1]]), np.array([1.0, -1.0])
    )
    found = sums._moments(np.zeros((1, 2)))[1][0] - 2 * (1 - 2 / np.pi)
    assert found / 2 == pytest.approx(2 / np.pi * (np.sqrt(1 - r * r) + r * np.arcsin(r) - 1), rel=0.01)


def test_without_folded_sums_it_is_the_score_bound():
    first, second = np.array([2.0, -3.0]), np.array([0.5, 0.25])
    sums = AbsoluteSums(first, second, np.full(2, False))
    assert sums.high(SCORE, 0.4) == pytest.approx(5 + SCORE.widen(1.96 * np.sqrt(0.75), 0.4))
    assert AbsoluteSums(first, np.zeros(2), np.full(2, False)).high(SCORE, 0.0) == pytest.approx(5)


def test_far_from_zero_it_is_the_bound_of_the_sum():
    """All sums keep their signs: z standard errors more than observed, spread over sums whose caps allow it."""
    first, variance = np.array([1000.0, -1100.0, 900.0]), np.array([100.0, 121.0, 81.0])
    sums = AbsoluteSums(first, variance, np.full(3, True))
    assert sums.high(SCORE, 0.0) == pytest.approx(3000 + 1.96 * np.sqrt(302), rel=1e-6)


# --- clusters --------------------------------------------------------------------------------------------------------


def clustered(seed, cells, clusters):
    random = np.random.default_rng(seed)
    unit = np.sort(np.append(np.arange(clusters), random.integers(clusters, size=5 * clusters)))
    cell = random.integers(cells, size=unit.size)
    common = random.normal(size=clusters)[unit] + random.normal(size=cells)[cell]
    return JointMoments(ClusterSums(cell, np.tanh(common + random.normal(size=unit.size)), unit, cells))


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(3, 20))
def test_no_signs_have_a_larger_bound(seed, cells, clusters):
    moments = clustered(seed, cells, clusters)
    first, covariance = moments.total, moments.covariance()
    signs = np.array(list(itertools.product([-1, 1], repeat=cells)))
    best = max(w @ first + 2 * np.sqrt(max(w @ covariance @ w, 0)) for w in signs)
    found = folded_bounds.largest_excess(first, np.where(first < 0, -1.0, 1.0), covariance, 2.0)
    assert np.abs(first).sum() + found >= best - 1e-9
    assert found <= 2 * np.sqrt(np.abs(covariance).sum()) + 1e-9


def test_the_excess_where_signs_are_certain():
    """Of large sums no sign changes: z standard errors, but for the grid of nine l, whose steps are a root of 2."""
    first, covariance = np.array([100.0, -200.0]), np.array([[4.0, 1.0], [1.0, 9.0]])
    exact = 1.96 * np.sqrt(4 + 9 - 2 * 1)
    found = folded_bounds.largest_excess(first, np.sign(first), covariance, 1.96)
    # (l q + 1 / (4 l)) / sqrt(q) at a factor 2**(1/4) from the best l
    assert exact <= found <= exact * (2**0.25 + 2**-0.25) / 2 + 1e-12
    assert folded_bounds.largest_excess(first, np.sign(first), np.zeros((2, 2)), 1.96) == 0


def test_a_gap_that_is_far_out_has_no_bias():
    """Also where its square is no number."""
    assert folded_bounds.folded_bias(np.array([1e200])).item() == 0
    assert folded_bounds.largest_bias(np.array([1.0]), np.array([1e-200])) == 0
