"""Six points, always wrong, and label noise: closed forms worked by hand."""

import math

import numpy as np
import pytest

from calibstat.data import lenses
from calibstat.generators import (
    always_wrong,
    dirichlet,
    label_noise,
    six_points,
)

# --- six points: all errors are (.1, -.1, 0) in some order, so the distances are .1, .2, .1 sqrt(2), .1 and .02;
# Brier = E |q - p|² + 1 - E |q|² = .02 + 1 - (2 * .44 + 2 * .58 + 2 * .42) / 6 = .54


@pytest.mark.parametrize("measure", ["ece", "ks", "kuiper", "smooth_ce", "kernel_ce", "mcb", "interval_ce"])
def test_six_points_hide_from_events(measure):
    family = six_points()
    assert abs(family.truth(measure)) < 1e-12 or measure in ("kernel_ce", "interval_ce")
    assert family.truth(measure) == pytest.approx(0, abs=1e-7)  # a root of rounding is larger
    assert family.truth(measure, lens="class_wise") == pytest.approx(np.zeros(3), abs=1e-7)
    assert not family.is_calibrated


@pytest.mark.parametrize("options", [{}, {"n_bins": 3}, {"norm": "l2"}, {"norm": "max"}, {"strategy": "quantile"}])
def test_six_points_have_no_binned_error_of_events(options):
    family = six_points()
    assert family.truth("ece", **options) < 1e-12
    assert family.truth("ece", lens="class_wise_max", **options) < 1e-12
    assert family.truth("ece", lens=lenses.one_class(1), **options) < 1e-12


@pytest.mark.parametrize(
    ("distance", "truth"),
    [("total_variation", 0.1), ("l1", 0.2), ("l2", 0.1 * math.sqrt(2)), ("max", 0.1), ("squared_euclidean", 0.02)],
)
@pytest.mark.parametrize("n_bins", [10, 15, 100])
def test_six_points_as_vectors(distance, truth, n_bins):
    found = six_points().truth("canonical_ce", strategy="uniform", n_bins=n_bins, distance=distance)
    assert found == pytest.approx(truth, abs=1e-12)


def test_scores_of_six_points():
    prob = np.array([[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]) / 10
    distribution = np.array([[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]) / 10
    family = six_points()
    assert family.truth("brier", lens="canonical") == pytest.approx(0.54, abs=1e-12)
    assert family.truth("brier") == pytest.approx(0.24, abs=1e-12)  # .6 * .4
    assert family.truth("log_loss", lens="canonical") == pytest.approx(
        -(distribution * np.log(prob)).sum() / 6, abs=1e-12
    )
    assert family.truth("log_loss") == pytest.approx(-0.6 * math.log(0.6) - 0.4 * math.log(0.4), abs=1e-12)
    residual = distribution - prob
    distance = np.abs(prob[:, None] - prob[None]).sum(axis=-1) / 2
    skce = (np.exp(-distance) * (residual @ residual.T)).sum() / 36
    for statistic in ("V", "U", "block", "linear"):
        assert family.truth("skce", statistic=statistic) == pytest.approx(skce, abs=1e-14)
    assert np.array_equal(family.conditional(prob), distribution)
    assert np.isnan(family.conditional([0.2, 0.2, 0.6])).all()


def test_six_points_through_lenses_of_classes():
    # A group of classes is calibrated if its complement is. The vector of sorted probabilities is (.6, .3, .1) always,
    # and the second likely class happens with mean chance (.2 + .3 + .2 + .4 + .3 + .4) / 6 = .3
    for lens in (lenses.groups([[0, 2], [1]]), lenses.top_k(2), lenses.top_k(1)):
        assert six_points().truth("canonical_ce", lens=lens, strategy="uniform") < 1e-12
    # but groups of one class each are the problem as it is
    lens = lenses.groups([[2], [0], [1]])
    assert six_points().truth("canonical_ce", lens=lens, strategy="uniform") == pytest.approx(0.1, abs=1e-12)
    assert six_points().truth("brier", lens=lens) == pytest.approx(0.54, abs=1e-12)
    # a group {0, 2} beside 1: twice the Brier score of the event, class 1, of mean noise E p (1 - p) = .18
    assert six_points().truth("brier", lens=lenses.groups([[0, 2], [1]])) == pytest.approx(0.36, abs=1e-12)
    assert six_points().truth("brier", lens=lenses.one_class(1)) == pytest.approx(0.18, abs=1e-12)


# --- always wrong: with a = 1/K + e for the wrong class and b = 1/K - e/(K-1) for all others, the true one too


@pytest.mark.parametrize(("k", "e"), [(2, 0.1), (3, 0.3), (10, 0.1), (50, 0.02), (4, 0.75)])
def test_always_wrong(k, e):
    family, a, b = always_wrong(k, e), 1 / k + e, 1 / k - e / (k - 1)
    assert family.truth("ece") == pytest.approx(a, abs=1e-12)
    assert family.truth("ece", norm="max") == pytest.approx(a, abs=1e-12)
    assert family.truth("brier") == pytest.approx(a**2, abs=1e-12)
    assert family.truth("log_loss") == (pytest.approx(-math.log1p(-a), abs=1e-12) if a < 1 else math.inf)
    full = a**2 + (1 - b) ** 2 + (k - 2) * b**2
    assert family.truth("brier", lens="canonical") == pytest.approx(full, abs=1e-12)
    nll = -math.log(b) if b > 1e-12 else math.inf
    assert family.truth("log_loss", lens="canonical") == pytest.approx(nll, abs=1e-12)
    # class k: once in K the wrong one, which never happens; else of chance 1/(K-1), predicted b
    assert family.truth("kuiper", lens="class_wise") == pytest.approx(np.full(k, a / k), abs=1e-12)
    assert family.truth("ece", lens="class_wise", n_bins=10_000) == pytest.approx(np.full(k, 2 * a / k), abs=1e-12)
    assert family.n_classes == k


def test_the_proposition():
    for k in (10, 100):
        family = always_wrong(k, 1 / k)
        assert family.truth("brier") < 5 / k
        assert family.truth("brier", lens="canonical") > 0.9
        y, p = family.sample(200, 0)
        assert not np.any(p.argmax(axis=1) == y)


NOISE = 0.3


@pytest.mark.parametrize("k", [2, 3, 10])
def test_label_noise_seen_at_the_top(k):
    # The largest of K uniform spacings has mean H_K / K; noise lowers its chance by f (h - 1/K), nowhere below 0. So
    # every error without bins or with them is f (H_K - 1) / K
    family = label_noise(dirichlet((1,) * k), NOISE)
    truth = NOISE * (sum(1 / i for i in range(1, k + 1)) - 1) / k
    for measure, options in [("ece", {}), ("ece", {"n_bins": 100}), ("ks", {}), ("kuiper", {}), ("smooth_ce", {})]:
        assert family.truth(measure, **options) == pytest.approx(truth, abs=1e-5)


def test_more_classes_cost_accuracy():
    family = label_noise(dirichlet((1,) * 100), NOISE)
    truth = NOISE * (sum(1 / i for i in range(1, 101)) - 1) / 100
    assert family.truth("ece") == pytest.approx(truth, rel=2e-3)
