"""Synthetic families: closed forms worked by hand, independent simulation, and the curve."""

import math
import pickle
import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import calibstat as cs
from calibstat.generators import (
    calibrated,
    domain,
    gaussian_mixture,
    groups,
    hidden,
    high_frequency,
    interval_gap,
    quadratic_gap,
    shift,
    temperature,
    two_point,
)
from calibstat.measures.registry import event_measures, everyday_measures

LN2 = math.log(2)
FIVE = [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.fixture
def unbinned():
    """The unbinned calibration error, a seminorm that somebody registers."""

    @cs.measure("unbinned", title="ECE", formula="E|c - v|", reference="-", bounds=(0, 1), norm=True)
    def unbinned(value, residual):
        """Return the total mass of the residual measure."""
        return np.abs(residual).sum()

    yield "unbinned"
    from calibstat.measures.registry import _REGISTRY

    del _REGISTRY["unbinned"]


# Temperature 2 over uniform scores, by hand. Put v = 1/2 + s: f = v² / (v² + (1 - v)²) = 1/2 + s / (1/2 + 2 s²), so
# the gap f - v = s / (1/2 + 2 s²) - s is odd in s, and its integral over s from 0 to 1/2 is ln(2)/4 - 1/8 =: half.
#   unbinned, two bins, all of the over-confidence:  2 half                     = ln(2)/2 - 1/4
#   KS, Kuiper: partial sums rise to half at 1/2 and fall back to 0             = ln(2)/4 - 1/8
#   MCB = E (f - v)², with s = u/2: 2 * (1/2) ∫ u²/(1+u²)² - u²/(1+u²) + u²/4   = 3π/8 - 7/6
#   Brier = E v(1 - v) + E (f - v)²                                             = 1/6 + 3π/8 - 7/6
#   log loss: f has log-odds 2 logit(v), so -ln f = -2 ln v + ln(v² + (1 - v)²); E[-2 v ln v - 2 (1-v) ln(1-v)] = 1
#     and ∫ ln(v² + (1 - v)²) dv = ∫ ln((1 + u²)/2) du over [0, 1] = π/2 - 2    = π/2 - 1
HALF = LN2 / 4 - 1 / 8
TEMPERATURE_2 = [
    ("unbinned", {}, 2 * HALF),
    ("ece", {"n_bins": 2}, 2 * HALF),
    ("ece", {"n_bins": 2, "strategy": "quantile"}, 2 * HALF),
    ("ece", {"n_bins": 2, "norm": "max"}, 2 * HALF),  # the gap is the same in both halves, so every norm is
    ("ece", {"n_bins": 2, "norm": 3}, 2 * HALF),
    ("ece_debiased", {"n_bins": 2}, 2 * HALF),
    ("average_ce", {"n_bins": 2}, 2 * HALF),
    ("ece_width", {"n_bins": 2}, 2 * HALF + 1 / 2),
    ("ece", {"n_bins": 1}, 0),
    ("ks", {}, HALF),
    ("kuiper", {}, HALF),
    ("mcb", {}, 3 * math.pi / 8 - 7 / 6),
    ("brier", {}, 3 * math.pi / 8 - 1),
    ("log_loss", {}, math.pi / 2 - 1),
]


@pytest.mark.parametrize(("measure", "options", "truth"), TEMPERATURE_2)
def test_temperature_by_hand(measure, options, truth, unbinned):
    assert temperature(2).truth(measure, **options) == pytest.approx(truth, abs=1e-9)


# Two equally likely points, v = .2 and .7, with shift delta: f has odds e^delta times those of v. With delta = ln 2:
# odds .25 -> .5, f = 1/3; odds 7/3 -> 14/3, f = 14/17. Residual masses a = (.2 - 1/3)/2 = -1/15 and b = (.7 - 14/17)/2
# = -2.1/34; distance of the predictions d = 14/17 - 1/3 = 25/51. Both have one sign.
A, B, D = 1 / 15, 2.1 / 34, 25 / 51
LAPLACE = A * A + B * B + 2 * A * B * math.exp(-D)
TWO_POINTS = [
    ("ece", {}, A + B),
    ("ece", {"strategy": "quantile"}, A + B),
    ("ece", {"norm": "l2"}, math.sqrt(2 * A * A + 2 * B * B)),
    ("ece_debiased", {}, math.sqrt(2 * A * A + 2 * B * B)),
    ("ece", {"norm": "max"}, 2 * A),
    ("average_ce", {}, A + B),  # the gaps 2 A and 2 B of the two bins that are not empty
    ("ece_width", {"n_bins": 10}, A + B + 0.1),
    ("ks", {}, A + B),
    ("kuiper", {}, A + B),
    ("kernel_ce", {}, math.sqrt(LAPLACE)),
    ("kernel_ce_squared", {}, LAPLACE),  # two independent rows may have the same prediction
    (
        "kernel_ce",
        {"kernel": "gaussian", "bandwidth": 0.5},
        math.sqrt(A * A + B * B + 2 * A * B * math.exp(-2 * D * D)),
    ),
    ("mcb", {}, 2 * A * A + 2 * B * B),  # the curve increases, so recalibration reaches it: E (f - v)²
    ("brier", {}, (0.16 + 0.21) / 2 + 2 * A * A + 2 * B * B),
    ("log_loss", {}, (0.2 * math.log(3) + 0.8 * math.log(1.5) + 0.7 * math.log(17 / 14) + 0.3 * math.log(17 / 3)) / 2),
]


@pytest.mark.parametrize(("measure", "options", "truth"), TWO_POINTS)
@pytest.mark.parametrize("law", [[0.7, 0.2], {0.2: 0.5, 0.7: 0.5}, np.array([0.2, 0.2, 0.7, 0.7])])
def test_two_points_by_hand(measure, options, truth, law):
    assert shift(LN2, law).truth(measure, **options) == pytest.approx(truth, abs=1e-14)


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


def test_scores_of_a_calibrated_uniform():
    assert calibrated().truth("brier") == pytest.approx(1 / 6, abs=1e-12)  # E v (1 - v)
    assert calibrated().truth("log_loss") == pytest.approx(1 / 2, abs=1e-12)  # E[-v ln v - (1 - v) ln(1 - v)]


CALIBRATED = [calibrated(), calibrated(FIVE), calibrated(stats.beta(0.1, 0.1))]
CALIBRATED += [gaussian_mixture(0, -2), gaussian_mixture(0, 0)]


@pytest.mark.parametrize("family", CALIBRATED)
@pytest.mark.parametrize("measure", [name for name in everyday_measures() if cs.MEASURES[name].complete])
def test_calibrated_families_have_no_error(family, measure):
    assert family.truth(measure) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("family", CALIBRATED)
def test_calibrated_families_are_at_no_distance(family):
    finite = family in (calibrated(FIVE), gaussian_mixture(0, 0))
    # predictions keep their places, or the value on the grid is above the lower distance by at most 1 / (2 grid²)
    assert 0 <= family.truth("lower_distance", grid=50) <= (1e-12 if finite else 1 / 5000)
    if finite:
        assert family.truth("upper_distance") == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("family", [temperature(1.5), gaussian_mixture(1, 1), hidden(), shift(-0.3, FIVE)])
def test_every_registered_measure_has_a_truth(family):
    assert all(np.isfinite(family.truth(measure)) for measure in event_measures() if measure != "upper_distance")
    if isinstance(family, temperature | gaussian_mixture):
        with pytest.raises(NotImplementedError, match="it has none on more than 10 distinct predictions"):
            family.truth("upper_distance")
    else:
        assert np.isfinite(family.truth("upper_distance"))


# Quantile bins of the predictions are quantile bins of the scores. Temperature 2 in 4 bins, first quarter: E (f - v) =
# -(gap between s = 1/4 and 1/2) = -[ln(1/2 + 2 s²)/4 - s²/2] from 1/4 to 1/2 = -(ln(8/5)/4 - 3/32); second: the rest.
def test_quantile_edges_are_those_of_the_law():
    outer = math.log(8 / 5) / 4 - 3 / 32
    norm = math.sqrt(4 * 2 * (outer**2 + (HALF - outer) ** 2))
    assert temperature(2).truth("ece", n_bins=4, strategy="quantile", norm="l2") == pytest.approx(norm, abs=1e-12)


def test_quantile_edges_of_a_finite_law_follow_the_rule_for_samples():
    # cumulative .2 .4 .6 .8 1 and 2 bins: .5 is as near to .4 as to .6, and ties go to the smaller, so .1 .3 | .5 .7 .9
    family = shift(LN2, FIVE)
    f, v = np.array([2 * v / (1 + v) for v in FIVE]), np.array(FIVE)
    by_hand = (f - v)[:2].sum() / 5, (f - v)[2:].sum() / 5
    expected = math.sqrt(by_hand[0] ** 2 / 0.4 + by_hand[1] ** 2 / 0.6)
    assert family.truth("ece", n_bins=2, strategy="quantile", norm="l2") == pytest.approx(expected, abs=1e-14)


def mixture_density(x):
    return (stats.norm.pdf(x, 1) + stats.norm.pdf(x, -1)) / 2


def test_gaussian_mixture_has_the_published_total_variation(unbinned):
    published = 0.5637511405526
    assert gaussian_mixture(1, 1).truth(unbinned) == pytest.approx(published, abs=1e-12)

    def error(x, family):  # through the curve alone: the gap at the prediction that x gets
        g = 1 / (1 + np.exp(-(1 + x)))
        return abs(family.curve(g) - g) * mixture_density(x)

    def total(family):
        parts = [integrate.quad(error, *ends, args=(family,), epsabs=1e-12)[0] for ends in ((-9, -1 / 3), (-1 / 3, 9))]
        return sum(parts)

    assert total(gaussian_mixture(1, 1)) == pytest.approx(published, abs=1e-10)
    assert abs(total(gaussian_mixture(1.001, 1)) - published) > 1e-6  # a planted fault is seen


@pytest.mark.parametrize(("bandwidth", "bound"), [(1.0, 1e-7), (0.05, 1e-5), (0.02, 1e-5)])
@pytest.mark.parametrize("family", [temperature(1.5), shift(0.3)])
def test_kernel_truth_by_double_quadrature(family, bandwidth, bound):
    def gap(v):
        odds = (v / (1 - v)) ** getattr(family, "beta", 1) * math.exp(getattr(family, "delta", 0))
        return odds / (1 + odds) - v, odds / (1 + odds)

    # Gauss-Legendre on triangles below the diagonal, where the kernel is smooth: v = t w, 0 < t < 1
    x, weight = np.polynomial.legendre.leggauss(64)
    edges = np.concatenate([np.linspace(0, 1, 65)])
    nodes = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + x) / 2).ravel()
    weights = (np.diff(edges)[:, None] * weight / 2).ravel()
    gap_w, f_w = gap(nodes)
    square = 0.0
    for r, f, v, w in zip(gap_w, f_w, nodes, weights, strict=True):
        gap_v, f_v = gap(v * nodes)
        square += 2 * w * v * r * (weights * gap_v * np.exp(-(f - f_v) / bandwidth)).sum()
    assert family.truth("kernel_ce", bandwidth=bandwidth) == pytest.approx(math.sqrt(square), abs=bound)


