"""Nakkiran 2023 (slides) and Carrell et al. 2022 (arXiv:2210.01964): exact values and a general solver."""

from itertools import product

import numpy as np
import pytest
from binned_by_hand import binned_error, hits_and_confidence
from scipy.optimize import minimize

import calibstat as cs


@pytest.mark.parametrize("epsilon", [0.0, 0.001, 0.01, 0.1])
def test_slide_on_two_models_that_hardly_differ(epsilon):
    """f1 says 1/2 of both points and is calibrated, f2 1/2 ± epsilon. Of one wide bin the error is 0, of two that part
    the points 1/2 - epsilon: even and odd numbers of bins."""
    y, p = np.array([1, 0] * 50), np.array([0.5 + epsilon, 0.5 - epsilon] * 50)
    unbinned = 0.5 - epsilon if epsilon else 0.0
    assert cs.estimate(y, p, measure="ece", n_bins=None) == pytest.approx(unbinned, abs=1e-14)
    assert cs.estimate(y, p, measure="ece", n_bins=4) == pytest.approx(unbinned, abs=1e-14)
    odd = 0.5 - epsilon if epsilon > 0.1 else 0.0
    assert cs.estimate(y, p, measure="ece", n_bins=3) == pytest.approx(odd, abs=1e-14)
    # the smooth error: weights w at 1/2 ± epsilon differ by 2 epsilon at most
    assert cs.estimate(y, p, measure="smooth_ce") == pytest.approx((0.5 - epsilon) * epsilon, abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_slide_on_ece_as_a_supremum(seed):
    """The largest mean of w(v) (y - v) over all w from -1 to 1: a linear function, so that all signs are enough."""
    random = np.random.default_rng(seed)
    p, y = random.integers(0, 9, 40) / 8, random.integers(0, 2, 40)
    value = np.unique(p)
    residual = [np.sum((y - p)[p == v]) / 40 for v in value]
    slow = max(np.dot(sign, residual) for sign in product((-1, 1), repeat=value.size))
    assert cs.estimate(y, p, measure="ece", n_bins=None) == pytest.approx(slow, abs=1e-14)
    detail = cs.detail(y, p, measure="ece", n_bins=None)
    weight = np.sign(detail["frequency"] - detail["mean_prediction"])
    assert weight @ residual == pytest.approx(slow, abs=1e-14)


def best_update(y, p):
    """The fall of the Brier score by the best kappa in [0, 1] of which kappa(v) - v is 1-Lipschitz.

    By SLSQP of scipy, from the predictions themselves, for updates at each distinct prediction.
    """
    value = np.unique(p)
    place = np.searchsorted(value, p)
    rise = np.diff(value)
    rises = {
        "type": "ineq",
        "fun": lambda kappa: np.concatenate([np.diff(kappa), 2 * rise - np.diff(kappa)]),
        "jac": lambda _: np.concatenate([np.diff(np.eye(value.size), axis=0), -np.diff(np.eye(value.size), axis=0)]),
    }

    def score(kappa):
        return ((y - kappa[place]) ** 2).mean()

    def slope(kappa):
        return np.bincount(place, 2 * (kappa[place] - y), value.size) / y.size

    options = {"ftol": 1e-15, "maxiter": 500}
    bounds = [(0, 1)] * value.size
    found = minimize(score, value, jac=slope, bounds=bounds, constraints=[rises], method="SLSQP", options=options)
    return score(value) - found.fun


@pytest.mark.parametrize("seed", range(6))
def test_theorem_1_3_gap_by_a_general_solver_and_its_bounds(seed):
    random = np.random.default_rng(seed)
    p, y = random.integers(0, 21, 30) / 20, random.integers(0, 2, 30)
    gap = cs.estimate(y, p, measure="post_processing_gap")
    assert gap == pytest.approx(best_update(y, p), abs=1e-7)
    smooth = cs.estimate(y, p, measure="smooth_ce")
    assert smooth**2 - 1e-12 <= gap <= 2 * smooth + 1e-12


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.4])
def test_gap_of_the_two_worlds(alpha):
    """Residuals alpha / 2 and -alpha / 2, 2 alpha apart: moving both by alpha to 1/2 gains alpha² and is allowed."""
    assert cs.generators.quadratic_gap(alpha).truth("post_processing_gap") == pytest.approx(alpha**2, abs=1e-12)


