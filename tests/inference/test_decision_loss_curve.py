"""Decision loss over thresholds, in units of the one who asks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs
from calibstat.bounds.decision_norm import summary_by_outcome

Y, P = cs.generators.temperature(2.0).sample(400, rng=1)
FEW = {"n_resamples": 19, "rng": 1}


@given(rows(), st.floats(0.01, 0.99))
def test_the_loss_is_the_best_of_all_other_thresholds(data, t):
    y, p = data
    found = cs.decision_loss(y, p, [t], **FEW)
    gains = {other: np.mean((y - t) * ((p >= other).astype(float) - (p >= t))) for other in [*p, np.inf]}
    best = max(0.0, *gains.values())
    assert found.loss[0] == pytest.approx(best, abs=1e-12)
    reached = 0.0 if found.better[0] == t else gains[found.better[0]]
    assert reached == pytest.approx(best, abs=1e-12)


@given(rows(), st.floats(0.01, 0.99))
def test_the_bound_is_the_largest_score_bound_of_other_thresholds(data, t):
    y, p = data
    found = cs.decision_loss(y, p, [t], **FEW)
    moments = summary_by_outcome(cs.Sample.from_rows(y, p)).moments
    tail_bound, value, bounds = moments.tail_bound(0.025), np.unique(p), []
    for other in [*value, np.inf]:
        moved = (value >= other).astype(float) - (value >= t)
        total, variance, third, _ = moments.of(np.stack([-t * moved, (1 - t) * moved], axis=1).ravel())
        bounds.append(total + tail_bound.reach(variance, third))
    bounds.append(tail_bound.reach(0.0, 0.0))
    assert found.high[0] == pytest.approx(min(max(bounds) / y.size, 1), abs=1e-9)
    assert found.high[0] <= found.largest_high + 1e-9


def test_units_are_gain_and_cost_together():
    plain = cs.decision_loss(Y, P, [0.1, 0.5], **FEW)
    found = cs.decision_loss(Y, P, [0.1, 0.5], gain=90, cost=10, **FEW)
    assert (found.own, found.stake) == (0.1, 100)
    assert found.loss == pytest.approx(100 * plain.loss)
    assert found.high == pytest.approx(100 * plain.high)
    assert (found.own_loss, found.own_high) == (found.loss[0], found.high[0])
    assert (found.largest, found.low, found.largest_high) == pytest.approx(
        (100 * plain.largest, 100 * plain.low, 100 * plain.largest_high)
    )
    assert np.isnan(plain.own_loss)
    interval = cs.confidence_interval(Y, P, measure="decision_loss", **FEW)
    assert (plain.largest, plain.low, plain.largest_high) == (interval.estimate, interval.low, interval.high)


def test_it_says_what_no_decision_maker_gains():
    said = str(cs.decision_loss(Y, P, [0.5], gain=90, cost=10, **FEW))
    assert " per case for any decision maker, with gain and cost together 100 (95 % confidence).\n" in said
    assert "At threshold 0.1 the gain is" in said
    assert "together" not in str(cs.decision_loss(Y, P, [0.5], **FEW))
    assert cs.decision_loss(Y, P, **FEW).to_frame().shape == (99, 4)


def test_rows_by_themselves_are_clusters_of_one_row():
    """Up to Student's quantile and the factor of variances."""
    alone = cs.decision_loss(Y, P, [0.1, 0.4, 0.8], **FEW)
    apart = cs.decision_loss(Y, P, [0.1, 0.4, 0.8], cluster=np.arange(400), **FEW)
    assert apart.loss == pytest.approx(alone.loss, abs=1e-12)
    assert apart.high == pytest.approx(alone.high, rel=0.02)
    assert apart.drawn.startswith("400 clusters")
    weighted = cs.decision_loss(Y, P, [0.1, 0.4, 0.8], sample_weight=np.full(400, 2.5), **FEW)
    assert weighted.high == pytest.approx(alone.high, rel=0.02)


def test_clusters_of_equal_rows_count_once():
    twice = {"cluster": np.tile(np.arange(400), 4)}
    found = cs.decision_loss(np.tile(Y, 4), np.tile(P, 4), [0.3], **twice, **FEW)
    alone = cs.decision_loss(Y, P, [0.3], **FEW)
    assert found.loss == pytest.approx(alone.loss)
    assert found.high == pytest.approx(alone.high, rel=0.02)


def test_thresholds_beyond_all_predictions():
    found = cs.decision_loss([1, 0, 1], [0.4, 0.5, 0.6], [0.1, 0.9], **FEW)
    # one who acts on all at t = .1 gains nothing by acting on fewer, one who acts on none at .9 nothing by acting
    assert found.loss == pytest.approx([0.0, 0.1 / 3])
    assert found.better.tolist() == [0.1, 0.6]
    never = cs.decision_loss([0, 0], [0.4, 0.5], [0.3], **FEW)
    assert (never.loss[0], never.better[0]) == (pytest.approx(0.3), np.inf)


@pytest.mark.parametrize("stake", [{"gain": 1}, {"cost": 1}, {"gain": 0, "cost": 1}, {"gain": 1, "cost": np.inf}])
def test_half_a_stake_is_refused(stake):
    with pytest.raises(ValueError, match="expected a gain and a cost above 0, found"):
        cs.decision_loss(Y, P, **stake, **FEW)


def test_rates_of_a_threshold_chosen_before():
    """At one threshold of a known population the bound lies below the loss in no more than 2.5 % of data sets."""
    value, truth, t = np.array([0.2, 0.6]), np.array([0.35, 0.45]), 0.3
    loss = 0.5 * (truth[0] - t)  # of not acting at .2
    random, missed = np.random.default_rng(1), 0
    for _ in range(400):
        positives = random.binomial(100, truth)
        found = cs.decision_loss(cs.Sample.from_counts(value, [100, 100], positives), thresholds=[t], n_resamples=1)
        missed += found.high[0] < loss
    assert missed <= 21  # P(more than 21 of 400 at .025) = 6e-4
