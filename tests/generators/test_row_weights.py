"""Weights of rows: their parts by hand, their noise, and wrong arguments."""

import math

import numpy as np
import pytest
from scipy import stats

from calibstat.generators import Weights, calibrated, six_points
from calibstat.generators.row_weights import find_weights

Y, P = np.array([0, 1, 1]), np.array([0.2, 0.5, 0.8])
LABEL, PROB = np.array([2, 0]), np.array([[0.1, 0.3, 0.6], [0.3, 0.6, 0.1]])


def drawn(weights, y=Y, p=P, seed=1):
    return weights.draw(y, p, np.random.default_rng(seed))


def test_parts_by_hand():
    assert drawn(Weights()).tolist() == [1, 1, 1]
    assert drawn(Weights(outcome=(10, 1))).tolist() == [10, 1, 1]
    assert drawn(Weights(prediction=2)) == pytest.approx(np.exp(2 * P), rel=1e-14)
    assert drawn(Weights(prediction=(1, 3))) == pytest.approx(np.exp(1 + 2 * P), rel=1e-14)
    assert drawn(Weights(outcome=(1, 2, 4), prediction=(1, 0, 2)), LABEL, PROB) == pytest.approx(
        [4 * math.exp(0.1 + 1.2), math.exp(0.3 + 0.2)], rel=1e-14
    )
    assert drawn(Weights(prediction=2), LABEL, PROB) == pytest.approx([math.exp(1.2), math.exp(0.2)], rel=1e-14)


def test_names_by_hand():
    assert find_weights("independent", 3) == Weights(cv=1)
    assert find_weights("related", 2) == Weights(cv=1, prediction=1, outcome=(1, 2))
    assert find_weights("determined", 3) == Weights(prediction=1, outcome=(1, 1.5, 2))


def test_noise_is_gamma():
    ones = np.ones(20_000, int)
    noise = drawn(Weights(cv=0.5), ones, ones / 2)
    assert stats.kstest(noise, stats.gamma(4, scale=1 / 4).cdf).pvalue > 1e-4
    assert stats.kstest(noise, stats.gamma(3, scale=1 / 3).cdf).pvalue < 1e-4  # planted: another spread
    both = drawn(Weights(cv=0.5, outcome=(1, 3)), ones, ones / 2)
    assert both == pytest.approx(3 * noise, rel=1e-14)


@pytest.mark.parametrize("family", [calibrated(), six_points()])
def test_rows_do_not_depend_on_weights(family):
    for weights in ("independent", "related", "determined", Weights()):
        y, p, cluster, weight = family.sample(50, 3, weights=weights)
        assert cluster is None
        assert weight.shape == (50,)
        assert weight.min() > 0
        assert np.array_equal(y, family.sample(50, 3)[0])
        assert np.array_equal(p, family.sample(50, 3)[1])
        rows = family.sample(50, 3, clusters=7, weights=weights)
        assert np.array_equal(rows.y, family.sample(50, 3, clusters=7).y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Weights(cv=-1), "cv of at least 0 and finite, found -1"),
        (lambda: Weights(cv=math.inf), "cv of at least 0"),
        (lambda: Weights(cv="much"), "cv of at least 0"),
        (lambda: Weights(prediction=math.nan), "prediction of finite numbers"),
        (lambda: Weights(prediction="steep"), "prediction of numbers, found 'steep'"),
        (lambda: Weights(prediction=[[1]]), "prediction of a number for each class"),
        (lambda: Weights(outcome=2), "outcome of a number for each class, found 2"),
        (lambda: Weights(outcome=(1, 0)), "outcome of finite and positive numbers"),
        (lambda: Weights(outcome=(1, math.inf)), "outcome of finite and positive"),
        (lambda: calibrated().sample(5, 1, weights=Weights(outcome=(1, 2, 3))), "outcome of 2 numbers, .*, found 3"),
        (lambda: six_points().sample(5, 1, weights=Weights(prediction=(1, 2))), "prediction of 3 numbers, .*, found 2"),
        (lambda: calibrated().sample(5, 1, weights="heavy"), "'determined' or Weights, found 'heavy'"),
        (lambda: calibrated().sample(5, 1, weights=[1] * 5), "'determined' or Weights, found"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
