"""The study of calibration maps."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs

maps = study_file("maps")
P = np.array([0.0, 0.1, 0.5, 0.8, 1.0])


@pytest.mark.parametrize("given", [maps.Tempered(0.5), maps.Tempered(1.6, -0.4)])
def test_sides_of_a_map(given):
    np.testing.assert_allclose(given.moved(0)(P), P, atol=1e-15)
    np.testing.assert_array_equal(given.moved(1)(P), given(P))
    assert given(P)[[0, -1]].tolist() == [0, 1]
    log_odds = [np.log(given.moved(k)(P[1:4]) / (1 - given.moved(k)(P[1:4]))) for k in (-1, 0, 1)]
    if given.shift == 0:  # times and divided by a factor
        np.testing.assert_allclose(log_odds[0] * log_odds[2], log_odds[1] ** 2, atol=1e-12)


def test_vectors_are_tempered_as_the_generator_has_it():
    prob = cs.generators.dirichlet((1, 1, 1)).sample(20, rng=1)[1]
    squared = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(maps.Tempered(2.0)(prob), squared, rtol=1e-12)


def test_both_tests_of_a_map_are_asked():
    case = next(iter(maps.cases(quick=True)))
    y, p = case.rows.sample(100, 1)
    few = np.random.SeedSequence(3)
    found = maps.Asks(case.map, case.measures, 19)(cs.Sample.from_rows(y, p), few)
    expected = []
    for measure in case.measures:
        expected.append(cs.calibration_test(y, p, measure=measure, null=case.map, n_resamples=19, rng=few).pvalue)
        expected.append(cs.calibration_test(y, case.map(p), measure=measure, n_resamples=19, rng=few).pvalue)
    assert found == expected


def test_the_promise_of_maps_can_be_broken():
    rows = pd.DataFrame({"question": ["size", "size", "power"], "replicates": 500, "rejections": [25, 60, 400]})
    assert maps.violations(rows).index.tolist() == [1]
