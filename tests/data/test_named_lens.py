"""The lens of a result, and the outcome that it shows in words."""

import pickle

import pytest

import calibstat as cs
from calibstat.data import lenses
from calibstat.data.named_lens import EVENT, UNSAID, NamedLens


@pytest.mark.parametrize(
    ("lens", "words"),
    [
        (lenses.top_label, "the most likely class"),
        (lenses.canonical, "all classes jointly"),
        (lenses.one_class(12), "class 12"),
        (lenses.name_class(1, ["cat", "a (b)"]), "class a (b)"),
        (lenses.top_k(2), "the outcome of lens top_k(2)"),
        (lenses.class_wise, "each class"),
        (cs.Lens("odd", max, max, "none."), "the outcome of lens odd"),
        (cs.Lens("odd", max, max, "none.", subject="an odd class"), "an odd class"),
    ],
)
def test_what_a_lens_shows_in_words(lens, words):
    assert lens.named == NamedLens(f"lens {lens}", words)
    assert str(lens.named) == f"lens {lens}"
    assert pickle.loads(pickle.dumps(lens.named)) == lens.named


def test_all_classes_as_one_number():
    mean = lenses.class_wise.named.of_all("mean", 3)
    assert str(mean) == "lens class_wise, mean over 3 classes"
    assert (mean.subject, mean.reduce, mean.n_classes) == ("each class", "mean", 3)
    assert mean != lenses.class_wise.named


def test_outcome_1_goes_without_saying():
    assert (str(EVENT), EVENT.subject, EVENT.with_comma, EVENT.in_brackets) == ("event: outcome 1", "outcome 1", "", "")
    assert UNSAID.with_comma == UNSAID.in_brackets == str(UNSAID) == ""
    top = lenses.top_label.named
    assert (top.with_comma, top.in_brackets) == (", lens top_label", " (lens top_label)")
