"""Population values of binary measures: closed forms worked by hand, quadrature, and simulation."""

import math

import numpy as np
import pytest
from generator_examples import CALIBRATED, FIVE, SIMULATED
from scipy import integrate, stats

import calibstat as cs
from calibstat.generators import (
    calibrated,
    distorted,
    gaussian_mixture,
    hidden,
    prevalence,
    shift,
    temperature,
)
from calibstat.measures.kinds.registry import binary_measures, everyday_measures

LN2 = math.log(2)


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
@pytest.mark.parametrize("distribution", [[0.7, 0.2], {0.2: 0.5, 0.7: 0.5}, np.array([0.2, 0.2, 0.7, 0.7])])
def test_two_points_by_hand(measure, options, truth, distribution):
    assert shift(LN2, distribution).truth(measure, **options) == pytest.approx(truth, abs=1e-14)


def test_scores_of_a_calibrated_uniform():
    assert calibrated().truth("brier") == pytest.approx(1 / 6, abs=1e-12)  # E v (1 - v)
    assert calibrated().truth("log_loss") == pytest.approx(1 / 2, abs=1e-12)  # E[-v ln v - (1 - v) ln(1 - v)]


@pytest.mark.parametrize("family", CALIBRATED)
@pytest.mark.parametrize("measure", [name for name in everyday_measures() if cs.MEASURES[name].info.complete])
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
    with pytest.raises(NotImplementedError, match="grows with the number of rows"):
        family.truth("omnibus")
    others = [name for name in binary_measures() if name not in ("upper_distance", "omnibus")]
    assert all(np.isfinite(family.truth(measure)) for measure in others)
    if isinstance(family, temperature | gaussian_mixture):
        with pytest.raises(NotImplementedError, match=r"it has none on \d+ distinct predictions"):
            family.truth("upper_distance")
    else:
        assert np.isfinite(family.truth("upper_distance"))


# Quantile bins of the predictions are quantile bins of the scores. Temperature 2 in 4 bins, first quarter: E (f - v) =
# -(gap between s = 1/4 and 1/2) = -[ln(1/2 + 2 s²)/4 - s²/2] from 1/4 to 1/2 = -(ln(8/5)/4 - 3/32); second: the rest.
def test_quantile_edges_are_those_of_the_population():
    outer = math.log(8 / 5) / 4 - 3 / 32
    norm = math.sqrt(4 * 2 * (outer**2 + (HALF - outer) ** 2))
    assert temperature(2).truth("ece", n_bins=4, strategy="quantile", norm="l2") == pytest.approx(norm, abs=1e-12)


def test_quantile_edges_of_a_finite_distribution_follow_the_rule_for_samples():
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
    x, weight = np.polynomial.legendre.leggauss(32)
    edges = np.linspace(0, 1, 33)
    nodes = (edges[:-1, None] + np.diff(edges)[:, None] * (1 + x) / 2).ravel()
    weights = (np.diff(edges)[:, None] * weight / 2).ravel()
    gap_w, f_w = gap(nodes)
    square = 0.0
    for r, f, v, w in zip(gap_w, f_w, nodes, weights, strict=True):
        gap_v, f_v = gap(v * nodes)
        square += 2 * w * v * r * (weights * gap_v * np.exp(-(f - f_v) / bandwidth)).sum()
    assert family.truth("kernel_ce", bandwidth=bandwidth) == pytest.approx(math.sqrt(square), abs=bound)


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


# The largest biases at n = 50,000 rows. Where the mean of the partial sums has a peak of curvature c, and the sums
# a variance of s² a unit of the prediction, the largest sum is on average (s⁴ / c)**(1/3) * 0.996 / n**(2/3) above the
# peak; 0.996 is the mean of the largest W(t) - t²/2 (Daniels and Skyrme 1985). Temperature 1.5 of uniform predictions
# has s² = 1/4 and c = 1/2, hence 3.7e-4, and temperature .6 of beta(2, 3), of density 1.5 at 1/2, s² = .375 and c = .6,
# hence 4.5e-4. Kuiper's lowest sum is at most min(0, sum of all rows), which under the former is on average
# -(E f(1 - f) / (2 pi n))**.5 = -6.5e-4, as E f(1 - f) = .132.
# The isotonic curve lowers the score by 3 times its mean squared error on average, since this gain goes with the
# standard deviation of the noise to the power 4/3. That error is v E[(4 f'(p) f(p) (1 - f(p)) / h(p))**(2/3)] divided
# by n**(2/3), with h the density of predictions and v = .26356 the variance of the place of the largest W(t) - t²
# (Groeneboom and Wellner 2001). Three families have a smooth curve: 4.0e-4, 4.3e-4 and 4.0e-4.
BIAS = {"ks": 5e-4, "kuiper": 1.2e-3, "mcb": 6e-4}


def compatible(estimates, truth, measure):
    """Whether the mean of the estimates is that far from the truth by chance (1e-6), up to an allowance for bias."""
    error = stats.sem(estimates) * stats.t.isf(5e-7, len(estimates) - 1)
    return abs(np.mean(estimates) - truth) <= error + BIAS.get(measure, 3e-4)


