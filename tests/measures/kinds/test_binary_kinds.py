"""Seminorms are seminorms, and their witnesses attain the value."""

import numpy as np
import pytest
from measure_claims import (
    BOUND,
    EDGES,
    rows,
)

import calibstat as cs
from calibstat.measures import Seminorm

SEMINORMS = [bound for bound in BOUND if isinstance(bound, Seminorm)]


@pytest.mark.parametrize("bound", SEMINORMS, ids=str)
def test_seminorm(bound):
    value = np.sort(np.random.default_rng(0).random(50))
    a, b = np.random.default_rng(1).normal(0, 0.02, (2, 50))
    norm = bound.norm
    assert norm(value, a + b) <= norm(value, a) + norm(value, b) + 1e-15
    assert norm(value, -3 * a) == pytest.approx(3 * norm(value, a) if bound.name != "ks" else norm(value, 3 * a))
    assert norm(value, np.zeros(50)) == 0


@pytest.mark.parametrize("bound", SEMINORMS, ids=str)
def test_witness_attains_the_value(bound):
    for sample in [cs.Sample.from_rows(*rows(seed, levels=101)) for seed in range(3)] + list(EDGES.values()):
        witness = bound.detail(*sample.arrays)["witness"]
        assert witness.shape == sample.value.shape
        assert np.abs(witness).max() <= 1
        assert sample.residual @ witness == pytest.approx(bound.norm(sample.value, sample.residual), abs=1e-12)