# Independent simulation: 40 samples of 50,000 rows, whose estimates are means of many terms; the mean of the 40 is
# compared with the truth by the t distribution, at 1e-6 a comparison. The allowance is for bias of order B / n.
SIMULATED = [  # a family, and another member of it, whose truths must be told apart
    (temperature(1.5), temperature(1.7)),
    (shift(0.4), shift(0.5)),
    (shift(0.5, FIVE), shift(0.6, FIVE)),
    (gaussian_mixture(1, 1), gaussian_mixture(1, 1.3)),
    (temperature(0.6, stats.beta(2, 3)), temperature(0.5, stats.beta(2, 3))),
]
FORMS = [
    ("ece", {"n_bins": 10}),
    ("ece", {"n_bins": 6, "strategy": "quantile"}),
    ("ece", {"n_bins": 10, "norm": "l2"}),
    ("average_ce", {"n_bins": 10}),
    ("ece_width", {"n_bins": 10}),
    ("ece_debiased", {"n_bins": 10}),
    ("ks", {}),
    ("kuiper", {}),
    ("kernel_ce", {}),
    ("kernel_ce_squared", {"bandwidth": 0.1}),
    ("brier", {}),
    ("log_loss", {}),
    ("smooth_ece", {"bandwidth": 0.1}),
    ("mcb", {}),
]


