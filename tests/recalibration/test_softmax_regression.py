"""How the optimum of the scalings is found, and how it is told that there is none."""

import warnings

import numpy as np
import pytest
from distorted import P, Y
from scipy import optimize
from scipy.special import logit, softmax

from calibstat.recalibration import (
    MatrixScaling,
    PlattScaling,
    VectorScaling,
    softmax_regression,
)


@pytest.mark.parametrize("shared", [False, True])
def test_derivatives(shared):
    rng = np.random.default_rng(5)
    features, label = rng.normal(size=(20, 1 if shared else 3, 2)), rng.integers(0, 3, 20)
    theta, times = rng.normal(size=(3, 2)), rng.random(20)

    def parts(flat):
        return softmax_regression._log_loss(features, label, times, flat.reshape(3, 2), curved=True)

    value, gradient, curvature = parts(theta.ravel())
    logits = np.array([[features[i, 0 if shared else k] @ theta[k] for k in range(3)] for i in range(20)])
    losses = -np.log(softmax(logits, axis=1)[np.arange(20), label])
    assert value == pytest.approx(np.average(losses, weights=times))
    np.testing.assert_allclose(gradient, optimize.approx_fprime(theta.ravel(), lambda t: parts(t)[0]), atol=1e-6)
    np.testing.assert_allclose(curvature, optimize.approx_fprime(theta.ravel(), lambda t: parts(t)[1]), atol=1e-6)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    whole = MatrixScaling().fit(P, Y).predict_proba(P)
    monkeypatch.setattr(softmax_regression, "BLOCK", 12 * 7)  # seven rows at a time
    np.testing.assert_allclose(MatrixScaling().fit(P, Y).predict_proba(P), whole, atol=1e-9)


def test_without_second_derivatives_the_optimum_is_the_same(monkeypatch):
    exact = MatrixScaling().fit(P, Y).predict_proba(P)
    monkeypatch.setattr(softmax_regression, "MOST_CURVED", 0)
    np.testing.assert_allclose(MatrixScaling().fit(P, Y).predict_proba(P), exact, atol=2e-3)


def fails(entry, p, y):
    """Whether the fit says that it has not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = entry().fit(p, y)
    assert all("has not converged" in str(one.message) and one.category is RuntimeWarning for one in caught)
    assert fitted.converged_ == (not caught)
    return bool(caught)


@pytest.mark.parametrize("entry", [PlattScaling, VectorScaling, MatrixScaling])
def test_separated_classes_are_reported(entry):
    p = P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)
    assert fails(entry, p, (p[:, 1] > 0.3).astype(int))  # completely
    level = np.round(p[:, 1] * 4 + 0.5) / 6
    tied = (level > 3 / 6).astype(int)
    tied[np.flatnonzero(level == 3 / 6)[::2]] = 1
    assert fails(PlattScaling, level, tied)  # but for ties
    tied[np.argmin(level)] = 1
    assert not fails(PlattScaling, level, tied)  # one exception is enough


@pytest.mark.parametrize("entry", [PlattScaling, VectorScaling, MatrixScaling])
def test_a_class_that_never_happened_is_reported(entry):
    assert fails(entry, P, np.where(Y == 2, 0, Y))
    assert not fails(entry, P, Y)


@pytest.mark.parametrize("entry", [VectorScaling, MatrixScaling])
@pytest.mark.parametrize("n", [40, 400])
def test_separation_of_one_class_among_three_is_reported(entry, n):
    p, y = P[:n], Y[:n].copy()
    assert not fails(entry, p, y)
    y[(y == 0) & (p[:, 0] < 0.5)] = 1
    y[p[:, 0] >= 0.5] = 0
    assert fails(entry, p, y)
    # a linear programme agrees
    assert separable(p, y)
    assert not separable(p, Y[:n])


def separable(p, y):
    """Whether some direction of the parameters raises what happened above the rest somewhere and lowers it nowhere."""
    logs = np.column_stack((np.log(p), np.ones(y.size)))
    margins = np.array(
        [np.kron(np.eye(3)[a] - np.eye(3)[k], x) for a, x in zip(y, logs, strict=True) for k in range(3)]
    )
    best = optimize.linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1, 1))
    return -best.fun > 1e-3


def test_a_gradient_alone_does_not_tell_separation():
    # the planted fault: a solver that trusts its gradient calls this a success
    p = np.array([0.2, 0.3, 0.6, 0.8])
    features = np.zeros((4, 2, 2))
    features[:, 1] = np.column_stack((logit(p), np.ones(4)))
    y = np.array([0, 0, 1, 1])

    def loss(theta):
        return softmax_regression._log_loss(features, y, np.ones(4), np.array([[0, 0], theta]), curved=False)[0]

    assert optimize.minimize(loss, [1.0, 0.0], method="BFGS").success
    assert not softmax_regression.likeliest(features, y, np.ones(4), np.array([[0.0, 0.0], [1.0, 0.0]]))[1]


def test_the_search_takes_a_definite_curvature(monkeypatch):
    """Two classes with the same features and no penalty: to move both alike changes nothing, and SciPy never ended."""
    given, minimize = {}, optimize.minimize

    def noted(*arguments, **options):
        given.update(options, x=arguments[1])
        return minimize(*arguments, **options)

    monkeypatch.setattr("scipy.optimize.minimize", noted)
    random = np.random.default_rng(1)
    features = np.stack([np.ones(40), random.normal(size=40)], axis=1)[:, None]
    softmax_regression.likeliest(features, random.integers(0, 2, 40), np.ones(40), np.zeros((2, 2)))
    curvature = given["hess"](given["x"])
    ridge = 100 * 4 * np.finfo(float).eps * curvature.diagonal().max()
    assert np.linalg.eigvalsh(curvature)[0] == pytest.approx(ridge, rel=0.1)
    assert np.linalg.eigvalsh(curvature - np.eye(4) * ridge)[0] < 1e-15  # without it there is none
    np.linalg.cholesky(curvature)
