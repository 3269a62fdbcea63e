"""Evidence over time: the sum over all starts by hand, and means of at most 1 by enumeration of all labels."""

import itertools
import math

import numpy as np
import pytest

from calibstat.monitoring.directions import DIRECTIONS, log_likelihood_ratios
from calibstat.monitoring.evidence import Run, log_evidence, remaining, start_probabilities, stream_weights

WEIGHTS = np.array([d.weight for d in DIRECTIONS])
FALSE_ALARM, RUN_LENGTH = "false alarm", "run length"


def slow_evidence(ratios, regime):
    """The sum over all starts, period by period, of likelihood ratios of shape (T, 34)."""
    found = []
    for t in range(1, len(ratios) + 1):
        bets = [WEIGHTS @ np.exp(ratios[s - 1 : t].sum(axis=0)) for s in range(1, t + 1)]
        if regime == RUN_LENGTH:
            found.append(sum(bets))
        else:
            weights = [math.log(2) / math.log(s + 1) - math.log(2) / math.log(s + 2) for s in range(1, t + 1)]
            found.append(sum(w * b for w, b in zip(weights, bets, strict=True)) + math.log(2) / math.log(t + 2))
    return np.array(found)


@pytest.mark.parametrize("regime", [FALSE_ALARM, RUN_LENGTH])
def test_evidence_is_the_sum_over_all_starts(regime):
    ratios = np.random.default_rng(1).normal(0, 0.7, (3, 30, 34))
    expected = np.log([slow_evidence(each, regime) for each in ratios])
    np.testing.assert_allclose(log_evidence(ratios, regime), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(log_evidence(ratios, regime)[1], log_evidence(ratios[1], regime))


def test_one_and_two_periods_by_hand():
    one, two = np.full(34, math.log(2.0)), np.full(34, math.log(3.0))
    pi_1, left_1, left_2 = 1 - math.log(2) / math.log(3), math.log(2) / math.log(3), 0.5  # log 2 / log 4
    e_1 = 2 * pi_1 + left_1
    e_2 = 6 * pi_1 + 3 * (left_1 - left_2) + left_2
    np.testing.assert_allclose(np.exp(log_evidence(np.array([one, two]))), [e_1, e_2], rtol=1e-12)
    assert [remaining(0), remaining(2)] == pytest.approx([1, 0.5])
    # R_1 = 2; R_2 = (2 + 1) 3
    np.testing.assert_allclose(np.exp(log_evidence(np.array([one, two]), RUN_LENGTH)), [2, 9], rtol=1e-12)


@pytest.mark.parametrize("regime", [FALSE_ALARM, RUN_LENGTH])
def test_a_run_is_the_vectorised_function_to_the_last_bit(regime):
    ratios = np.random.default_rng(2).normal(-0.1, 0.5, (200, 34))
    run = Run(0, regime)
    np.testing.assert_array_equal([run.add(row[None]) for row in ratios], log_evidence(ratios, regime))


def test_segments_are_averaged_with_half_of_the_weight_for_all_rows():
    ratios = np.random.default_rng(3).normal(0, 0.5, (20, 4, 34))  # all rows and three segments
    run = Run(3, FALSE_ALARM)
    found = np.exp([run.add(period) for period in ratios])
    parts = np.exp(log_evidence(ratios.transpose(1, 0, 2)))
    np.testing.assert_allclose(found, 0.5 * parts[0] + 0.5 / 3 * parts[1:].sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(np.exp(run.log_streams), parts[:, -1], rtol=1e-12)
    np.testing.assert_allclose(stream_weights(3), [1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert stream_weights(0).tolist() == [1.0]


VALUES = np.array([0.001, 0.2, 0.5, 0.97])


def means_over_all_labels(evidence_of, periods=3):
    """The exact mean of the evidence after each period, of three rows of changing predictions, if calibrated."""
    mean = np.zeros(periods)
    for labels in itertools.product((0, 1), repeat=3 * periods):
        y = np.array(labels, float).reshape(periods, 3)
        probability, ratios = 1.0, []
        for t in range(periods):
            # the predictions depend on the outcomes of the period before, as they may
            v = np.sort(np.roll(VALUES, int(y[t - 1].sum()) if t else 0)[:3])
            probability *= np.prod(np.where(y[t] == 1, v, 1 - v))
            ratios.append(log_likelihood_ratios(v, np.ones(3), y[t]))
        mean += probability * evidence_of(np.array(ratios))
    return mean


def test_the_mean_of_the_evidence_is_1_over_all_labels():
    np.testing.assert_allclose(means_over_all_labels(lambda r: np.exp(log_evidence(r))), 1, rtol=1e-12)


def test_the_mean_of_run_length_evidence_is_the_number_of_periods():
    np.testing.assert_allclose(
        means_over_all_labels(lambda r: np.exp(log_evidence(r, RUN_LENGTH))), [1, 2, 3], rtol=1e-12
    )


def test_bets_without_prior_weights_are_found_out():
    """A planted fault: the best start instead of the weighted sum over all."""

    def without_weights(ratios):
        return np.array([max(WEIGHTS @ np.exp(ratios[s:t].sum(0)) for s in range(t)) for t in range(1, 4)])

    assert (means_over_all_labels(without_weights)[1:] > 1.001).all()


def test_infinite_evidence_stays():
    ratios = np.zeros((4, 34))
    ratios[1] = np.inf
    assert np.isinf(log_evidence(ratios)).tolist() == [False, True, True, True]


def test_very_long_and_very_clear_runs_are_finite():
    assert np.isfinite(log_evidence(np.full((2000, 34), 50.0))).all()
    assert np.exp(log_evidence(np.full((2000, 34), -50.0))[-1]) == pytest.approx(remaining(2000))


def test_starts_and_directions_have_the_shares_of_the_sum():
    ratios = np.random.default_rng(4).normal(0, 0.5, (6, 34))
    weights = [math.log(2) / math.log(s + 1) - math.log(2) / math.log(s + 2) for s in range(1, 7)]
    share = np.array([weights[s] * WEIGHTS * np.exp(ratios[s:].sum(axis=0)) for s in range(6)])
    starts, directions = start_probabilities(ratios, FALSE_ALARM)
    np.testing.assert_allclose(starts, share.sum(axis=1) / share.sum(), rtol=1e-12)
    np.testing.assert_allclose(directions, share.sum(axis=0) / share.sum(), rtol=1e-12)