def compatible(estimates, truth, allowance=3e-4):
    """Whether the mean of the estimates is that far from the truth by chance (1e-6), up to an allowance for bias."""
    error = stats.sem(estimates) * stats.t.isf(5e-7, len(estimates) - 1)
    return abs(np.mean(estimates) - truth) <= error + allowance


@pytest.fixture(scope="module")
def samples():
    seeds = np.random.SeedSequence(20260).spawn(len(SIMULATED))
    return [
        [cs.Sample.from_rows(*family.sample(50_000, rng)) for rng in seed.spawn(40)]
        for seed, (family, _) in zip(seeds, SIMULATED, strict=True)
    ]


@pytest.mark.parametrize("case", range(len(SIMULATED)))
@pytest.mark.parametrize(("measure", "options"), FORMS)
def test_estimates_tend_to_the_truth(samples, case, measure, options):
    family = SIMULATED[case][0]
    estimates = [cs.estimate(sample, measure=measure, **options) for sample in samples[case]]
    assert compatible(estimates, family.truth(measure, **options))


@pytest.mark.parametrize("case", range(len(SIMULATED)))
@pytest.mark.parametrize(("measure", "options"), FORMS)
def test_the_truth_of_another_member_is_told_apart(samples, case, measure, options):
    estimates = [cs.estimate(sample, measure=measure, **options) for sample in samples[case]]
    assert not compatible(estimates, SIMULATED[case][1].truth(measure, **options))


COMPOSED = [
    calibrated().distorted_by(s_shape=0.9),
    calibrated().distorted_by(temperature=3, subgroup=0.4),
    calibrated(stats.beta(2, 3)).with_prevalence(0.1),
    groups({"a": (0.4, temperature(2)), "b": (0.4, shift(1, stats.beta(2, 3))), "c": (0.2, calibrated([0.3, 0.6]))}),
    groups({"up": (0.5, gaussian_mixture(1, 1)), "down": (0.5, gaussian_mixture(0, -3))}).with_prevalence(0.3),
    domain([0.2, 0.3, 0.5], [0.1, 0.9, 0.4], [0.4, 0.4, 0.7]),
    quadratic_gap(0.2),
    interval_gap(0.2, -0.05),
    high_frequency(5),
]
ONE_PREDICTION = [hidden(), temperature(3, {0.2: 0.3, 0.6: 0.7})]