def rows(temperature, seed, n=300):
    return cs.generators.dirichlet((0.4, 0.4, 0.4), temperature=temperature).sample(n, rng=seed)


def test_error_on_test_rows_is_error_on_training_rows_and_the_gap():
    train, test = rows(1, 1), rows(3, 2)
    found = cs.generalization_gap(train=train, test=test, n_bins=10, n_resamples=19, rng=1)
    slow = [binned_error(*hits_and_confidence(*each), 10) for each in (train, test)]
    assert [found.train.estimate, found.test.estimate] == pytest.approx(slow, abs=1e-14)
    assert found.gap == pytest.approx(slow[1] - slow[0], abs=1e-14)
    wrong = [1 - np.mean(hits_and_confidence(*each)[0]) for each in (train, test)]
    assert [found.error_train, found.error_test] == pytest.approx(wrong, abs=1e-14)


def assumptions(train, test):
    """Theorem 2, without bins: over-confident on test rows at each confidence, as confident on training rows."""
    hits, confidence = (np.array(each) for each in hits_and_confidence(*test))
    over = all(hits[confidence == v].mean() <= v + 1e-12 for v in set(confidence))
    return over and np.mean(hits_and_confidence(*train)[1]) >= confidence.mean() - 1e-12


def made(seed, loses):
    """Training rows, and as many test rows with the same vectors of which a share loses its most likely class."""
    random = np.random.default_rng(seed)
    prob = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.05, 0.05, 0.9]])[np.arange(60) % 3]
    label = np.array([random.choice(3, p=row) for row in prob])
    other = np.where(random.random(60) < loses, (prob.argmax(axis=1) + 1) % 3, label)
    return (label, prob), (other, prob)


def test_theorem_2_the_gap_is_at_most_the_gap_of_the_errors():
    kept, broken = 0, 0
    for seed in range(40):
        for loses in (0.0, 0.4):
            train, test = made(seed, loses) if seed % 2 else made(seed, loses)[::-1]
            error = [cs.estimate(*each, measure="ece", n_bins=None) for each in (train, test)]
            wrong = [1 - np.mean(hits_and_confidence(*each)[0]) for each in (train, test)]
            holds = error[1] - error[0] <= wrong[1] - wrong[0] + 1e-12
            if assumptions(train, test):
                kept += 1
                assert holds
            else:
                broken += not holds
    assert kept >= 10
    assert broken >= 1  # so that the bound could fail


RARE = cs.Bregman("rare", lambda x: -np.log(x + 0.1), lambda x: -1 / (x + 0.1))


@pytest.mark.parametrize("score", ["brier", "log_loss", "spherical", RARE], ids=str)
def test_theorem_calibrated_if_and_only_if_no_update_lowers_a_proper_loss(score):
    """On random finite domains: the gap is 0 where frequencies are predictions, else above 0, whichever the loss is."""
    random = np.random.default_rng(3)
    for _ in range(20):
        value = np.sort(random.uniform(0.05, 0.95, 5))
        share = random.dirichlet(np.ones(5))
        wrong = np.clip(value + random.uniform(-0.04, 0.04, 5), 0, 1)
        gaps = [
            cs.generators.domain(tuple(share / share.sum()), tuple(chance), tuple(value)).truth(
                "post_processing_gap", score=score
            )
            for chance in (value, wrong)
        ]
        assert gaps[0] == pytest.approx(0, abs=1e-13)
        assert gaps[1] > 1e-7
