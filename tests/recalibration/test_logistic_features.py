"""Logistic regression on features: conditions, ranks and separated outcomes."""

import numpy as np
import pytest
from scipy.special import expit

from calibstat.recalibration.logistic_features import likeliest_within

LINE = lambda x: np.column_stack((x, np.ones(x.size)))  # noqa: E731
NONE = np.empty((0, 2))


def test_without_conditions_it_is_a_logistic_regression():
    from statsmodels.api import Logit

    random = np.random.default_rng(1)
    x = random.normal(size=200)
    y = random.random(200) < expit(2 * x - 1)
    found, still = likeliest_within(x, y, None, LINE, np.zeros(2), NONE, ())
    np.testing.assert_allclose(found, Logit(y.astype(float), LINE(x)).fit(disp=0).params, rtol=1e-7)
    assert still


def test_a_condition_that_breaks_leads_to_the_face():
    x, y = np.array([-1.0, -1, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 1, 1])
    found, still = likeliest_within(x, y, None, LINE, np.array([1.0, 0]), np.array([[1.0, 0]]), (np.eye(2)[:, 1:],))
    np.testing.assert_allclose(found, [0, np.log(2)], atol=1e-12)  # four of six
    assert still


def test_features_that_are_equal_share():
    double = lambda x: np.column_stack((x, x, np.ones(x.size)))  # noqa: E731
    random = np.random.default_rng(1)
    x = random.normal(size=200)
    y = random.random(200) < expit(2 * x)
    one, _ = likeliest_within(x, y, None, LINE, np.zeros(2), NONE, ())
    two, still = likeliest_within(x, y, None, double, np.zeros(3), np.empty((0, 3)), ())
    np.testing.assert_allclose(two, [one[0] / 2, one[0] / 2, one[1]], rtol=1e-8)
    assert still


@pytest.mark.parametrize("y", [[0, 0, 1, 1], [1, 1, 1, 1]])
def test_separated_outcomes_have_no_maximum(y):
    assert not likeliest_within(np.arange(4.0), np.array(y), None, LINE, np.zeros(2), NONE, ())[1]


def test_logits_that_leave_next_to_no_doubt():
    x, y = np.array([-700.0, -699, 0, 0, 700, 701]), np.array([0, 0, 0, 1, 1, 1])
    found, still = likeliest_within(x, y, None, LINE, np.array([1.0, 0]), NONE, ())
    assert np.isfinite(found).all()
    assert not still  # separated but for the two at 0: the slope has no end
