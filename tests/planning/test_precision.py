"""Rows by precision: the formulas against simulated standard errors, and widths against intervals themselves."""

import math

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.planning.precision import rows_for_ratio, rows_for_slope, solve_width, z


def test_ratio_of_a_constant_is_worked_out():
    """φ = .2: log(O/E) has variance .8 / (.2 n) = 4 / n; the width 2 sinh(1.96 SE) is .2 at SE = .0509."""
    error = math.asinh(0.1) / stats.norm.ppf(0.975)
    v = np.array([0.2])
    assert rows_for_ratio(v, v, None, 0.2, z(0.95)) == math.ceil(4 / error**2) == 1542


def test_the_standard_error_of_the_ratio():
    """O of n rows, drawn anew with their outcomes from predictions that are all alike, as the formula has it."""
    n = rows_for_ratio(np.array([0.3]), np.array([0.3]), None, 0.4, z(0.95))
    ratio = np.random.default_rng(1).binomial(n, 0.3, 20_000) / (0.3 * n)
    low, high = np.quantile(ratio, [0.025, 0.975])
    assert high - low == pytest.approx(0.4, rel=0.05)


@pytest.mark.slow
def test_the_standard_error_of_the_slope():
    """Cox's slope on 300 data sets of the size that the formula asks for, and that of another size as planted fault."""
    p = 1 / (1 + np.exp(-np.random.default_rng(3).normal(size=2000)))
    n = rows_for_slope(p, p, None, 0.6, z(0.95))
    random = np.random.default_rng(4)

    def spread(rows):
        slopes = []
        for _ in range(300):
            v = random.choice(p, rows)
            slopes.append(cs.classical.cox((random.random(rows) < v).astype(int), v, held_out=True).slope)
        return 2 * stats.norm.ppf(0.975) * np.std(slopes)

    assert spread(n) == pytest.approx(0.6, rel=0.15)
    assert spread(n // 2) != pytest.approx(0.6, rel=0.15)


def test_the_information_of_two_predictions():
    """Two predictions at logits -1 and 1, equally often: I01 = 0, I00 = I11 = w = v (1 - v), so n = 1 / (SE² w)."""
    v = np.array([1 / (1 + math.e), math.e / (1 + math.e)])
    w = v[0] * v[1]
    error = 0.1 / stats.norm.ppf(0.975)
    assert rows_for_slope(v, v, np.array([5.0, 5.0]), 0.2, z(0.95)) == math.ceil(1 / (error**2 * w))
    certain = np.array([0.0, *v])  # predictions of 0 tell nothing, so that twice as many rows are needed
    assert rows_for_slope(certain, certain, np.array([10.0, 5, 5]), 0.2, z(0.95)) == math.ceil(2 / (error**2 * w))


def test_a_known_power_of_n_is_solved():
    for exponent in (0.5, 0.4, 1.0):
        n, curve = solve_width(lambda n, e=exponent: 3 * n**-e, 0.05, 10**6)
        assert n == pytest.approx((3 / 0.05) ** (1 / exponent), rel=0.02)
        assert [at for at, _ in curve] == sorted(at for at, _ in curve)
    with pytest.raises(ValueError, match="at most 1000 rows"):
        solve_width(lambda n: 3 * n**-0.5, 0.001, 1000)


@pytest.mark.parametrize("measure", ["ks", "brier"])
def test_the_stated_width_is_measured(measure):
    generator = cs.generators.calibrated()
    found = cs.sample_size(generator, width=0.08, of=measure, n_resamples=199, rng=1)
    widths = []
    for seed in range(60):
        interval = cs.confidence_interval(*generator.sample(found.n, rng=seed), measure=measure, n_resamples=199, rng=1)
        widths.append(interval.high - interval.low)
    assert np.mean(widths) == pytest.approx(0.08, rel=0.12)
    assert found.of == measure
    assert found.n in range(found.curve[0][0], found.curve[-1][0] + 1)


def test_what_is_said():
    p = np.linspace(0.05, 0.95, 500)
    found = cs.sample_size(p, width=0.2, of="slope")
    assert f"{found.n} rows for a 95 % confidence interval of width 0.2 for the calibration slope" in str(found)
    assert "To find a miscalibration by a test, another number of rows is needed." in str(found)
    assert found.to_frame()["n"].is_monotonic_increasing
    assert (found.n, 0.2) in found.curve
    over = cs.sample_size(p, "temperature=2", width=0.2, of="slope")
    assert "if the truth is temperature 2" in str(over)
    assert over.n < found.n  # outcome probabilities nearer to 1/2 tell more of the slope


def test_other_confidence_and_ratio():
    """At O/E = r the interval is r times as wide, and z SE is smaller at .8."""
    p = np.full(100, 0.2)
    error = math.asinh(0.1 / 1.5) / stats.norm.ppf(0.9)
    found = cs.sample_size(p, lambda v: 1.5 * v, width=0.2, confidence_level=0.8)
    assert found.n == math.ceil(0.7 / 0.3 / error**2)


@pytest.mark.parametrize(
    ("p", "options", "match"),
    [
        ([0.3, 0.3], {"width": 0.2, "of": "slope"}, "two distinct predictions"),
        ([0.0, 1.0], {"width": 0.2, "of": "slope"}, "two distinct predictions"),
        ([0.0, 0.0], {"width": 0.2}, "may occur or not"),
        ([0.3, 0.4], {"width": -1}, "width positive"),
        ([0.3, 0.4], {"width": 0.2, "confidence_level": 1}, "confidence_level"),
        ([0.3, 0.4], {"width": 0.2, "n_bins": 5}, "no options"),
        ([0.3, 0.4], {"width": 0.2, "of": "slop"}, "expected a measure"),
        ([0.3, 0.4], {"width": 0.2, "of": "t_cal"}, "expected a measure"),
        ([[0.2, 0.3, 0.5]], {"width": 0.2, "lens": "canonical"}, "binary outcome"),
        ([[0.2, 0.3, 0.5]], {"width": 0.2, "of": "ece", "lens": "class_wise"}, "binary outcome"),
    ],
)
def test_wrong_arguments_are_told(p, options, match):
    with pytest.raises(ValueError, match=match):
        cs.sample_size(p, **options)
