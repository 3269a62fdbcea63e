"""Smooth components: orthonormal, with roots of likelihood ratios, and the largest sum of their squares."""

import math

import numpy as np
import omnibus_oracle
import pytest

from calibstat.measures.components import smooth_components
from calibstat.measures.components.smooth_components import (
    Components,
    interpolated,
    orthonormal,
    products,
    roots,
    standardised_sums,
)


def cells(seed, m=50):
    rng = np.random.default_rng(seed)
    value, count = np.sort(rng.random(m)), rng.integers(1, 20, m).astype(float)
    return (np.arange(m) + 0.5) / m, value, count


def test_orthonormal():
    time, value, count = cells(1)
    weight = count * value * (1 - value)
    functions = np.vstack([np.ones(50), time, 3 * time + 2, time**2])
    found = orthonormal(functions, weight)
    assert np.allclose(found.T @ (weight[:, None] * found), np.diag([1, 1, 0, 1]), atol=1e-10)
    assert not found[:, 2].any()  # of a function that others make up nothing is left
    assert np.allclose(found[:, 0], 1 / math.sqrt(weight.sum()))


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("entries", [1, 3, 4, 6, 9])
def test_products_are_summed_in_the_order_of_their_entries(rows, entries):
    rng = np.random.default_rng(entries)
    left, right = rng.normal(size=(rows, entries)), rng.normal(size=(entries, 3))
    expected = np.zeros((rows, 3))
    for j in range(entries):
        expected += left[:, j : j + 1] * right[j]
    assert np.array_equal(products(left, right), expected)


@pytest.mark.parametrize("size", [2, 3, 8, 61])
def test_roots_are_read_between_the_values_around(size):
    rng = np.random.default_rng(size)
    score = np.sort(rng.integers(0, 2 * size, (2, size)).astype(float), axis=1)  # some are equal
    root = np.cumsum(np.diff(score, prepend=0.0) * 0.5, axis=1)  # linear, so that either end of equal ones has it
    x = np.linspace(-1.0, 2.0 * size, 37)[:, None] + np.zeros((1, 2))
    # the root is half the value, and stays what it is beyond the ends
    assert interpolated(x, score, root) == pytest.approx(np.clip(x, score[:, 0], score[:, -1]) / 2)


def test_ties_leave_as_many_components():
    time, value, count = cells(2, m=5)
    found = Components.of(time, value, count)
    left = found.basis.any(axis=0)
    assert left.sum() == 5 < left.size
    assert not found.roots_of(np.ones((1, 5)))[0, ~left].any()


def test_number_of_components():
    """8 times the root of the information, from 16 to 64."""
    for information, size in ((0.25, 16), (4, 16), (9, 24), (2500, 64)):
        found = Components.of(np.array([0.25, 0.75]), np.array([0.5, 0.5]), np.full(2, 2.0 * information))
        assert found.basis.shape == (2, size)


@pytest.mark.parametrize("seed", [3, 4])
def test_roots(seed, monkeypatch):
    """As solved tilt by tilt."""
    _, value, count = cells(seed, m=20)
    basis = orthonormal(np.random.default_rng(seed).normal(size=(3, 20)), count * value * (1 - value))
    residual = np.random.default_rng(9).normal(size=20) * 3

    def off():
        score, root = roots(basis, value, count)
        table = Components(basis, score, root)
        found = table.roots_of(residual[None])[0]
        slow = [omnibus_oracle.root_at(residual @ b, value, count, b) for b in basis.T]
        return np.abs(found - slow).max()

    assert off() < 1e-9
    monkeypatch.setattr(smooth_components, "TILTS", smooth_components.TILTS * 1.5)
    assert off() > 1e-5  # other tilts make another table


def test_root_of_one_cell_is_that_of_its_deviance():
    """One cell of n rows with prediction v and a events: r = sign(a - nv) sqrt(2 n KL(a / n, v))."""
    n, v = 50.0, 0.3
    basis = np.array([[1 / math.sqrt(n * v * (1 - v))]])
    table = Components(basis, *roots(basis, np.array([v]), np.array([n])))
    for a in (5, 14, 25, 40):
        terms = [k * math.log(k / e) for k, e in ((a, n * v), (n - a, n - n * v))]
        exact = math.copysign(math.sqrt(2 * sum(terms)), a - n * v)
        assert abs(table.roots_of(np.array([[a - n * v]]))[0, 0] - exact) < 0.03


@pytest.mark.parametrize("tiny", [1e-10, 1e-17, 1e-29, 1e-300])
def test_roots_of_tiny_predictions(tiny):
    """Where 1 - (1 - v) is 0 and not v: weights of either sign, and tilts under which exponential functions are 0."""
    value, count = np.array([tiny, 0.3, 0.6]), np.ones(3)
    basis = np.array([[-1e3, 0.5, 1.0], [1e3, 0.5, 1.0]]).T.copy()
    score, root = roots(basis, value, count)
    assert np.isfinite(score).all()
    assert np.isfinite(root).all()
    assert np.all(np.diff(score, axis=1) >= -1e-9)


def test_standardised_sums():
    """Squares 9, 0, 0, 16: (9 - 2) / 2 = 3.5 for two, (25 - 4) / sqrt 8 = 7.42 for four; from 21 on .2 less."""
    sums = standardised_sums(np.array([[3.0, 0, 0, 4], [3, 0, 0, 0]]))
    found, size = sums.max(axis=1), 2 + sums.argmax(axis=1)
    assert np.allclose(found, [21 / math.sqrt(8), 3.5])
    assert size.tolist() == [4, 2]
    late = np.zeros((1, 30))
    late[0, 24] = 10
    assert np.allclose(standardised_sums(late).max(axis=1), (100 - 25) / math.sqrt(50) - 0.2)
