"""SmoothECE against a quadrature of its formula, closed forms, and the authors' package away from the ends."""

import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows

import calibstat as cs
from calibstat.measures.smooth_ece import LEAST_WIDTH, NEAR_POINT, cosines, integral

POINTS = 10_000  # of the quadrature, 1e-4 apart


def quadrature(y, p, bandwidth, images=6):
    """The formula: every residual's Gaussian density and its reflections, added up at the middles of 10,000 cells.

    A fifth of them do for wide bandwidths. Reflections 9 bandwidths away from all cells add less than 1e-17.
    """
    points = POINTS if bandwidth < 0.05 else POINTS // 5
    t = (np.arange(points) + 0.5) / points
    value, which = np.unique(p, return_inverse=True)
    residual = np.bincount(which, y - p) / y.size
    smoothed = np.zeros(points)
    for v, r in zip(value, residual, strict=True):
        for shift in range(-images, images + 1):
            for mirror in (2 * shift + v, 2 * shift - v):
                if -9 * bandwidth < mirror < 1 + 9 * bandwidth:
                    smoothed += r * np.exp(-0.5 * ((t - mirror) / bandwidth) ** 2)
    return np.abs(smoothed).mean() / (math.sqrt(2 * math.pi) * bandwidth)


def families(n):
    rng = np.random.default_rng(3)
    u = rng.random(n)
    edges = rng.beta(0.1, 0.1, n)
    return {
        "calibrated": (u, u),
        "temperature": (u**2 / (u**2 + (1 - u) ** 2), u),
        "edges": (edges, edges),
        "ties": (u.round(1), u),
        "constant": (np.full(n, 0.25), np.full(n, 0.4)),
        "exact 0 and 1": ((u > 0.5) * 1.0, u),
        "all wrong": ((u > 0.5) * 1.0, (u <= 0.5) * 1.0),
    }


ENDS = {
    "at 0": ([0, 0, 1, 0, 0], [0.0] * 5),
    "at 1": ([1, 0, 1, 1, 1], [1.0] * 5),
    "at both": ([0, 0, 1, 0, 1, 1, 0], [0.0] * 3 + [1.0] * 4),
    "at both, one sign": ([0, 1, 1], [0.0, 0.0, 1.0]),
    "near the ends": ([0, 1, 1, 0, 1], [0.0, 1e-3, 0.0125, 0.98, 1.0]),
    "opposite errors nearby": ([1, 0, 1, 0], [0.5, 0.501, 0.999, 1.0]),
}


def drawn(family, n):
    p, truth = families(n)[family]
    return (np.random.default_rng(4).random(n) < truth) * 1.0, p


@pytest.mark.parametrize("family", families(1))
@pytest.mark.parametrize("bandwidth", [0.002, 0.0071, 0.05, 0.3, 1])
def test_at_a_bandwidth_it_is_the_quadrature_of_the_formula(family, bandwidth):
    y, p = drawn(family, 60)
    found = cs.estimate(y, p, measure="smooth_ece", bandwidth=bandwidth)
    # the quadrature too is off, by the square of its step over the bandwidth at each change of sign
    assert found == pytest.approx(quadrature(y, p, bandwidth), rel=2e-4, abs=1e-12)


@pytest.mark.parametrize("bandwidth", [0.001, 0.0071, 0.05, 0.3, 1])
@pytest.mark.parametrize("name", ENDS)
def test_mass_at_the_ends_at_a_bandwidth(name, bandwidth):
    y, p = map(np.array, ENDS[name])
    found = cs.estimate(y, p, measure="smooth_ece", bandwidth=bandwidth)
    assert found == pytest.approx(quadrature(y, p, bandwidth), rel=2e-4, abs=1e-12)


@pytest.mark.parametrize(
    "data",
    [*(drawn(family, n) for family in families(1) for n in (1, 40, 200)), *(map(np.array, e) for e in ENDS.values())],
)
def test_its_own_bandwidth_is_where_the_quadrature_equals_it(data):
    y, p = data
    detail = cs.detail(y, p, measure="smooth_ece")
    assert detail["bandwidth"] >= LEAST_WIDTH
    if detail.estimate > LEAST_WIDTH:
        assert detail.estimate == pytest.approx(detail["bandwidth"], abs=NEAR_POINT)
    assert detail.estimate == pytest.approx(quadrature(y, p, detail["bandwidth"]), abs=1e-6)


def test_mass_at_the_ends_has_its_whole_weight():
    # the residual mass is -.05 at 1 and 0 at 1/2, and a reflected kernel integrates to 1: .05 at every bandwidth
    sample = cs.Sample.from_counts([1, 0.5], [500, 500], [450, 250])
    for bandwidth in (None, 1e-4, 0.001, 0.05, 0.3, 1):
        assert cs.estimate(sample, measure="smooth_ece", bandwidth=bandwidth) == pytest.approx(0.05, abs=1e-9)
    # and |r| where all rows are at one prediction and the mean residual is r
    for value in (0, 1e-9, 0.3, 1):
        for positives in (0, 1, 37, 100):
            found = cs.estimate(cs.Sample.from_counts([value], [100], [positives]), measure="smooth_ece")
            assert found == pytest.approx(abs(positives / 100 - value), abs=1e-9)


