"""Means of losses: their score interval by hand, and what it does without bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posed_problem import pose
from row_strategies import rows
from scipy import stats
from score_reach import score_reach

import calibstat as cs
from calibstat.bounds.mean_interval import of_vector_losses, range_of_losses
from calibstat.data.clusters import Unseen

WHOLE_CLUSTERS = Unseen("clusters", 0)


def example(n, seed=1):
    return cs.generators.calibrated().sample(n, seed)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_a_mean_by_hand(level):
    y, p = example(80)
    p = np.round(p, 2).clip(0.01, 0.99)  # ties
    cases = {
        "brier": ((y - p) ** 2, 1.0),
        "log_loss": (-np.log(np.where(y == 1, p, 1 - p)), -np.log(min(p.min(), 1 - p.max()))),
    }
    for measure, (loss, most) in cases.items():
        found = cs.confidence_interval(y, p, measure=measure, confidence_level=level)
        assert found.high == pytest.approx(loss.mean() + score_reach(loss, most, level), rel=1e-10)
        assert found.low == pytest.approx(loss.mean() - score_reach(-loss, 0.0, level), rel=1e-10)
        clipped = cs.confidence_interval(y, p, measure="log_loss", clip=1e-3, confidence_level=level)
        assert clipped.high > cs.confidence_interval(y, p, measure="log_loss", confidence_level=level).high


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=12), st.sampled_from([0.1, 0.025, 0.005]))
def test_both_ends_are_mirror_images(losses, tail):
    """Of 1 less the losses the ends change places."""
    losses = np.array(losses)
    one, other = (of_vector_losses("made up", part, lambda: losses, (0.0, 1.0)) for part in (losses, 1 - losses))
    assert one.high(tail) == pytest.approx(1 - other.low(tail), abs=1e-12)
    assert one.low(tail) <= one.estimate <= one.high(tail)


def test_a_loss_that_no_row_had():
    """100 losses of 0 that may be 1: k / n with k = (2 t**2 + 4) / 3; without bounds those of the rows count."""
    found = of_vector_losses("made up", np.zeros(100), lambda: np.zeros(100), (0.0, 1.0))
    assert found.high(0.025) == pytest.approx((2 * stats.t.isf(0.025, 99) ** 2 + 4) / 300)
    assert of_vector_losses("made up", np.zeros(100), lambda: np.zeros(100), (0.0, np.inf)).high(0.025) == 0
    assert range_of_losses(lambda: np.array([0.2, 3.0]), (0.0, np.inf)) == (0.0, 3.0)
    assert range_of_losses(lambda: np.array([0.2, 3.0]), (-np.inf, 5.0)) == (0.2, 5.0)


# --- losses row by row ------------------------------------------------------------------------------------------------


@given(rows())
def test_the_measure_is_the_mean_of_losses_of_rows(data):
    y, p = data
    losses = pose(y, p, "brier", {}).losses()
    assert losses.estimate == pytest.approx(cs.estimate(y, p, measure="brier"), abs=1e-12)
    assert losses.table.theta == pytest.approx(np.array([losses.estimate]), abs=1e-12)


def test_rows_have_the_interval_of_their_summary():
    """And in clusters, or with weights, that of units: here of one row each and of equal weights."""
    y, p = example(40)
    losses, summary = pose(y, p, "brier", {}).losses(), pose(y, p, "brier", {}).honest()
    units = losses.take(slice(None), np.arange(40), WHOLE_CLUSTERS).interval
    for found in (losses.interval, units):
        assert found.estimate == pytest.approx(summary.estimate, abs=1e-12)
        assert found.variance == pytest.approx(summary.variance, rel=1e-9)
        assert found.third == pytest.approx(summary.third, rel=1e-6, abs=1e-12)
    assert losses.interval.high(0.025) == pytest.approx(summary.high(0.025), abs=1e-9)
    assert losses.interval.low(0.025) == pytest.approx(summary.low(0.025), abs=1e-9)
    assert (losses.is_bounded, summary.is_mean) == (True, True)


def test_rows_in_another_order():
    y, p = example(30)
    losses, order = pose(y, p, "brier", {}).losses(), np.random.default_rng(1).permutation(30)
    taken = losses.take(order, np.arange(30) // 3, WHOLE_CLUSTERS)
    assert taken.loss.tolist() == losses.loss[order].tolist()
    assert taken.prediction.tolist() == p[order].tolist()
    assert taken.possible().tolist() == losses.possible()[order].tolist()
    by_cluster = losses.loss[order].reshape(10, 3).sum(axis=1)
    mean = losses.loss.mean()
    assert taken.interval.variance == pytest.approx(10 / 9 * ((by_cluster - 3 * mean) ** 2).sum(), rel=1e-9)
    assert taken.interval.third == pytest.approx(((by_cluster - 3 * mean) ** 3).sum(), rel=1e-9)


def test_sums_of_drawn_rows_give_the_mean_of_drawn_rows():
    y, p = example(40)
    table, i = pose(y, p, "brier", {}).losses().table, np.random.default_rng(1).integers(0, 40, 40)
    (drawn,) = np.bincount(table.cell[i], table.contribution[i], table.cells) / 40
    assert drawn == pytest.approx(cs.estimate(y[i], p[i], measure="brier"), abs=1e-12)


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_canonical_losses(measure):
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(50, rng=1)
    losses = pose(y, p, measure, {}, lens="canonical").losses()
    chosen = p[np.arange(50), y]
    each = -np.log(chosen) if measure == "log_loss" else ((p - np.eye(3)[y]) ** 2).sum(axis=1)
    assert losses.estimate == pytest.approx(cs.estimate(y, p, measure=measure, lens="canonical"), abs=1e-12)
    ratio = losses.loss / each  # a score of two classes may count both, or one
    assert ratio == pytest.approx(np.full(50, ratio[0]), rel=1e-9)
    assert losses.interval.is_mean


@pytest.mark.parametrize("given", [{}, {"sample_weight": [2.5]}])
def test_one_row_leaves_every_mean_open(given):
    found = cs.confidence_interval([1], [0.7], measure="brier", **given)
    assert (found.estimate, found.low, found.high) == (pytest.approx(0.09), 0, 1)
    several = cs.confidence_interval([0], [[0.2, 0.3, 0.5]], measure="brier", lens="canonical")
    assert several.low <= several.estimate <= several.high
    assert (several.low, several.high) == (0, 2)  # the square of a difference of two distributions is at most 2


def test_an_infinite_loss_names_its_row():
    with pytest.raises(ValueError, match="infinite at row 2"):
        pose([0, 1, 1], [0.2, 0.5, 0.0], "log_loss", {}).losses()