@pytest.mark.parametrize("family", [case[0] for case in SIMULATED] + ONE_PREDICTION + COMPOSED)
def test_outcomes_follow_the_curve(family):
    def statistic(family, other):
        y, p = family.sample(200_000, 5)
        chance = other.curve(p)
        # sums of residuals against three functions of the prediction; z-scores, three at 1e-6 each
        weights = np.array([np.ones_like(p), p, np.abs(p - 0.5)])
        spread = np.sqrt((weights**2 * chance * (1 - chance)).sum(axis=1))
        return np.abs(weights @ (y - chance)) / np.maximum(spread, 1e-9)

    assert statistic(family, family).max() < stats.norm.isf(5e-7)


def test_a_wrong_curve_is_seen():
    y, p = temperature(1.5).sample(200_000, 5)
    wrong = temperature(1.7).curve(p)
    spread = np.sqrt(((p - 0.5) ** 2 * wrong * (1 - wrong)).sum())
    assert abs((p - 0.5) @ (y - wrong)) / spread > stats.norm.isf(5e-7)


def test_gaussian_mixture_is_its_literal_construction():
    rng = np.random.default_rng(3)
    label = rng.choice([-1, 1], 200_000)
    p = 1 / (1 + np.exp(-(1 + rng.normal(label))))
    y, q = gaussian_mixture(1, 1).sample(200_000, 4)
    for event in (0, 1):
        assert stats.ks_2samp(p[label == 1 - 2 * event], q[y == event]).pvalue > 1e-6
    assert stats.ks_2samp(p[label == 1], q[y == 1]).pvalue < 1e-6  # the other class


@pytest.mark.parametrize("family", [temperature(2.5), temperature(0.4), shift(0.7), shift(-2)])
def test_the_curve_inverts_the_report(family):
    v = np.linspace(0, 1, 101)
    reported = family._predict(v)
    assert family.curve(reported) == pytest.approx(v, abs=1e-12)
    assert family.curve([0, 1]).tolist() == [0, 1]


def test_a_positive_shift_predicts_too_much():
    assert shift(0.5).curve(0.5) < 0.5 < shift(-0.5).curve(0.5)


def test_curves_exist_only_where_predictions_are():
    assert hidden().curve([[0.52, 0.58], [0.5, 0.55]]) == pytest.approx(
        np.array([[0, 1], [np.nan, np.nan]]), nan_ok=True
    )
    assert gaussian_mixture(0, 0).curve([0.5, 0.6]) == pytest.approx([0.5, np.nan], nan_ok=True)


BINARY = [name for name, family in cs.GENERATORS.items() if issubclass(family, cs.generators.Generator)]


@pytest.mark.parametrize("name", BINARY)
def test_samples_are_reproducible_rows(name):
    half = 0.5, calibrated()
    arguments = {"temperature": (2,), "shift": (0.5,), "gaussian_mixture": (1, 1), "domain": ([1], [0.5], [0.4])}
    arguments |= {"quadratic_gap": (0.2,), "interval_gap": (0.2, 0.1), "two_point": (0.1,), "high_frequency": (3,)}
    arguments |= {"groups": ({"a": half, "b": half},), "distorted": (shift(1), 2), "prevalence": (calibrated(), 0.1)}
    family = cs.GENERATORS[name](*arguments.get(name, ()))
    y, p = family.sample(100, 7)
    again = family.sample(100, np.random.default_rng(7))
    assert y.dtype == np.int64
    assert p.dtype == np.float64
    assert y.shape == p.shape == (100,)
    assert np.array_equal(y, again[0])
    assert np.array_equal(p, again[1])
    assert getattr(cs.generators, name) is cs.GENERATORS[name]


def test_the_registry_cannot_be_written_to():
    with pytest.raises(TypeError):
        cs.GENERATORS["mine"] = calibrated


