"""Predictions that look reversed: the AUC against counting pairs and SciPy, and the note in results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm

import calibstat as cs
from calibstat.data.data_notes import auc, classes_maybe_reversed, may_be_reversed, note_if_reversed

Y, P = cs.generators.temperature(1.5).sample(400, rng=1)
FEW = {"n_resamples": 19, "rng": 1}
VERBS = {
    "calibration_test": lambda y, p, **o: cs.calibration_test(y, p, **FEW, **o),
    "confidence_interval": lambda y, p, **o: cs.confidence_interval(y, p, **FEW, **o),
    "reliability": lambda y, p, **o: cs.reliability(y, p, **FEW, **o),
}
LABEL, PROB = cs.generators.dirichlet((1, 1, 1)).sample(400, rng=1)


def pairs(y, p):
    """The share of pairs of a positive and a negative row in the right order, ties as one half."""
    gap = p[y == 1][:, None] - p[y == 0]
    return np.mean((gap > 0) + (gap == 0) / 2)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=40))
def test_the_auc_counts_pairs(rows):
    y, p = np.array(rows).T
    sample = cs.Sample.from_rows(y, p / 6)
    found = auc(sample.count, sample.positives)
    if 0 < y.sum() < y.size:
        assert found[0] == pytest.approx(pairs(y, p / 6), abs=1e-12)
    else:
        assert np.isnan(found).all()


def test_the_distance_is_that_of_mann_and_whitney():
    sample = cs.Sample.from_rows(Y, 1 - P)
    area, distance = auc(sample.count, sample.positives)
    expected = mannwhitneyu(1 - P[Y == 1], 1 - P[Y == 0], use_continuity=False, method="asymptotic")
    assert area == pytest.approx(expected.statistic / ((Y == 1).sum() * (Y == 0).sum()), rel=1e-12)
    assert distance == pytest.approx(norm.isf(expected.pvalue / 2) * -1, rel=1e-9)
    assert distance < -5


def test_few_events_are_no_evidence():
    y, p = np.zeros(1000), np.full(1000, 0.2)
    y[0], p[0] = 1, 0.1
    assert not may_be_reversed(p, y == 1)
    sample = cs.Sample.from_rows(y, p)
    assert note_if_reversed(sample.count, sample.positives, "outcome 1") == ""
    y, p = np.repeat([0, 1], [1000, 8]), np.repeat([0.9, 0.1], [1000, 8])  # 8 events, all below all others
    assert not may_be_reversed(p, y == 1)
    assert cs.confidence_interval(y, p, **FEW).note == ""


def test_a_model_without_information_gets_no_note():
    """400 data sets without association: at 5 standard errors below 1/2 the chance of any note is below 1e-3."""
    notes = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y, p = rng.random(100) < 0.3, np.round(rng.random(100), 1)
        sample = cs.Sample.from_rows(y, p)
        notes += note_if_reversed(sample.count, sample.positives, "") != ""
    assert notes == 0


@pytest.mark.parametrize("verb", VERBS)
def test_results_on_reversed_predictions_say_so_in_one_line(verb):
    found = VERBS[verb](Y, 1 - P)
    assert str(found).endswith(f"\n{found.note}")
    assert found.note.startswith("The predictions look reversed: predictions of outcome 1 are mostly lower")
    assert "\n" not in found.note
    assert found.to_dict()["note"] == found.note
    same = VERBS[verb](cs.Sample.from_rows(Y, 1 - P), None)
    assert same.note == found.note
    right = VERBS[verb](Y, P)
    assert right.note == ""
    assert "reversed" not in str(right)


@pytest.mark.parametrize("lens", [None, "top_label", "class_wise", "canonical"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_wrong_order_of_classes_is_noticed(verb, lens):
    more = {"measure": "canonical_ce"} if lens == "canonical" and verb != "reliability" else {}
    if lens == "class_wise" and verb == "confidence_interval":
        lens, more = "class_wise_mean", {"measure": "ece"}
    wrong = VERBS[verb](LABEL, PROB[:, [1, 2, 0]], lens=lens, **more)
    assert "look reversed: predictions of" in str(wrong)
    assert str(wrong).count("look reversed") == 1
    assert VERBS[verb](LABEL, PROB, lens=lens, **more).note == ""


def test_a_summary_names_the_models():
    found = cs.summarize(Y, {"good": P, "reversed": 1 - P}, **FEW)
    assert found.warnings[0].startswith("reversed: the predictions look reversed")
    assert sum("look reversed" in text for text in found.warnings) == 1


def test_labels_in_the_wrong_order_are_noticed():
    words = np.array(["no", "yes"])[Y.astype(int)]
    assert "look reversed" in str(cs.calibration_test(words, P, labels=["yes", "no"], **FEW))
    assert "look reversed" in str(cs.calibration_test(words, P, pos_label="no", **FEW))


def test_weights_that_are_no_counts_get_no_note():
    weight = np.random.default_rng(1).random(Y.size)
    assert "reversed" not in cs.reliability(Y, 1 - P, band=None, sample_weight=weight).note
    assert cs.reliability(cs.Sample.from_rows(Y, 1 - P, weight), band=None).note == ""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("absent", [False, True])
def test_classes_are_looked_at_all_at_once(dtype, absent):
    """One pass over the rows finds the classes that `may_be_reversed` finds one by one, with a class of few rows."""
    rng = np.random.default_rng(1)
    prob = rng.dirichlet((3, 2, 1, 0.1), 500)
    label = (prob.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
    label[rng.random(500) < 0.7] = 0  # of class 0 predictions say little, and of others nothing
    label = np.where(absent & (label == 2), 3, label)
    predictions = cs.Predictions.from_rows(label, prob.astype(dtype))
    expected = [k for k, p in enumerate(predictions.prob.T) if may_be_reversed(p, label == k)]
    assert classes_maybe_reversed(predictions).tolist() == expected
    turned = cs.Predictions.from_rows((label + 1) % 4, prob.astype(dtype))
    expected = [k for k, p in enumerate(turned.prob.T) if may_be_reversed(p, turned.label == k)]
    assert classes_maybe_reversed(turned).tolist() == expected
    assert expected
