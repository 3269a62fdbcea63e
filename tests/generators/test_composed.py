"""Generators with another prevalence, in groups, or distorted: closed forms, simulation, and order."""

import math

import numpy as np
import pytest
from generator_examples import FIVE
from scipy import integrate, optimize, stats

import calibstat as cs
from calibstat.generators import (
    calibrated,
    distorted,
    domain,
    gaussian_mixture,
    groups,
    prevalence,
    shift,
    temperature,
)
from calibstat.measures.kinds.registry import everyday_measures

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
TWICE = distorted(calibrated(), temperature=2)


@pytest.mark.parametrize("distribution", ["uniform", FIVE, pytest.param(stats.beta(2, 3), marks=pytest.mark.slow)])
def test_families_are_distorted_calibrated_ones(distribution):
    for family, same in [
        (temperature(2, distribution), distorted(calibrated(distribution), temperature=2)),
        (shift(0.3, distribution), distorted(calibrated(distribution), shift=0.3)),
    ]:
        assert all(np.array_equal(a, b) for a, b in zip(family.sample(50, 3), same.sample(50, 3), strict=True))
        at = family.sample(50, 3)[1]
        assert np.array_equal(family.curve(at), same.curve(at))
        for measure in everyday_measures():
            assert family.truth(measure) == same.truth(measure)


# A subgroup of a calibrated family: the rest has no residual, so every seminorm is the share times that of the family
# distorted as a whole, and mean scores are weighted means.
@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("unbinned", {}, 0.1 * 2 * HALF),
        ("ece", {"n_bins": 2}, 0.1 * 2 * HALF),
        ("ece", {"n_bins": 2, "strategy": "quantile"}, 0.1 * 2 * HALF),  # both distributions have half below 1/2
        ("ece", {"n_bins": 1}, 0),
        ("ks", {}, 0.1 * HALF),
        ("kuiper", {}, 0.1 * HALF),
        ("kernel_ce", {"bandwidth": 0.5}, 0.1 * temperature(2).truth("kernel_ce", bandwidth=0.5)),
        ("brier", {}, 1 / 6 + 0.1 * (3 * math.pi / 8 - 7 / 6)),
        ("log_loss", {}, 0.9 * 0.5 + 0.1 * (math.pi / 2 - 1)),
    ],
)
def test_subgroup_by_hand(measure, options, truth, unbinned):
    family = distorted(calibrated(), temperature=2, subgroup=0.1)
    assert family.truth(measure, **options) == pytest.approx(truth, abs=1e-6)
    if truth:
        other = distorted(calibrated(), temperature=2, subgroup=0.11)
        assert abs(other.truth(measure, **options) - truth) > 1e-4  # a planted fault is seen


def below(f):
    """The score that temperature 2 turns into f."""
    return math.sqrt(f) / (math.sqrt(f) + math.sqrt(1 - f))


def test_mixture_through_its_density():
    # dv/df = v (1 - v) / (2 f (1 - f)), because log-odds double; the calibrated share has density 1
    share, family = 0.3, distorted(calibrated(), temperature=2, subgroup=0.3)

    def density(f):
        return share * below(f) * (1 - below(f)) / (2 * f * (1 - f))

    def curve(f):
        return ((1 - share) * f + below(f) * density(f)) / (1 - share + density(f))

    at = np.array([0.01, 0.3, 0.5, 0.999])
    assert family.curve(at) == pytest.approx([curve(f) for f in at], abs=1e-12)
    assert family.curve([0, 1]) == pytest.approx([0, 1], abs=1e-12)
    # mcb is E (curve - f)², as the curve rises; f = u² tames the density at 0, and the distribution is symmetric
    square = integrate.quad(lambda u: (curve(u**2) - u**2) ** 2 * (1 - share + density(u**2)) * 2 * u, 0, 0.5**0.5)[0]
    assert family.truth("mcb") == pytest.approx(2 * square, abs=1e-6)


def test_quantile_edges_of_a_mixture_are_those_of_the_pooled_population():
    # half calibrated, half temperature 2: cdf (f + v(f)) / 2; a quarter below the edge; residual mass (v - f(v)) / 2
    edge = optimize.brentq(lambda f: (f + below(f)) / 2 - 0.25, 1e-9, 0.5)
    low = 0.5 * integrate.quad(lambda v: v - v**2 / (v**2 + (1 - v) ** 2), 0, below(edge))[0]
    norm = math.sqrt(4 * 2 * (low**2 + (HALF / 2 - low) ** 2))
    family = distorted(calibrated(), temperature=2, subgroup=0.5)
    assert family.truth("ece", n_bins=4, strategy="quantile", norm="l2") == pytest.approx(norm, abs=1e-9)