def test_a_finite_law_draws_its_probabilities():
    _, p = calibrated({0.2: 0.9, 0.6: 0.1}).sample(10_000, 1)
    assert stats.binomtest(int((p == 0.6).sum()), 10_000, 0.1).pvalue > 1e-6
    assert set(p) == {0.2, 0.6}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: temperature(0), "beta positive"),
        (lambda: temperature(math.inf), "beta positive"),
        (lambda: shift(math.nan), "delta finite"),
        (lambda: gaussian_mixture(math.inf, 1), "finite coefficients"),
        (lambda: calibrated("normal"), "found 'normal'"),
        (lambda: calibrated([0.5, 1.5]), "from 0 to 1"),
        (lambda: calibrated([]), "at least one value"),
        (lambda: calibrated({0.2: 0.5, 0.4: 0.6}), "sum to 1"),
        (lambda: calibrated({0.2: 1e308, 0.4: 1e308}), "sum to 1"),
        (lambda: calibrated({0.2: 1.5, 0.4: -0.5}), "positive probabilities"),
        (lambda: calibrated(stats.norm()), "distribution on"),
        (lambda: quadratic_gap(0), "alpha above 0 and at most 1/2"),
        (lambda: quadratic_gap(0.1, 3), "variant 1 or 2"),
        (lambda: interval_gap(0.5, 0.1), "alpha between 0 and 1/2"),
        (lambda: interval_gap(0.4, 0.2), "shift above -alpha"),
        (lambda: interval_gap(0.1, -0.1), "shift above -alpha"),
        (lambda: two_point(0.6), "epsilon from -1/2"),
        (lambda: high_frequency(1.5), "k to be a whole number"),
        (lambda: high_frequency(0), "k to be a whole number"),
        (lambda: high_frequency(2, 0.5), "amplitude above 0"),
        (lambda: calibrated().sample(0), "whole number of at least 1"),
        (lambda: calibrated().sample(2.5), "whole number of at least 1"),
        (lambda: calibrated().curve(1.5), "from 0 to 1"),
        (lambda: calibrated().truth("nothing"), "expected a measure"),
        (lambda: calibrated().truth("ece", n_bins="cube_root"), "depends on the number of rows"),
        (lambda: calibrated().truth("ece_debiased", n_bins="cube_root"), "depends on the number of rows"),
    ],
)
def test_bad_arguments_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_measure_of_unknown_truth_says_so():
    @cs.measure("n_rows", title="Rows", formula="n", reference="-", bounds=(0, 1))
    def n_rows(value, count, positives):
        """Return something that depends on n."""
        return count.sum()

    from calibstat.measures.registry import _REGISTRY

    try:
        with pytest.raises(NotImplementedError, match="n_rows"):
            calibrated().truth("n_rows")
    finally:
        del _REGISTRY["n_rows"]


# --- composition -----------------------------------------------------------------------------------------------------

TWICE = calibrated().distorted_by(temperature=2)


@pytest.mark.parametrize("law", ["uniform", FIVE, stats.beta(2, 3)])
def test_families_are_distorted_calibrated_ones(law):
    for family, same in [
        (temperature(2, law), calibrated(law).distorted_by(temperature=2)),
        (shift(0.3, law), calibrated(law).distorted_by(shift=0.3)),
    ]:
        assert all(np.array_equal(a, b) for a, b in zip(family.sample(50, 3), same.sample(50, 3), strict=True))
        at = family.sample(50, 3)[1]
        assert np.array_equal(family.curve(at), same.curve(at))
        for measure in everyday_measures():
            assert family.truth(measure) == same.truth(measure)


def test_distortions_compose_in_their_order():
    at_once = calibrated().distorted_by(temperature=2, shift=0.3, s_shape=0.5).sample(50, 3)[1]
    chained = TWICE.distorted_by(shift=0.3).distorted_by(s_shape=0.5).sample(50, 3)[1]
    assert chained == pytest.approx(at_once, abs=1e-15)
    other_order = calibrated().distorted_by(shift=0.3).distorted_by(temperature=2, s_shape=0.5).sample(50, 3)[1]
    assert abs(other_order - at_once).max() > 0.01


# S-shaped with a: the gap is g(v) = a sin(4 pi v) / (4 pi), of mean |g| a / (4 pi) * 2 / pi and mean g² a² / (32 pi²).
# Its integral rises to a / (8 pi²) at 1/4, where S(1/4) = 1/4, is 0 at 1/2, and so on: two equal bins see nothing.
@pytest.mark.parametrize("a", [0.9, -0.5])
@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("unbinned", {}, lambda a: abs(a) / (2 * math.pi**2)),
        ("ece", {"n_bins": 4}, lambda a: abs(a) / (2 * math.pi**2)),
        ("ece", {"n_bins": 2}, lambda a: 0),
        ("ks", {}, lambda a: abs(a) / (8 * math.pi**2)),
        ("kuiper", {}, lambda a: abs(a) / (8 * math.pi**2)),
        ("mcb", {}, lambda a: a**2 / (32 * math.pi**2)),
        ("brier", {}, lambda a: 1 / 6 + a**2 / (32 * math.pi**2)),
    ],
)
def test_s_shape_by_hand(a, measure, options, truth, unbinned):
    assert calibrated().distorted_by(s_shape=a).truth(measure, **options) == pytest.approx(truth(a), abs=1e-9)


@pytest.mark.parametrize("a", [0.99, -0.6])
def test_s_shape_is_its_formula(a):
    family = calibrated().distorted_by(s_shape=a)
    v, _, p = family.sample_covariates(1000, 3)
    assert p == pytest.approx(v + a * np.sin(4 * np.pi * v) / (4 * np.pi), abs=1e-15)
    assert family.curve(p) == pytest.approx(v, abs=1e-12)
    assert family.curve([0, 0.25, 0.5, 0.75, 1]) == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-12)


