"""The post-processing gap in any proper score: closed forms, a general solver, and a certificate for any size."""

import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows
from scipy import integrate
from scipy.optimize import minimize
from scipy.special import expit, logit, xlogy

import calibstat as cs
from calibstat.generators import calibrated, quadratic_gap, temperature
from calibstat.measures.bregman import BREGMANS

RARE = cs.Bregman("rare", lambda x: -np.log(x + 0.1), lambda x: -1 / (x + 0.1))
SQUARE = cs.Bregman("square", np.square, lambda x: 2 * x)
OTHERS = ["log_loss", "spherical", RARE]


def gap(*data, **options):
    return cs.estimate(*data, measure="post_processing_gap", **options)


def entropy(x, v):
    """Kullback-Leibler divergence of two chances."""
    return xlogy(x, x) - xlogy(x, v) + xlogy(1 - x, 1 - x) - xlogy(1 - x, 1 - v)


def test_closed_forms():
    """One prediction is moved to the frequency; without events everything is moved to 0, and all of the loss gained."""
    assert gap([1, 0, 0, 0], [0.6] * 4, score="log_loss") == pytest.approx(entropy(0.25, 0.6), abs=1e-14)
    p = np.array([0.1, 0.2, 0.4])
    assert gap([0, 0, 0], p, score="log_loss") == pytest.approx(-np.log(1 - p).mean(), abs=1e-11)
    # 1 - cos of the angle between (1, 3) and (3, 2), times the length of (1/4, 3/4)
    spherical = math.hypot(0.25, 0.75) * (1 - 9 / math.sqrt(10 * 13))
    assert gap([1, 0, 0, 0], [0.6] * 4, score="spherical") == pytest.approx(spherical, abs=1e-12)
    # log-odds of log(3) and -log(3) may be drawn apart to twice as much, .9 and .1
    assert gap([1, 0], [1.0, 0.0], score="log_loss", clip=0.25) == pytest.approx(math.log(0.9 / 0.75), abs=1e-11)


def test_two_predictions_that_may_meet():
    """Both predictions 1/2 - a and 1/2 + a of `quadratic_gap` have the frequency 1/2, and an update may join them."""
    for a in (0.1, 0.4):
        expected = (entropy(0.5, 0.5 - a) + entropy(0.5, 0.5 + a)) / 2
        assert quadratic_gap(a).truth("post_processing_gap", score="log_loss") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("beta", [0.5, 0.8, 2, 3])
def test_truth_by_quadrature(beta):
    """Log-odds of temperature beta are right after division by beta, an update with slope 1 / beta - 1 <= 1."""
    found = temperature(beta).truth("post_processing_gap", score="log_loss")

    def lost(t):
        odds = beta * logit(t)
        return t * np.logaddexp(0, -odds) + (1 - t) * np.logaddexp(0, odds) + xlogy(t, t) + xlogy(1 - t, 1 - t)

    expected, _ = integrate.quad(lost, 0, 1, epsabs=1e-12)
    assert found == pytest.approx(expected, abs=1e-8)


def test_steeper_maps_are_not_allowed():
    """At beta 1/4 log-odds would have to rise four times as fast: an update at most doubles them."""
    family = temperature(0.25)
    all_of_it, _ = integrate.quad(lambda t: entropy(t, expit(logit(t) / 4)), 0, 1, epsabs=1e-12)
    doubled, _ = integrate.quad(lambda t: entropy(t, expit(logit(t) / 4)) - entropy(t, expit(logit(t) / 2)), 0, 1)
    found = family.truth("post_processing_gap", score="log_loss")
    assert doubled - 1e-9 <= found < all_of_it - 0.01


@pytest.mark.parametrize("score", [*BREGMANS, RARE], ids=str)
def test_calibrated_models_have_none(score):
    assert calibrated().truth("post_processing_gap", score=score) == pytest.approx(0, abs=1e-12)
    assert calibrated([0.2, 0.7]).truth("post_processing_gap", score=score) == pytest.approx(0, abs=1e-12)


def test_a_user_defined_square_is_the_brier_score():
    for seed in range(10):
        y, p = temperature(2).sample(50, rng=seed)
        assert gap(y, p, score=SQUARE) == pytest.approx(gap(y, p), abs=1e-12)


