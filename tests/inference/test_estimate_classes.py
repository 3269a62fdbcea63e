"""Estimates and details of several classes, against each class by itself."""

import numpy as np
import pytest
from class_examples import OF_EVENTS, example

import calibstat as cs
from calibstat.data import lenses

from_rows = cs.Predictions.from_rows


@pytest.mark.parametrize(("measure", "options"), OF_EVENTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_wise_is_each_class_by_itself(measure, options, dtype):
    label, prob = example(80, 4, dtype=dtype)
    prob[:10] = np.eye(4)[0]
    slow = [cs.estimate(label == k, prob[:, k], measure=measure, **options) for k in range(4)]
    for data in ((label, prob), (from_rows(label, prob),)):
        found = cs.estimate(*data, measure=measure, lens="class_wise", **options)
        assert found.shape == (4,)
        np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-12)
    for how, together in (("mean", np.mean), ("max", np.max)):
        found = cs.estimate(label, prob, measure=measure, lens=f"class_wise_{how}", **options)
        assert isinstance(found, float)
        assert found == pytest.approx(together(slow), rel=1e-9, abs=1e-12)
    for k in (0, 3):
        found = cs.estimate(label, prob, measure=measure, lens=lenses.one_class(k), **options)
        assert found == pytest.approx(slow[k], rel=1e-9, abs=1e-12)


def test_two_classes_as_vectors():
    y, p = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.75, 1.0, 0.5, 0.25])
    assert cs.estimate(y, p, measure="brier", lens="canonical") == pytest.approx(2 * cs.estimate(y, p, measure="brier"))
    found = cs.estimate(y, p, measure="log_loss", lens="canonical")
    assert found == pytest.approx(cs.estimate(y, p, measure="log_loss"))
    for n_bins in (1, 4, 15):  # total variation of two classes is the gap of one
        grid = cs.estimate(y, p, measure="canonical_ce", strategy="uniform", n_bins=n_bins)
        assert grid == pytest.approx(cs.estimate(y, p, measure="ece", n_bins=n_bins))


def test_lenses_of_classes_lead_to_measures_of_vectors():
    label, prob = example(60, 4)
    two = np.stack([prob[:, 0] + prob[:, 2], prob[:, 1] + prob[:, 3]], axis=1)
    for measure in ("brier", "canonical_ce"):
        found = cs.estimate(label, prob, measure=measure, lens=lenses.groups([[0, 2], [1, 3]]))
        assert found == pytest.approx(cs.estimate(label % 2, two, measure=measure, lens="canonical"))
    found = cs.estimate(label, prob, measure="gce", lens=lenses.top_k(3), max_prob=True, class_conditional=False)
    assert found == pytest.approx(cs.estimate(label, prob, measure="ece"))  # the largest is still the largest


def test_one_row():
    assert cs.estimate([1], [[0.5, 0.25, 0.25]], lens="class_wise").tolist() == [0.5, 0.75, 0.25]
    assert cs.estimate([1], [[0.5, 0.25, 0.25]], measure="canonical_ce") == 0.75
    found = cs.calibration_test([1], [[0.5, 0.25, 0.25]], lens="class_wise", n_resamples=9, rng=0)
    assert (found.null_distribution.shape, found.classes.null_distribution.shape) == ((9,), (9, 3))


def test_weights_class_by_class():
    label, prob = example(40)
    weight = np.random.default_rng(1).random(40)
    slow = [cs.estimate(label == k, prob[:, k], sample_weight=weight) for k in range(3)]
    found = cs.estimate(label, prob, lens="class_wise", sample_weight=weight)
    np.testing.assert_allclose(found, slow, rtol=1e-12)
    mean = cs.estimate(label, prob, lens="class_wise_mean", sample_weight=weight)
    assert mean == pytest.approx(np.mean(slow))
    for bad in (np.ones(39), -np.ones(40), np.zeros(40)):
        with pytest.raises(ValueError, match="weight"):
            cs.estimate(label, prob, lens="class_wise", sample_weight=bad)


def test_detail():
    label, prob = example(60)
    hit, largest = prob.argmax(axis=1) == label, prob.max(axis=1)
    ours, slow = cs.detail(label, prob, measure="ks"), cs.detail(hit, largest, measure="ks")
    assert ours.estimate == slow.estimate
    assert np.array_equal(ours["witness"], slow["witness"])
    found = cs.detail(label, prob, measure="brier", lens="canonical")
    assert found["loss"].mean() == pytest.approx(found.estimate)
    assert found["loss"] == pytest.approx(((np.eye(3)[label] - prob) ** 2).sum(axis=1))
    found = cs.detail(label, prob, measure="canonical_ce", strategy="uniform", n_bins=3)
    assert found["count"].sum() == 60
    assert found["count"] @ found["distance"] / 60 == pytest.approx(found.estimate)
    with pytest.raises(ValueError, match=r"such as lenses.one_class\(0\), found 'class_wise'"):
        cs.detail(label, prob, lens="class_wise")


def test_the_error_by_its_name_is_that_of_estimate():
    models = {"a": [0.1, 0.9], "b": [0.2, 0.8]}
    assert cs.expected_calibration_error([0, 1], models).to_dict() == cs.estimate([0, 1], models).to_dict()
