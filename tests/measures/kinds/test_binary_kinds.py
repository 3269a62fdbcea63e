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


def test_a_bound_of_the_name_before_works_with_a_warning():
    """Of the class statement itself, so that its author sees it, and of no class that is derived from it."""
    with pytest.warns(
        DeprecationWarning, match="expected `upper_bound` of measure class Old, found `highest`"
    ) as found:

        class Old(Seminorm):
            norm, witness, highest = Total.norm, Total.witness, Total.upper_bound

    assert [warning.filename for warning in found] == [__file__]

    class Derived(Old):
        pass

    sample = cs.Sample.from_rows(*rows(1))
    expected = Total().interval(sample).high(0.025)
    assert expected < Seminorm.upper_bound(Total(), sample.value, *bounded(sample)) / sample.n
    for kind in (Old, Derived):
        assert kind().interval(sample).high(0.025) == expected


def bounded(sample):
    moments = Total().interval(sample).table.moments
    return moments, moments.score(0.025)


def test_a_measure_with_both_names_takes_the_new_one():
    class Both(Total):
        upper_bound = Total.upper_bound

        def highest(self, value, moments, score):
            raise AssertionError

    sample = cs.Sample.from_rows(*rows(1))
    assert Both().interval(sample).high(0.025) == Total().interval(sample).high(0.025)


OLD_NAMES = [
    ("makes_cells", "has_cells_of_data"),
    ("given", "condition"),
    ("look", "diagnose"),
    ("held", "with_fixed_cells"),
]
TOTAL = Total()


@pytest.mark.parametrize(("old", "new"), [*OLD_NAMES, ("highest", "upper_bound")])
def test_what_measures_have_can_be_asked_for_by_its_name_of_before(old, new):
    with pytest.warns(DeprecationWarning, match=f"expected `{new}` of measure class Total, found `{old}`"):
        assert getattr(TOTAL, old) == getattr(TOTAL, new)
