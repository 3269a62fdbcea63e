"""Calibration maps: what is a map, and what it may give."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.null_hypothesis import EVENT_NULL

P = np.array([0.1, 0.5, 0.9])


def square(p):
    return p**2


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        (square, "the function square", P**2),
        (lambda p: 1 - p, "the given function", 1 - P),
        (cs.generators.temperature(2).curve, "the function curve", P**0.5 / (P**0.5 + (1 - P) ** 0.5)),
    ],
)
def test_of_an_event(given, name, expected):
    found = CalibrationMap.of(given)
    assert found.name == name
    np.testing.assert_allclose(found.of_event(P), expected, rtol=1e-12)
    # two classes go through the probability of the second
    np.testing.assert_allclose(found.of_vectors(np.column_stack((1 - P, P)))[:, 1], expected, rtol=1e-12)
    assert str(found.of_rows(EVENT_NULL)) == (
        f"given the predictions, every outcome comes independently from the probabilities that {name} gives for its "
        "prediction."
    )


def test_of_a_recalibrator():
    fitted = cs.recalibration.PlattScaling().fit([0.2, 0.3, 0.6, 0.8], [0, 1, 0, 1])
    test_of_an_event(fitted, "PlattScaling", fitted.predict_proba(P))


def test_of_vectors():
    prob = np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]], np.float32)
    found = CalibrationMap.of(lambda p: p[:, ::-1]).of_vectors(prob)
    np.testing.assert_array_equal(found, prob[:, ::-1].astype(float))
    assert found.dtype == np.float64


def test_a_map_does_not_change_what_it_gets():
    def spoils(p):
        p[:] = 0
        return p

    kept = P.copy()
    CalibrationMap.of(spoils).of_event(P)
    np.testing.assert_array_equal(P, kept)


@pytest.mark.parametrize("given", ["platt", 3, cs.recalibration.PlattScaling, [0.1, 0.2]])
def test_what_is_no_map_is_refused(given):
    with pytest.raises(ValueError, match="expected null to be a fitted recalibrator, or a function"):
        CalibrationMap.of(given)


def test_a_map_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="expected a fitted PlattScaling"):
        CalibrationMap.of(cs.recalibration.PlattScaling()).of_event(P)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda p: 2 * p, r"expected the given function to give probabilities in \[0, 1\], found 1.8 in what it gives"),
        (lambda p: p * np.nan, r"to give probabilities in \[0, 1\], found nan"),
        (lambda p: p[:2], r"numbers in the shape \(3,\) of the predictions, found ndarray of shape \(2,\)"),
        (lambda p: p.astype(str), "numbers in the shape"),
    ],
)
def test_what_is_no_probability_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        CalibrationMap.of(function).of_event(P)


def test_vectors_that_do_not_sum_to_1_are_refused():
    with pytest.raises(ValueError, match=r"to give rows that sum to 1, found 0\.5 in what it gives"):
        CalibrationMap.of(lambda p: p / 2).of_vectors(np.full((4, 3), 1 / 3))
