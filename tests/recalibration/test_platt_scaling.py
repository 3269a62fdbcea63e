"""Platt scaling against closed forms, statsmodels and Cox's regression."""

import math

import numpy as np
import pytest
from distorted import P, Y, share
from scipy.special import logit

import calibstat as cs
from calibstat.recalibration import (
    PlattScaling,
    platt_scaling,
)


def test_platt_through_two_predictions():
    # two predictions and two parameters: each prediction becomes the share of outcomes at it
    p, y = np.concatenate([share(0.2, 3, 10), share(0.7, 6, 12)], axis=1)
    fitted = PlattScaling().fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba([0.2, 0.7]), [0.3, 0.5], rtol=1e-9)
    slope = (logit(0.5) - logit(0.3)) / (logit(0.7) - logit(0.2))
    assert fitted.slope_[0] == pytest.approx(slope, rel=1e-8)
    assert fitted.intercept_[0] == pytest.approx(logit(0.5) - slope * logit(0.7), rel=1e-8)
    assert fitted.converged_


def test_platt_against_statsmodels():
    from statsmodels.api import Logit, add_constant

    y, p = cs.generators.temperature(2).sample(300, rng=3)
    other = Logit(y, add_constant(logit(p))).fit(disp=0)
    fitted = PlattScaling().fit(p, y)
    np.testing.assert_allclose([fitted.intercept_[0], fitted.slope_[0]], other.params, atol=1e-7)


def test_platt_of_three_classes_against_one_regression_each():
    from statsmodels.api import Logit, add_constant

    fitted = PlattScaling().fit(P, Y)
    scores = []
    for k in range(3):
        x = add_constant(logit(P[:, k]))
        scores.append(Logit(np.eye(3)[Y, k], x).fit(disp=0).predict(x))
    scores = np.stack(scores, axis=1)
    np.testing.assert_allclose(fitted.predict_proba(P), scores / scores.sum(axis=1, keepdims=True), atol=1e-7)


def test_platt_of_two_classes_is_the_regression_of_cox():
    y, p = cs.generators.temperature(2).sample(300, rng=3)
    fitted, found = PlattScaling().fit(p, y), cs.classical.cox(y, p, held_out=True)
    assert [fitted.slope_[0], fitted.intercept_[0]] == pytest.approx([found.slope, found.intercept], rel=1e-9)


@pytest.mark.parametrize("rounding", [0, 1e-16])
def test_platt_of_equal_predictions_moves_the_line_least(rounding):
    # of all lines a x + b through (x, 0), the share of outcomes being a half: nearest to a = 1, b = 0 is
    # (1, 0) - x / (1 + x²) (x, 1)
    x = logit(0.3)
    fitted = PlattScaling().fit(0.3 + rounding * np.arange(4), [0, 1, 1, 0])
    assert fitted.slope_[0] == pytest.approx(1 - x * x / (1 + x * x), rel=1e-9)
    assert fitted.intercept_[0] == pytest.approx(-x / (1 + x * x), rel=1e-9)
    assert fitted.predict_proba([0.3])[0] == pytest.approx(0.5, rel=1e-12)
    assert fitted.converged_


def test_confident_predictions_keep_their_digits():
    # 1 - p of the first class is 1e-20, which 1 less p does not know: its logit is 46.05, not infinite
    logits = platt_scaling._logits(np.array([[1 - 1e-20, 6e-21, 4e-21], [0.2, 0.3, 0.5]]), None, PlattScaling())
    np.testing.assert_allclose(logits[0], [math.log(1e20), math.log(6e-21), math.log(4e-21)], rtol=1e-14)
    np.testing.assert_allclose(logits[1], logit([0.2, 0.3, 0.5]), rtol=1e-14, atol=1e-15)
    fitted = PlattScaling().fit([[1 - 1e-20, 5e-21, 5e-21], [0.1, 0.3, 0.6], [0.5, 0.1, 0.4], [0.6, 0.3, 0.1]] * 2,
                                [0, 2, 1, 0, 1, 1, 2, 2])  # fmt: skip
    assert fitted.converged_
