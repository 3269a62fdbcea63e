"""A null hypothesis as one sentence, and the sentence of a user's lens as a null hypothesis."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.null_hypothesis import EVENT_NULL, CalibrationMap, Null

RAIN = Null("the sky", ("it rains", " with its chance"))


def test_the_sentence():
    assert str(RAIN) == "given the sky, it rains independently with its chance."
    assert str(EVENT_NULL) == (
        "given the predictions, every outcome is 1 independently with its predicted probability."
    )
    assert str(replace(RAIN, exact=True)) == "given the sky, it rains independently with its chance (exact)."
    assert str(RAIN.approximately("few drops")) == (
        "given the sky, it rains independently with its chance (approximate: few drops)."
    )
    assert str(replace(RAIN, weights=True)) == (
        "given the weights and the sky, it rains independently with its chance."
    )
    assert str(replace(RAIN, rows="sampled")) == (
        "predictions are an independent sample and, given the sky, it rains independently with its chance."
    )
    assert str(replace(RAIN, rows="in clusters").approximately("9 clusters")) == (
        "given the sky, it rains with its chance, and rows of different clusters are independent "
        "(approximate: 9 clusters)."
    )


def test_fields_say_what_the_sentence_says():
    exact = replace(RAIN, exact=True)
    assert exact.exact
    assert exact.why_approximate == ""
    assert not RAIN.approximately("few drops").exact
    assert pickle.loads(pickle.dumps(exact)) == exact
    assert hash(exact) != hash(RAIN)


@pytest.mark.parametrize(
    ("sentence", "null"),
    [
        ("given the sky, it rains independently with its chance.", RAIN),
        ("given the sky, it rains.", Null("the sky", ("it rains",))),
        ("what one wants.", Null("", ("what one wants",))),
        ("it rains, given the sky.", Null("", ("it rains, given the sky",))),
        ("given it rains", Null("", ("given it rains",))),
        ("", Null("", ("",))),
    ],
)
def test_a_sentence_of_a_user_is_read_and_said_again(sentence, null):
    assert Null.read(sentence) == null
    assert str(null) == sentence.removesuffix(".") + "."


def test_weights_without_what_is_given():
    assert str(replace(Null.read("it rains."), weights=True)) == "given the weights, it rains."


# --- calibration maps ---

P = np.array([0.1, 0.5, 0.9])
FITTED = cs.recalibration.PlattScaling().fit([0.2, 0.3, 0.6, 0.8], [0, 1, 0, 1])


def square(p):
    return p**2


@pytest.mark.parametrize(
    ("given", "name", "expected"),
    [
        (square, "the function square", P**2),
        (lambda p: 1 - p, "the given function", 1 - P),
        (FITTED, "PlattScaling", FITTED.predict_proba(P)),
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
