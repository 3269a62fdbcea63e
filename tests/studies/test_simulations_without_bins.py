"""The search for curves that the end without bins misses: its predictions, curves and counts by hand."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs

STUDY = study_file("without_bins")


@pytest.mark.parametrize("name", STUDY.SEVEN + STUDY.UNTUNED)
def test_predictions_ascend_from_0_to_1(name):
    v = STUDY.predictions(name, 101)
    assert v.shape == (101,)
    assert (np.diff(v) >= 0).all()
    assert v[0] >= 0
    assert v[-1] <= 1


def test_values_and_rare_predictions():
    assert np.unique(STUDY.predictions("3 values", 300)).tolist() == [0, 0.5, 1]
    assert STUDY.predictions("rare .02", 20_000).mean() == pytest.approx(0.02, rel=0.02)


def test_curves_do_not_decrease_and_are_functions_of_the_prediction():
    rows = STUDY.Rows(STUDY.predictions("11 values", 220))
    for label, curve in rows.curves(np.random.default_rng(1)):
        assert (np.diff(curve) >= -1e-12).all(), label
        assert np.ptp(curve[rows.prediction == 0.5]) < 1e-12, label
        assert curve.min() >= 0, label
        assert curve.max() <= 1 + 1e-12, label


def test_a_miss_is_a_sum_below_the_least_one():
    rows = STUDY.Rows(STUDY.predictions("5 values", 200))
    exponent = rows.exponent("proven", 0.05)
    truth = rows.bound.end(exponent, rows.bound.expected + 20)
    least = rows.least_sum(truth, exponent)
    assert least == pytest.approx(rows.bound.expected + 20, abs=0.5)
    assert rows.least_sum(rows.bound.end(exponent, 0.0) * 0.99, exponent) == 0


def test_sums_are_those_of_the_bound():
    rows = STUDY.Rows(STUDY.predictions("uniform", 120))
    certain = (rows.prediction > 0.5).astype(float)  # outcomes that are known
    value, count = np.unique(rows.prediction, return_counts=True)
    known = STUDY.CurveBound(cs.Sample.from_counts(value, count, certain), rows.bound.runs, rows.bound.shape, 1)
    assert rows.sums(np.random.default_rng(1), certain, 3).tolist() == pytest.approx([known.total] * 3)


def test_what_is_missed_too_often_is_found():
    row = {"method": "honest", "tail": 0.05, "replicates": 4000, "missed": 200}
    table = pd.DataFrame(
        [row, row | {"missed": 300}, row | {"method": "proven"}, row | {"method": "proven", "missed": 80}]
    )
    assert STUDY.violations(table).index.tolist() == [1, 2]


def test_shapes_of_curves():
    v = np.linspace(0, 1, 101)
    assert STUDY._has_shape("nondecreasing", v, v**2)
    assert not STUDY._has_shape("nondecreasing", v, 1 - v)
    assert STUDY._has_shape(cs.Variation(0.5), v, v + 0.1 * np.sin(2 * np.pi * v))  # a variation of .4
    assert not STUDY._has_shape(cs.Variation(0.3), v, v + 0.1 * np.sin(2 * np.pi * v))
    assert STUDY._has_shape(cs.Slope(1.0), v, np.full(101, 0.5))
    assert not STUDY._has_shape(cs.Slope(0.5), v, np.full(101, 0.5))