# A subgroup of a calibrated family: the rest has no residual, so every seminorm is the share times that of the family
# distorted as a whole, and mean scores are weighted means.
@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("unbinned", {}, 0.1 * 2 * HALF),
        ("ece", {"n_bins": 2}, 0.1 * 2 * HALF),
        ("ece", {"n_bins": 2, "strategy": "quantile"}, 0.1 * 2 * HALF),  # both laws have half below 1/2
        ("ece", {"n_bins": 1}, 0),
        ("ks", {}, 0.1 * HALF),
        ("kuiper", {}, 0.1 * HALF),
        ("kernel_ce", {"bandwidth": 0.5}, 0.1 * temperature(2).truth("kernel_ce", bandwidth=0.5)),
        ("brier", {}, 1 / 6 + 0.1 * (3 * math.pi / 8 - 7 / 6)),
        ("log_loss", {}, 0.9 * 0.5 + 0.1 * (math.pi / 2 - 1)),
    ],
)
def test_subgroup_by_hand(measure, options, truth, unbinned):
    family = calibrated().distorted_by(temperature=2, subgroup=0.1)
    assert family.truth(measure, **options) == pytest.approx(truth, abs=1e-6)
    if truth:
        other = calibrated().distorted_by(temperature=2, subgroup=0.11)
        assert abs(other.truth(measure, **options) - truth) > 1e-4  # a planted fault is seen


def below(f):
    """The score that temperature 2 turns into f."""
    return math.sqrt(f) / (math.sqrt(f) + math.sqrt(1 - f))


def test_mixture_through_its_density():
    # dv/df = v (1 - v) / (2 f (1 - f)), because log-odds double; the calibrated share has density 1
    share, family = 0.3, calibrated().distorted_by(temperature=2, subgroup=0.3)

    def density(f):
        return share * below(f) * (1 - below(f)) / (2 * f * (1 - f))

    def curve(f):
        return ((1 - share) * f + below(f) * density(f)) / (1 - share + density(f))

    at = np.array([0.01, 0.3, 0.5, 0.999])
    assert family.curve(at) == pytest.approx([curve(f) for f in at], abs=1e-12)
    assert family.curve([0, 1]) == pytest.approx([0, 1], abs=1e-12)
    # mcb is E (curve - f)², as the curve rises; f = u² tames the density at 0, and the law is symmetric
    square = integrate.quad(lambda u: (curve(u**2) - u**2) ** 2 * (1 - share + density(u**2)) * 2 * u, 0, 0.5**0.5)[0]
    assert family.truth("mcb") == pytest.approx(2 * square, abs=1e-6)


def test_quantile_edges_of_a_mixture_are_those_of_the_pooled_law():
    # half calibrated, half temperature 2: cdf (f + v(f)) / 2; a quarter below the edge; residual mass (v - f(v)) / 2
    edge = optimize.brentq(lambda f: (f + below(f)) / 2 - 0.25, 1e-9, 0.5)
    low = 0.5 * integrate.quad(lambda v: v - v**2 / (v**2 + (1 - v) ** 2), 0, below(edge))[0]
    norm = math.sqrt(4 * 2 * (low**2 + (HALF / 2 - low) ** 2))
    family = calibrated().distorted_by(temperature=2, subgroup=0.5)
    assert family.truth("ece", n_bins=4, strategy="quantile", norm="l2") == pytest.approx(norm, abs=1e-9)


# Prevalence r over uniform scores: scores given outcome 1 are Beta(2, 1), given 0 Beta(1, 2), so the density of the
# residuals is r (1 - v) 2 v - (1 - r) v 2 (1 - v) = 2 v (1 - v) (2 r - 1), of one sign and integral (2 r - 1) / 3.
# Losses given the outcome do not change, and are the same given either.
@pytest.mark.parametrize("rate", [0.1, 0.7])
@pytest.mark.parametrize("measure", ["unbinned", "ece", "ks", "kuiper", "brier", "log_loss"])
def test_prevalence_by_hand(rate, measure, unbinned):
    truth = {"brier": 1 / 6, "log_loss": 1 / 2}.get(measure, abs(2 * rate - 1) / 3)
    assert calibrated().with_prevalence(rate).truth(measure) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("batch", [2**20, 20])
def test_rows_given_the_outcome_keep_their_law(batch, monkeypatch):
    monkeypatch.setattr("calibstat.generators.composed.BATCH", batch)  # small batches find too little at first
    y, p = calibrated().with_prevalence(0.1).sample(2_000, 5)
    assert stats.binomtest(int(y.sum()), 2_000, 0.1).pvalue > 1e-6
    assert stats.kstest(p[y == 1], stats.beta(2, 1).cdf).pvalue > 1e-6
    assert stats.kstest(p[y == 0], stats.beta(1, 2).cdf).pvalue > 1e-6
    assert stats.kstest(p[y == 1], stats.beta(1, 2).cdf).pvalue < 1e-6  # the law of the other outcome


