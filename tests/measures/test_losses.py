import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows, weighted_rows

import calibstat as cs


@given(weighted_rows())
def test_against_scikit_learn(data):
    from sklearn.metrics import brier_score_loss, log_loss

    y, p, weight = data
    expected = brier_score_loss(y, p, sample_weight=weight, pos_label=1)
    assert cs.estimate(y, p, measure="brier", sample_weight=weight) == pytest.approx(expected, abs=1e-14)
    inside = np.clip(p, 1e-9, 1 - 1e-9)
    expected = log_loss(y, inside, sample_weight=weight, labels=[0, 1])
    assert cs.estimate(y, inside, measure="log_loss", sample_weight=weight) == pytest.approx(expected, rel=1e-12)


def test_by_hand():
    y, p = [1, 0, 1], [0.5, 0.25, 1.0]
    assert cs.estimate(y, p, measure="brier") == (0.25 + 0.0625 + 0) / 3
    assert cs.estimate(y, p, measure="log_loss") == pytest.approx((math.log(2) - math.log(0.75)) / 3, abs=1e-16)


def test_normalized_by_hand():
    # losses log 2, log 4/3 and 0; two of three positive: entropy log 3 - 2/3 log 2
    found = cs.estimate([1, 0, 1], [0.5, 0.25, 1.0], measure="normalized_log_loss")
    assert found == pytest.approx(math.log(8 / 3) / (3 * math.log(3) - 2 * math.log(2)), rel=1e-14)
    assert cs.estimate([1, 0, 0, 1, 0], [0.4] * 5, measure="normalized_log_loss") == pytest.approx(1, rel=1e-14)


def test_normalized_where_only_one_outcome_occurs():
    for outcome in (0, 1):
        assert cs.estimate([outcome] * 2, [outcome] * 2, measure="normalized_log_loss") == 0
        assert cs.estimate([outcome] * 2, [0.5] * 2, measure="normalized_log_loss") == math.inf
    test = cs.calibration_test([0] * 9, [0.05] * 9, measure="normalized_log_loss", n_resamples=99, rng=0)
    assert test.pvalue == 1  # ties with every resample without an outcome 1, which are most


@pytest.mark.parametrize("lens", [None, "top_label"])
def test_the_truth_of_normalized_is_that_of_its_parts(lens):
    model = cs.generators.six_points() if lens else cs.generators.prevalence(cs.generators.temperature(2), 0.2)
    seen = {"lens": lens} if lens else {}
    rate = 0.6 if lens else 0.2  # of six_points in test_multiclass: log loss -.6 log .6 - .4 log .4
    entropy = -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
    expected = model.truth("log_loss", **seen) / entropy
    assert model.truth("normalized_log_loss", **seen) == pytest.approx(expected, rel=1e-9)
    assert expected != pytest.approx(1, abs=0.01) or lens


def test_no_end_is_above_the_loss_of_a_clipped_prediction():
    found = cs.confidence_interval([0] * 19 + [1], [0.999] * 20, measure="log_loss", clip=0.01)
    assert found.estimate < found.high == -math.log(0.01)


def test_certain_predictions():
    assert cs.estimate([0, 1, 1], [0, 1, 1], measure="log_loss") == 0
    assert cs.estimate([1, 1], [0, 1], measure="log_loss") == math.inf
    assert cs.estimate([0, 0], [0, 1], measure="log_loss") == math.inf
    assert cs.estimate([0], [1e-300], measure="log_loss") == pytest.approx(1e-300)


@given(rows())
def test_detail_holds_the_loss_of_either_outcome(data):
    sample = cs.Sample.from_rows(*data)
    for measure in ("brier", "log_loss"):
        detail = cs.detail(sample, measure=measure)
        negatives = sample.count - sample.positives
        with np.errstate(invalid="ignore"):
            loss = np.where(sample.positives > 0, sample.positives * detail["loss_positive"], 0)
            loss += np.where(negatives > 0, negatives * detail["loss_negative"], 0)
        assert loss.sum() / sample.n == pytest.approx(detail.estimate, rel=1e-12, abs=1e-15)


def test_a_test_looks_at_both_tails():
    good = cs.Sample.from_counts([0.25, 0.75], [100, 100], [0, 100])  # better than its predictions say
    for measure in ("brier", "log_loss", "normalized_log_loss"):
        assert cs.calibration_test(good, measure=measure, n_resamples=199, rng=0).pvalue == pytest.approx(0.01)
