"""Norms of residuals of all classes: their largest quadratic functions, and honest intervals of their sums."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiclass_populations import POPULATIONS, PROB, WEIGHT, misses, most_misses
from vector_strategies import vectors

import calibstat as cs
from calibstat.bounds.tail_bound import TailBound
from calibstat.measures import AbsoluteSum, Euclidean, Largest
from calibstat.measures.canonical_ce import CanonicalCE

ROUND = {"l2": Euclidean(), "max": Largest()}


def of_dual_ball(norm, shape, rng):
    """Random weights on the sphere of the dual norm: of "l2" its own, of "max" the sum of absolute values."""
    w = rng.normal(size=shape) * rng.integers(0, 2, size=shape)
    size = np.abs(w).sum(-1) if isinstance(norm, Largest) else np.sqrt((w**2).sum(-1))
    return w / np.where(size > 0, size, 1)[..., None]


def residuals(prob, label):
    return np.eye(prob.shape[1])[label] - prob


# --- norms -----------------------------------------------------------------------------------------------------------


def test_values():
    residual = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]])
    assert Euclidean()(residual).tolist() == [5, 0]
    assert Largest()(residual).tolist() == [4, 0]
    assert AbsoluteSum(0.5)(residual).tolist() == [3.5, 0]


@pytest.mark.parametrize("norm", ROUND.values())
def test_the_witness_attains_the_norm(norm):
    residual = np.random.default_rng(0).normal(size=(20, 4))
    residual[0] = 0
    assert (norm.witness(residual) * residual).sum(-1) == pytest.approx(norm(residual))


@pytest.mark.parametrize("norm", ROUND.values())
@pytest.mark.parametrize("seed", range(4))
def test_no_weights_exceed_the_largest_quadratic_function(norm, seed):
    rng = np.random.default_rng(seed)
    total, root = rng.normal(size=(5, 4)), rng.normal(size=(5, 4, 4)) * (seed > 0)
    total[0] = 0
    second, slope = root @ root.transpose(0, 2, 1), np.array([0.0, 0.3, 2.0])
    found = norm.quadratic_bound(total, second, slope)
    best = np.zeros(found.shape)
    for s, by_slope in enumerate(slope):
        w = of_dual_ball(norm, (5000, 5, 4), rng)
        for _ in range(300):  # each step goes to the best weights for the tangent, which does not lower the value
            value = (w * total).sum(-1) + by_slope * np.einsum("bck,ckj,bcj->bc", w, second, w)
            assert (value <= found[s] + 1e-9 * (1 + np.abs(found[s]))).all()
            w = norm.witness(total + 2 * by_slope * np.einsum("ckj,bcj->bck", second, w))[:50]
        best[s] = value.max(axis=0)
    assert found == pytest.approx(best, rel=1e-4, abs=1e-12)  # and some weights attain it


# --- the high end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ROUND)
@given(vectors(), st.integers(0, 10))
def test_the_high_end_is_above_the_bound_of_any_weights(distance, drawn, seed):
    (prob, label), norm = drawn, ROUND[distance]
    n, tail_bound = label.size, TailBound.of_rows(0.025).times(norm.largest)
    measure = CanonicalCE(distance=distance, strategy="uniform", n_bins=None)
    cell, residual = measure.cells(prob), residuals(prob, label)
    interval = measure.interval(cs.Predictions.from_rows(label, prob))
    high, witness = interval.high(0.025), interval.by_row()  # of a cell whose sums are 0, along the widest weights
    total = np.array([residual[cell == c].sum(axis=0) for c in range(cell.max() + 1)])
    rate = tail_bound.rate(max((witness**2).sum() - witness.sum() ** 2 / n, 0.0), (witness**3).sum())
    for w in [norm.witness(total), *of_dual_ball(norm, (50, *total.shape), np.random.default_rng(seed))]:
        row = (w[cell] * residual).sum(axis=1)
        spread = np.sqrt(max((row**2).sum() - row.sum() ** 2 / n, 0.0))
        assert n * high >= row.sum() + tail_bound.widen(tail_bound.z * spread, rate) - 1e-9


@pytest.mark.parametrize(("distance", "size"), [("l2", np.sqrt(2)), ("max", 1)])
def test_no_event_leaves_room_for_some(distance, size):
    """Without variance the reach is rate * k, k = (2 z**2 + 4) / 3 = 3.894, and the rate the size of an event."""
    found = cs.confidence_interval(np.zeros(200, int), np.eye(3)[np.zeros(200, int)], measure="canonical_ce",
                                   distance=distance, rng=0)  # fmt: skip
    assert (found.low, found.high) == (0, pytest.approx(size * 3.894 / 200, rel=1e-3))


@given(vectors())
def test_ends_are_in_order_and_do_not_depend_on_the_order_of_classes(drawn):
    prob, label = drawn
    measure = CanonicalCE(distance="l2", strategy="uniform", n_bins=None)
    interval = measure.interval(cs.Predictions.from_rows(label, prob))
    turned = measure.interval(cs.Predictions.from_rows(prob.shape[1] - 1 - label, prob[:, ::-1]))
    assert interval.estimate <= interval.high(0.025) + 1e-12
    assert turned.high(0.025) == pytest.approx(interval.high(0.025))


# --- coverage --------------------------------------------------------------------------------------------------------


def truth(norm, chance):
    return float((WEIGHT * norm(chance - PROB)).sum())


FEW = [("l2", "calibrated"), ("l2", "rare"), ("max", "over-confident"), ("max", "rivals")]


@pytest.mark.parametrize(
    ("distance", "name", "runs"),
    [
        *((*of, 50) for of in FEW),
        *(pytest.param(*of, 200, marks=pytest.mark.slow) for of in product(ROUND, POPULATIONS)),
    ],
)
def test_intervals_cover(distance, name, runs):
    chance, settings = POPULATIONS[name], {"measure": CanonicalCE(distance=distance, strategy="uniform", n_bins=None)}
    true = truth(ROUND[distance], chance)
    assert misses(chance, true, runs, 150, **settings) <= most_misses(runs)


def test_percentile_intervals_do_not():
    measure = CanonicalCE(distance="l2", strategy="uniform", n_bins=None)
    assert misses(PROB, 0.0, 50, 150, method="percentile", measure=measure) > most_misses(50)


def test_other_distances_have_none():
    for distance in ("squared_euclidean", lambda label, prediction: 0.0):
        with pytest.raises(ValueError, match="no honest interval is known"):
            cs.confidence_interval([0, 1, 2], PROB[:3], measure="canonical_ce", distance=distance)


@pytest.mark.parametrize("distance", ROUND)
def test_the_value_of_one_and_of_several_sums(distance):
    """The sum of the norms of the cells, of whatever leading shape; norms of three times the residuals are three times
    as large."""
    prob, label = np.array([[0.5, 0.25, 0.25], [0.75, 0.25, 0.0], [0.25, 0.25, 0.5]]), np.array([0, 1, 2])
    data = cs.Predictions.from_rows(label, prob)
    interval = CanonicalCE(distance=distance, strategy="uniform", n_bins=None).interval(data)
    wanted = ROUND[distance](residuals(prob, label)).sum() / 3  # each row is a cell of its own
    assert interval.estimate == pytest.approx(wanted)
    assert interval.value(interval.theta) == pytest.approx(wanted)
    found = interval.value(np.array([[interval.theta, 3 * interval.theta]]))
    assert found.shape == (1, 2)
    assert found[0] == pytest.approx([wanted, 3 * wanted])


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_the_largest_norm_of_one_row(scale):
    """A residual of two classes, (1, -1)."""
    norm = AbsoluteSum(scale)
    assert norm.largest == norm(np.array([1.0, -1.0, 0.0])) == 2 * scale


def test_the_rate_is_of_the_moments_of_rows(monkeypatch):
    """The variance is the sum of squared deviations from the mean row, by a loop."""
    random = np.random.default_rng(2)
    data = cs.Predictions.from_rows(random.integers(0, 3, 60), random.dirichlet((1, 1, 1), 60))
    interval = CanonicalCE(distance="l2", strategy="uniform", n_bins=2, min_size=5).interval(data)
    row, cell, seen, rate = interval.by_row(), interval.cell, [], TailBound.rate
    monkeypatch.setattr(TailBound, "rate", lambda *given: seen.append(given[1:]) or rate(*given))
    interval.high(0.025)
    squares = sum((each - row.mean()) ** 2 for each in row.tolist())
    third = 0.0
    for part in (row[cell == c] for c in range(cell.max() + 1)):
        spread = np.sqrt((part**2).sum() - part.sum() ** 2 / 60)
        own, most = max((part**3).sum(), 0), abs((part**3).sum())
        third += most + (own - most) * np.clip(part.sum() / spread - 2, 0, 1)
    assert seen[0][0] == pytest.approx(squares, rel=1e-9)
    assert third <= seen[0][1] <= 1.2 * third  # and what rows of two kinds take from each other
