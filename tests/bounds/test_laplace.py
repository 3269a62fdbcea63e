"""Sums over pairs with Laplace kernels, against the double sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.bounds.laplace import (
    LANES,
    laplace_decays,
    laplace_smoothed,
    laplace_smoothed_within,
    laplace_square,
    laplace_squares,
    signed_pairs,
    sum_over_pairs,
)

PREDICTIONS = st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-12, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=12)


def kernel(one, other, bandwidth):
    distance = np.abs(one[:, None] - one) + np.abs(other[:, None] - other)
    return np.exp(-distance / bandwidth)


@given(PREDICTIONS, st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.0029, 0.02, 0.2, 1.0]))
def test_sums_over_pairs(one, seed, bandwidth):
    """With ties, 0 and 1, on both sides of the bandwidth at which powers would overflow."""
    random = np.random.default_rng(seed)
    one, other = np.sort(one), random.choice(one, len(one))
    part = random.choice([-1.0, 0.25, 3.0], len(one))
    matrix = kernel(one, other, bandwidth)
    assert sum_over_pairs(part, one, other, bandwidth) == pytest.approx(part @ matrix @ part, rel=1e-12, abs=1e-12)
    alone = kernel(one, np.zeros(len(one)), bandwidth)
    assert laplace_smoothed(one, part, bandwidth) == pytest.approx(alone @ part, rel=1e-12, abs=1e-12)
    assert laplace_square(one, part, bandwidth) == pytest.approx(part @ alone @ part, rel=1e-12, abs=1e-12)


@given(PREDICTIONS, st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_squares_of_several_rows_are_those_of_each(value, rows, seed):
    value, residual = np.sort(value), np.random.default_rng(seed).normal(size=(rows, len(value)))
    found = laplace_squares(laplace_decays(value, 0.2), residual)
    assert found.tolist() == [laplace_square(value, row, 0.2) for row in residual]


@given(PREDICTIONS, st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.2, 1.0]))
def test_sums_within_units(value, seed, bandwidth):
    """Of the matrix of all pairs, the part of each unit: one that begins, one inside and one at the end, or fewer."""
    random = np.random.default_rng(seed)
    value, unit = np.array(value), np.sort(random.integers(0, 3, len(value)))
    value = value[np.lexsort((value, unit))]
    residual = random.choice([-1.0, 0.25, 3.0], value.size)
    matrix = kernel(value, np.zeros(value.size), bandwidth) * (unit[:, None] == unit)
    found = laplace_smoothed_within(unit, value, residual, bandwidth)
    assert found == pytest.approx(matrix @ residual, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("bandwidth", [0.0028, 0.003, 0.02, 1.0])
def test_sums_over_many_pairs(bandwidth):
    random = np.random.default_rng(1)
    one, other = np.sort(random.random(500)), random.random(500).round(2)
    part = random.normal(size=500)
    wanted = part @ kernel(one, other, bandwidth) @ part
    assert sum_over_pairs(part, one, other, bandwidth) == pytest.approx(wanted, rel=1e-12)


@given(PREDICTIONS, st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.02, 1.0]), st.sampled_from([1, 64, 65, 130]))
def test_sums_over_pairs_with_signs(value, seed, bandwidth, sets):
    """Rows whose signs are in another order than their predictions, and more sets than are added up together."""
    random = np.random.default_rng(seed)
    value = np.sort(value)
    part, place = random.normal(size=value.size), random.permutation(value.size)
    signs = random.integers(0, 2, (sets, value.size), dtype=np.uint8)
    matrix = np.tril(kernel(value, np.zeros(value.size), bandwidth), -1)
    signed = (2.0 * signs - 1)[:, place] * part
    wanted = np.einsum("bi,ij,bj->b", signed, matrix, signed)
    found = signed_pairs(value, part, place, np.packbits(signs, axis=1), bandwidth)
    assert LANES < 65
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
