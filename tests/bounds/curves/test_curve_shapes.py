"""Shapes: their names, their limits, what they say."""

import pytest

import calibstat as cs
from calibstat.bounds.curves.curve_shapes import NonDecreasing, shape_of


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_variations_are_above_zero(wrong):
    with pytest.raises(ValueError, match="expected a total variation above 0, found"):
        cs.Variation(wrong)


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), "1", True])
def test_slopes_are_at_least_zero(wrong):
    with pytest.raises(ValueError, match="expected a slope of at least 0, found"):
        cs.Slope(wrong)


def test_names_of_shapes():
    assert shape_of("nondecreasing") == NonDecreasing()
    assert shape_of(cs.Slope(0)) == cs.Slope(0)
    message = (
        r"expected a shape of the calibration curve, 'nondecreasing', calibstat.Variation\(0.5\) or calibstat.Slope"
    )
    for wrong in ("monotone", 3, None):
        with pytest.raises(ValueError, match=message):
            shape_of(wrong)


def test_conditions_are_said():
    assert NonDecreasing().condition == "the outcome is never less likely at a higher prediction"
    assert "total variation of at most 0.5" in cs.Variation(0.5).condition
    assert "changes by at most 2 per unit" in cs.Slope(2).condition


def test_only_what_does_not_decrease_can_be_rejected():
    sample = cs.Sample.from_counts([0.2, 0.8], [100, 100], [90, 10])
    assert NonDecreasing().rejection(sample)
    assert not cs.Variation(0.1).rejection(sample)