def test_prevalence_and_distortion_commute():
    family = calibrated(stats.beta(2, 3))
    one, other = (
        family.with_prevalence(0.2).distorted_by(shift=0.5, s_shape=0.3, subgroup=0.3),
        family.distorted_by(shift=0.5, s_shape=0.3, subgroup=0.3).with_prevalence(0.2),
    )
    for measure in everyday_measures():
        assert one.truth(measure) == pytest.approx(other.truth(measure), abs=1e-9)


def test_prevalence_changes_the_shares_of_groups():
    # groups of .2 and .6, equally likely, so rate .4. Given outcome 1 they have .25 and .75, given 0 2/3 and 1/3. At
    # rate .8: P(a, 1) = .2 and P(a, 0) = .4/3, P(b, 1) = .6 and P(b, 0) = .2/3
    pooled = groups({"a": (0.5, calibrated([0.2])), "b": (0.5, calibrated([0.6]))}).with_prevalence(0.8)
    assert pooled.curve([0.2, 0.6, 0.5]) == pytest.approx([0.6, 0.9, np.nan], abs=1e-12, nan_ok=True)
    assert pooled.truth("ks") == pytest.approx(0.4 * 1 / 3 + 0.3 * 2 / 3, abs=1e-12)
    x, y, _ = pooled.sample_covariates(20_000, 1)
    for group, outcome, chance in [("a", 1, 0.2), ("a", 0, 0.4 / 3), ("b", 1, 0.6), ("b", 0, 0.2 / 3)]:
        assert stats.binomtest(int(((x == group) & (y == outcome)).sum()), 20_000, chance).pvalue > 1e-6


@pytest.mark.parametrize("family", [*COMPOSED, temperature(2), calibrated(FIVE)])
def test_covariates_belong_to_the_rows(family):
    x, y, p = family.sample_covariates(100, 3)
    assert x.shape == (100,)
    assert all(np.array_equal(a, b) for a, b in zip((y, p), family.sample(100, 3), strict=True))


def test_groups_may_cancel():
    opposite = groups({"a": (0.5, domain([1], [0.4], [0.5])), "b": (0.5, domain([1], [0.6], [0.5]))})
    assert opposite.is_calibrated
    assert opposite.truth("ks") == pytest.approx(0, abs=1e-15)
    assert opposite.distance() == 0
    # continuous ones: X predicts expit(-X) in one and expit(-3 X) in the other, in truth expit(-2 X)
    assert not groups({"a": (0.5, gaussian_mixture(0, -1)), "b": (0.5, gaussian_mixture(0, -3))}).is_calibrated


# --- domains ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_predictions_and_outcomes_do_not_tell_the_distance(alpha):
    near, far = quadratic_gap(alpha), quadratic_gap(alpha, variant=2)
    assert near.distance() == pytest.approx(2 * alpha**2 / (1 + 2 * alpha), abs=1e-15)
    assert far.distance() == pytest.approx(alpha, abs=1e-15)
    for measure in event_measures():
        assert near.truth(measure) == pytest.approx(far.truth(measure), abs=1e-14)


def distance_oracle(probability, chance, prediction):
    """The least mean distance over all labellings of the points."""
    best = math.inf
    for label in product(range(len(chance)), repeat=len(chance)):
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


# --- families of the distances ----------------------------------------------------------------------------------------


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


# The Gaussian kernel of bandwidth 1, with x = v - 1/2 and w = 2 pi k: the residual is ± A exp(-64 x²) sin(w x), all but
# 1e-7 of it inside. In s = x - x' and t = x + x' it is x² + x'² = (s² + t²) / 2 and 2 sin(w x) sin(w x') = cos(w s) -
# cos(w t), so the double integral is A²/4 times that of exp(-32.5 s² - 32 t²) (cos w s - cos w t), which is
# A²/4 pi / sqrt(32.5 * 32) (exp(-w²/130) - exp(-w²/128)). The ends that are cut off weigh less than A exp(-16) w / 512.
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_gaussian_kernel_hardly_sees_high_frequencies(k):
    w, a = 2 * math.pi * k, 0.3
    square = a**2 / 4 * math.pi / math.sqrt(32.5 * 32) * (math.exp(-(w**2) / 130) - math.exp(-(w**2) / 128))
    cut = a * math.exp(-16) * w / 256
    found = high_frequency(k, a).truth("kernel_ce", kernel="gaussian")
    assert found == pytest.approx(math.sqrt(square), abs=cut)
    # the weight sin(w x) / w has slope 1, and the integral of exp(-64 x²) sin(w x)² is pi**.5 / 16 (1 - exp(-w²/64))
    low = a / w * (math.sqrt(math.pi) / 16 * (1 - math.exp(-(w**2) / 64)) - math.exp(-16))
    assert low <= high_frequency(k, a).truth("smooth_ce") <= 2 * low


