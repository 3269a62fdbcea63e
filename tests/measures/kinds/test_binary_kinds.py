"""Seminorms are seminorms, and their witnesses attain the value."""

from dataclasses import dataclass

import numpy as np
import pytest
from measure_claims import (
    BOUND,
    EDGES,
    rows,
)

import calibstat as cs
from calibstat.data.retired_words import RETIRED_MEMBERS
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


# --- the name of an upper bound before --------------------------------------------------------------------------------


class Total(Seminorm):
    """The absolute sum of all residuals, whose bound is that of one sum with either sign."""

    def norm(self, value, residual):
        return abs(residual.sum())

    def witness(self, value, residual):
        return np.full(value.size, np.sign(residual.sum()))

    def upper_bound(self, value, moments, score):
        total, variance, third, _ = moments.of(np.sign(moments.total.sum()) * np.ones(value.size))
        return total + float(score.reach(variance, third))


@pytest.mark.parametrize(("old", "new"), RETIRED_MEMBERS.items())
def test_a_name_of_before_is_refused_and_the_present_one_written_out(old, new):
    with pytest.raises(TypeError, match=f"expected {new} in the measure class Own, found {old}, which is gone"):
        type("Own", (Total,), {old: getattr(Total, new)})


def test_an_option_may_have_a_name_of_before():
    own = type("Own", (Total,), {"held": 3, "__annotations__": {"held": int}})
    assert dataclass(frozen=True, eq=False)(own)(held=2).held == 2
