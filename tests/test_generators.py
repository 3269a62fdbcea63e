"""Synthetic families: closed forms worked by hand, independent simulation, and the curve."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import calibstat as cs
from calibstat.generators import calibrated, gaussian_mixture, hidden, shift, temperature

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
    ("ece_width", {"n_bins": 10}, A + B + 0.1),
    ("ks", {}, A + B),
    ("kuiper", {}, A + B),
    ("kernel_ce", {}, math.sqrt(LAPLACE)),
    ("kernel_ce", {"statistic": "U"}, LAPLACE),  # two independent rows may have the same prediction
    (
        "kernel_ce",
        {"kernel": "gaussian", "bandwidth": 0.5},
        math.sqrt(A * A + B * B + 2 * A * B * math.exp(-4 * D * D)),
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
@pytest.mark.parametrize("measure", [name for name, entry in cs.MEASURES.items() if entry.complete])
def test_calibrated_families_have_no_error(family, measure):
    assert family.truth(measure) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("family", [temperature(1.5), gaussian_mixture(1, 1), hidden(), shift(-0.3, FIVE)])
def test_every_registered_measure_has_a_truth(family):
    assert all(np.isfinite(family.truth(measure)) for measure in cs.MEASURES)


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
    ("ece_width", {"n_bins": 10}),
    ("ece_debiased", {"n_bins": 10}),
    ("ks", {}),
    ("kuiper", {}),
    ("kernel_ce", {}),
    ("kernel_ce", {"statistic": "U", "bandwidth": 0.1}),
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


@pytest.mark.parametrize("family", [case[0] for case in SIMULATED] + [hidden(), temperature(3, {0.2: 0.3, 0.6: 0.7})])
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


@pytest.mark.parametrize("name", cs.GENERATORS)
def test_samples_are_reproducible_rows(name):
    arguments = {"temperature": (2,), "shift": (0.5,), "gaussian_mixture": (1, 1)}
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
        (lambda: calibrated({0.2: 1.5, 0.4: -0.5}), "positive probabilities"),
        (lambda: calibrated(stats.norm()), "distribution on"),
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
