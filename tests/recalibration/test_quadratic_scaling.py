"""Quadratic scaling against closed forms, statsmodels, an optimiser with conditions and another package."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from peer_maps import binary_log_loss, falls, stored
from row_strategies import weighted_rows
from scipy.optimize import minimize
from scipy.special import expit, logit

import calibstat as cs
from calibstat.recalibration import QuadraticScaling

PEERS = stored()


def features(p):
    x = logit(p)
    return np.column_stack((x**2, x, np.ones(p.size)))


def rising(p, y):
    """The least log loss of parabolas that do not decrease over the rows, by a general optimiser."""
    f, x = features(p), logit(p)

    def loss(theta):
        eta = f @ theta
        return (np.logaddexp(0, eta) - y * eta).mean(), f.T @ (expit(eta) - y) / y.size

    slope = [{"type": "ineq", "fun": lambda t, end=end: t[1] + 2 * end * t[0]} for end in (x.min(), x.max())]
    starts = ([0, 1, 0], [0.1, 0.5, 0], [-0.1, 0.5, 0])
    return min(
        minimize(loss, s, jac=True, constraints=slope, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500}).fun
        for s in starts
    )


def test_a_parabola_through_three_predictions():
    p, hits, n = np.array([0.2, 0.5, 0.9]), np.array([5, 8, 19]), 20
    fitted = QuadraticScaling().fit(np.repeat(p, n), np.concatenate([np.arange(n) < h for h in hits]).astype(int))
    np.testing.assert_allclose(fitted.predict_proba(p), hits / n, rtol=1e-10)
    expected = np.linalg.solve(features(p), logit(hits / n))
    np.testing.assert_allclose([fitted.square_[0], fitted.slope_[0], fitted.intercept_[0]], expected, rtol=1e-8)


def test_quadratic_against_statsmodels():
    from statsmodels.api import Logit

    y, p = cs.generators.temperature(2).sample(500, rng=3)
    other = Logit(y, features(p)).fit(disp=0)
    fitted = QuadraticScaling().fit(p, y)
    np.testing.assert_allclose([fitted.square_[0], fitted.slope_[0], fitted.intercept_[0]], other.params, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_quadratic_against_an_optimiser_with_conditions(seed):
    random = np.random.default_rng(seed)
    x = random.normal(0, 1, 80)
    y = (random.random(80) < expit([x, x**2, -(x**2), -x, np.minimum(2 * x, 0), np.maximum(2 * x, 0)][seed])).astype(
        int
    )
    fitted = QuadraticScaling().fit(expit(x), y)
    q = fitted.predict_proba(expit(x))
    assert binary_log_loss(y, q) == pytest.approx(rising(expit(x), y), abs=1e-7)
    grid = np.linspace(0.001, 0.999, 500)
    assert not falls(grid, fitted.predict_proba(grid))


def test_a_parabola_that_is_left_to_turn_falls():
    # the planted fault: without conditions the map of these rows decreases
    from statsmodels.api import Logit

    random = np.random.default_rng(1)
    x = random.normal(0, 1, 300)
    y = (random.random(300) < expit(x**2)).astype(int)
    other = Logit(y, features(expit(x))).fit(disp=0).params
    assert falls(expit(x), features(expit(x)) @ other)
    assert not falls(expit(x), QuadraticScaling().fit(expit(x), y).predict_proba(expit(x)))


@pytest.mark.parametrize("name", PEERS)
def test_quadratic_is_no_worse_than_another_package(name):
    data = PEERS[name]
    y, p = data["y"], data["p"]
    ours = binary_log_loss(y, QuadraticScaling().fit(p, y).predict_proba(p))
    if falls(p, data["quadratic"]):  # theirs has no condition
        assert ours == pytest.approx(rising(p, y), abs=1e-7)
        assert ours > binary_log_loss(y, data["quadratic"])
    else:
        assert ours == pytest.approx(binary_log_loss(y, data["quadratic"]), abs=1e-6)


@given(weighted_rows())
def test_quadratic_never_decreases(data):
    y, p, w = data
    fitted = QuadraticScaling(clip=0.01)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        fitted.fit(p, y, sample_weight=w)
    grid = np.linspace(0.01, 0.99, 99)
    assert not falls(grid, fitted.predict_proba(grid))
    if fitted.converged_:  # the intercept is free: the mean is right
        assert np.average(fitted.predict_proba(p), weights=w) == pytest.approx(np.average(y, weights=w), abs=1e-7)


def test_outcomes_that_fall_make_a_constant():
    fitted = QuadraticScaling().fit([0.1, 0.1, 0.5, 0.5, 0.9, 0.9], [1, 1, 1, 0, 0, 0])
    np.testing.assert_allclose(fitted.predict_proba([0.05, 0.3, 0.95]), [0.5] * 3, rtol=1e-10)


def test_one_class_has_no_optimum():
    with pytest.warns(RuntimeWarning, match="QuadraticScaling has not converged"):
        assert not QuadraticScaling().fit([0.2, 0.4, 0.6], [0, 0, 0]).converged_
