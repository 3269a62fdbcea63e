"""Rows that are predicted with certainty, counted by plain loops."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.problems.certain_rows import CertainRows

Y = np.array([0, 1, 1, 0, 0, 1])
P = np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.5])  # rows 2 and 3 were impossible


def test_rows_of_one_event():
    found = CertainRows.of(cs.Data(Y, P).view())
    assert found.certain.tolist() == [True] * 4 + [False] * 2
    assert (found.total, found.others, found.number, found.first) == (4, 2, 2, 2)
    none = CertainRows.of(cs.Data(Y[:2], P[:2]).view())
    assert (none.total, none.number, none.first) == (2, 0, None)


def test_rows_of_weight_0_are_not_counted():
    found = CertainRows.of(cs.Data(Y, P, sample_weight=[1, 0, 0, 2.5, 1, 1]).view())
    assert (found.total, found.others, found.number, found.first) == (2, 2, 1, 3)


def test_a_summary_counts_the_same_rows_and_names_none():
    found = CertainRows.of(cs.Data(cs.Sample.from_rows(Y, P)).view())
    assert (found.total, found.others, found.number, found.first) == (4, 2, 2, None)
    assert found.certain.tolist() == [True, False, True]


@pytest.mark.parametrize("lens", ["class_wise", "canonical"])
def test_rows_of_classes(lens):
    prob = np.array([[0.2, 0.3, 0.5], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    found = CertainRows.of(cs.Data([0, 1, 0, 1], prob, lens=lens).view())
    assert found.certain.tolist() == [False, True, True, True]
    assert (found.total, found.number, found.first) == (3, 2, 2)


def test_a_class_of_probability_1_up_to_rounding_forbids_the_others():
    prob = np.array([[1.0, 1e-17], [0.5, 0.5]])
    found = CertainRows.of(cs.Data([1, 0], prob, lens="canonical").view())
    assert (found.number, found.first) == (1, 0)


def test_a_lens_has_certain_rows_of_its_own():
    prob = np.array([[0.0, 0.4, 0.6], [0.0, 0.0, 1.0]])
    found = CertainRows.of(cs.Data([0, 0], prob, lens="top_label").view())
    assert found.certain.tolist() == [False, True]
    assert found.first == 1
