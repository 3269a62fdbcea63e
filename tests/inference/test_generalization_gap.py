"""The generalization gap: its parts by hand, and the theorem behind its bound."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs

TRAIN = ([0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])  # all right, mean confidence .8
TEST = ([0, 0, 1, 1, 1], [[0.7, 0.3], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])  # two wrong, mean .74


def of_three(data):
    """The same rows with a third class that is impossible."""
    return data[0], [[*row, 0.0] for row in data[1]]


def test_parts_by_hand():
    found = cs.generalization_gap(of_three(TRAIN), of_three(TEST), n_bins=1, n_resamples=99, rng=1)
    # with one bin the error is |accuracy - mean confidence|: |1 - .8| = .2 and |.6 - .74| = .14
    assert found.train.estimate == pytest.approx(0.2)
    assert found.test.estimate == pytest.approx(0.14)
    assert found.gap == pytest.approx(-0.06)
    assert (found.error_train, found.error_test, found.error_gap) == pytest.approx((0, 0.4, 0.4))
    assert (found.confidence_train, found.confidence_test) == pytest.approx((0.8, 0.74))
    assert found.bounded
    assert found.less_confident
    # bins of 1/15 hold .6 (wrong), .7 twice (both right), .8 (wrong) and .9 (right): two are under-confident
    assert (found.n_bins, found.n_not_overconfident, found.n_clearly_not) == (4, 2, 0)
    assert not found.overconfident
    assert found.gap_low <= found.gap <= found.gap_high
    assert found.error_gap_low <= found.error_gap <= found.error_gap_high
    text = str(found)
    for part in (
        "ece(n_bins=1) of the most likely class",
        "n = 5 test rows",
        "n = 4 training rows",
        "the bound holds here",
        "not so in 2 of 4 bins",
    ):
        assert part in text
    assert found.to_dict()["test.estimate"] == found.test.estimate
    raised = replace(found, test=replace(found.test, if_calibrated=found.test.high))
    assert raised.test.remark() in str(raised).splitlines()[-1]
    assert str(raised).startswith(text)


def test_two_outcomes_by_hand():
    found = cs.generalization_gap(TRAIN, TEST, n_bins=1, n_resamples=99, rng=1)
    # of outcome 1, as in every other verb: |.5 - .45| = .05 and |.6 - .62| = .02; errors are those of the two outcomes
    assert (found.train.estimate, found.test.estimate, found.gap) == pytest.approx((0.05, 0.02, -0.03))
    assert (found.error_train, found.error_test) == pytest.approx((0, 0.4))
    # .3 (outcome 0), .7 and .9 (outcome 1) are nearer to 1/2 than what is observed; .4 (1) and .8 (0) are not
    assert (found.n_bins, found.n_not_overconfident, found.n_clearly_not) == (5, 3, 0)
    assert found.subject == "outcome 1"
    assert "\nece(n_bins=1) of outcome 1: 0.02" in str(found)
    vectors = [(y, np.array(p)[:, 1]) for y, p in (TRAIN, TEST)]
    assert cs.generalization_gap(*vectors, n_bins=1, n_resamples=99, rng=1).to_dict() == found.to_dict()


def test_predictions_further_from_a_half_than_outcomes_are_over_confident():
    y, p = np.repeat([0, 1, 0, 1], [270, 30, 30, 270]), np.repeat([0.02, 0.98], 300)  # .1 and .9 are observed
    for reported, n in ((p, 0), (np.where(p < 0.5, 0.2, 0.8), 2)):
        found = cs.generalization_gap((y, reported), (y, reported), n_resamples=19, rng=1)
        assert (found.n_bins, found.n_not_overconfident, found.n_clearly_not) == (2, n, n)


@given(st.integers(0, 10_000), st.integers(3, 4))
def test_the_bound_follows_from_its_assumptions(seed, classes):
    # over-confident at every confidence: ECE on test = confidence - accuracy, and on train it is at least that
    rng = np.random.default_rng(seed)
    data = []
    for temperature in (1.0, 3.0):
        q = rng.dirichlet(np.ones(classes), 60)
        p = q**temperature / (q**temperature).sum(axis=1, keepdims=True)
        y = (rng.random((60, 1)) > q.cumsum(axis=1)[:, :-1]).sum(axis=1)
        data.append((y, p))
    bins = 3
    found = cs.generalization_gap(*data, n_bins=bins, n_resamples=20, rng=1)
    diagram = cs.reliability(*data[1], n_bins=bins, band=None)
    if np.all(diagram.frequency <= diagram.mean_prediction) and found.less_confident:
        assert found.gap <= found.error_gap + 1e-12


def test_predictions_and_seeds():
    train, test = (cs.Predictions.from_rows(*data) for data in (TRAIN, TEST))
    one, other = (cs.generalization_gap(a, b, rng=3, n_resamples=50) for a, b in ((TRAIN, TEST), (train, test)))
    assert one.to_dict() == other.to_dict()


def test_errors():
    with pytest.raises(ValueError, match="expected test, a pair"):
        cs.generalization_gap(TRAIN, np.array([0, 1]))
    with pytest.raises(ValueError, match="no honest comparison"):
        cs.generalization_gap(TRAIN, TEST, measure="mcb")
    with pytest.raises(ValueError, match="at row 1"):
        cs.generalization_gap(TRAIN, ([0, 1], [[0.5, 0.5], [0.5, 0.6]]))


def test_checkpoints_are_asked_each():
    train, test = {1: of_three(TRAIN), 2: of_three(TEST)}, {2: of_three(TRAIN), 1: of_three(TEST)}
    found = cs.generalization_gap(train, test, n_bins=1, n_resamples=99, rng=1)
    assert found.names == ("1", "2")
    alone = cs.generalization_gap(of_three(TRAIN), of_three(TEST), n_bins=1, n_resamples=99, rng=1)
    assert found["1"].to_dict() == alone.to_dict()
    assert found["2"].gap == pytest.approx(0.06)
    assert found.to_dict()["2.error_gap"] == pytest.approx(-0.4)
    drawn = cs.generalization_gap(train, test, n_bins=1, n_resamples=99, rng=np.random.default_rng(1))
    again = cs.generalization_gap(train, test, n_bins=1, n_resamples=99, rng=np.random.default_rng(1))
    assert drawn.to_dict() == again.to_dict()


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ({"a": TRAIN}, TEST, r"expected two mappings from checkpoint to rows, or none, found .* for test"),
        (TRAIN, {"a": TEST}, r"expected two mappings from checkpoint to rows, or none, found .* for train"),
        (
            {"a": TRAIN, "b": TRAIN},
            {"a": TEST},
            "expected the same checkpoints in train and test, found no 'b'",
        ),
        ({"a": TRAIN}, {"a": TEST, 3: TEST}, "the same checkpoints in train and test, found no 3 in train"),
        ({}, {}, "expected a checkpoint or more, found none"),
        ({1: TRAIN, "1": TRAIN}, {1: TEST, "1": TEST}, "expected checkpoints of different names"),
        ({"a": TRAIN}, {"a": [0, 1, 1]}, r"expected test, a pair \(y_true, y_prob\)"),
    ],
)
def test_checkpoints_that_do_not_fit_are_refused(train, test, message):
    with pytest.raises(ValueError, match=message):
        cs.generalization_gap(train, test, rng=1)
