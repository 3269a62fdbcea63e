"""The two worlds behind rows, whose distances are the lower and the upper one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibstat import estimate
from calibstat.generators import worlds
from calibstat.generators.two_worlds import _transport

ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from([0, 1e-10, 0.25, 0.3, 0.5, 0.75, 1])), min_size=1, max_size=8)


@pytest.mark.parametrize("a", [0.01, 0.1, 0.25, 0.4, 0.5])
def test_worlds_of_lemma_4_5(a):
    """Outcomes half and half at 1/2 - a and 1/2 + a: the distances are 2 a² / (1 + 2 a) and a."""
    near, far = worlds([0, 1, 0, 1], [0.5 - a, 0.5 - a, 0.5 + a, 0.5 + a])
    assert near.distance() == pytest.approx(2 * a**2 / (1 + 2 * a), abs=1e-9)
    assert far.distance() == pytest.approx(a, abs=1e-12)


def test_world_that_moves_to_a_place_between():
    """Outcome 1 at .3, and 0 at .7, half of the rows each. A calibrated law that takes both at u costs |u - .3| / 2 +
    |.7 - u| / 2 = .2 at u = 1/2 alone. To part with outcomes costs more: .7 for a row at 1 or 0."""
    near, far = worlds([1, 0], [0.3, 0.7])
    assert near.distance() == pytest.approx(0.2, abs=1e-9)
    assert far.distance() == pytest.approx(0.2, abs=1e-12)


@settings(max_examples=12)
@given(ROWS)
def test_worlds_have_the_law_of_the_rows(rows):
    y, p = np.array(rows, float).T
    near, far = worlds(y.astype(int), p)
    for world in (near, far):
        weight, chance, prediction = (np.array(column) for column in world._columns())
        assert sorted(set(prediction)) == sorted(set(p))
        for v in set(p):
            at = prediction == v
            assert weight[at].sum() == pytest.approx(np.mean(p == v), abs=1e-9)
            assert weight[at] @ chance[at] == pytest.approx(np.mean(y * (p == v)), abs=1e-9)
    assert far.distance() == pytest.approx(estimate(y, p, measure="upper_distance"), abs=1e-12)
    if len(near.chance) <= 9:
        lower = estimate(y, p, measure="lower_distance", grid=200)
        assert lower - 0.5 / 200**2 - 2e-9 <= near.distance() <= lower + 2e-9


def test_wrong_rows():
    with pytest.raises(ValueError, match="expected"):
        worlds([0, 2], [0.5, 0.5])


def test_transport_keeps_order_and_masses():
    found = _transport(np.array([0.2, 0.3]), np.array([0.1, 0.25, 0.15]))
    assert found == pytest.approx(np.array([[0.1, 0.1, 0], [0, 0.15, 0.15]]))
    assert not _transport(np.zeros(2), np.array([0.5, 0])).any()
