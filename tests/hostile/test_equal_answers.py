"""Calls that must have equal answers: rows and counts, weights and repeated rows, one thread and two, other orders."""

import copy
import json
import pickle

import numpy as np
import pytest
from hostile_rows import binary_rows, class_rows
from hostile_verbs import FEW, OF_CLASSES, OF_ONE_EVENT, VERBS, answers, words
from hypothesis import given, settings
from hypothesis import strategies as st
from without_numba import printed_without_numba

import calibstat as cs

pytestmark = pytest.mark.slow

CASES = 120  # of the order of rows, half as many of other claims
COUNTED = set(VERBS) - {"audit"}  # that take a Sample
DRAWN = {"test", "test of ks", "interval of ece", "interval of smooth_ce", "interval of brier", "reliability", "t_cal"}
OF_ROWS = {"ece_debiased", "kernel_ce_squared", "canonical_ce", "omnibus"}  # pairs, least sizes and variances of rows


def same(one, other, tolerance):
    """Whether two dictionaries have the same texts and flags, and numbers within a tolerance."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float | int):
        return bool(np.isclose(one, other, rtol=tolerance, atol=tolerance))
    return one == other


@pytest.mark.parametrize("verb", VERBS)
@settings(max_examples=CASES)
@given(rows=binary_rows(), data=st.data())
def test_the_order_of_rows(verb, rows, data):
    y, p = rows
    order = np.array(data.draw(st.permutations(range(len(y)))))
    one, other = words(lambda: VERBS[verb](y, p, **FEW)), words(lambda: VERBS[verb](y[order], p[order], **FEW))
    if "error" in one:  # which may name a row
        assert "error" in other
    else:
        assert same(one, other, 1e-9)


@pytest.mark.parametrize("verb", sorted(DRAWN | {"audit", "gains", "equivalence"}))
@settings(max_examples=CASES // 2)
@given(rows=binary_rows())
def test_threads(verb, rows):
    assert words(lambda: VERBS[verb](*rows, **FEW)) == words(lambda: VERBS[verb](*rows, **FEW, n_jobs=2))


@pytest.mark.parametrize("verb", sorted(COUNTED))
@settings(max_examples=CASES // 2)
@given(rows=binary_rows())
def test_rows_and_their_counts(verb, rows):
    sample = cs.Sample.from_rows(*rows)
    one, other = words(lambda: VERBS[verb](*rows, **FEW)), words(lambda: VERBS[verb](sample, None, **FEW))
    if "error" in one:
        assert "error" in other
    else:
        assert same(one, other, 1e-9)
    for twin in (pickle.loads(pickle.dumps(sample)), copy.deepcopy(sample)):
        assert words(lambda twin=twin: VERBS[verb](twin, None, **FEW)) == other


@pytest.mark.parametrize("measure", sorted(cs.MEASURES))
@settings(max_examples=CASES // 2)
@given(rows=binary_rows(), data=st.data())
def test_weights_and_repeated_rows(measure, rows, data):
    """Weights count rows in estimates, except where a definition asks how many rows there are."""
    y, p = rows
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    weight[0] += not weight.any()
    try:
        weighted = cs.estimate(y, p, measure=measure, sample_weight=weight)
        repeated = cs.estimate(np.repeat(y, weight), np.repeat(p, weight), measure=measure)
    except ValueError:
        return
    if measure not in OF_ROWS:
        assert weighted == pytest.approx(repeated, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("measure", ["ece", "ks", "kuiper", "smooth_ce", "kernel_ce", "brier", "log_loss"])
@pytest.mark.filterwarnings("ignore:.*are few:UserWarning")
@settings(max_examples=CASES // 4)
@given(rows=binary_rows())
def test_clusters_of_one_row(measure, rows):
    """Clusters have other constants, so that ends are near each other; the estimate is the same."""
    y, p = rows
    alone = words(lambda: cs.confidence_interval(y, p, measure=measure, **FEW))
    grouped = words(lambda: cs.confidence_interval(y, p, measure=measure, cluster=np.arange(len(y)), **FEW))
    if "error" not in alone and "error" not in grouped:
        assert same(alone["estimate"], grouped["estimate"], 1e-9)


@settings(max_examples=CASES)
@given(rows=class_rows(), data=st.data())
def test_the_order_of_rows_and_classes(rows, data):
    label, prob = rows
    order = np.array(data.draw(st.permutations(range(len(label)))))
    turned = np.array(data.draw(st.permutations(range(prob.shape[1]))))
    mean = "class_wise_mean"
    for measure, lens in (("ece", mean), ("ks", mean), ("brier", "canonical"), ("skce", "canonical")):
        given_lens = {"measure": measure, "lens": lens}
        one = cs.estimate(label, prob, **given_lens)
        assert cs.estimate(label[order], prob[order], **given_lens) == pytest.approx(one, rel=1e-9, abs=1e-12)
        moved = np.argsort(turned)[label]
        assert cs.estimate(moved, prob[:, turned], **given_lens) == pytest.approx(one, rel=1e-9, abs=1e-12)


def test_compiled_and_not():
    """One process without Numba answers all calls, which takes long to start."""
    asked = []

    @settings(max_examples=CASES)
    @given(binary_rows(), class_rows())
    def ask(rows, of_classes):
        for names, (y, p) in (((*VERBS, *OF_ONE_EVENT), rows), (OF_CLASSES, of_classes)):
            asked.extend((name, y.tolist(), p.tolist()) for name in names)

    ask()
    texts = printed_without_numba("hostile_verbs.py", given=json.dumps(asked)), answers(asked)
    found, expected = (json.loads(text, parse_constant=str) for text in texts)
    assert len(found) == len(asked) >= 40 * CASES
    differ = [
        (call, one, other)
        for call, one, other in zip(asked, found, expected, strict=True)
        if not same(one, other, 1e-9)
    ]
    assert differ == []


def test_answers_that_differ_are_found():
    assert same({"a": [1.0, "x"]}, {"a": [1.0 + 1e-12, "x"]}, 1e-9)
    assert not same({"a": [1.0, "x"]}, {"a": [1.0 + 1e-6, "x"]}, 1e-9)
    assert not same({"a": 1.0}, {"b": 1.0}, 1e-9)
