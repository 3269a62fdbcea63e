"""Moments of sums of units that add in several cells, clusters and classes, against a dense matrix."""

import itertools

import numpy as np
import pytest
from unit_examples import ROWS, UNITS, clusters, matrix, slow

from calibstat.bounds import joint_moments
from calibstat.bounds.joint_moments import JointMoments, largest_eigenpair
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.skewness import skewed_signs

SPARE = 1e-12


@pytest.fixture(params=UNITS)
def sums(request):
    return UNITS[request.param]()


def some_weights(cells, number=20):
    return np.random.default_rng(1).uniform(-1, 1, (number, cells))


def left(sums):
    """What each unit adds in each cell, less what its number of rows lets expect."""
    x = matrix(sums)
    return x - np.outer(sums.size, x.sum(axis=0)) / sums.size.sum()


def test_weighted_sums(sums):
    moments = JointMoments(sums)
    for weights in some_weights(sums.cells):
        found, expected = moments.of(weights), slow(sums, weights)
        assert found[:3] == pytest.approx(expected, abs=SPARE)
        assert moments.central_third(found) == pytest.approx(((left(sums) @ weights) ** 3).sum(), abs=SPARE)


def test_first_cells(sums):
    found = np.array(JointMoments(sums).prefixes())
    for j in range(sums.cells + 1):
        expected = slow(sums, (np.arange(sums.cells) < j).astype(float))
        assert found[:3, j] == pytest.approx(expected, abs=SPARE)


def test_differences(sums):
    moments, ends = JointMoments(sums), np.array([0, 1, 2, sums.cells])
    found = np.array(moments.between(ends))
    for (i, a), (j, b) in itertools.product(enumerate(ends), repeat=2):
        weights = (np.arange(sums.cells) < b).astype(float) - (np.arange(sums.cells) < a)
        assert found[:3, i, j] == pytest.approx(slow(sums, weights), abs=SPARE)
    assert moments.numbers_per_sum == sums.size.size


def test_variances_and_covariance(sums):
    moments, factor = JointMoments(sums), JointMoments(sums).factor
    covariance = factor * left(sums).T @ left(sums)
    assert moments.covariance() == pytest.approx(covariance, abs=SPARE)
    assert moments.variances() == pytest.approx(np.diag(covariance), abs=SPARE)


def test_the_largest_moments(sums):
    moments, size = JointMoments(sums), matrix(sums, abs).sum(axis=1)
    assert moments.largest() == pytest.approx((moments.factor * (size**2).sum(), (size**3).sum()), abs=SPARE)
    for weights in np.sign(some_weights(sums.cells)):
        assert slow(sums, weights)[1] <= moments.largest()[0] + SPARE


def test_moments_that_bound_those_of_any_weights(sums):
    moments, absolute = JointMoments(sums), matrix(sums, abs)
    total, second, (third,) = moments.majorant()
    largest = absolute.sum(axis=1)
    assert total == pytest.approx(matrix(sums).sum(axis=0), abs=SPARE)
    assert second == pytest.approx(moments.factor * absolute.T @ largest, abs=SPARE)
    assert third == pytest.approx(absolute.T @ largest**2, abs=SPARE)
    for weights in (*some_weights(sums.cells), *np.sign(some_weights(sums.cells))):
        by_unit = matrix(sums) @ weights
        assert slow(sums, weights)[1] <= weights**2 @ second + SPARE
        assert (by_unit**3).sum() <= max(weights**3 @ third, np.abs(weights) ** 3 @ third) + SPARE


def test_the_remainder_of_the_unit_ball(sums):
    """The largest eigenvalue of Y K Y' without Y w (Y w)', Y what units add less what is expected of them."""
    moments, place = JointMoments(sums), np.linspace(0, 1, sums.cells)
    kernel = np.exp(-np.abs(place[:, None] - place))
    witness = kernel @ moments.total / np.sqrt(moments.total @ kernel @ moments.total)
    along, y = left(sums) @ witness, left(sums)
    values = np.linalg.eigvalsh(y @ kernel @ y.T - np.outer(along, along))
    found = moments.remainder(witness, lambda of: kernel @ of)
    assert found == pytest.approx(moments.factor * values[-1], abs=SPARE)


def test_powers_are_those_of_the_sums(sums):
    moments = JointMoments(sums)
    assert np.array([moments.total, moments.square, moments.cube]).tolist() == sums.powers.tolist()
    assert moments.n == pytest.approx(sums.size.sum())
    assert moments.tail_bound(0.025) == sums.tail_bound(0.025)


