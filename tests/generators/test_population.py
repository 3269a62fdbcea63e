"""The calibration curve and the distance from calibration of a population."""

import math

import numpy as np
import pytest
from oracles import partitions

from calibstat.generators import (
    calibrated,
    domain,
    gaussian_mixture,
    groups,
    hidden,
    shift,
    temperature,
)


def test_curves_exist_only_where_predictions_are():
    assert hidden().curve([[0.52, 0.58], [0.5, 0.55]]) == pytest.approx(
        np.array([[0, 1], [np.nan, np.nan]]), nan_ok=True
    )
    assert gaussian_mixture(0, 0).curve([0.5, 0.6]) == pytest.approx([0.5, np.nan], nan_ok=True)


def distance_oracle(probability, chance, prediction):
    """The least mean distance over all labellings of the points."""
    best = math.inf
    for label in partitions(len(chance)):
        total = 0.0
        for name in set(label):
            cell = [x for x in range(len(label)) if label[x] == name]
            mean = sum(probability[x] * chance[x] for x in cell) / sum(probability[x] for x in cell)
            total += sum(probability[x] * abs(prediction[x] - mean) for x in cell)
        best = min(best, total)
    return best


def test_distance_is_the_minimum_over_all_labellings():
    random = np.random.default_rng(5)
    for _ in range(10):
        columns = random.dirichlet(np.ones(5)), random.random(5), random.random(5)
        assert domain(*columns).distance() == pytest.approx(distance_oracle(*columns), abs=1e-12)
        columns[1][0] = 1 - columns[1][0]  # a planted fault is seen
        assert abs(domain(*columns).distance() - distance_oracle(columns[0], 1 - columns[1], columns[2])) > 1e-6


def test_distances_by_hand():
    assert hidden().distance() == pytest.approx(0.45 * 0.03 + 0.55 * 0.03, abs=1e-15)  # both to their mean outcome .55
    assert domain([0.5, 0.5], [1, 0], [0.51, 0.49]).distance() == pytest.approx(0.01, abs=1e-15)  # both to 1/2
    assert calibrated().distance() == 0
    # .2 and .8 in truth; half of the rows report 1/2 instead and go there; other ways to cut are worse
    half = groups({"a": (0.5, calibrated([0.2, 0.8])), "b": (0.5, domain([0.5, 0.5], [0.2, 0.8], [0.5, 0.5]))})
    assert half.distance() == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize(
    ("family", "message"),
    [(temperature(2), "infinitely many"), (shift(1, np.linspace(0.1, 0.9, 13)), "too many for 13 points")],
)
def test_unknown_distances_say_why(family, message):
    with pytest.raises(NotImplementedError, match=message):
        family.distance()
