"""The numbers of 300 combinations of question, measure, lens and rows are those that are stored, on any machine.

Sums are made in another order on another machine, so that they are asked for to ten digits; counts and p-values of
tests, exactly. All bits are compared by `benchmarks/paired_run.py`, between two checkouts on one machine.
"""

import numpy as np
import pytest
from frozen_numbers import CHOSEN, disagreements, numbers, stored
from paired import answer, combinations, register


def question_of(name):
    return name.partition(" | ")[0]


@pytest.mark.parametrize("question", sorted({question_of(name) for name in stored()}))
def test_numbers_are_those_stored(question, registry):
    register()
    every, kept = combinations(), {name: old for name, old in stored().items() if question_of(name) == question}
    assert {
        name: found for name, old in kept.items() if (found := disagreements(name, old, numbers(answer(every[name]))))
    } == {}


@pytest.mark.parametrize(
    ("entry", "change", "is_found"),
    [
        (".high", 1 + 1e-9, True),
        (".high", 1 - 1e-9, True),
        (".high", 1 + 1e-12, False),
        (".high", np.nan, True),
        (".pvalue", 1 + 1e-15, True),
        (".pvalue[2]", 1 + 1e-15, True),
        (".n", 1.0, True),
        (".n", 2, True),
    ],
)
def test_a_planted_change_is_found(entry, change, is_found):
    old = {".high": 0.25, ".pvalue": 0.05, ".pvalue[2]": 0.1, ".n": 240, ".low": np.nan}
    assert disagreements("test | ks", old, dict(old)) == []
    assert disagreements("test | ks", old, old | {entry: old[entry] * change}) == [entry] * is_found


def test_a_missing_or_further_number_is_found():
    assert disagreements("honest", {".low": 0.1, ".n": 3}, {".n": 3}) == [".low"]
    assert disagreements("honest", {".n": 3}, {".low": 0.1, ".n": 3}) == [".low"]


def test_texts_and_resamples_are_left_out():
    found = {".note": "", ".claimed": True, ".null_distribution[0]": 0.1, ".high": 0.2, ".n": 3, ".if_calibrated": None}
    assert numbers(found) == {".high": 0.2, ".n": 3}


def test_all_questions_and_kinds_of_rows_are_among_them():
    assert len(stored()) == CHOSEN
    words = [name.split(" | ") for name in stored()]
    assert {"test", "honest", "percentile", "compare", "swap", "equivalence"} <= {question for question, *_ in words}
    assert {"plain", "weights", "clusters", "both"} == {kind for *_, kind in words}
    positive = [old for name, old in stored().items() if name.startswith("honest") and old[".low"] > 0]
    floored = [old for name, old in stored().items() if name.startswith("honest") and ".if_calibrated" in old]
    assert len(positive) > 20
    assert len(floored) > 2
