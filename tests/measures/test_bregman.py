"""Proper scores as Bregman divergences, against textbooks."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from score_examples import ALL, CUBE, PROBABILITY, SQUARE, STEEP, losses

from calibstat.measures.bregman import BREGMANS, BRIER, LOG_LOSS, SPHERICAL, Bregman, find_score


@pytest.mark.parametrize("score", ALL, ids=repr)
@given(v=PROBABILITY)
@example(v=0.0)
@example(v=1.0)
@example(v=0.5)
def test_losses_are_those_of_textbooks(score, v):
    found = score.loss(np.array([0.0, 1.0]), np.array([v, v]))
    assert found == pytest.approx(losses(score, v), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("score", ALL, ids=repr)
@given(x=PROBABILITY, v=PROBABILITY)
def test_scores_are_proper(score, x, v):
    """Predicting x costs least where the outcome has frequency x, and the divergence is what else costs more."""
    low, high = losses(score, np.array([v, x]))
    with np.errstate(invalid="ignore"):
        expected = np.where(x < 1, (1 - x) * low, 0) + np.where(x > 0, x * high, 0)
    divergence = score.loss(np.array([x]), np.array([v]))[0]
    assert divergence >= 0
    if np.isfinite(expected[0]):
        assert expected[0] - expected[1] == pytest.approx(divergence, abs=1e-12, rel=1e-9)


@given(x=PROBABILITY, v=PROBABILITY)
def test_a_user_defined_score_is_the_divergence_of_its_function(x, v):
    x, v = np.array([x]), np.array([v])
    assert SQUARE.loss(x, v) == pytest.approx(BRIER.loss(x, v), abs=1e-15)
    assert STEEP.loss(x, v) == pytest.approx(LOG_LOSS.loss(x, v), abs=1e-12, rel=1e-9)


def test_small_divergences_keep_their_digits():
    """For x = v + h: log h²/(2 v (1 - v)), spherical h²/(2 |(v, 1 - v)|³), the second derivative over two."""
    v, h = np.array([0.3]), 1e-7
    assert LOG_LOSS.loss(v + h, v)[0] == pytest.approx(h**2 / (2 * 0.3 * 0.7), rel=1e-5)
    assert SPHERICAL.loss(v + h, v)[0] == pytest.approx(h**2 / (2 * math.hypot(0.3, 0.7) ** 3), rel=1e-5)


def test_which_scores_are_steep():
    assert [score.is_steep for score in (BRIER, LOG_LOSS, SPHERICAL, STEEP, CUBE)] == [False, True, False, True, False]
    np.testing.assert_array_equal(LOG_LOSS.inside(np.array([0.0, 0.5, 1.0]), 0.1), [0.1, 0.5, 0.9])
    np.testing.assert_array_equal(BRIER.inside(np.array([0.0, 0.5, 1.0]), None), [0, 0.5, 1])
    with pytest.raises(ValueError, match=r"found 1 for row 1; clip=0\.25 moves"):
        LOG_LOSS.inside(np.array([0.5, 1.0]), None)
    with pytest.raises(ValueError, match="expected no clip with the brier score"):
        BRIER.inside(np.array([0.5]), 0.1)


def test_find_score():
    assert [find_score(name) for name in BREGMANS] == [BRIER, LOG_LOSS, SPHERICAL]
    assert find_score(CUBE) is CUBE
    for wrong in ("kl", "log", None, abs):
        with pytest.raises(ValueError, match="expected a score, one of brier, log_loss, spherical or a Bregman"):
            find_score(wrong)


@pytest.mark.parametrize(
    "score", [*BREGMANS.values(), Bregman("cubes", lambda x: x**3 + x**2, lambda x: 3 * x**2 + 2 * x)]
)
def test_predictions_are_found_by_their_gradient(score):
    """The derivative of the prediction by the gradient is 1 over the second derivative of phi."""
    v = np.array([0.01, 0.2, 0.5, 0.83, 0.999])
    assert score.prediction(score.gradient(v)) == pytest.approx(v, abs=1e-12)
    second = {
        "brier": 2 + 0 * v,
        "log_loss": 1 / (v * (1 - v)),
        "spherical": (v**2 + (1 - v) ** 2) ** -1.5,
        "cubes": 6 * v + 2,
    }[score.name]
    assert score.spread(score.gradient(v)) == pytest.approx(1 / second, rel=1e-6)
    assert score.prediction(np.array([-1e3, 1e3])) == pytest.approx([0, 1], abs=1e-15)


def test_gains_are_differences_of_losses():
    v, moved, count, ones = np.array([0.2, 0.7]), np.array([0.3, 0.6]), np.array([4.0, 2]), np.array([1.0, 2])
    for score in BREGMANS.values():
        losses = [ones * score.loss(1.0, each) + (count - ones) * score.loss(0.0, each) for each in (v, moved)]
        assert score.gain(v, moved, count, ones) == pytest.approx(losses[0] - losses[1], abs=1e-14)