# Prevalence r over uniform scores: scores given outcome 1 are Beta(2, 1), given 0 Beta(1, 2), so the density of the
# residuals is r (1 - v) 2 v - (1 - r) v 2 (1 - v) = 2 v (1 - v) (2 r - 1), of one sign and integral (2 r - 1) / 3.
# Losses given the outcome do not change, and are the same given either.
@pytest.mark.parametrize("rate", [0.1, 0.7])
@pytest.mark.parametrize("measure", ["unbinned", "ece", "ks", "kuiper", "brier", "log_loss"])
def test_prevalence_by_hand(rate, measure, unbinned):
    truth = {"brier": 1 / 6, "log_loss": 1 / 2}.get(measure, abs(2 * rate - 1) / 3)
    assert prevalence(calibrated(), rate).truth(measure) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("batch", [2**20, 20])
def test_rows_given_the_outcome_keep_their_distribution(batch, monkeypatch):
    monkeypatch.setattr("calibstat.generators.composed.BATCH", batch)  # small batches find too little at first
    y, p = prevalence(calibrated(), 0.1).sample(2_000, 5)
    assert stats.binomtest(int(y.sum()), 2_000, 0.1).pvalue > 1e-6
    assert stats.kstest(p[y == 1], stats.beta(2, 1).cdf).pvalue > 1e-6
    assert stats.kstest(p[y == 0], stats.beta(1, 2).cdf).pvalue > 1e-6
    assert stats.kstest(p[y == 1], stats.beta(1, 2).cdf).pvalue < 1e-6  # the distribution of the other outcome


def test_prevalence_and_distortion_commute():
    family = calibrated(stats.beta(2, 3))
    one, other = (
        distorted(prevalence(family, 0.2), shift=0.5, s_shape=0.3, subgroup=0.3),
        prevalence(distorted(family, shift=0.5, s_shape=0.3, subgroup=0.3), 0.2),
    )
    for measure in ("ece", "ks", "smooth_ece", "brier", "mcb"):
        assert one.truth(measure) == pytest.approx(other.truth(measure), abs=1e-9)


def test_prevalence_changes_the_shares_of_groups():
    # groups of .2 and .6, equally likely, so rate .4. Given outcome 1 they have .25 and .75, given 0 2/3 and 1/3. At
    # rate .8: P(a, 1) = .2 and P(a, 0) = .4/3, P(b, 1) = .6 and P(b, 0) = .2/3
    pooled = prevalence(groups({"a": (0.5, calibrated([0.2])), "b": (0.5, calibrated([0.6]))}), 0.8)
    assert pooled.curve([0.2, 0.6, 0.5]) == pytest.approx([0.6, 0.9, np.nan], abs=1e-12, nan_ok=True)
    assert pooled.truth("ks") == pytest.approx(0.4 * 1 / 3 + 0.3 * 2 / 3, abs=1e-12)
    x, y, _ = pooled.sample_covariates(20_000, 1)
    for group, outcome, chance in [("a", 1, 0.2), ("a", 0, 0.4 / 3), ("b", 1, 0.6), ("b", 0, 0.2 / 3)]:
        assert stats.binomtest(int(((x == group) & (y == outcome)).sum()), 20_000, chance).pvalue > 1e-6


def test_groups_may_cancel():
    opposite = groups({"a": (0.5, domain([1], [0.4], [0.5])), "b": (0.5, domain([1], [0.6], [0.5]))})
    assert opposite.is_calibrated
    assert opposite.truth("ks") == pytest.approx(0, abs=1e-15)
    assert opposite.distance() == 0
    # continuous ones: X predicts expit(-X) in one and expit(-3 X) in the other, in truth expit(-2 X)
    assert not groups({"a": (0.5, gaussian_mixture(0, -1)), "b": (0.5, gaussian_mixture(0, -3))}).is_calibrated


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: distorted(calibrated(), temperature=0), "temperature positive"),
        (lambda: distorted(calibrated(), shift=math.inf), "shift finite"),
        (lambda: distorted(calibrated(), s_shape=1), "s_shape between"),
        (lambda: distorted(calibrated(), subgroup=0), "subgroup above 0"),
        (lambda: prevalence(calibrated(), 1), "rate between 0 and 1"),
        (lambda: prevalence(calibrated([0.0]), 0.5), "outcome 0 only"),
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