@pytest.fixture(scope="module")
def samples():
    seeds = np.random.SeedSequence(20260).spawn(len(SIMULATED))
    return [
        [cs.Sample.from_rows(*family.sample(50_000, rng)) for rng in seed.spawn(40)]
        for seed, (family, _) in zip(seeds, SIMULATED, strict=True)
    ]


@pytest.mark.parametrize("case", range(len(SIMULATED)))
@pytest.mark.parametrize(("measure", "options"), FORMS)
def test_estimates_tend_to_the_truth_and_another_member_is_told_apart(samples, case, measure, options):
    family, other = SIMULATED[case]
    estimates = [cs.estimate(sample, measure=measure, **options) for sample in samples[case]]
    assert compatible(estimates, family.truth(measure, **options), measure)
    assert not compatible(estimates, other.truth(measure, **options), measure)  # the twin


def test_a_measure_of_unknown_truth_says_so(registry):
    @cs.measure("n_rows", bounds=(0, 1))
    def n_rows(value, count, positives):
        """Return something that depends on n."""
        return count.sum()

    with pytest.raises(NotImplementedError, match="'n_rows' is not known: nothing says"):
        calibrated().truth("n_rows")
    with pytest.raises(NotImplementedError, match="'skce' is not known: it is a multiclass measure"):
        calibrated().truth("skce")


def test_a_user_defined_binned_measure(registry):
    @cs.measure("halves", bounds=(0, 1))
    class Halves(cs.measures.Binned):
        """The L1 error over two cells, cut at `cut`."""

        cut: float = 0.5

        def cells(self, value, count):
            return (value > self.cut).astype(np.int64)

        def reduce(self, count, residual, value):
            return np.abs(residual).sum(axis=-1)

    @cs.measure("halves_with_edges", bounds=(0, 1))
    class HalvesWithEdges(Halves):
        """The same, and it says where the cells end."""

        def population_edges(self):
            return np.array([self.cut]), "uniform"

    family = temperature(2)
    for cut in (0.5, 1 / 3):
        truth = family.truth("ece", strategy=[cut])
        assert family.truth("halves_with_edges", cut=cut) == pytest.approx(truth, abs=1e-13)
        assert family.truth("halves", cut=cut) == pytest.approx(truth, abs=1e-4)
    assert family.truth(Halves()) == pytest.approx(2 * HALF, abs=1e-9)
    assert hidden().truth(Halves(cut=0.55)) == pytest.approx(0.45 * 0.52 + 0.55 * 0.42, abs=1e-14)
    assert distorted(calibrated(), temperature=2, subgroup=0.1).truth(Halves()) == pytest.approx(0.2 * HALF, abs=1e-9)


# |y - v|: E v (1 - v) + (1 - v) v = 1/3 for a calibrated uniform
def test_a_user_defined_loss(registry):
    @cs.measure("absolute_loss", bounds=(0, 1), tail="two-sided")
    class AbsoluteLoss(cs.measures.MeanLoss):
        """The mean absolute difference of outcome and prediction."""

        def loss(self, value):
            return value, 1 - value

    assert calibrated().truth("absolute_loss") == pytest.approx(1 / 3, abs=1e-12)
    assert hidden().truth(AbsoluteLoss()) == pytest.approx(0.45 * 0.52 + 0.55 * 0.42, abs=1e-14)
    assert prevalence(calibrated(), 0.1).truth("absolute_loss") == pytest.approx(
        1 / 3, abs=1e-12
    )  # given either outcome


def test_a_user_defined_statistic_may_say_that_it_plugs_in(registry):
    @cs.measure("residual_square", bounds=(0, 1))
    class ResidualSquare(cs.measures.Statistic):
        """The square of the mean residual."""

        plugs_in = True

        def evaluate(self, value, count, positives):
            return float(((positives - count * value).sum() / count.sum()) ** 2)

    rate = 0.1  # the mean prediction is then .1 * 2/3 + .9 * 1/3 = 11/30
    family = prevalence(calibrated(), rate)
    assert family.truth(ResidualSquare()) == pytest.approx((11 / 30 - rate) ** 2, abs=1e-12)


@pytest.mark.parametrize("cls", [False, True])
def test_a_measure_that_plugs_in_says_so_where_the_message_asks_for_it(registry, cls):
    """The same square as above, of a function or of a class that does not say it itself."""
    family = prevalence(calibrated(), 0.1)

    def square(value, count, positives):
        return ((positives - count * value).sum() / count.sum()) ** 2

    class Square(cs.measures.Statistic):
        """The square of the mean residual."""

        def evaluate(self, value, count, positives):
            return float(square(value, count, positives))

    entry = Square if cls else square
    cs.measure("own")(entry)
    with pytest.raises(NotImplementedError, match=r"tend to it: register it by cs.measure\('own', plugs_in=True\) if"):
        family.truth("own")
    cs.measure("own", plugs_in=True)(entry)
    assert family.truth("own") == pytest.approx((11 / 30 - 0.1) ** 2, abs=1e-12)


def test_a_seminorm_may_say_that_it_does_not_plug_in(registry):
    cs.measure("own", plugs_in=False)(lambda value, residual: abs(residual.sum()))
    with pytest.raises(NotImplementedError, match="nothing says that its estimates tend to it"):
        calibrated().truth("own")
