import time

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.measures.decision_loss import DecisionLoss


def brute_force(y, p, weight):
    """The gain of acting at t' instead of t, for t and t' at each prediction and just above it."""
    thresholds = np.unique(np.append(p, np.nextafter(p, 2)))
    act = p >= thresholds[:, None]
    gains = [((act * 1.0 - now) @ (weight * (y - t))).max() for t, now in zip(thresholds, act, strict=True)]
    return max(gains) / weight.sum()


@given(rows(max_size=300))
def test_against_the_definition(data):
    assert cs.estimate(*data, measure="decision_loss") == pytest.approx(
        brute_force(*data, np.ones(data[0].size)), abs=1e-12
    )


@given(weighted_rows())
def test_against_the_definition_with_weights(data):
    y, p, weight = data
    found = cs.estimate(y, p, measure="decision_loss", sample_weight=weight)
    assert found == pytest.approx(brute_force(y, p, weight), abs=1e-12)


@given(rows())
def test_it_is_at_least_the_largest_gap_and_at_most_kuiper(data):
    sample = cs.Sample.from_rows(*data)
    found = cs.estimate(sample, measure="decision_loss")
    assert np.abs(sample.residual).max() - 1e-12 <= found <= cs.estimate(sample, measure="kuiper") + 1e-12


@given(rows())
def test_no_monotone_recalibration_gains_more_than_two(data):
    """The Brier score is a mixture of decisions, of weight 2; a monotone map moves all thresholds."""
    assert cs.estimate(*data, measure="mcb") <= 2 * cs.estimate(*data, measure="decision_loss") + 1e-12


def test_by_hand():
    # with t just above .5, to act on its three rows gains 2 - 3/2, of four rows
    assert cs.estimate([0, 1, 1, 0], [0.2, 0.5, 0.5, 0.5], measure="decision_loss") == pytest.approx(0.125)
    # one who acts from .4 on had better act from above .6 on: 2 * .4 - 0 of 2 rows
    assert cs.estimate([0, 0], [0.4, 0.6], measure="decision_loss") == pytest.approx(0.4)
    assert cs.estimate([1, 0], [0.5, 0.5], measure="decision_loss") == 0


def test_of_a_population():
    """A constant prediction of .3 where the frequency is .5: all with t between gain, the most .5 - .3."""
    two = cs.generators.two_point(0.1)
    # both points are half a population, E[y] 1 at .6 and 0 at .4: acting at .6 gains (1 - .6) / 2
    assert two.truth("decision_loss") == pytest.approx(0.2)


@given(rows())
def test_as_a_function_of_residuals_it_is_the_measure(data):
    sample = cs.Sample.from_rows(*data)
    cell, of = DecisionLoss().of_residuals(sample)
    found = of(np.stack([sample.residual, np.zeros_like(sample.residual)]))
    assert cell is None
    assert found == pytest.approx([cs.estimate(sample, measure="decision_loss"), 0.0], abs=1e-12)


@pytest.mark.parametrize("kind", [{}, {"sample_weight": 1}, {"cluster": 1}, {"sample_weight": 1, "cluster": 1}])
def test_intervals_hold_the_estimate(kind):
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    given = {"sample_weight": np.random.default_rng(1).gamma(3, size=400), "cluster": np.arange(400) // 4}
    asked = {"measure": "decision_loss", "n_resamples": 99, "rng": 1, **{name: given[name] for name in kind}}
    found = cs.confidence_interval(y, p, **asked)
    assert 0 <= found.low <= found.estimate < found.high < 1
    assert cs.calibration_test(y, p, **asked).pvalue < 0.2


def test_a_large_loss_is_shown_and_a_small_difference_is_not():
    y, p = cs.generators.temperature(3).sample(3000, rng=1)
    asked = {"measure": "decision_loss", "n_resamples": 199, "rng": 1}
    assert cs.confidence_interval(y, p, **asked).low > 0
    calibrated = p ** (1 / 3) / (p ** (1 / 3) + (1 - p) ** (1 / 3))
    worse = cs.compare(y, {"over": p, "right": calibrated}, **asked)
    assert worse.low.item() > 0
    same = cs.compare(y, {"over": p, "nearly": np.clip(p + 1e-6, 0, 1)}, **asked)
    assert same.low.item() < 0 < same.high.item()


@pytest.mark.parametrize("how", ["mean", "max"])
def test_of_several_classes(how):
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(200, rng=1)
    asked = {"lens": f"class_wise_{how}", "measure": "decision_loss", "n_resamples": 49, "rng": 1}
    found = cs.confidence_interval(label, prob, **asked)
    each = [cs.estimate(label == k, prob[:, k], measure="decision_loss") for k in range(3)]
    assert found.estimate == pytest.approx(getattr(np, how)(each))
    assert found.low <= found.estimate < found.high


def test_a_million_rows_take_little_longer_than_their_sorting():
    y, p = cs.generators.temperature(1.2).sample(10**6, rng=1)
    cs.estimate(y[:10], p[:10], measure="decision_loss")  # compiled
    begun = time.process_time()
    cs.Sample.from_rows(y, p)
    sorting = time.process_time() - begun
    begun = time.process_time()
    cs.estimate(y, p, measure="decision_loss")
    assert time.process_time() - begun < 3 * sorting + 0.2