def test_two_ends_by_theta_functions():
    """Residuals a at 0 and -a at 1: the odd waves alone, 4a sum exp(-(pi m s)²/2) cos(pi m t).

    The curve falls through 0 at 1/2, so that twice the integral over the first half is
    8a sum exp(-(pi m s)²/2) sin(pi m / 2) / (pi m).
    """
    y, p = [1, 0, 0, 1], [0.0, 0.0, 1.0, 1.0]  # a = 1/4
    for bandwidth in (0.05, 0.3, 1):
        m = np.arange(1, 200, 2)
        wave = np.exp(-0.5 * (np.pi * m * bandwidth) ** 2) * np.sin(np.pi * m / 2) / (np.pi * m)
        assert cs.estimate(y, p, measure="smooth_ece", bandwidth=bandwidth) == pytest.approx(2 * wave.sum(), rel=2e-5)


def test_a_kernel_without_reflection_is_found_out():
    """The planted fault of the above: what leaves [0, 1] must come back."""
    y, p = map(np.array, ENDS["at 1"])
    assert quadrature(y, p, 0.05, images=0) == pytest.approx(0.1, rel=1e-6)  # half of the residual, .2
    assert cs.estimate(y, p, measure="smooth_ece", bandwidth=0.05) == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("scale", [1, 1.5])
def test_the_authors_package_away_from_the_ends(scale):
    """Their bandwidth is a multiple of 1/1024 at least as wide, and the value falls by no more than it grows."""
    relplot = pytest.importorskip("relplot")
    rng = np.random.default_rng(7)
    p = rng.uniform(0.4, 0.6, 2000)
    y = (rng.random(2000) < 0.5 + scale * (p - 0.5) + 0.03 * scale) * 1.0
    assert cs.estimate(y, p, measure="smooth_ece") == pytest.approx(relplot.smECE(p, y), abs=1 / 1024 + 1e-5)
    bandwidth = 0.05
    theirs = relplot.smECE_sigma(p, y, bandwidth)
    assert cs.estimate(y, p, measure="smooth_ece", bandwidth=bandwidth) == pytest.approx(theirs, rel=2e-3)


@given(rows())
def test_the_bandwidth_is_the_value_or_the_narrowest(data):
    detail = cs.detail(*data, measure="smooth_ece")
    narrowest = detail["bandwidth"] == LEAST_WIDTH and detail.estimate <= LEAST_WIDTH
    assert narrowest or detail.estimate == pytest.approx(detail["bandwidth"], abs=NEAR_POINT)


@given(rows())
def test_it_does_not_increase_with_the_bandwidth(data):
    found = [cs.estimate(*data, measure="smooth_ece", bandwidth=b) for b in (0.001, 0.01, 0.1, 0.4, 1)]
    assert np.all(np.diff(found) <= 1e-4)


def test_sharing_out_keeps_the_waves():
    rng = np.random.default_rng(0)
    value, mass = np.append(rng.random(50), [0, 1]), rng.normal(size=52)
    found = cosines(value, mass, 0.05, 4096)
    expected = np.cos(np.pi * np.arange(found.size)[:, None] * value) @ mass
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shift", [0, 0.3, 1])
def test_the_integral_of_an_absolute_wave(shift):
    # |cos(3 pi t) + s| on [0, 1], s = 0: 2 / pi; else by SciPy's quadrature between the crossings
    from scipy.integrate import quad

    t = np.arange(65) / 64
    expected = quad(lambda t: abs(math.cos(3 * math.pi * t) + shift), 0, 1, limit=500)[0]
    assert integral(np.cos(3 * np.pi * t) + shift) == pytest.approx(expected, rel=2e-5)


def test_detail_is_a_curve_whose_mean_is_the_value():
    y, p = [1, 0, 1, 1], [0.2, 0.5, 0.5, 0.9]
    for bandwidth in (None, 0.1):
        detail = cs.detail(y, p, measure="smooth_ece", bandwidth=bandwidth)
        assert detail["grid"].shape == detail["residual"].shape == detail["density"].shape
        mean = np.trapezoid(np.abs(detail["residual"]) * detail["density"], detail["grid"])
        assert mean == pytest.approx(detail.estimate, rel=1e-3)
        assert np.trapezoid(detail["density"], detail["grid"]) == pytest.approx(1)


@pytest.mark.parametrize("bandwidth", [0, 1e-5, 1.5, float("nan")])
def test_bandwidth_out_of_range(bandwidth):
    with pytest.raises(ValueError, match="bandwidth None or a number from"):
        cs.estimate([1], [0.5], measure="smooth_ece", bandwidth=bandwidth)
