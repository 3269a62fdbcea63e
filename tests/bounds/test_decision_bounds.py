"""Upper bounds of gains: by pairs of ends they are the score bound of each move, by slopes they are never below."""

import numpy as np
import pytest
from hypothesis import given
from posed_problem import pose
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.bounds.decision_bounds import bound_by_slopes, bound_of_pairs, bound_of_units
from calibstat.bounds.decision_norm import OutcomeTable, summary_by_outcome
from calibstat.data.weighted_sample import weighted_sample


def weights_of_moves(value, thresholds=1):
    """Weights of all intervals, each for thresholds at the ends of its gap and at some between them."""
    edges = np.concatenate([[0.0], value, [1.0]])
    inside = np.linspace(0, 1, thresholds + 1)
    for i in range(value.size):
        for j in range(i, value.size):
            for acts, low, high in ((1, edges[j + 1], edges[j + 2]), (-1, edges[i], edges[i + 1])):
                for t in low + (high - low) * inside:
                    weights = np.zeros((value.size, 2))
                    weights[i : j + 1] = -acts * t, acts * (1 - t)
                    yield weights.ravel()


def score_bounds(moments, tail_bound, weights):
    """The bound of each, from the general moments."""
    for each in weights:
        total, variance, third, _ = moments.of(each)
        yield total + tail_bound.reach(variance, third)


def of_rows(data):
    """The summary of rows, which may have weights."""
    return cs.Sample.from_rows(*data) if len(data) == 2 else weighted_sample(*data)


@pytest.mark.parametrize("tail", [0.025, 0.1])
@given(data=rows() | weighted_rows())
def test_pairs_of_ends_are_all_moves(tail, data):
    if len(data) == 3 and not (data[2] > 0).sum() > 1:
        return
    sample = of_rows(data)
    moments = summary_by_outcome(sample).moments
    tail_bound = moments.tail_bound(tail)
    expected = max([tail_bound.reach(0.0, 0.0), *score_bounds(moments, tail_bound, weights_of_moves(sample.value))])
    found = bound_of_pairs(sample.value, moments, tail_bound)
    assert found == pytest.approx(expected, abs=1e-9)
    assert (
        bound_by_slopes(sample.value, moments, tail_bound) >= min(found, moments.n) - 1e-9
    )  # no row gains more than 1


@given(rows())
def test_no_threshold_inside_a_gap_has_a_larger_bound(data):
    """The standard deviation is convex in the threshold; the rate is not, and makes no difference."""
    sample = cs.Sample.from_rows(*data)
    moments = summary_by_outcome(sample).moments
    tail_bound = moments.tail_bound(0.025)
    inside = max(score_bounds(moments, tail_bound, weights_of_moves(sample.value, 5)))
    assert inside <= bound_of_pairs(sample.value, moments, tail_bound) + 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@given(data=rows())
def test_bounds_of_clusters_are_all_moves(weighted, data):
    y, p = (np.tile(part, 3) for part in data)
    unit = np.arange(y.size) % max(y.size // 2, 2)
    weight = 1.0 + np.arange(y.size) % 3 if weighted else None
    _, table = pose(y, p, "decision_loss", {}, sample_weight=weight).interval_of_rows(slice(None), unit)
    assert isinstance(table, OutcomeTable)
    tail_bound, value = table.moments.tail_bound(0.025), np.unique(p)
    expected = max([tail_bound.reach(0.0, 0.0), *score_bounds(table.moments, tail_bound, weights_of_moves(value))])
    assert bound_of_units(value, table.moments, tail_bound) == pytest.approx(expected, abs=1e-9)
    assert bound_by_slopes(value, table.moments, tail_bound) >= min(expected, table.moments.n) - 1e-9


def test_slopes_lose_little_where_rows_are_many():
    y, p = cs.generators.temperature(1.5).sample(2000, 1)
    sample = cs.Sample.from_rows(y, p)
    moments = summary_by_outcome(sample).moments
    tail_bound, total = moments.tail_bound(0.025), 2000 * cs.estimate(sample, measure="decision_loss")
    exact = bound_of_pairs(sample.value, moments, tail_bound) - total
    assert exact <= bound_by_slopes(sample.value, moments, tail_bound) - total <= 1.15 * exact


def test_by_slopes_only_what_was_not_seen_remains_of_certain_predictions():
    """All outcomes 0 at 0 and 1 at 1: no move gains, and no outcome varies. Half the rate times k, added to the root of
    its square, is the reach of the bound: k = 3.894 of rows whose gains are at most 1."""
    sample = cs.Sample.from_counts([0.0, 1.0], [50, 50], [0, 50])
    moments = summary_by_outcome(sample).moments
    tail_bound = moments.tail_bound(0.025)
    assert tail_bound.reach(0.0, 0.0) == pytest.approx(3.894, rel=1e-3)
    for bound in (bound_of_pairs, bound_by_slopes):
        assert bound(sample.value, moments, tail_bound) == pytest.approx(tail_bound.reach(0.0, 0.0), rel=1e-4)
