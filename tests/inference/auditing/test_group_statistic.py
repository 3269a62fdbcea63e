"""Roots of groups: by their deviances, as solved tilt by tilt, and infinite where a label was impossible."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnibus_oracle import root_at
from row_strategies import PREDICTION
from scipy.special import xlogy

import calibstat as cs
from calibstat.inference.auditing.group_statistic import CELLS, GroupRoots, Strata

RNG = np.random.default_rng(8)
SPREAD = np.sort(RNG.random(400))


def roots_of(p, masks, labels, shape=False):
    p = np.asarray(p, float)
    strata = Strata.of(p, np.ones(p.size), 8 if shape else 1)
    positives = np.array(
        [
            [np.bincount(strata.stratum, mask * label, strata.size) for mask in np.atleast_2d(masks)]
            for label in np.atleast_2d(labels)
        ]
    )
    return GroupRoots.of(p, np.ones(p.size), strata, np.atleast_2d(masks), shape, None)(positives)


def test_root_of_equal_predictions_is_that_of_the_deviance():
    """n rows with prediction v and a events: sign(a - nv) sqrt(2 n KL(a / n, v))."""
    n, v = 50, 0.3
    for a in (5, 14, 15, 25, 40):
        terms = [k * math.log(k / e) for k, e in ((a, n * v), (n - a, n - n * v))]
        exact = math.copysign(math.sqrt(2 * max(sum(terms), 0)), a - n * v)
        assert abs(roots_of(np.full(n, v), np.ones(n, bool), np.arange(n) < a)[0, 0, 0] - exact) < 0.03


@pytest.mark.parametrize(("n", "off"), [(100, 1e-9), (400, 2e-3)])
def test_root_as_solved(n, off):
    """Of a group whose predictions differ; above 128 of them they count as equal in cells."""
    p, mask = SPREAD[:n], RNG.random(n) < 0.4
    assert (n > CELLS) == (off > 1e-6)
    v = p[mask]
    basis = np.full(v.size, 1 / math.sqrt(v @ (1 - v)))
    for label in RNG.random((5, n)) < 0.5:
        slow = root_at((label[mask] - v) @ basis, v, np.ones(v.size), basis)
        assert abs(roots_of(p, mask, label)[0, 0, 0] - slow) < off


def test_slope_as_solved():
    """Strata are eighths of the information; the basis is the mean logit there, made orthogonal to 1 in the group."""
    n = 100
    p, mask = SPREAD[:n], RNG.random(n) < 0.5
    information = p * (1 - p)
    stratum = np.floor(8 * (np.cumsum(information) - information / 2) / information.sum()).astype(int)
    logit = np.log(p / (1 - p))
    mean = np.array([logit[stratum == s].mean() for s in range(8)])[stratum][mask]
    v, w = p[mask], information[mask]
    basis = mean - (w @ mean) / w.sum()
    basis /= math.sqrt(w @ basis**2)
    label = RNG.random((5, n)) < 0.5
    found = roots_of(p, mask, label, shape=True)
    for b in range(5):
        slow = root_at((label[b][mask] - v) @ basis, v, np.ones(v.size), basis)
        assert abs(found[b, 0, 1] - slow) < 1e-9
    assert np.allclose(found[..., 0], roots_of(p, mask, label)[..., 0])


def test_sign_of_the_slope():
    """Below 0 for labels that follow predictions too little: over-confident."""
    everyone = np.ones(400, bool)
    labels = np.stack([SPREAD > 0.5, SPREAD < 0.5])
    found = roots_of(SPREAD, everyone, labels, shape=True)[:, 0, 1]
    assert found[0] > 3
    assert found[1] < -3


def test_no_slope_where_predictions_are_equal():
    found = roots_of(np.full(60, 0.3), np.arange(60) < 40, np.arange(60) % 2, shape=True)
    assert found[0, 0, 1] == 0
    assert found[0, 0, 0] > 2


@pytest.mark.parametrize("shape", [False, True])
def test_labels_that_cannot_be(shape):
    """Rows predicted 0, .5 and 1; a label that is forbidden makes its groups infinite, and no others."""
    p, masks = [0, 0.5, 1], np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], bool)
    found = roots_of(p, masks, [[0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0]], shape)[..., 0]
    up = roots_of([0.5], [True], [1])[0, 0, 0]
    inf = math.inf
    assert np.allclose(found, [[up, 0, up, 0], [inf, inf, up, 0], [-inf, 0, -up, -inf], [-inf, inf, -up, -inf]])


@given(st.lists(PREDICTION, min_size=1, max_size=300), st.sampled_from([1, 8]))
def test_strata_and_cells(p, inner):
    p = np.sort(np.array(p) + 0.0)
    found = Strata.of(p, np.ones(p.size), inner)
    assert np.all(np.diff(found.stratum) >= 0)
    assert np.all(np.isin(np.diff(found.cell), (0, 1)))
    assert found.cell[0] == 0
    assert np.array_equal(found.stratum == 0, p == 0)
    assert np.array_equal(found.stratum == inner + 1, p == 1)
    same = np.diff(found.cell) == 0
    assert np.all(np.diff(found.stratum)[same] == 0)  # a cell lies in one stratum
    assert np.all(np.diff(found.cell)[np.diff(p) == 0] == 0)  # equal predictions lie in one cell
    if np.unique(p).size <= CELLS:
        assert found.cell[-1] + 1 == np.unique(p).size


def test_many_predictions_lie_in_few_cells():
    found = Strata.of(np.sort(RNG.random(5000)), np.ones(5000), 8)
    assert CELLS <= found.cell[-1] + 1 <= CELLS + 8
    assert np.bincount(found.cell).max() < 5000 / CELLS * 4


@pytest.mark.parametrize("events", [1, 2, 20, 40])
@pytest.mark.parametrize(
    ("chance", "share"),
    [(0.3, 0.98), (0.03, 0.99), (1e-3, 0.98), (1e-6, 0.9), (1e-9, 0.7), (1e-17, 0.7), (1e-100, 0.1)],
)
def test_roots_of_rare_predictions_are_not_lost_between_tilts(chance, share, events):
    """Of k events in n rows of chance v: the root of 2 (k log(k / (n v)) + (n - k) log((n - k) / (n (1 - v)))).

    Without smaller tilts the root of one event of chance 1e-9 was 1.0, and not 5.7; it is read between tilts, and so
    somewhat too small.
    """
    n = 40
    p = np.append(np.full(n, chance), np.full(60, 0.5))
    y = np.append(np.arange(n) < events, np.tile([0, 1], 30))
    found = cs.audit(y, p, {"group": np.arange(100) < n}, n_resamples=19, rng=1).root[1]
    ratio = xlogy(events, events / n / chance) + xlogy(n - events, (n - events) / n) - (n - events) * np.log1p(-chance)
    root = np.sign(events - n * chance) * np.sqrt(2 * ratio)
    assert share <= found / root <= 1.001
