"""Rows with weights: their scale, their order, rows of weight 0, and what is no weight."""

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows

import calibstat as cs
from calibstat.data.weighted_sample import as_weights, weighted_sample


def test_weights_sum_to_the_effective_number_of_rows():
    """Weights 1, 1, 2: (1 + 1 + 2)**2 / (1 + 1 + 4) = 16 / 6."""
    for unit in (1.0, 1e-200, 1e200):
        assert as_weights(np.array([1, 1, 2]) * unit, 3) == pytest.approx([16 / 24, 16 / 24, 16 / 12])
    assert as_weights([0.3] * 7, 7).tolist() == [1.0] * 7


@given(weighted_rows())
def test_sums_of_weights_are_those_of_a_loop(data):
    y, p, weight = data
    scaled = as_weights(weight, y.size)
    sample = weighted_sample(y, p, scaled)
    assert sample.value.tolist() == sorted({v + 0.0 for v, w in zip(p.tolist(), weight, strict=True) if w > 0})
    for j, v in enumerate(sample.value):
        rows = (p == v) & (weight > 0)
        assert sample.count[j] == pytest.approx(scaled[rows].sum())
        assert sample.positives[j] == pytest.approx(scaled[rows & (y == 1)].sum())
        assert sample.squares[j] == pytest.approx(((scaled * (y - p))[rows] ** 2).sum(), abs=1e-12)
    assert sample.n_rows == np.count_nonzero(weight) == y.size - sample.n_zero_weight
    assert np.array_equal(sample.prediction, np.sort(p[weight > 0] + 0.0))
    assert sample.keeps_rows
    assert sample.kind == "weights"


def test_the_order_of_rows_does_not_show():
    random = np.random.default_rng(1)
    y, p, weight = random.integers(0, 2, 40), random.integers(0, 5, 40) / 4, random.integers(1, 4, 40) / 3.0
    order = random.permutation(40)
    one, other = weighted_sample(y, p, weight), weighted_sample(y[order], p[order], weight[order])
    for name in ("value", "count", "positives", "cell", "outcome", "weight"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_certain_predictions_have_sums_without_rounding():
    """Where all outcomes are 1 the positives are the count, to the last bit: otherwise a prediction of 1 would fail."""
    weight = np.random.default_rng(1).random(1000)
    sample = weighted_sample(np.ones(1000), np.ones(1000), weight)
    assert sample.positives[0] == sample.count[0]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], "expected one weight a row, found 2 weights for 3 rows"),
        ([1, -1, 2], "expected a finite weight of at least 0, found -1.0 in sample_weight at row 1"),
        ([1, np.nan, 2], "expected a finite weight of at least 0, found nan in sample_weight at row 1"),
        ([1, np.inf, 2], "expected a finite weight of at least 0, found inf in sample_weight at row 1"),
        ([0, 0, 0], "expected at least one row of positive weight, found none"),
        ([1e-320, 1, 1e300], "expected weights within a factor of 1e308"),
        (["a", "b", "c"], "expected numbers in sample_weight"),
    ],
)
def test_what_is_no_weight_is_named(weight, message):
    with pytest.raises(ValueError, match=message):
        cs.calibration_test([0, 1, 1], [0.2, 0.6, 0.7], sample_weight=weight)
