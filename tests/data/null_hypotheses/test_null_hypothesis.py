"""A null hypothesis as one sentence, and the sentence of a user's lens as a null hypothesis."""

import pickle
from dataclasses import replace

import pytest

from calibstat.data.null_hypothesis import EVENT_NULL, Null

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
