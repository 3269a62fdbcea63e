"""What is looked at without a lens."""

import numpy as np
import pytest
from class_examples import LABEL, PROB

import calibstat as cs
from calibstat.data import lenses
from calibstat.data.checked_rows import observe
from calibstat.data.observations import subject

from_rows = cs.Predictions.from_rows
TWO = [[0.75, 0.25], [0.25, 0.75]]


def test_without_a_lens():
    binary = observe([0, 1], TWO)
    assert binary.lens == "event: outcome 1"
    for other in (
        observe(from_rows([0, 1], TWO), None),
        observe([0, 1], [0.25, 0.75]),
        observe([0, 1], [[0.25], [0.75]]),
    ):
        assert (other.lens, other.null) == (binary.lens, binary.null)
        assert np.array_equal(other.sample.value, [0.25, 0.75])
        assert np.array_equal(other.sample.positives, [0, 1])
    for data in ((LABEL, PROB), (from_rows(LABEL, PROB), None)):
        assert observe(*data).lens == "lens top_label"
    assert observe(LABEL, PROB).null == lenses.top_label.null
    assert observe(LABEL, PROB, canonical=True).lens == "lens canonical"
    assert observe([0, 1], TWO, canonical=True).lens == "lens canonical"
    assert observe([0, 1], [0.25, 0.75], canonical=True).predictions.n_classes == 2
    assert cs.estimate(LABEL, PROB) == cs.estimate(LABEL, PROB, lens="top_label")
    assert cs.estimate(from_rows(["n", "y"], TWO, labels=["n", "y"])) == cs.estimate([0, 1], [0.25, 0.75])
    assert cs.estimate(["n", "y"], TWO, labels=["n", "y"]) == cs.estimate([0, 1], [0.25, 0.75])


@pytest.mark.parametrize(
    ("lens", "words"),
    [
        (None, "outcome 1"),
        ("top_label", "the most likely class"),
        ("canonical", "all classes jointly"),
        (lenses.one_class(12), "class 12"),
        (lenses.name_class(1, ["cat", "a (b)"]), "class a (b)"),
        (lenses.top_k(2), "the outcome of lens top_k(2)"),
        ("class_wise", "each class"),
    ],
)
def test_what_a_lens_shows_in_words(lens, words):
    assert subject("event: outcome 1" if lens is None else f"lens {lens}") == words
    assert subject("lens class_wise, mean over 3 classes") == "each class"
