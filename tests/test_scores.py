import math

import numpy as np
import pytest
from conftest import rows, weighted_rows
from hypothesis import given

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
    for measure in ("brier", "log_loss"):
        assert cs.calibration_test(good, measure=measure, n_resamples=199, rng=0).pvalue == pytest.approx(0.01)
