import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows, weighted_rows

import calibstat as cs


def test_by_hand():
    # outcomes 1, 0, 1 at .25, .5, .75: pooling the first two gives 1/2, 1/2, 1
    detail = cs.detail([1, 0, 1], [0.25, 0.5, 0.75], measure="mcb")
    assert detail["recalibrated"].tolist() == [0.5, 0.5, 1.0]
    # Brier (.5625 + .25 + .0625)/3 = 7/24; recalibrated (.25 + .25)/3 = 1/6; constant 2/3: 2/9
    assert detail["score"] == pytest.approx(7 / 24)
    assert detail["mcb"] == detail.estimate == pytest.approx(7 / 24 - 1 / 6)
    assert detail["dsc"] == pytest.approx(2 / 9 - 1 / 6)
    assert detail["unc"] == pytest.approx(2 / 9)


@given(weighted_rows())
def test_against_scikit_learn(data):
    from sklearn.isotonic import isotonic_regression
    from sklearn.metrics import brier_score_loss

    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    detail = cs.detail(sample, measure="mcb")
    fitted = isotonic_regression(sample.positives / sample.count, sample_weight=sample.count)
    assert detail["recalibrated"] == pytest.approx(fitted, abs=1e-12)

    def brier(predicted):
        return brier_score_loss(y, predicted, sample_weight=weight, pos_label=1)

    kept = weight > 0  # a row of weight 0 has no recalibration
    recalibrated = np.interp(p, sample.value, fitted)
    rate = np.average(y[kept], weights=weight[kept])
    assert detail["score"] == pytest.approx(brier(p), abs=1e-12)
    assert detail["mcb"] == pytest.approx(brier(p) - brier(recalibrated), abs=1e-12)
    assert detail["unc"] == pytest.approx(rate * (1 - rate), abs=1e-12)
    assert detail["dsc"] == pytest.approx(rate * (1 - rate) - brier(recalibrated), abs=1e-12)


@given(rows())
def test_no_recalibration_is_worse_than_none(data):
    detail = cs.detail(*data, measure="mcb")
    assert detail["mcb"] >= 0
    assert detail["dsc"] >= -1e-15
    assert np.all(np.diff(detail["recalibrated"]) >= 0)


def test_absent_predictions_have_no_recalibration():
    found = cs.measures.MCB().detail(np.array([0.2, 0.5, 0.7]), np.array([2.0, 0, 2]), np.array([1.0, 0, 2]))
    np.testing.assert_array_equal(found["recalibrated"], [0.5, np.nan, 1.0])
