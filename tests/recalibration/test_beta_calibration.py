"""Beta calibration against closed forms, statsmodels, a bounded optimiser and the authors' package."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from peer_maps import binary_log_loss, falls, stored
from row_strategies import weighted_rows
from scipy.optimize import minimize
from scipy.special import expit, logit

import calibstat as cs
from calibstat.recalibration import BetaCalibration, PlattScaling

PEERS = stored()


def features(p):
    return np.column_stack((np.log(p), -np.log1p(-p), np.ones(p.size)))


def bounded(p, y, w):
    """The least log loss with a, b >= 0, by a general optimiser."""
    f = features(p)

    def loss(theta):
        eta = f @ theta
        return (w * (np.logaddexp(0, eta) - y * eta)).sum() / w.sum(), f.T @ (w * (expit(eta) - y)) / w.sum()

    starts = ([1, 1, 0], [0.1, 0.1, 0], [2, 0.1, 0], [0.1, 2, 0])
    bounds = [(0, None), (0, None), (None, None)]
    return min(
        minimize(loss, s, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15}).fun for s in starts
    )


def test_beta_through_three_predictions():
    # three predictions and three parameters: each becomes the share of outcomes at it, if a and b are not negative
    p, hits, n = np.array([0.2, 0.5, 0.9]), np.array([3, 10, 19]), 20
    rows = np.repeat(p, n), np.concatenate([np.arange(n) < h for h in hits]).astype(int)
    fitted = BetaCalibration().fit(*rows)
    np.testing.assert_allclose(fitted.predict_proba(p), hits / n, rtol=1e-10)
    expected = np.linalg.solve(features(p), logit(hits / n))
    np.testing.assert_allclose([fitted.a_[0], fitted.b_[0], fitted.intercept_[0]], expected, rtol=1e-8)
    assert fitted.converged_


def test_beta_against_statsmodels():
    from statsmodels.api import Logit

    y, p = cs.generators.temperature(2).sample(500, rng=3)
    other = Logit(y, features(p)).fit(disp=0)
    fitted = BetaCalibration().fit(p, y)
    np.testing.assert_allclose([fitted.a_[0], fitted.b_[0], fitted.intercept_[0]], other.params, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_beta_against_a_bounded_optimiser(seed, weighted):
    random = np.random.default_rng(seed)
    x = random.normal(0, 1, 80)
    p = expit(x)
    y = (random.random(80) < expit([x, x**3, -x, np.minimum(2 * x, 0), np.maximum(2 * x, 0), x * 0][seed])).astype(int)
    w = random.integers(1, 4, 80).astype(float) if weighted else np.ones(80)
    fitted = BetaCalibration().fit(p, y, sample_weight=w if weighted else None)
    q = fitted.predict_proba(p)
    assert np.average(-np.where(y == 1, np.log(q), np.log1p(-q)), weights=w) <= bounded(p, y, w) + 1e-9
    assert min(fitted.a_[0], fitted.b_[0]) >= 0


@pytest.mark.parametrize("seed", range(3))
def test_many_rows_on_few_points_are_as_row_by_row(seed):
    y, p = cs.generators.temperature(2).sample(20_000, rng=seed)  # condensed to about 1000 points
    fitted = BetaCalibration().fit(p, y)
    eta = features(p) @ [fitted.a_[0], fitted.b_[0], fitted.intercept_[0]]
    gradient = features(p).T @ (expit(eta) - y)
    information = (features(p) * (expit(eta) * expit(-eta))[:, None]).T @ features(p)
    assert gradient @ np.linalg.solve(information, gradient) < 1e-16  # squared standard errors from the optimum


@pytest.mark.parametrize("name", PEERS)
def test_beta_is_no_worse_than_the_package_of_its_authors(name):
    data = PEERS[name]
    y, p = data["y"], data["p"]
    ours = binary_log_loss(y, BetaCalibration().fit(p, y).predict_proba(p))
    assert ours <= binary_log_loss(y, data["betacal"]) + 1e-6
    assert ours >= binary_log_loss(y, data["betacal"]) - 1e-6  # where it stops a little early


def test_a_worse_fit_is_found():
    data = PEERS["S-shaped"]
    ours = binary_log_loss(data["y"], PlattScaling().fit(data["p"], data["y"]).predict_proba(data["p"]))
    assert ours > binary_log_loss(data["y"], data["betacal"]) + 1e-6


@given(weighted_rows())
def test_beta_never_decreases_and_is_no_worse_than_a_constant(data):
    y, p, w = data
    fitted = BetaCalibration(clip=0.01)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        fitted.fit(p, y, sample_weight=w)
    q = fitted.predict_proba(p)
    assert not falls(p, q)
    share = np.average(y, weights=w)
    if fitted.converged_:
        loss = -np.where(y == 1, np.log(q), np.log1p(-q))
        constant = -np.where(y == 1, np.log(max(share, 1e-300)), np.log(max(1 - share, 1e-300)))
        assert np.average(loss, weights=w) <= np.average(constant, weights=w) + 1e-9


def test_equal_predictions_become_the_share():
    fitted = BetaCalibration().fit([0.3] * 5, [0, 1, 1, 0, 0])
    np.testing.assert_allclose(fitted.predict_proba([0.3]), [0.4], rtol=1e-12)
    assert fitted.converged_


def test_one_class_has_no_optimum():
    with pytest.warns(RuntimeWarning, match="BetaCalibration has not converged"):
        assert not BetaCalibration().fit([0.2, 0.4, 0.6], [1, 1, 1]).converged_


def test_beta_of_three_classes_is_one_regression_each():
    y, p = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(300, rng=1)
    fitted = BetaCalibration().fit(p, y)
    scores = np.stack([BetaCalibration().fit(p[:, k], y == k).predict_proba(p[:, k]) for k in range(3)], axis=1)
    np.testing.assert_allclose(fitted.predict_proba(p), scores / scores.sum(axis=1, keepdims=True), rtol=1e-8)


def test_predictions_of_almost_no_variance():
    """Their weights are below 1e-300: the map stays where it began, and a warning says that there is no optimum."""
    with pytest.warns(RuntimeWarning, match="BetaCalibration has not converged"):
        found = BetaCalibration().fit([2.2e-311] * 3, [1, 0, 1])
    assert np.isfinite(found.predict_proba([2.2e-311, 0.5])).all()
