"""Reliability diagrams of several classes and of canonical predictions, against slow transcriptions."""

import dataclasses
import json

import numpy as np
import pytest
from class_examples import example
from oracles import bin_number

import calibstat as cs
from calibstat.data import lenses

from_rows = cs.Predictions.from_rows


def equal(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize(
    "given", [{}, {"strategy": "quantile", "n_bins": 4}, {"band": "confidence"}, {"band": "monotone"}, {"band": None}]
)
def test_reliability_of_every_class(given):
    label, prob = example(150, 3)
    given = {"rng": 4, "n_resamples": 50, **given}
    found = cs.reliability(["abc"[k] for k in label], prob, lens="class_wise", labels=["a", "b", "c"], **given)
    assert (found.names, found.n, str(found.lens)) == (("a", "b", "c"), 150, "lens class_wise")
    for k, diagram in enumerate(found.diagrams):
        slow = cs.reliability(label == k, prob[:, k], **given)
        assert str(diagram.lens) == f"class {'abc'[k]}"
        for field in dataclasses.fields(slow):
            if field.name not in ("lens", "interval"):
                assert equal(getattr(diagram, field.name), getattr(slow, field.name)), field.name
        assert (diagram.interval.low, diagram.interval.high) == (slow.interval.low, slow.interval.high)
    options = {name: given[name] for name in ("strategy", "n_bins") if name in given}
    error = [cs.estimate(label == k, prob[:, k], **options) for k in range(3)]
    np.testing.assert_allclose(found.error, error, rtol=1e-12)
    json.dumps(found.to_dict())


def test_weighted_reliability_of_every_class():
    label, prob = example(60, 3)
    weight = np.random.default_rng(1).random(60)
    found = cs.reliability(label, prob, lens="class_wise", sample_weight=weight, band=None)
    slow = cs.reliability(label == 1, prob[:, 1], sample_weight=weight, band=None)
    assert np.array_equal(found.diagrams[1].frequency, slow.frequency)
    assert found.error[1] == pytest.approx(cs.estimate(label == 1, prob[:, 1], sample_weight=weight))
    top = cs.reliability(label, prob, sample_weight=weight, band=None)
    slow = cs.reliability(prob.argmax(axis=1) == label, prob.max(axis=1), sample_weight=weight, band=None)
    assert np.array_equal(top.frequency, slow.frequency)
    assert str(top.lens) == "lens top_label"
    banded = cs.reliability(label, prob, lens="class_wise", sample_weight=weight, rng=1)
    one = cs.reliability(label == 1, prob[:, 1], sample_weight=weight, rng=1)
    assert np.array_equal(banded.diagrams[1].low, one.low)
    assert banded.effective_n == one.effective_n
    with pytest.raises(ValueError, match="no sample_weight for multiclass data"):
        cs.reliability(label, prob, lens="canonical", sample_weight=weight)


@pytest.mark.parametrize("lens", ["canonical", lenses.groups([[0, 1], [2, 3]]), lenses.top_k(2)])
def test_canonical_reliability(lens):
    label, prob = example(150, 4)
    seen = lenses.find_lens(lens)(from_rows(label, prob))
    found = cs.reliability(label, prob, lens=lens, n_bins=3)
    bins = bin_number(seen.prob, 3)
    bins = bins[:, 1:] if seen.n_classes == 2 else bins  # of two the second decides
    cells = {}
    for i in range(150):
        cells.setdefault(tuple(bins[i]), []).append(i)
    slow = [
        (len(rows), *seen.prob[rows].mean(axis=0), *np.eye(seen.n_classes)[seen.label[rows]].mean(axis=0))
        for rows in cells.values()
    ]
    ours = np.column_stack((found.count, found.mean_prediction, found.frequency))
    np.testing.assert_allclose(sorted(map(tuple, ours)), sorted(slow), rtol=0, atol=1e-12)
    assert np.all(np.diff(found.count) <= 0)
    estimate = cs.estimate(label, prob, lens=lens, measure="canonical_ce", strategy="uniform", n_bins=3)
    assert found.count @ found.distance / 150 == pytest.approx(estimate)
    assert (found.names, found.n, str(found.lens)) == (seen.names, 150, f"lens {lens}")
    tree = cs.reliability(label, prob, lens=lens, strategy="tree")
    assert "tree" in tree.strategy
    json.dumps(found.to_dict())


def test_level_sets_have_no_boxes():
    """Without bins the rows of one prediction are a cell: its mean prediction is that, its frequency their mean."""
    prob = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]
    found = cs.reliability([0, 0, 2], prob, lens="canonical", n_bins=None)
    assert found.lower is None
    assert found.upper is None
    order = np.argsort(found.count)
    np.testing.assert_allclose(found.mean_prediction[order], [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(found.frequency[order], [[1, 0, 0], [0.5, 0, 0.5]])
