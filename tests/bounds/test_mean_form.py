"""Means of losses: their score interval by hand, and what it does without bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from score_reach import score_reach

import calibstat as cs
from calibstat.bounds.mean_form import of_vector_losses, range_of_losses


def example(n, seed=1):
    return cs.generators.calibrated().sample(n, seed)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_a_mean_by_hand(level):
    y, p = example(80)
    p = np.round(p, 2).clip(0.01, 0.99)  # ties
    cases = {
        "brier": ((y - p) ** 2, 1.0),
        "log_loss": (-np.log(np.where(y == 1, p, 1 - p)), -np.log(min(p.min(), 1 - p.max()))),
    }
    for measure, (loss, most) in cases.items():
        found = cs.confidence_interval(y, p, measure=measure, confidence_level=level)
        assert found.high == pytest.approx(loss.mean() + score_reach(loss, most, level), rel=1e-10)
        assert found.low == pytest.approx(loss.mean() - score_reach(-loss, 0.0, level), rel=1e-10)
        clipped = cs.confidence_interval(y, p, measure="log_loss", clip=1e-3, confidence_level=level)
        assert clipped.high > cs.confidence_interval(y, p, measure="log_loss", confidence_level=level).high


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=12), st.sampled_from([0.1, 0.025, 0.005]))
def test_both_ends_are_mirror_images(losses, tail):
    """Of 1 less the losses the ends change places."""
    losses = np.array(losses)
    one, other = (of_vector_losses("made up", part, lambda: losses, (0.0, 1.0)) for part in (losses, 1 - losses))
    assert one.high(tail) == pytest.approx(1 - other.low(list, tail), abs=1e-12)
    assert one.low(list, tail) <= one.estimate <= one.high(tail)


def test_a_loss_that_no_row_had():
    """100 losses of 0 that may be 1: k / n with k = (2 t**2 + 4) / 3; without bounds those of the rows count."""
    found = of_vector_losses("made up", np.zeros(100), lambda: np.zeros(100), (0.0, 1.0))
    assert found.high(0.025) == pytest.approx((2 * stats.t.isf(0.025, 99) ** 2 + 4) / 300)
    assert of_vector_losses("made up", np.zeros(100), lambda: np.zeros(100), (0.0, np.inf)).high(0.025) == 0
    assert range_of_losses(lambda: np.array([0.2, 3.0]), (0.0, np.inf)) == (0.0, 3.0)
    assert range_of_losses(lambda: np.array([0.2, 3.0]), (-np.inf, 5.0)) == (0.2, 5.0)
