"""Logistic regression where predictions separate the outcomes or tell nothing."""

import numpy as np
import pytest

import calibstat as cs


@pytest.mark.parametrize("near", [0.2, 1e-4, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("verb", [cs.classical.cox, cs.classical.calibration_belt])
def test_predictions_that_separate_outcomes_are_named_however_certain(verb, near):
    """Newton's steps become cheap there without becoming short: it was taken for a maximum, and a matrix singular."""
    with pytest.raises(ValueError, match="expected outcomes that overlap"):
        verb([0, 1] * 20, [near, 1 - near] * 20, held_out=True)
    with pytest.raises(ValueError, match="expected outcomes that overlap"):
        verb([0, 1] * 20, [0.0, 1.0] * 20, held_out=True, clip=near)


@pytest.mark.parametrize("verb", [cs.classical.cox, cs.classical.calibration_belt])
def test_predictions_that_tell_nothing_in_double_precision(verb):
    y, p = [0, 1] * 20, [5e-324, 1 - 2**-53] * 20
    with pytest.raises(ValueError, match=r"leave outcomes open for .*; clip=6e-08 moves"):
        verb(y, p, held_out=True)
    y[0], y[1] = 1, 0
    assert np.isfinite(cs.classical.cox(y, p, held_out=True, clip=6e-8).slope)


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0] + [1] * 49, [0.9] * 15 + [1 - 1e-12] * 35),  # no failure among the certain: the slope has no upper end
        ([1, 1, 0], [1 - 1e-12, 1e-10, 1e-10]),  # along a ray from the maximum the likelihood never falls far enough
        ([1, 1, 1], [1 - 5e-12, 1 - 1e-12, 1 - 1e-12]),
    ],
)
@pytest.mark.parametrize("verb", [cs.classical.cox, cs.classical.calibration_belt])
def test_an_interval_without_an_end_is_refused_in_words(verb, y, p):
    """A singular matrix, or the root of a negative number, was the answer."""
    with pytest.raises(ValueError, match=r"expected outcomes that bound the interval for .* both outcomes"):
        verb(y, p, held_out=True)


def test_a_belt_of_eight_rows_without_an_end_is_refused_in_words():
    p = [0.00298, 0.01695, 0.01706, 0.02987, 0.03711, 0.05582, 0.05664, 0.13125]
    with pytest.raises(ValueError, match="expected outcomes that bound the interval for the calibration belt"):
        cs.classical.calibration_belt([0, 0, 0, 1, 1, 0, 1, 0], p, held_out=True)


ASKED = {
    "a constant": (lambda y, p: cs.validate(y, p), [2e-311] * 4),
    "a spread": (lambda y, p: cs.classical.calibration_belt(y, p, held_out=True), [1e-308, 0.1, 1 / 3, 0.92] * 3),
}


@pytest.mark.parametrize("asked", ASKED)
def test_predictions_of_almost_no_information(asked):
    """They left numbers too large to multiply, or a singular matrix."""
    ask, p = ASKED[asked]
    with pytest.raises(ValueError, match=r"^expected predictions that leave outcomes open"):
        ask(np.resize([1, 0, 0], len(p)), p)
