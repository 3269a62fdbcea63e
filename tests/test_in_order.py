"""Values within 1e-9 of their neighbour are equal, and stand as they were given: by hand, and against chains."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from calibstat.in_order import first_largest, first_smallest, is_larger, smallest_first, without_rounding

INF, NAN = np.inf, np.nan
NEAR = 1 + 5e-10


def test_equal_values_stand_as_they_were_given():
    assert smallest_first([2.0, NEAR, 1.0, 0.5]).tolist() == [3, 1, 2, 0]
    assert smallest_first([1.0, NEAR]).tolist() == [0, 1]
    assert smallest_first([NEAR, 1.0]).tolist() == [0, 1]
    assert smallest_first([1 + 2e-9, 1.0]).tolist() == [1, 0]  # planted: these are not equal
    assert smallest_first([]).tolist() == []


def test_neighbours_make_chains():
    """The first and the last are 1.2e-9 apart, and each is within 1e-9 of the one between them."""
    assert smallest_first([1 + 1.2e-9, 1 + 6e-10, 1.0]).tolist() == [0, 1, 2]
    assert first_largest([1.0, 1 + 6e-10, 1 + 1.2e-9]) == 0
    assert first_largest([1.0, 1 + 1.2e-9]) == 1


def test_the_next_key_decides_among_equal_ones():
    assert smallest_first([1.0, NEAR, 0.5], [3.0, 2.0, 9.0]).tolist() == [2, 1, 0]


def test_infinite_values_and_gaps():
    assert smallest_first([INF, 1.0, -INF, NAN, INF, -INF]).tolist() == [2, 5, 1, 0, 4, 3]
    assert first_largest([1.0, INF, INF]) == 1
    assert first_largest([-INF, -INF]) == 0
    assert first_smallest([INF, 3.0, -INF]) == 2
    assert first_largest([1.0, NAN, 2.0]) == 1


def test_the_first_of_each_row():
    assert first_largest([[1.0, NEAR, 0.0], [0.0, 2.0, 1.0]]).tolist() == [0, 1]
    assert first_smallest([NEAR, 1.0, 2.0]) == 0


@pytest.mark.parametrize(("one", "other", "wanted"), [(2, 1, True), (NEAR, 1, False), (1, 2, False), (INF, 1, True)])
def test_larger_by_more_than_rounding(one, other, wanted):
    assert is_larger(one, other) == wanted
    assert not is_larger(INF, INF)
    assert is_larger(1.0, -INF)


def test_sums_of_rounding_are_zero():
    assert without_rounding([1e-17, -3e-10, 2e-9, INF]).tolist() == [0, 0, 2e-9, INF]
    assert without_rounding([1e-3, 2e-3], 1e6).tolist() == [0, 2e-3]


def equal(values):
    """The sets of places of equal values, by chains of pairs."""
    groups = [{i} for i in range(len(values))]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if abs(a - b) <= 1e-9 * max(abs(a), abs(b)):
                one, other = (next(g for g in groups if k in g) for k in (i, j))
                if one is not other:
                    one |= other
                    groups.remove(other)
    return groups


VALUES = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 1 + 7e-10, 1 + 1.4e-9, -1 - 7e-10, 3e-300]), max_size=7)


@given(VALUES.filter(len))
def test_against_chains_of_pairs(values):
    groups = sorted(equal(values), key=lambda group: min(values[i] for i in group))
    assert smallest_first(values).tolist() == [i for group in groups for i in sorted(group)]
    assert first_largest(values) == min(groups[-1])
    assert first_smallest(values) == min(groups[0])


@given(
    hnp.arrays(float, 6, elements=st.integers(0, 4).map(float)),
    hnp.arrays(float, 6, elements=st.floats(-1, 1)),
)
def test_no_order_hangs_on_the_last_bits(values, u):
    moved = values * (1 + 1e-13 * u)
    assert smallest_first(moved).tolist() == np.argsort(values, kind="stable").tolist()
    assert first_largest(moved) == values.argmax()