def slow(y, p, score):
    """The best update of the gradient by a general solver."""
    score = BREGMANS.get(score, score)
    u = score.gradient(p)

    def loss(moved):
        return score.loss(y.astype(float), score.prediction(moved)).mean()

    found = minimize(
        loss,
        u,
        jac=lambda moved: (score.prediction(moved) - y) / y.size,
        constraints=[
            {"type": "ineq", "fun": lambda moved: np.concatenate((np.diff(moved), 2 * np.diff(u) - np.diff(moved)))}
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return loss(u) - found.fun


@pytest.mark.parametrize("score", OTHERS, ids=str)
def test_against_a_general_solver(score):
    for seed in range(8):
        random = np.random.default_rng(seed)
        p = np.sort(random.uniform(0.05, 0.95, 2 + seed % 8))
        y = random.permutation(np.arange(p.size) % 2)
        assert gap(y, p, score=score) == pytest.approx(slow(y, p, score), abs=1e-6)


def check_optimal(sample, kappa, score):
    """The conditions of Karush, Kuhn and Tucker: no pair of neighbours could be drawn apart or together for a gain.

    To move all predictions from the j-th on up gains the sum of their residuals y - kappa, to first order: it is at
    most 0 where the rise before the j-th may grow, at least 0 where it may shrink, and 0 for all predictions together.
    """
    score = BREGMANS.get(score, score)
    u, moved = score.gradient(sample.value), score.gradient(np.clip(kappa, 1e-15, 1 - 1e-15))
    rise, most = np.diff(moved), 2 * np.diff(u)
    assert np.all(rise >= -1e-9)
    assert np.all(rise <= most + 1e-9)
    after = np.cumsum((sample.positives - sample.count * kappa)[::-1])[::-1] / sample.n
    assert abs(after[0]) < 1e-6
    assert np.all(after[1:][rise < most - 1e-6] < 1e-6)
    assert np.all(after[1:][rise > 1e-6] > -1e-6)


@pytest.mark.parametrize("score", OTHERS, ids=str)
@pytest.mark.parametrize("n", [30, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_certificate_for_any_size(score, n):
    for beta in (0.3, 1, 3):
        sample = cs.Sample.from_rows(*temperature(beta).sample(n, rng=n))
        kappa = cs.detail(sample, measure="post_processing_gap", score=score)["kappa"]
        check_optimal(sample, kappa, score)
        for worse in (sample.value, 0.9 * kappa + 0.05, cs.detail(sample, measure="mcb")["recalibrated"]):
            with pytest.raises(AssertionError):
                check_optimal(sample, worse, score)


@given(rows())
def test_bounds_by_the_smooth_error(data):
    """With the log loss the gap is at least 2 S²: weights w of size and slope 1 in v have slope 1/4 in the log-odds.

    An update 4 S w gains S 4 S less its curvature, at most 1/4, times (4 S)² / 2. Nothing gains more than the loss of
    the model above that of the frequency of each prediction.
    """
    y, p = data
    sample = cs.Sample.from_rows(y, 0.01 + 0.98 * p)
    found = gap(sample, score="log_loss")
    assert found >= 2 * cs.estimate(sample, measure="smooth_ce") ** 2 - 1e-11
    frequency = sample.positives / sample.count
    assert found <= (sample.count @ entropy(frequency, sample.value)) / sample.n + 1e-11


def test_tests_weights_and_classes():
    y, p = temperature(2).sample(300, rng=1)
    asked = {"measure": "post_processing_gap", "score": "log_loss", "rng": 1, "n_resamples": 99}
    assert cs.calibration_test(y, p, **asked).pvalue == 0.01
    assert cs.calibration_test(*calibrated().sample(300, rng=5), **asked).pvalue > 0.05
    weight = np.random.default_rng(1).integers(1, 4, 300)
    repeated = gap(np.repeat(y, weight), np.repeat(p, weight), score="log_loss")
    assert gap(y, p, score="log_loss", sample_weight=weight) == pytest.approx(repeated, abs=1e-12)
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(100, rng=1)
    assert np.all(gap(label, prob, score="spherical", lens="class_wise") > 0)


def test_options():
    with pytest.raises(ValueError, match="takes their logarithms; found 1 for row 1"):
        gap([0, 1], [0.5, 1.0], score="log_loss")
    with pytest.raises(ValueError, match="expected no clip with the brier score"):
        gap([0, 1], [0.5, 1.0], clip=0.1)
    with pytest.raises(ValueError, match="expected a score"):
        gap([0, 1], [0.5, 1.0], score="brie")
    bounds = [cs.measures.PostProcessingGap(score=score).bounds for score in ("brier", "spherical", "log_loss")]
    assert bounds == [(0, 1), (0, 1), (0, math.inf)]
