"""Probabilities from logits: exact for large values, and what looks like logits where there should be probabilities."""

from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd
import pytest

import calibstat as cs


def test_one_column_is_a_sigmoid():
    z = np.array([0.0, 2.0, -2.0, 30.0, -745.0, 1e6, -1e6, np.inf, -np.inf])
    exact = [0.5, 1 / (1 + exp(-2)), exp(-2) / (1 + exp(-2)), 1 / (1 + exp(-30)), exp(-745), 1, 0, 1, 0]
    assert cs.from_logits(z) == pytest.approx(exact, rel=1e-15, abs=0)
    assert cs.from_logits(z[:, None]).shape == (9, 1)
    assert cs.from_logits(z.astype(np.float32)).dtype == np.float64


def test_several_columns_are_a_softmax():
    z = np.array([[0.0, 0, 0], [1e6, 1e6, -1e6], [-1e6, -1e6 + 1, -np.inf]])
    third, e = 1 / 3, exp(1)
    exact = np.array([[third] * 3, [0.5, 0.5, 0], [1 / (1 + e), e / (1 + e), 0]])
    assert np.allclose(cs.from_logits(z), exact, rtol=1e-14, atol=0)
    _, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(50, rng=1)
    assert np.allclose(cs.from_logits(np.log(prob) + 7), prob, rtol=1e-13, atol=0)  # a constant in a row is no matter


def test_softmax_of_two_columns_is_the_sigmoid_of_their_difference():
    z = np.random.default_rng(1).normal(size=(50, 2)) * 20
    assert np.allclose(cs.from_logits(z)[:, 1], cs.from_logits(z[:, 1] - z[:, 0]), rtol=1e-13, atol=0)


def test_rows_sum_to_1_as_closely_as_rounding_allows():
    z = np.random.default_rng(2).normal(size=(20, 7)) * 50
    sums = [sum(map(Fraction, row)) for row in cs.from_logits(z).tolist()]
    assert max(abs(total - 1) for total in sums) < 7 * 2.0**-52


def test_frames_keep_their_columns_and_mappings_their_names():
    frame = pd.DataFrame({"cat": [0.0, 2.0], "dog": [0.0, -2.0]})
    assert list(cs.from_logits(frame).columns) == ["cat", "dog"]
    assert cs.estimate(["cat", "dog"], cs.from_logits(frame)) == cs.estimate([0, 1], cs.from_logits(frame.to_numpy()))
    assert cs.from_logits({"a": [0.0]})["a"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([0, np.nan], "found nan at row 1"),
        ([[0, 1], [np.inf, 1]], r"found \[inf, 1.0\] at row 1"),
        ([[-np.inf, -np.inf]], "at row 0"),
        (["a"], "expected numbers in logits"),
        (np.zeros((2, 2, 2)), r"found shape \(2, 2, 2\)"),
        ([], r"found shape \(0,\)"),
        (1.0, "expected logits, an array"),
    ],
)
def test_what_is_no_logit_is_refused(z, message):
    with pytest.raises(ValueError, match=message):
        cs.from_logits(z)


@pytest.mark.parametrize("z", [[-2.0, 0.5], [[0.5, -2], [3, 1]], [[0.5, -2, 1], [3, 1, 2]]])
def test_logits_in_place_of_probabilities_are_pointed_out(z):
    with pytest.raises(ValueError, match=r"if these are logits, give calibstat.from_logits\(y_prob\)$"):
        cs.estimate([0, 1], z)


def test_per_cent_in_place_of_probabilities_are_pointed_out():
    with pytest.raises(ValueError, match=r"if these are per cent, divide by 100$"):
        cs.estimate([0, 1], [20, 70])
    with pytest.raises(ValueError, match=r"found 1.5 in y_prob at row 1$"):
        cs.estimate([0, 1], [0.5, 1.5])
