"""The fields of a report: its words, its table, and no rows."""

import numpy as np
import pytest
from quick_report import quick_report

import calibstat as cs

Y, P = cs.generators.temperature(2).sample(150, rng=1)


@pytest.fixture(scope="module")
def two():
    return quick_report(Y, {"A": P, "B": P**2})


def test_the_printed_words_begin_with_the_verdict(one, two):
    lines = str(one).splitlines()
    assert lines[0] == one.answer == cs.calibration_test(Y, P, rng=0).answer.splitlines()[0]
    assert one.data in lines[1:]
    first = two.comparisons["kernel_ce_squared"].answer
    assert two.answer.splitlines()[0] == str(two).splitlines()[0] == first
    assert [line[:2] for line in two.answer.splitlines()[2:]] == ["A:", "B:"]
    assert "B. Not calibrated" in str(two)
    assert str(two.comparisons["brier"]) in str(two)


def test_groups_that_speak_are_named():
    group = np.arange(150) % 3
    found = quick_report(np.where(group, Y, 0), P, by=group)
    audited = found.models["model"].groups
    assert f"{audited.answer}\n{audited.sentence(audited.found[0])}.\n" in str(found)
    assert audited.sentence(audited.found[0]).startswith("group = 0 (50 rows): ")


def test_what_could_have_been_found_is_said_only_without_a_finding():
    clear, hidden = quick_report(Y, P**3), quick_report(Y[:40], np.full(40, Y[:40].mean()))
    assert "such rows the test finds" not in str(clear)
    assert "such rows the test finds" in str(hidden)


def test_the_frame_has_the_test_and_each_measure(two):
    found = two.to_frame()
    assert found.measure.tolist() == ["omnibus", "ece", "kernel_ce", "brier", "log_loss"] * 2
    assert found.pvalue.notna().tolist() == [True, False, False, False, False] * 2
    assert found.pvalue[5] == two.models["B"].test.pvalue


def test_null_distributions_and_rows_are_not_in_it():
    y, p = cs.generators.temperature(2).sample(3000, rng=1)
    found = quick_report(y, p).to_dict()
    assert not any(key.endswith("null_distribution") for key in found)
    assert max(len(value) for value in found.values() if isinstance(value, list)) < 300


def test_classes_as_a_frame():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=2)
    found = quick_report(label, prob).models["model"].classes
    assert found.to_frame()["class"].tolist() == [0, 1, 2]
    assert found.to_frame()["pvalue_holm"].tolist() == found.each.pvalue_holm.tolist()
