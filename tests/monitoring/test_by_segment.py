"""Sums of segments: names, rows and what cannot be added."""

import copy
import pickle

import numpy as np
import pytest

import calibstat as cs
from calibstat.monitoring.by_segment import check_segments, rows_of_segments, saved_segments, segment_names

PAIR = cs.BrierMonitor()
Y, P = cs.generators.calibrated().sample(12, rng=1)
PLACE = np.array(["b", "a", "c"])[np.arange(12) % 3]


def test_rows_of_segments():
    found = rows_of_segments(["b", "a", "b"], 3)
    assert {name: rows.tolist() for name, rows in found.items()} == {"b": [0, 2], "a": [1]}
    assert [*rows_of_segments(None, 2)] == [""]
    assert rows_of_segments("a", 2)["a"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        (["a"], r"expected one segment a row, shape \(2,\)"),
        (["a", None], "expected no missing segments, found one at row 1"),
        (["a", ""], "expected the name of a segment"),
        (np.array([1, "1"], object), "expected segments of different names"),
    ],
)
def test_bad_segments(segment, message):
    with pytest.raises(ValueError, match=message):
        rows_of_segments(segment, 2)


def test_names_are_sorted_text():
    assert segment_names([2, 1]) == ("1", "2")
    assert (saved_segments(None), saved_segments([]), saved_segments(["b", "a"])) == (None, (), ("a", "b"))
    for wrong in ("abc", [], ["a", "a"]):
        with pytest.raises(ValueError, match="expected segments"):
            segment_names(wrong)


def test_summaries_of_a_pair_add_up_are_copied_and_know_their_segments():
    summary = PAIR.summarize(Y, P, P**2, PLACE)
    parts = [PAIR.summarize(Y[i::3], P[i::3], P[i::3] ** 2, PLACE[i]) for i in range(3)]
    assert summary == parts[2] + (parts[0] + parts[1])
    assert summary.names == ("a", "b", "c")
    assert copy.copy(summary) == summary == pickle.loads(pickle.dumps(summary))
    assert summary != cs.Monitor().summarize(Y, P, PLACE)
    with pytest.raises(ValueError, match="expected both summaries with segments"):
        _ = summary + PAIR.summarize(Y, P, P)
    with pytest.raises(TypeError):
        _ = summary + cs.Monitor().summarize(Y, P, PLACE)
    check_segments(summary, ("a", "b", "c", "d"))
    with pytest.raises(ValueError, match=r"fixed before the first period \('a', 'b'\), found 'c'"):
        check_segments(summary, ("a", "b"))
    with pytest.raises(ValueError, match="expected a segment for each row"):
        check_segments(PAIR.summarize(Y, P, P), ("a", "b"))
