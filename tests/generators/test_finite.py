"""Generators on finitely many points, by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from calibstat.generators import (
    domain,
    hidden,
    interval_gap,
    quadratic_gap,
    two_point,
)
from calibstat.measures.kinds.registry import MEASURES, binary_measures


# hidden: in (.5, .6] mean outcome .55 and mean prediction .45 * .52 + .55 * .58 = .553; apart, |0 - .52| and |1 - .58|
@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("ece", {"n_bins": 10}, 0.003),
        ("ece", {"n_bins": 100}, 0.45 * 0.52 + 0.55 * 0.42),
        ("ece", {"n_bins": 10, "norm": "max"}, 0.003),
        ("ks", {}, 0.45 * 0.52),
        ("kuiper", {}, 0.45 * 0.52),
        ("brier", {}, 0.45 * 0.52**2 + 0.55 * 0.42**2),
        ("mcb", {}, 0.45 * 0.52**2 + 0.55 * 0.42**2),
    ],
)
def test_hidden_by_hand(measure, options, truth):
    assert hidden().truth(measure, **options) == pytest.approx(truth, abs=1e-14)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_predictions_and_outcomes_do_not_tell_the_distance(alpha):
    near, far = quadratic_gap(alpha), quadratic_gap(alpha, variant=2)
    assert near.distance() == pytest.approx(2 * alpha**2 / (1 + 2 * alpha), abs=1e-15)
    assert far.distance() == pytest.approx(alpha, abs=1e-15)
    for measure in binary_measures():
        if MEASURES[measure].info.for_tests_only:
            continue  # it grows with the number of rows
        assert near.truth(measure) == pytest.approx(far.truth(measure), abs=1e-14)


# alpha a, q = a / (1 + 2 a), 01 and 10 moved by s: they go to 1/2, a + s away, and 00 and 11 stay. Intervals: with s <
# 0 one of width 2 (a + s) holds 01 and 10, 2 q of the rows, and no residual. With s > 0 an interval of 01 and 10 holds
# all and is wider than what the points cost alone: 00 and 11 nothing, 01 and 10 each q (1/2 + a + s) = a / 2 + q s.
@pytest.mark.parametrize("alpha", [0.1, 0.3])
@pytest.mark.parametrize("shift", [-0.01, 0.01])
def test_interval_gap_by_hand(alpha, shift):
    family, q = interval_gap(alpha, shift), alpha / (1 + 2 * alpha)
    assert family.distance() == pytest.approx(2 * q * (alpha + shift), abs=1e-15)
    assert family.truth("upper_distance") == pytest.approx(2 * q * (alpha + shift), abs=1e-15)
    assert family.truth("lower_distance") == pytest.approx(2 * q * (alpha + shift), abs=1e-9)
    interval = 4 * q * (alpha + shift) if shift < 0 else alpha + 2 * q * shift
    assert family.truth("interval_ce") == pytest.approx(interval, abs=1e-12)
    assert family.curve([0.5 - alpha, 0.5 - alpha - shift]).tolist() == [0.5 - alpha, 1]


def test_interval_gap_tends_to_the_quadratic_gap_but_its_distances_do_not():
    near, limit = interval_gap(0.3, 1e-9), quadratic_gap(0.3)
    for measure in ("smooth_ce", "kernel_ce", "lower_distance"):
        assert near.truth(measure) == pytest.approx(limit.truth(measure), abs=1e-8)
    assert near.distance() == pytest.approx(limit.distance(), abs=1e-8)
    assert limit.truth("upper_distance") - near.truth("upper_distance") > 0.18  # .3 - .1125


# residual masses (1/2)(1/2 - e) of both signs at distance 2 abs(e). Intervals: one of width 2 abs(e) for all. Smooth:
# weights 2 abs(e) apart. Laplace: 2 m² (1 - exp(-2 abs(e))), m = (1/2)(1/2 - e). Both to 1/2: distances abs(e). For the
# lower distance rows may part: a share 1/2 - e of either outcome goes to the other point, which is then calibrated, at
# a cost of 2 abs(e) (1/2 - e) = 4 abs(e) m in all, less than abs(e) if e > 0, and then 2 smCE, the most that it can be.
@pytest.mark.parametrize("e", [0.01, -0.1])
def test_two_points_beside_each_other_by_hand(e):
    family, m = two_point(e), (0.5 - e) / 2
    truth = {"ks": m, "kuiper": m, "interval_ce": 2 * abs(e), "smooth_ce": 2 * abs(e) * m}
    truth |= {"kernel_ce": m * math.sqrt(2 * (1 - math.exp(-2 * abs(e)))), "upper_distance": abs(e)}
    for measure, value in truth.items():
        assert family.truth(measure) == pytest.approx(value, abs=1e-14)
    assert family.truth("lower_distance") == pytest.approx(min(abs(e), 4 * abs(e) * m), abs=1e-10)
    assert family.distance() == pytest.approx(abs(e), abs=1e-15)
    assert two_point(0).is_calibrated


def test_domain_of_rows_by_hand():
    """Missing values are a value; points ascend in the prediction, then as covariates appear."""
    y, p = [0, 1, 1, 1, 0, 1], [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    frame = pd.DataFrame({"site": ["b", "b", "a", None, None, "a"], "sex": [1, 1, 2, 2, 2, 2]})
    found = domain.from_rows(y, p, frame)
    assert found == domain((2 / 6, 2 / 6, 2 / 6), (1, 0.5, 0.5), (0.25, 0.25, 0.5))
    assert domain.from_rows(y, p, frame.to_numpy()) == domain.from_rows(y, p, frame["site"]) == found
    assert domain.from_rows(y, p) == domain((4 / 6, 2 / 6), (0.75, 0.5), (0.25, 0.5))
    assert domain.from_rows([1], [0.5]).distance() == 0.5


@pytest.mark.parametrize("x", [["a"] * 5, np.zeros((5, 2)), np.zeros((6, 1, 1)), 3])
def test_domain_of_rows_needs_covariates_for_each(x):
    with pytest.raises(ValueError, match="expected x"):
        domain.from_rows([0, 1, 0, 1, 0, 1], [0.5] * 6, x)


def test_distance_of_rows_with_many_cells_names_the_limit():
    with pytest.raises(NotImplementedError, match="too many for 13 points \\(at most 12\\)"):
        domain.from_rows([0, 1] * 6 + [0], [0.5] * 13, range(13)).distance()