@pytest.mark.parametrize("k", [1, 3, 10, 100])
def test_high_frequency_by_quadrature(k, unbinned):
    """Half a wave at a time, between which the residual changes sign."""
    ends = np.arange(2 * k + 1) / (2 * k)

    def error(v):
        return 0.4 * math.exp(-64 * (v - 0.5) ** 2) * math.sin(2 * math.pi * k * v)

    residual = np.array([integrate.quad(error, *end, epsabs=1e-13)[0] for end in pairwise(ends)])
    sums = np.append(0, residual.cumsum())
    family = high_frequency(k)
    assert family.truth("ks") == pytest.approx(np.abs(sums).max(), abs=1e-9)
    assert family.truth("kuiper") == pytest.approx(np.ptp(sums), abs=1e-9)
    assert family.truth(unbinned) == pytest.approx(np.abs(residual).sum(), abs=1e-9)
    # k bins of a whole wave each, or 2 k of half a wave
    assert family.truth("ece", n_bins=2 * k) == pytest.approx(np.abs(residual).sum(), abs=1e-9)
    assert family.truth("ece", n_bins=k) == pytest.approx(np.abs(residual.reshape(k, 2).sum(axis=1)).sum(), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 50, 1000])
def test_chances_of_high_frequency_stay_probabilities(k):
    v = np.linspace(0, 1, 100_001)
    error = 0.49 * np.exp(-64 * (v - 0.5) ** 2) * np.sin(2 * np.pi * k * v)
    assert np.abs(high_frequency(k, 0.49).curve(v) - (v + error)).max() < 1e-15  # nothing is clipped


@pytest.mark.parametrize(
    ("family", "message"),
    [(temperature(2), "infinitely many"), (shift(1, np.linspace(0.1, 0.9, 13)), "too many for 13 points")],
)
def test_unknown_distances_say_why(family, message):
    with pytest.raises(NotImplementedError, match=message):
        family.distance()


# --- what a study needs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [*CALIBRATED, temperature(1), calibrated().with_prevalence(0.5)])
def test_calibrated_families_know_it(family):
    assert family.is_calibrated


@pytest.mark.parametrize("family", [case[0] for case in SIMULATED] + COMPOSED + [hidden(), temperature(1 + 1e-9)])
def test_other_families_know_it_too(family):
    assert not family.is_calibrated


def test_a_repr_says_it_all():
    family = calibrated(stats.beta(0.1, b=0.1)).distorted_by(temperature=2, subgroup=0.1)
    inner = "calibrated(distribution=beta(0.1, b=0.1))"
    changed = f"distorted(generator={inner}, temperature=2, shift=0.0, s_shape=0.0)"
    assert repr(family) == f"groups(members={{'rest': (0.9, {inner}), 'subgroup': (0.1, {changed})}})"
    assert repr(temperature(2, {0.2: 1})) == "temperature(beta=2, distribution={0.2: 1})"


def test_the_repr_of_a_histogram_tells_histograms_apart():
    code = """if True:
    import numpy as np
    from scipy import stats
    from calibstat.generators import calibrated
    for data in ([.1, .2, .9], [.1, .8, .9]):
        print(calibrated(stats.rv_histogram(np.histogram(data, bins=4, range=(0, 1)))))
    """
    first, again = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(2))
    one, other = first.stdout.splitlines()
    assert first.stdout == again.stdout
    assert one != other


@pytest.mark.parametrize("family", [*COMPOSED, *CALIBRATED, temperature(2), hidden()])
def test_families_are_pickled(family):
    family.truth("ece")  # what was computed once may be kept
    copy = pickle.loads(pickle.dumps(family))
    assert repr(copy) == repr(family)
    assert all(np.array_equal(a, b) for a, b in zip(copy.sample(50, 3), family.sample(50, 3), strict=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: calibrated().distorted_by(temperature=0), "temperature positive"),
        (lambda: calibrated().distorted_by(shift=math.inf), "shift finite"),
        (lambda: calibrated().distorted_by(s_shape=1), "s_shape between"),
        (lambda: calibrated().distorted_by(subgroup=0), "subgroup above 0"),
        (lambda: calibrated().with_prevalence(1), "rate between 0 and 1"),
        (lambda: calibrated([0.0]).with_prevalence(0.5), "outcome 0 only"),
        (lambda: cs.generators.distorted("uniform"), "expected a generator, found 'uniform'"),
        (lambda: groups({}), "probabilities of groups"),
        (lambda: groups({"a": (0.5, calibrated())}), "probabilities of groups"),
        (lambda: groups({"a": (1, "uniform")}), "expected a generator"),
        (lambda: domain([], [], []), "one length of at least 1"),
        (lambda: domain([1], [0.5], [0.5, 0.6]), "one length of at least 1"),
        (lambda: domain([0.5], [0.5], [0.5]), "sum to 1"),
        (lambda: domain([1], [1.5], [0.5]), "chance from 0 to 1"),
        (lambda: domain([1], [0.5], [-0.5]), "prediction from 0 to 1"),
    ],
)
def test_bad_compositions_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()
