"""Rows from the most confident on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.inference.answering.answered_rows import AnsweredRows


def seen(y, p, decide_at=None, **how):
    return AnsweredRows.of(cs.Data(y, p, **how).view().one_event(), decide_at)


def by_hand(y, p, decide_at):
    """Confidence, rows and errors at each threshold, one row after the other."""
    confidence = [round(v if v >= decide_at else 1 - v, 9) for v in p]
    wrong = [e != (v >= decide_at) for e, v in zip(y, p, strict=True)]
    for t in sorted(set(confidence), reverse=True):
        inside = [w for w, c in zip(wrong, confidence, strict=True) if c >= t]
        yield t, len(inside), sum(inside)


TENTHS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10)), min_size=1, max_size=40)


@given(TENTHS, st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([float, np.float32]))
def test_equal_confidences_enter_together(rows, decide_at, dtype):
    """Tenths, of which 0.3 and 0.7 have one confidence although 1 - 0.7 is not 0.3, and the ends 0 and 1."""
    y, p = np.array(rows).T
    found = seen(y, (p / 10).astype(dtype), decide_at)
    expected = np.array(list(by_hand(y, p / 10, decide_at)))
    assert np.column_stack([found.confidence, found.answered, found.errors]) == pytest.approx(expected, abs=1e-6)


def test_ties_by_the_last_bit_are_found(monkeypatch):
    """The fault: confidences that are compared to the last bit."""
    y, p = [1, 0, 1, 0], [0.3, 0.7, 0.7, 0.3]
    assert seen(y, p, 0.2).confidence.size == 2
    assert seen([1, 0], [0.1 * 7, 0.3], 0.5).confidence.size == 1
    where = "calibstat.inference.answering.answered_rows.ranks"
    monkeypatch.setattr(where, lambda values: np.unique(values, return_inverse=True)[1])
    assert seen([1, 0], [0.1 * 7, 0.3], 0.5).confidence.size == 2


def test_of_several_classes_the_most_likely_one():
    label, prob = [0, 1, 2, 2], [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0, 0.25, 0.75], [0.4, 0.3, 0.3]]
    found = seen(label, prob)
    assert found.confidence.tolist() == [0.75, 0.5, 0.4]
    assert found.rows.tolist() == [1, 2, 1]
    assert found.wrong.tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match=r"expected decide_at= of one event, found 0.2 with lens top_label"):
        seen(label, prob, 0.2)


def test_two_columns_and_the_top_label_are_the_same_answers():
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    both = np.column_stack([1 - p, p])
    one, other = seen(y, p), seen(y, both, lens="top_label")
    assert one.confidence == pytest.approx(other.confidence, abs=1e-12)
    assert one.wrong.tolist() == other.wrong.tolist()


def test_the_curves_beside_it():
    found = AnsweredRows.of_cells(np.array([0.9, 0.6, 0.8]), np.array([2.0, 1.0, 2.0]), np.array([1.0, 1.0, 0.0]))
    assert found.share.tolist() == [1 / 2, 1 / 4, 2 / 5]
    assert found.if_calibrated == pytest.approx([0.1, 0.15, 0.2])
    assert found.if_ordered.tolist() == [0, 1 / 4, 2 / 5]  # three are right, and the first of two levels is half wrong
    assert found.area(found.share) == pytest.approx((2 * 1 / 2 + 2 * 1 / 4 + 2 / 5) / 5)
