"""Factors of classes: the map, the likeliest ones, and shares by the EM algorithm."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from calibstat.recalibration import class_factors
from calibstat.recalibration.class_factors import estimated_shares, factors_of, likeliest_factors, reweighted


def test_reweighted_by_hand():
    out = reweighted(np.array([[0.5, 0.5], [1, 0], [0.2, 0.8]]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(out, [[0.75, 0.25], [1, 0], [0.6 / 1.4, 0.8 / 1.4]])


@pytest.mark.parametrize("seed", range(5))
def test_likeliest_factors_against_an_optimiser(seed):
    random = np.random.default_rng(seed)
    prob, label = random.dirichlet(np.ones(3), 60), random.integers(0, 3, 60)
    weight = random.random(60)
    weight /= weight.sum()

    def loss(log_factor):
        return -weight @ np.log(reweighted(prob, np.exp(log_factor))[np.arange(60), label])

    found, still = likeliest_factors(prob, np.bincount(label, weight), weight)
    assert still
    assert loss(found) <= minimize(loss, np.zeros(3), tol=1e-12).fun + 1e-12
    np.testing.assert_allclose(weight @ reweighted(prob, np.exp(found)), np.bincount(label, weight), atol=1e-12)


def test_a_class_that_is_never_observed_has_no_likeliest_factor():
    assert not likeliest_factors(np.full((4, 2), 0.5), np.array([1.0, 0.0]), np.full(4, 0.25))[1]
    assert not likeliest_factors(np.full((4, 3), 1 / 3), np.array([0.5, 0.5, 0.0]), np.full(4, 0.25))[1]


def test_certain_predictions_leave_factors_alone():
    found, still = likeliest_factors(np.eye(2)[[0, 1, 1]], np.array([1 / 3, 2 / 3]), np.full(3, 1 / 3))
    assert (found.tolist(), still) == ([0, 0], True)


def em(prob, before, weight, rounds):
    """Saerens, Latinne, Decaestecker as they wrote it, until a step changes nothing."""
    share = before
    for _ in range(rounds):
        last, share = share, weight @ reweighted(prob, share / before)
        if np.array_equal(share, last):
            break
    return share


@pytest.mark.parametrize("seed", range(20))
def test_shares_against_plain_em_steps(seed):
    random = np.random.default_rng(seed)
    classes = 2 + seed % 3
    prob, before = random.dirichlet(np.full(classes, 0.5), 40), random.dirichlet(np.full(classes, 3))
    weight = random.random(40)
    weight /= weight.sum()
    found, still = estimated_shares(prob, before, weight)
    assert still
    np.testing.assert_allclose(found, em(prob, before, weight, 20_000), atol=1e-9)
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_predictions_that_tell_nothing_leave_shares():
    before = np.array([0.3, 0.7])
    found, still = estimated_shares(np.tile(before, (5, 1)), before, np.full(5, 0.2))
    np.testing.assert_allclose(found, before)
    assert still


def test_an_end_is_reached():
    found, still = estimated_shares(np.tile([0.6, 0.4], (5, 1)), np.array([0.3, 0.7]), np.full(5, 0.2))
    np.testing.assert_allclose(found, [1, 0], atol=1e-11)
    assert still


@pytest.mark.parametrize("highest", [1.0, 700.0, 1000.0])
def test_only_ratios_of_factors_matter(highest):
    factor = factors_of(np.array([highest - 1, highest]))
    assert np.isfinite(factor).all()
    assert factor[1] / factor[0] == pytest.approx(math.e, rel=1e-12)


def test_shares_that_are_not_found_in_time_say_so(monkeypatch):
    monkeypatch.setattr(class_factors, "MOST_ROUNDS", 1)
    prob = np.random.default_rng(1).dirichlet((1, 1), 40)
    share, still = estimated_shares(prob, np.array([0.5, 0.5]), np.full(40, 1 / 40))
    assert not still
    assert share.sum() == pytest.approx(1)