# --- units that add in one cell are told by powers --------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "rows with weights"])
def test_clusters_of_one_row_are_rows(weighted):
    """But for the factor n / (n - 1) of variances, and third moments about 0 of rows without weights."""
    sums = clusters(weighted, alone=True)
    weight = sums.sample_weight
    residual = sums.contribution if weight is None else sums.contribution / weight
    rows, alone = SeparableMoments.of_rows(sums.cell, residual, 6, weight), JointMoments(sums)
    factor = ROWS / (ROWS - 1)

    def compare(found, of_rows):
        total, variance, third = (np.asarray(part) for part in found[:3])
        mean = np.asarray(of_rows.total) / rows.n
        central = of_rows.third if weighted else of_rows.third - 3 * mean * of_rows.variance - rows.n * mean**3
        np.testing.assert_allclose(total, of_rows.total, rtol=0, atol=SPARE * sums.size.max())
        np.testing.assert_allclose(variance / factor, of_rows.variance, rtol=SPARE, atol=SPARE)
        np.testing.assert_allclose(third, central, rtol=SPARE, atol=SPARE)

    for weights in some_weights(6):
        compare(alone.of(weights), rows.of(weights))
        assert alone.central_third(alone.of(weights)) == pytest.approx(
            rows.central_third(rows.of(weights)), rel=SPARE, abs=SPARE
        )
    compare(alone.prefixes(), rows.prefixes())
    ends = np.array([0, 1, 3, 4, 6])
    compare(alone.between(ends), rows.between(ends))
    np.testing.assert_allclose(alone.variances() / factor, rows.variances(), rtol=SPARE, atol=SPARE)
    np.testing.assert_allclose(alone.covariance() / factor, rows.covariance(), rtol=SPARE, atol=SPARE)
    for name in ("total", "square", "cube", "n"):
        np.testing.assert_allclose(getattr(alone, name), getattr(rows, name), rtol=SPARE, atol=SPARE)
    assert alone.largest()[0] / factor == pytest.approx(rows.largest()[0], rel=SPARE)
    assert alone.largest()[1] <= rows.largest()[1] + SPARE  # of rows without weights a bound: cubes are below squares
    assert (rows.is_central, alone.is_central) == (weighted, True)


# --- the bound of the sum of absolute means ---------------------------------------------------------------------------


def check_largest_bound_of_any_signs(moments, tail_bound, exact):
    sign = np.where(moments.total < 0, -1.0, 1.0)
    skewed = skewed_signs(sign, moments.total, moments.variances(), moments.cube, moments.square, tail_bound.z)
    rate = max(tail_bound.rate(sums.variance, sums.up) for sums in map(moments.of, (sign, skewed)))
    worst = tail_bound.widen(tail_bound.z * np.sqrt(moments.largest()[0]), rate)
    found = moments.absolute_sum_bound(tail_bound)
    assert found == pytest.approx(np.abs(moments.total).sum() + worst)
    assert found >= exact


@pytest.mark.parametrize("name", UNITS)
def test_too_many_sums_for_a_matrix(name, monkeypatch):
    """Then it is T + R, the largest bound of any signs: for none is it larger."""
    moments = JointMoments(UNITS[name]())
    tail_bound = moments.tail_bound(0.025)
    exact = moments.absolute_sum_bound(tail_bound)
    monkeypatch.setattr(joint_moments, "MANY_SUMS", 0)
    check_largest_bound_of_any_signs(moments, tail_bound, exact)


def test_many_sums_of_many_clusters_take_the_largest_variance(monkeypatch):
    """The matrix of all clusters in all cells may be too large too."""
    moments = JointMoments(clusters())
    tail_bound = moments.tail_bound(0.025)
    exact = moments.absolute_sum_bound(tail_bound)
    monkeypatch.setattr(joint_moments, "SUM_BUDGET", 1)
    check_largest_bound_of_any_signs(moments, tail_bound, exact)


@pytest.mark.parametrize("size", [10, 60])
def test_largest_eigenpair(size):
    """By the matrix if it is small, by products if not."""
    root = np.random.default_rng(size).normal(size=(size, size))
    for symmetric in (root @ root.T, -root @ root.T, root + root.T, np.zeros((size, size))):
        expected = max(np.linalg.eigvalsh(symmetric)[-1], 0.0)
        found = largest_eigenpair(lambda share, symmetric=symmetric: symmetric @ share, size)[0]
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-9)
