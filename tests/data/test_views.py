"""What is looked at without a lens."""

import numpy as np
from class_examples import LABEL, PROB

import calibstat as cs
from calibstat.data import lenses
from calibstat.data.checked_rows import observe

from_rows = cs.Predictions.from_rows
TWO = [[0.75, 0.25], [0.25, 0.75]]


def test_without_a_lens():
    binary = observe([0, 1], TWO)
    assert str(binary.lens) == "event: outcome 1"
    for other in (
        observe(from_rows([0, 1], TWO), None),
        observe([0, 1], [0.25, 0.75]),
        observe([0, 1], [[0.25], [0.75]]),
    ):
        assert (other.lens, other.null) == (binary.lens, binary.null)
        assert np.array_equal(other.sample.value, [0.25, 0.75])
        assert np.array_equal(other.sample.positives, [0, 1])
    assert binary.class_names == ()
    for data in ((LABEL, PROB), (from_rows(LABEL, PROB), None)):
        assert str(observe(*data).lens) == "lens top_label"
    assert observe(LABEL, PROB).null == lenses.top_label.null
    assert str(observe(LABEL, PROB, jointly=True).lens) == "lens canonical"
    assert str(observe([0, 1], TWO, jointly=True).lens) == "lens canonical"
    assert observe([0, 1], [0.25, 0.75], jointly=True).predictions.n_classes == 2
    assert cs.estimate(LABEL, PROB) == cs.estimate(LABEL, PROB, lens="top_label")
    assert cs.estimate(from_rows(["n", "y"], TWO, labels=["n", "y"])) == cs.estimate([0, 1], [0.25, 0.75])
    assert cs.estimate(["n", "y"], TWO, labels=["n", "y"]) == cs.estimate([0, 1], [0.25, 0.75])


def test_the_sample_of_one_class():
    view = cs.Data(LABEL, PROB).through("class_wise").view()
    for k, sample in enumerate(view.samples()):
        expected = cs.Sample.from_rows(np.asarray(LABEL) == k, np.asarray(PROB)[:, k])
        for one in (sample, view.sample(k)):
            assert all(np.array_equal(a, b) for a, b in zip(one.arrays, expected.arrays, strict=True))
