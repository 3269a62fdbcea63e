"""What the test of predictions out of folds prints."""

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.calibrated().sample(200, rng=1)


@pytest.mark.parametrize("shift", [0, 0.4])
def test_the_sentences_are_printed(shift):
    p = P * (1 - shift)
    found = cs.calibration_test(Y, p, folds=np.arange(200) % 5, rng=1)
    verdict = "no evidence that the fits of this learner are miscalibrated each time"
    verdict = "evidence that not all of the 5 models are calibrated" if shift else verdict
    text = str(found)
    assert f"There is {verdict}: p = " in text
    assert f"(studied; by theorem p = {found.rows.pvalue_by_theorem:.3g})" in text
    assert "No test on the same rows can show how large the chance errors of these fits are" in text
    assert "Test: kernel_ce" in text
    assert "n = 200 in 5 folds; 999 resamples of all rows and of each fold" in text
    assert "every outcome of a fold is 1 independently with the probability that the model of its fold predicts" in text
    assert "detectable_effect" not in text


def test_repeats_are_named():
    fold = np.column_stack([np.arange(200) % 5, np.arange(200) // 40])
    assert "in 5 folds, 2 repeats;" in str(cs.calibration_test(Y, np.column_stack([P, P]), folds=fold, rng=1))
