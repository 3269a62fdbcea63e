"""The truth of every family by every measure, against one large sample, with the error that resampling its rows shows.

A seminorm T obeys |T(sample) - truth| <= norm of (residuals of the sample - those of the distribution), whose mean the
rows' bootstrap estimates by the norm of (residuals of the resample - those of the sample). It exceeds its mean by more
than 5 standard deviations once in a million. The same is done with the sums in bins for binned errors; the L2 and
maximum norm divide by the shares of bins too, which adds terms of second order only. SmoothECE is a norm at a
bandwidth, and at its own obeys the inequality too: where g(a) <= a and h(b) <= b for norms that fall with the
bandwidth, (g + h)(a + b) is at most a + b. So does the surrogate interval error: where g(a) + a and h(b) + b are the
least, (g + h)(max(a, b)) + max(a, b) is at most their sum.

Other measures have no such inequality: 5 standard deviations and twice the bias of the resamples about the sample.
(Rows of resamples have the noise of the sample and as much again. A bias that grows with the variance of the noise to
the power 2/3, as that of a monotone fit does, then grows by 59 %, and its double exceeds that of the sample itself. The
interval error is the least sum of a width and a noise that grows with 1 over the width's root; its bias grows with the
power 1/3, by 26 %, of which four times are as much.)
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.data.cell_sums import cell_sums
from calibstat.generators import (
    calibrated,
    distorted,
    domain,
    gaussian_mixture,
    groups,
    hidden,
    prevalence,
    shift,
    temperature,
)
from calibstat.measures import Binned, Seminorm
from calibstat.measures.kinds.registry import everyday_measures, find_measure
from calibstat.resampling import Draws, Pairs, draw

UNIFORM, STEEP = calibrated(), stats.beta(0.1, 0.1)
GAP = domain((5 / 12, 1 / 12, 1 / 12, 5 / 12), (0.4, 1, 0, 0.6), (0.4, 0.4, 0.6, 0.6))
FAMILIES = {  # and for each a slightly different one, which must be told apart
    "uniform": (UNIFORM, temperature(1.2)),
    "near 0 and 1": (calibrated(STEEP), shift(0.4, STEEP)),
    "temperature": (temperature(1.5), temperature(1.7)),
    "shift": (shift(0.4, [0.1, 0.3, 0.5, 0.7, 0.9]), shift(0.5, [0.1, 0.3, 0.5, 0.7, 0.9])),
    "both": (distorted(UNIFORM, temperature=2, shift=0.3), distorted(UNIFORM, temperature=2.2, shift=0.3)),
    "S-shaped": (distorted(UNIFORM, s_shape=0.9), distorted(UNIFORM, s_shape=0.6)),
    "gaussian mixture": (gaussian_mixture(1, 1), gaussian_mixture(1, 1.3)),
    "hidden": (hidden(), distorted(hidden(), temperature=2)),
    "quadratic gap": (GAP, distorted(GAP, temperature=2)),
    "subgroup": (
        distorted(UNIFORM, temperature=3, subgroup=0.4),
        distorted(UNIFORM, temperature=3, subgroup=0.5),
    ),
    "prevalence": (prevalence(UNIFORM, 0.2), prevalence(UNIFORM, 0.25)),
    "prevalence of a subgroup": (
        prevalence(distorted(gaussian_mixture(0, -2), s_shape=-0.8, shift=1, subgroup=0.3), 0.3),
        prevalence(distorted(gaussian_mixture(0, -2), s_shape=-0.8, shift=1, subgroup=0.4), 0.3),
    ),
    "groups": (
        groups({"a": (0.5, temperature(2)), "b": (0.3, shift(-1, stats.beta(2, 3))), "c": (0.2, calibrated([0.3]))}),
        groups({"a": (0.5, temperature(2)), "b": (0.4, shift(-1, stats.beta(2, 3))), "c": (0.1, calibrated([0.3]))}),
    ),
}
FORMS = [(name, {}) for name in everyday_measures()]
FORMS += [
    ("ece", {"strategy": "quantile"}),
    ("ece", {"norm": "l2"}),
    ("ece", {"norm": "max"}),
    ("ece", {"norm": "l2", "n_bins": 6, "strategy": "quantile"}),
    ("ece_debiased", {"strategy": "quantile"}),
    ("kernel_ce_squared", {"bandwidth": 0.1}),
    ("smooth_ece", {"bandwidth": 0.1}),
    ("lower_distance", {"grid": 20}),
]
FORMS += [("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.2})]  # last: its cost is the square of the rows
TELLING = {"ece", "ks", "kernel_ce", "smooth_ece"}  # with their defaults
RESAMPLES = 24
BIASES = {"interval_ce": 4}  # how often the bias of the resamples is allowed for, if not twice


def forms_for(n):
    return FORMS if n <= 2_000 else FORMS[:-1]


@cache
def errors(label, n):
    """For each form the estimate from n rows and how far from the truth it may be."""
    family = FAMILIES[label][0]
    sample = cs.Sample.from_rows(*family.sample(n, np.random.SeedSequence([7, len(label)])))
    value, count, positives = sample.arrays
    bounds = [find_measure(name, options) for name, options in forms_for(n)]
    cells = [bound.cells(value, count) if isinstance(bound, Binned) else None for bound in bounds]

    def form(bound, cell, count_r, positives_r):
        """The estimate, and the norm of the difference of the residuals where there is one."""
        estimate = bound.evaluate(value, count_r, positives_r)
        if cell is not None:
            count_b, residual, value_b = cell_sums(cell, *sample.arrays)
            difference = cell_sums(cell, value, count_r, positives_r)[1] - residual
            width = bound.reduce(count_b, 0 * residual, value_b)  # what `ece_width` adds
            return estimate, bound.reduce(count_b, difference, value_b) - width
        difference = positives_r - positives - (count_r - count) * value
        if isinstance(bound, Seminorm):
            return estimate, bound.norm(value, difference / n)
        if bound.name in ("smooth_ece", "surrogate_interval_ce"):
            return estimate, bound.evaluate(value, count, difference + count * value)
        return estimate, np.nan

    def statistic(_, count_r, positives_r):
        return [form(bound, cell, count_r, positives_r) for bound, cell in zip(bounds, cells, strict=True)]

    drawn = draw(sample, Pairs(), statistic, Draws(np.uint64(11), RESAMPLES), 0)
    found = np.array([bound.estimate(sample) for bound in bounds])
    times = np.array([BIASES.get(name, 2) for name, _ in forms_for(n)])
    bias = times * np.abs(drawn[:, :, 0].mean(axis=0) - found)
    norm = drawn[:, :, 1].mean(axis=0)
    return found, 5 * drawn[:, :, 0].std(axis=0, ddof=1) + np.where(np.isnan(norm), bias, norm)


def ratios(label, family, n):
    """How far the estimates are from the truth of a family, in units of how far they may be."""
    found, allowed = errors(label, n)
    truth = np.array([family.truth(name, **options) for name, options in forms_for(n)])
    return np.abs(found - truth) / (allowed + 1e-12)


def check(label, n):
    ratio = ratios(label, FAMILIES[label][0], n)
    assert ratio.max() <= 1, [FORMS[i] for i in np.flatnonzero(ratio > 1)]


def told_apart(label, other, n):
    """The measures, with their defaults, by which the truth of another family is rejected."""
    ratio = ratios(label, other, n)
    return {name for (name, options), r in zip(forms_for(n), ratio, strict=True) if r > 1 and not options}


LONG = {"near 0 and 1", "gaussian mixture", "prevalence of a subgroup"}  # whose true values take seconds


@pytest.mark.parametrize(
    ("label", "n"),
    [
        pytest.param(label, n, marks=[pytest.mark.slow] if n > 500 or label in LONG else [])
        for label in FAMILIES
        for n in (500, 2_000, 20_000)
    ],
)
def test_estimates_are_near_the_truth(label, n):
    check(label, n)


def test_another_truth_is_rejected():
    assert told_apart("temperature", temperature(3), 5_000) >= TELLING


@pytest.mark.slow
@pytest.mark.parametrize("label", FAMILIES)
def test_estimates_of_a_million_rows_are_near_the_truth(label):
    check(label, 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("label", FAMILIES)
def test_a_slightly_different_truth_is_rejected(label):
    assert told_apart(label, FAMILIES[label][1], 1_000_000) >= TELLING
