"""The decision loss as a norm of shares by outcome, and the tables that these come from."""

import numpy as np
import pytest
from hypothesis import given
from posed_problem import pose
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.bounds import decision_norm
from calibstat.bounds.decision_bounds import bound_by_slopes, bound_of_pairs, bound_of_units
from calibstat.bounds.decision_norm import (
    ALL_PAIRS,
    DecisionNorm,
    cells_of_outcomes,
    summary_by_outcome,
    sums_by_outcome,
)
from calibstat.data.weighted_sample import weighted_sample
from calibstat.resampling import Draws, Pairs, Stream, draw


def test_cells_by_hand():
    assert cells_of_outcomes(np.array([0, 2, 2]), np.array([1.0, 0.0, 1.0])).tolist() == [1, 4, 5]
    assert sums_by_outcome(np.array([3.0, 2.0]), np.array([1.0, 2.0])).tolist() == [2, 1, 0, 2]
    assert sums_by_outcome(np.ones((4, 3)), np.zeros((4, 3))).shape == (4, 6)


@given(rows())
def test_the_measure_is_its_norm_and_its_witness(data):
    """<theta, w> = ||theta||, and no other sums give these weights more than their own norm."""
    interval, _ = pose(*data, "decision_loss", {}).interval_of_rows(slice(None))
    expected = cs.estimate(*data, measure="decision_loss")
    assert interval.estimate == pytest.approx(expected, abs=1e-12)
    witness = interval.witness(interval.theta)
    assert witness @ interval.theta == pytest.approx(expected, abs=1e-12)
    assert np.abs(witness).max() <= interval.norm.largest_weight
    random = np.random.default_rng(data[0].size)
    for other in random.normal(size=(5, interval.theta.size)):
        assert other @ witness <= interval.value(other) + 1e-12


@given(rows() | weighted_rows())
def test_a_summary_and_its_rows_have_the_same_sums_and_moments(data):
    weighted = len(data) == 3
    if weighted and (data[2] > 0).sum() < 2:
        return
    kept = data if not weighted else [part[data[2] > 0] for part in data]
    summary = summary_by_outcome(weighted_sample(*kept) if weighted else cs.Sample.from_rows(*kept))
    weight = {"sample_weight": kept[2]} if weighted else {}
    _, table = pose(*kept[:2], "decision_loss", {}, **weight).interval_of_rows(slice(None))
    assert table.theta == pytest.approx(summary.theta, abs=1e-15)
    weights = np.random.default_rng(1).normal(size=table.cells)
    of_rows, of_counts = table.moments.of(weights)[:3], summary.moments.of(weights)[:3]
    for power, one, other in zip((1, 2, 3), of_rows, of_counts, strict=True):  # weights may be of another scale
        assert one / table.n**power == pytest.approx(other / summary.n**power, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@given(data=rows())
def test_residuals_and_predictions_give_the_sums_back(weighted, data):
    y, p = data
    weight = {"sample_weight": 1.0 + np.arange(y.size) % 3} if weighted else {}
    _, table = pose(y, p, "decision_loss", {}, **weight).interval_of_rows(slice(None))
    residuals = table.residuals
    assert residuals.residuals is residuals
    assert table.of_residuals(residuals.theta) == pytest.approx(table.theta, abs=1e-15)
    both = np.stack([residuals.theta, np.zeros_like(residuals.theta)])
    of_none = table.of_residuals(both)[1]
    assert of_none[1::2] / (of_none[::2] + of_none[1::2]) == pytest.approx(np.unique(p), abs=1e-12)


def test_many_sums_are_measured_one_by_one():
    norm, theta = DecisionNorm(np.array([0.2, 0.7])), np.random.default_rng(1).normal(size=(2, 3, 4))
    assert norm.value(theta).tolist() == [[float(norm.value(one)) for one in two] for two in theta]


@pytest.mark.parametrize(("most", "bound"), [(1e9, bound_of_units), (10, bound_by_slopes)])
def test_clusters_are_looked_at_one_by_one_where_they_are_few(most, bound, monkeypatch):
    monkeypatch.setattr(decision_norm, "PAIR_BUDGET", most)
    y, p = cs.generators.temperature(2).sample(60, rng=1)
    interval, table = pose(y, p, "decision_loss", {}).interval_of_rows(slice(None), np.arange(60) // 4)
    tail_bound = table.moments.tail_bound(0.025)
    assert interval.high(0.025) == bound(np.unique(p), table.moments, tail_bound) / 60


@pytest.mark.parametrize(("predictions", "bound"), [(ALL_PAIRS, bound_of_pairs), (ALL_PAIRS + 1, bound_by_slopes)])
def test_pairs_of_ends_are_looked_at_where_they_are_few(predictions, bound):
    value = (np.arange(predictions) + 0.5) / predictions
    sample = cs.Sample.from_counts(value, np.ones(predictions), np.arange(predictions) % 2)
    moments = summary_by_outcome(sample).moments
    tail_bound = moments.tail_bound(0.025)
    assert DecisionNorm(value).upper_bound(moments, tail_bound) == bound(value, moments, tail_bound)


def test_rows_of_a_summary_are_drawn():
    y, p = cs.generators.calibrated().sample(60, 1)
    sample, draws = cs.Sample.from_rows(y, np.round(p, 1)), Draws.of(3, 8)
    found = summary_by_outcome(sample).resampled(np.copy, draws)
    counts = draw(sample, Pairs(), lambda _, count, positives: np.stack([count, positives]), draws, Stream.ROWS)
    assert found[:, ::2] == pytest.approx((counts[:, 0] - counts[:, 1]) / 60)
    assert found[:, 1::2] == pytest.approx(counts[:, 1] / 60)
    assert found.sum(axis=1) == pytest.approx(np.ones(draws.n))
