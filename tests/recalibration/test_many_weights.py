"""Vector scaling of many classes: derivatives, the optimum of the search with second derivatives, and few passes."""

import numpy as np
import pytest
from distorted import P, Y
from scipy import optimize
from scipy.special import softmax

import calibstat as cs
from calibstat.recalibration import VectorScaling, many_weights, vector_scaling

WEIGHT, INTERCEPT = np.array([0.5, 1.0, 1.5]), np.array([0.3, 0.0, -0.2])
TIMES = np.random.default_rng(1).random(Y.size)


def test_derivatives():
    logs = np.log(P)

    def loss(theta):
        chance = softmax(logs * theta[:3] + theta[3:], axis=1)
        return np.average(-np.log(chance[np.arange(Y.size), Y]), weights=TIMES)

    value, *gradient = many_weights._log_loss(logs, Y, TIMES, TIMES.sum(), WEIGHT, INTERCEPT)
    theta = np.concatenate((WEIGHT, INTERCEPT))
    assert value == pytest.approx(loss(theta), rel=1e-13)
    np.testing.assert_allclose(np.concatenate(gradient), optimize.approx_fprime(theta, loss), atol=1e-6)


def test_curvatures():
    logs, chance = np.log(P), softmax(np.log(P) * WEIGHT + INTERCEPT, axis=1)
    bend = TIMES[:, None] * chance * (1 - chance)
    total, mean, spread = many_weights._curvatures(logs, TIMES, TIMES.sum(), WEIGHT, INTERCEPT)
    np.testing.assert_allclose(total, bend.sum(axis=0) / TIMES.sum(), rtol=1e-12)
    np.testing.assert_allclose(mean, np.average(logs, axis=0, weights=bend), rtol=1e-12)
    np.testing.assert_allclose(spread, np.average((logs - mean) ** 2, axis=0, weights=bend), rtol=1e-9)


@pytest.fixture
def seen(monkeypatch):
    """The passes over the rows of a search that is made for many classes."""
    seen = []
    whole = many_weights._log_loss
    monkeypatch.setattr(many_weights, "_log_loss", lambda *rows: seen.append(1) or whole(*rows))
    return seen


@pytest.mark.parametrize("classes", [3, 40])
def test_the_optimum_is_found_in_few_passes(classes, seen, monkeypatch):
    shift = np.sin(np.arange(classes))
    y, p = cs.generators.dirichlet((1.0,) * classes, scale=(1.5,) * classes, shift=shift).sample(60 * classes, rng=3)
    exact = VectorScaling().fit(p, y).predict_proba(p)
    assert not seen
    monkeypatch.setattr(vector_scaling, "MOST_CURVED", 0)
    np.testing.assert_allclose(VectorScaling().fit(p, y).predict_proba(p), exact, atol=1e-5)
    assert 0 < len(seen) <= 40


def test_constant_predictions_and_classes_that_are_never_likely(seen, monkeypatch):
    monkeypatch.setattr(vector_scaling, "MOST_CURVED", 0)
    p = np.tile([0.5, 0.3, 0.2 - 1e-12, 1e-12], (8, 1))
    fitted = VectorScaling().fit(p, [0, 0, 0, 0, 1, 1, 2, 3])
    np.testing.assert_allclose(fitted.predict_proba(p[:1]), [[0.5, 0.25, 0.125, 0.125]], atol=1e-5)
