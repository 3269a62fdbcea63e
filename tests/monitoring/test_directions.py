"""Directions of a monitor: likelihood ratios by hand, against plain formulas, and without cancellation at the ends."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.monitoring.directions import DIRECTIONS, impossible, log_likelihood_ratios


def find(**wanted):
    plain = {"shift": 0.0, "slope": 1.0, "low": 0.0, "high": 1.0}
    (g,) = [g for g, d in enumerate(DIRECTIONS) if all(getattr(d, k) == v for k, v in (plain | wanted).items())]
    return g


def plain_ratio(direction, v, y):
    """The logarithm of a ratio of probabilities, from log-odds."""
    if not direction.low <= v < direction.high:
        return 0.0
    z = direction.shift + direction.slope * math.log(v / (1 - v))
    q, one_minus_q = 1 / (1 + math.exp(-z)), 1 / (1 + math.exp(z))
    return math.log(q / v) if y else math.log(one_minus_q / (1 - v))


def of_row(v, y):
    return log_likelihood_ratios(np.array([v]), np.ones(1), np.array([float(y)]))


def test_one_row_by_hand():
    # v = 1/2 shifted up by .8: q = e^.8 / (1 + e^.8), and log(q / v) = .8 + log 2 - log(1 + e^.8)
    up = 0.8 + math.log(2) - math.log(1 + math.exp(0.8))
    assert of_row(0.5, 1)[find(shift=0.8)] == pytest.approx(up, rel=1e-14)
    assert of_row(0.5, 0)[find(shift=0.8)] == pytest.approx(up - 0.8, rel=1e-14)
    # v = 4/5 has odds 4; slope 1/2 makes them 2, q = 2/3; slope 2 makes them 16, q = 16/17
    assert of_row(0.8, 1)[find(slope=0.5)] == pytest.approx(math.log(5 / 6), rel=1e-14)
    assert of_row(0.8, 0)[find(slope=2.0)] == pytest.approx(math.log(5 / 17), rel=1e-14)
    # a quarter of the range contains its lower end only
    quarter = find(low=0.25, high=0.5, shift=0.4)
    assert (of_row(0.25, 1)[quarter] > 0, of_row(0.5, 1)[quarter]) == (True, 0.0)


@pytest.mark.parametrize("v", [1e-6, 0.02, 0.2, 0.25, 0.4999, 0.5, 0.7, 0.75, 0.99, 1 - 1e-6])
@pytest.mark.parametrize("y", [0, 1])
def test_every_direction_is_its_formula(v, y):
    np.testing.assert_allclose(of_row(v, y), [plain_ratio(d, v, y) for d in DIRECTIONS], rtol=1e-9, atol=1e-15)


def exact_log(x):
    """log of a fraction near or far from 1, to full precision."""
    return math.log1p(float(x - 1)) if abs(x - 1) < 0.5 else math.log(x.numerator) - math.log(x.denominator)


@pytest.mark.parametrize("v", [1e-300, 1e-40, 1e-12, 0.3, 0.5 + 2**-40, 0.9, 1 - 2**-30, 1 - 2**-53])
def test_squared_odds_are_exact_even_at_the_ends(v):
    """Slope 2 squares the odds: q = v^2 / (v^2 + (1 - v)^2), in fractions."""
    exact = Fraction(v)
    q = exact**2 / (exact**2 + (1 - exact) ** 2)
    g = find(slope=2.0)
    assert of_row(v, 1)[g] == pytest.approx(exact_log(q / exact), rel=1e-13)
    assert of_row(v, 0)[g] == pytest.approx(exact_log((1 - q) / (1 - exact)), rel=1e-13)


def test_predictions_0_and_1_are_left_out_and_contradictions_counted():
    value, count = np.array([0.0, 1.0]), np.array([5.0, 7.0])
    assert not log_likelihood_ratios(value, count, np.array([2.0, 4.0])).any()
    assert impossible(value, count, np.array([2.0, 4.0])) == 2 + 3
    assert impossible(value, count, np.array([0.0, 7.0])) == 0
    assert impossible(np.array([0.5]), np.ones(1), np.ones(1)) == 0


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 5e-324, 1e-9, 0.25, 0.3, 0.5, 1 - 2**-53, 1.0]), st.integers(0, 1)), min_size=1
    )
)
def test_a_summary_has_the_sum_over_its_rows_and_the_mirror_image_the_mirrored_directions(rows):
    v, y = (np.array(column, float) for column in zip(*rows, strict=True))
    found = log_likelihood_ratios(*cs.Sample.from_rows(y, v).arrays)
    assert np.isfinite(found).all()
    each = sum(of_row(a, b) for a, b in zip(v, y, strict=True))
    np.testing.assert_allclose(found, each, rtol=1e-10, atol=1e-10)
    inside = (v == 0.25) | (v == 0.5)  # 1 - v is exact, and not on the edge of another quarter
    if inside.all():
        mirrored = log_likelihood_ratios(*cs.Sample.from_rows(1 - y, 1 - v).arrays)
        assert found[find(shift=0.4)] == pytest.approx(mirrored[find(shift=-0.4)])
        assert found[find(slope=0.8)] == pytest.approx(mirrored[find(slope=0.8)])


def test_weights_sum_to_1_and_no_direction_is_there_twice():
    assert len(DIRECTIONS) == 34
    assert math.fsum(d.weight for d in DIRECTIONS) == pytest.approx(1)
    assert len({(d.shift, d.slope, d.low, d.high) for d in DIRECTIONS}) == 34


def test_directions_in_words():
    assert str(DIRECTIONS[find(shift=0.4)]) == "predictions too low by about 0.4 on the log-odds scale"
    assert str(DIRECTIONS[find(shift=-0.4, slope=1.5)]) == (
        "predictions too high by about 0.4 on the log-odds scale and not extreme enough, with true log-odds about 1.5 "
        "times the predicted ones"
    )
    assert str(DIRECTIONS[find(slope=2 / 3)]) == (
        "predictions too extreme, with true log-odds about 0.67 times the predicted ones"
    )
    assert str(DIRECTIONS[find(low=0.5, high=0.75, shift=-0.8)]) == (
        "predictions from 0.5 to 0.75 too high by about 0.8 on the log-odds scale"
    )


def ratios_of(low, high):
    """Log-likelihood ratios of rows whose predictions lie between these ends."""
    v = np.linspace(low, high, 40)
    return log_likelihood_ratios(v, np.ones(40), (np.arange(40) % 2).astype(float))


@pytest.mark.parametrize(("low", "high", "gap"), [(0.01, 0.1, -0.05), (0.9, 0.99, 0.05), (0.3, 0.49, -0.1)])
def test_a_slope_on_one_side_of_a_half_is_said_as_a_shift(low, high, gap):
    said = DIRECTIONS[find(slope=2.0)].beside(gap, ratios_of(low, high))
    often = "more" if gap > 0 else "less"
    assert said == (
        f"outcome 1 observed {often} often than predicted, as if true log-odds were about 2 times the predicted ones"
    )
    assert DIRECTIONS[find(slope=2.0)].beside(gap, ratios_of(0.2, 0.8)) == str(DIRECTIONS[find(slope=2.0)])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("gap", [-0.05, 0.05])
@pytest.mark.parametrize("ends", [(0.01, 0.1), (0.9, 0.99), (0.2, 0.8)])
def test_no_direction_contradicts_the_gap(direction, gap, ends):
    said = direction.beside(gap, ratios_of(*ends))
    wrong = "too high" if gap > 0 else "too low"
    right = f"outcome 1 observed {'more' if gap > 0 else 'less'} often than predicted"
    assert said.startswith(right) or wrong not in said
    assert f"{'less' if gap > 0 else 'more'} often" not in said


def test_fewer_events_than_predicted_are_said_first():
    status = cs.Monitor().update(np.zeros(150, int), np.linspace(0.001, 0.099, 150), period=1)
    assert status.onset.direction.startswith("outcome 1 observed less often than predicted, as if")
    status = cs.Monitor().update(np.ones(150, int), np.linspace(0.901, 0.999, 150), period=1)
    assert status.onset.direction.startswith("outcome 1 observed more often than predicted, as if")


def test_one_row_in_one_period_has_no_plural():
    text = str(cs.Monitor().update([1], [0.5], period=1))
    assert text.startswith("No alarm in 1 period. Over 1 row the outcomes average 50 points above ")
