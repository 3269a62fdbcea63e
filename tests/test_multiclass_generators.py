"""Synthetic families of predicted vectors: closed forms worked by hand, independent sums, and large samples."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

import calibstat as cs
from calibstat import generators
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.generators import always_wrong, calibrated, dirichlet, label_noise, six_points, temperature
from calibstat.generators.multiclass import _classes, _log_beta
from calibstat.measures.registry import find_measure

ALARM = 1e-5  # at most, of all statistical checks of one test together
ROTATION = [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]]
FAMILIES = [
    six_points(),
    always_wrong(4, 0.2),
    dirichlet((1, 2, 3)),
    dirichlet((0.5, 1, 2), temperature=2),
    dirichlet((1, 1, 1), scale=(0.5, 1, 2), shift=(0, 0.5, -0.5)),
    dirichlet((2, 1, 1), matrix=ROTATION, shift=(0.1, 0, 0)),
    label_noise(dirichlet((1, 1, 1)), 0.3),
    label_noise(six_points(), 0.5),
]


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
    assert family.truth("ece", lens="class_wise", reduce="max", **options) < 1e-12
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
    law = np.array([[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]) / 10
    family = six_points()
    assert family.truth("brier", lens="canonical") == pytest.approx(0.54, abs=1e-12)
    assert family.truth("brier") == pytest.approx(0.24, abs=1e-12)  # .6 * .4
    assert family.truth("log_loss", lens="canonical") == pytest.approx(-(law * np.log(prob)).sum() / 6, abs=1e-12)
    assert family.truth("log_loss") == pytest.approx(-0.6 * math.log(0.6) - 0.4 * math.log(0.4), abs=1e-12)
    residual = law - prob
    distance = np.abs(prob[:, None] - prob[None]).sum(axis=-1) / 2
    skce = (np.exp(-distance) * (residual @ residual.T)).sum() / 36
    for statistic in ("V", "U", "block", "linear"):
        assert family.truth("skce", statistic=statistic) == pytest.approx(skce, abs=1e-14)
    assert np.array_equal(family.conditional(prob), law)
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


# --- Dirichlet laws. Calibrated: E q_k² = a_k (a_k + 1) / (A (A + 1)), E ln q_k = psi(a_k) - psi(A) and E q_k ln q_k =
# a_k / A (psi(a_k + 1) - psi(A + 1)). With label noise f the law is (1 - f) q + f / K, and given q_k alone it is the
# same function of q_k, which is Beta(a_k, A - a_k): its residual f (1/K - q_k) is integrated by incomplete beta
# functions.

ALPHAS = [(1, 1, 1), (0.3, 0.3, 0.3), (5, 1, 0.2), (0.05, 4), (1,) * 10, (0.1,) * 10]
NOISE = 0.3


def near(truth, alpha):
    """What the docstring of `dirichlet` promises."""
    return pytest.approx(truth, abs=1e-5 if len(alpha) <= 3 else 2e-4)


def moments(alpha):
    a, total = np.array(alpha, float), sum(alpha)
    square = (a * (a + 1)).sum() / (total * (total + 1))
    entropy = (a / total * (special.digamma(a + 1) - special.digamma(total + 1))).sum()
    return square, entropy, (special.digamma(a) - special.digamma(total)).sum()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_scores_of_dirichlet_laws(alpha):
    family, noisy, k = dirichlet(alpha), label_noise(dirichlet(alpha), NOISE), len(alpha)
    square, entropy, logs = moments(alpha)
    assert family.truth("brier", lens="canonical") == near(1 - square, alpha)
    assert family.truth("log_loss", lens="canonical") == pytest.approx(-entropy, abs=1e-4)
    brier = 1 - 2 * ((1 - NOISE) * square + NOISE / k) + square
    assert noisy.truth("brier", lens="canonical") == near(brier, alpha)
    loss = -((1 - NOISE) * entropy + NOISE / k * logs)
    assert noisy.truth("log_loss", lens="canonical") == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_label_noise_seen_class_by_class(alpha):
    family, total = label_noise(dirichlet(alpha), NOISE), sum(alpha)
    for k in (0, 1, len(alpha) - 1):
        a, b = alpha[k], total - alpha[k]
        edges = np.linspace(0, 1, 16)
        mass = np.diff(special.betainc(a, b, edges))
        residual = NOISE * (mass / len(alpha) - a / total * np.diff(special.betainc(a + 1, b, edges)))
        lens = lenses.one_class(k)
        assert family.truth("ece", lens=lens) == near(np.abs(residual).sum(), alpha)
        full = mass > 1e-12
        l2 = math.sqrt((residual[full] ** 2 / mass[full]).sum())
        assert family.truth("ece", lens=lens, norm="l2") == near(l2, alpha)
        assert family.truth("ece_debiased", lens=lens) == near(l2, alpha)
        # residuals change sign once, at 1/K: the partial sum there is the largest, and that over everything the last
        peak = NOISE * (special.betainc(a, b, 1 / len(alpha)) / len(alpha))
        peak -= NOISE * a / total * special.betainc(a + 1, b, 1 / len(alpha))
        last = NOISE * (1 / len(alpha) - a / total)
        assert family.truth("ks", lens=lens) == near(max(peak, -last), alpha)
        assert family.truth("kuiper", lens=lens) == near(max(peak, 0) - min(last, 0), alpha)


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


def test_temperature_over_three_uniform_classes():
    # p = q² / sum q² is sharper than q everywhere, so the error of the top label is E max p - E max q. In one sixth of
    # the simplex, of area 1/2 and density 2, q1 > q2 > q3 = 1 - q1 - q2
    def gap(q2, q1):
        return q1**2 / (q1**2 + q2**2 + (1 - q1 - q2) ** 2) - q1

    low, _ = integrate.dblquad(gap, 1 / 3, 1 / 2, lambda q: (1 - q) / 2, lambda q: q)
    high, _ = integrate.dblquad(gap, 1 / 2, 1, lambda q: (1 - q) / 2, lambda q: 1 - q)
    family = dirichlet((1, 1, 1), temperature=2)
    for measure in ("ece", "ks", "kuiper"):
        assert family.truth(measure) == pytest.approx(12 * (low + high), abs=1e-6)
    # Of class 0, summed over a grid of 1000² midpoints in (q0, share of q1 in the rest); the Jacobian is 1 - q0
    q0, share = np.meshgrid((np.arange(1000) + 0.5) / 1000, (np.arange(1000) + 0.5) / 1000)
    p0 = q0**2 / (q0**2 + (1 - q0) ** 2 * (share**2 + (1 - share) ** 2))
    cell = np.minimum((p0 * 15).astype(int), 14)
    in_bins = np.bincount(cell.ravel(), (2e-6 * (1 - q0) * (q0 - p0)).ravel())
    by_class = family.truth("ece", lens="class_wise")
    assert by_class == pytest.approx(np.full(3, np.abs(in_bins).sum()), abs=3e-5)
    assert np.ptp(by_class) < 1e-5  # the net goes through the classes one after the other, the law does not
    assert family.truth("ece", lens="class_wise", reduce="mean") == pytest.approx(by_class.mean())
    assert family.truth("ece", lens="class_wise", reduce="max") == by_class.max()


# Of two classes, class 1 alone is a binary family, whose truths are integrated otherwise
BINARY = [
    (dirichlet((1, 1), temperature=2), temperature(2)),
    (dirichlet((3, 2), temperature=0.5), temperature(0.5, stats.beta(2, 3))),
    (dirichlet((1, 1), scale=(2, 2), shift=(0, 0.3)), calibrated().distorted_by(temperature=2, shift=0.3)),
    (dirichlet((2, 1), matrix=[[2, 1], [1, 2]], shift=(0.4, 0)), generators.shift(-0.4, stats.beta(1, 2))),
]
COMPARED = [("ece", {}), ("ece", {"norm": "l2"}), ("ece", {"strategy": "quantile", "n_bins": 5}), ("ece_width", {})]
COMPARED += [("ks", {}), ("kuiper", {}), ("brier", {}), ("log_loss", {}), ("mcb", {}), ("smooth_ce", {})]
COMPARED += [("kernel_ce", {}), ("kernel_ce_squared", {}), ("random_interval_ce", {})]
COMPARED += [("post_processing_gap", {}), ("smooth_ece", {"bandwidth": 0.1})]


@pytest.mark.parametrize(("family", "binary"), BINARY)
def test_two_classes_are_a_binary_family(family, binary):
    for measure, options in COMPARED:
        found = family.truth(measure, lens=lenses.one_class(1), **options)
        assert found == pytest.approx(binary.truth(measure, **options), abs=3e-5), measure
    v = np.array([0.1, 0.4, 0.8])
    assert family.conditional(np.column_stack((1 - v, v)))[:, 1] == pytest.approx(binary.curve(v), abs=1e-12)


def test_predictions_that_round_to_one_have_a_finite_log_loss():
    # most of Beta(.01, .01) is nearer to 0 or 1 than floats can be
    family, binary = dirichlet((0.01, 0.01), temperature=3), temperature(3, stats.beta(0.05, 0.05))
    assert 0 < family.truth("log_loss") < 0.1
    near = dirichlet((0.05, 0.05), temperature=3)
    assert near.truth("log_loss", lens=lenses.one_class(1)) == pytest.approx(binary.truth("log_loss"), abs=1e-6)
    assert near.truth("log_loss", lens="canonical") == pytest.approx(binary.truth("log_loss"), abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [(0.01, 0.02), (0.01, 50.0), (3.0, 0.5), (40.0, 1.0), (1.0, 1.0)])
def test_quantiles_of_beta_laws(a, b):
    u = np.array([1e-5, 0.01, 0.3, 0.5, 0.9, 1 - 1e-5])
    found = _log_beta(u, a, b)
    assert np.isfinite(found).all()
    assert np.all(np.diff(found) >= 0)
    x = np.exp(found)
    back = np.where(x > 1e-300, special.betainc(a, b, x), u)
    # where x is 1 in floats the distribution function has no digits left
    assert back[x < 1 - 1e-9] == pytest.approx(u[x < 1 - 1e-9], rel=1e-8)


def test_quantiles_below_all_floats():
    u = np.array([1e-9, 1e-5, 0.01, 0.3])  # Beta(a, 1) has the distribution function x**a
    for a in (0.005, 0.01, 0.02):
        assert _log_beta(u, a, 1.0) == pytest.approx(np.log(u) / a, rel=1e-12)


# --- calibrated families


@pytest.mark.parametrize("alpha", [(1, 1, 1), (0.01, 0.01), (2, 0.5, 3, 1)])
def test_calibrated_needs_no_quadrature(alpha, monkeypatch):
    family = dirichlet(alpha)
    monkeypatch.setattr(dirichlet, "_net", None)
    assert family.is_calibrated
    for name, entry in cs.MEASURES.items():
        if entry.complete and name != "gce":
            assert family.truth(name) == 0
    assert np.array_equal(family.truth("ece", lens="class_wise"), np.zeros(len(alpha)))
    assert family.truth("canonical_ce") == 0  # with a tree too
    with pytest.raises(TypeError):
        family.truth("brier")


@pytest.mark.parametrize(
    "family",
    [
        dirichlet((1, 2, 3), temperature=1),
        dirichlet((1, 2, 3), scale=(1, 1, 1), shift=(2, 2, 2)),
        dirichlet((1, 2, 3), matrix=np.eye(3)),
        dirichlet((1, 2, 3), matrix=np.eye(3) - 1 / 3),  # softmax does not notice what is added to all logits
        label_noise(dirichlet((1, 2, 3)), 0),
    ],
)
def test_trivial_changes_leave_it_calibrated(family):
    assert family.is_calibrated
    assert family.truth("ece") == 0
    p = np.array([0.2, 0.3, 0.5])
    assert family.conditional(p) == pytest.approx(p, abs=1e-15)
    assert not np.shares_memory(family.conditional(p), p)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_who_is_calibrated(family):
    assert family.is_calibrated == (family == dirichlet((1, 2, 3)))


def test_bad_options_are_found_without_quadrature():
    family = dirichlet((1, 1, 1))
    for measure, options in [("ece", {"n_bins": 0}), ("ece", {"strategy": "odd"}), ("skce", {"bandwidth": 0})]:
        with pytest.raises(ValueError):
            family.truth(measure, **options)


# --- the calibration function


def logits(family, q):
    if family.matrix is not None:
        return np.log(q) @ np.array(family.matrix).T + np.array(family.shift or 0)
    return np.log(q) * np.array(family.scale or family.temperature or 1) + np.array(family.shift or 0)


@pytest.mark.parametrize(
    "family",
    [
        dirichlet((1, 1, 1), temperature=0.3),
        dirichlet((1, 1, 1), scale=(0.5, 1, 2), shift=(0, 0.5, -0.5)),
        dirichlet((1, 1, 1), scale=(-0.5, -1, -2)),
        dirichlet((1, 1, 1), scale=(1, 0, 2)),
        dirichlet((1, 1, 1), matrix=ROTATION, shift=(1, 2, 3)),
        dirichlet((1, 1, 1), matrix=[[1, 0.2, 0], [0, 2, 0.3], [0.1, 0, 0.5]]),
    ],
    ids=repr,
)
def test_conditional_undoes_the_report(family):
    q = np.random.default_rng(1).dirichlet((0.7, 0.7, 0.7), 500)
    p = special.softmax(logits(family, q), axis=1)
    found = family.conditional(p)
    away = q.min(axis=1) > 1e-6  # near the boundary digits of p are lost
    assert away.sum() > 400
    assert np.abs(found - q)[away].max() < 1e-8
    assert found.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-9)
    assert found[3] == pytest.approx(family.conditional(p[3]), abs=1e-14)


def test_what_is_never_predicted_has_no_conditional():
    family = dirichlet((1, 1), scale=(1, 0))  # odds of class 0 are q0 itself, so below 1
    assert family.conditional([1 / 3, 2 / 3]) == pytest.approx([0.5, 0.5], abs=1e-12)
    assert np.isnan(family.conditional([0.6, 0.4])).all()
    assert np.isnan(dirichlet((1, 1), scale=(2, 1)).conditional([0, 1])).all()
    assert np.array_equal(dirichlet((1, 1), temperature=2).conditional([0, 1]), [0, 1])


def test_scalings_that_merge_vectors_are_refused():
    # diag(2, -1): the odds of the report are q0² q1, the same at q0 = 1/2 and at the other root of q0² (1 - q0) = 1/8
    other = (1 + math.sqrt(5)) / 4
    assert other**2 * (1 - other) == pytest.approx(1 / 8)
    for scaling in ({"scale": (2, -1)}, {"matrix": np.diag([2, -1])}):
        with pytest.raises(ValueError, match="both signs"):
            dirichlet((1, 1), **scaling)
    singular = [np.ones((3, 3)), np.zeros((3, 3)), np.diag([1, 0, 0]), [[1, 2, 3], [2, 4, 6], [0, 0, 1]]]
    for matrix in [*singular[:3], [[1, 2, 3], [1, 2, 3], [0, 0, 1]]]:
        with pytest.raises(ValueError, match="singular"):
            dirichlet((1, 1, 1), matrix=matrix)
    with pytest.raises(ValueError, match="singular"):
        dirichlet((1, 1, 1), scale=(1, 0, 0))


# --- rows


def wrong_frequencies(family, law_of, n=60_000):
    """Whether classes are drawn by another law: their number in slices of each probability, by Hoeffding's bound.

    Given the predictions, classes are independent, so the number of class k among m rows is within sqrt(m ln(2/a)/2) of
    the sum of its chances but for a probability a.
    """
    y, p = family.sample(n, 5)
    law = law_of.conditional(p)
    classes, slices = family.n_classes, 4
    level = ALARM / (classes * classes * slices)
    for j in range(classes):
        part = np.searchsorted(np.quantile(p[:, j], [0.25, 0.5, 0.75]), p[:, j])
        for b in range(slices):
            rows = part == b
            for k in range(classes):
                off = abs((y[rows] == k).sum() - law[rows, k].sum())
                if off > math.sqrt(rows.sum() * math.log(2 / level) / 2):
                    return True
    return False


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_classes_are_drawn_by_the_law(family):
    assert not wrong_frequencies(family, family)
    assert wrong_frequencies(family, label_noise(family, 0.4))
    if family.is_calibrated:
        assert wrong_frequencies(family, dirichlet(family.alpha, temperature=1.3))


def test_frequencies_of_six_points():
    n, family = 60_000, six_points()
    y, p = family.sample(n, 3)
    law = family.conditional(p[0])
    for k in range(3):
        hits = int(((p == p[0]).all(axis=1) & (y == k)).sum())
        low, high = stats.binom.interval(1 - ALARM / 3, n, law[k] / 6)
        assert low <= hits <= high
        low, high = stats.binom.interval(1 - ALARM / 3, n, (law[k] + 0.1) / 6)
        assert not low <= hits <= high


@pytest.mark.parametrize("alpha", [(0.2, 1, 3), (0.02, 0.02, 0.02), (30, 20, 10)])
def test_vectors_are_dirichlet(alpha):
    _, p = dirichlet(alpha).sample(20_000, 1)
    for k, a in enumerate(alpha):
        law = stats.beta(a, sum(alpha) - a)
        inside = p[(p[:, k] > 0) & (p[:, k] < 1), k]  # what rounds to 0 or 1 is counted below
        cut = law.cdf(np.array([1e-12, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]))
        hits = [(p[:, k] <= x).sum() for x in (1e-12, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)]
        low, high = stats.binom.interval(1 - ALARM / 24, 20_000, cut)
        assert np.all((low <= hits) & (hits <= high))
        assert inside.size > 0


def bound_of(cells, spread, n):
    """How far a binned L1 error of n rows may be from its law's, but for a probability of ALARM / 4.

    It is off by at most N, the sum over cells of |mean residual - its expectation|. A row changes N by at most 2/n, so
    N exceeds its mean by more than sqrt(2 ln(1/a) / n) with probability a at most (McDiarmid). By Cauchy and Schwarz
    its mean is at most sqrt(cells * E r² / n), summed over coordinates; r² has mean q (1 - p)² + (1 - q) p² <= 1.
    """
    return math.sqrt(cells * spread / n) + math.sqrt(2 * math.log(4 / ALARM) / n)


def far_from(family, other, n=200_000):
    """The measures by which a sample of one family is too far from the truth of another."""
    y, p = family.sample(n, 11)
    predictions = Predictions.from_rows(y, p)
    hit, top = lenses.top_label.rows(predictions)
    k = family.n_classes
    found = set()
    if abs(find_measure("ece", {}).estimate_rows(hit, top) - other.truth("ece")) > bound_of(15, 1, n):
        found.add("ece")
    vector = find_measure("canonical_ce", {"strategy": "uniform", "n_bins": 3})
    truth = other.truth("canonical_ce", strategy="uniform", n_bins=3)
    # half the sum over k coordinates in at most 3**k cells; the squares of e_y - p sum to at most 2
    if abs(vector.of_vectors(p, y) - truth) > bound_of(3**k * k / 4, 2, n):
        found.add("canonical_ce")
    brier = ((np.eye(k)[y] - p) ** 2).sum(axis=1).mean()  # of numbers from 0 to 2: Hoeffding
    if abs(brier - other.truth("brier", lens="canonical")) > 2 * math.sqrt(math.log(8 / ALARM) / (2 * n)):
        found.add("brier")
    return found


LARGE = [  # and another family that must be told apart, by these
    (six_points(), label_noise(six_points(), 0.5), {"ece", "brier"}),
    (always_wrong(4, 0.2), always_wrong(4, 0.25), {"ece"}),
    (dirichlet((1, 1, 1), temperature=2), dirichlet((1, 1, 1), temperature=3), {"ece", "canonical_ce", "brier"}),
    (dirichlet((2, 1, 1), matrix=ROTATION, shift=(1, 0, 0)), dirichlet((2, 1, 1)), {"canonical_ce"}),
    (label_noise(dirichlet((0.3,) * 3), 0.3), label_noise(dirichlet((0.3,) * 3), 0.1), {"ece", "brier"}),
]


@pytest.mark.parametrize(
    ("family", "other", "told"), LARGE, ids=lambda x: repr(sorted(x) if isinstance(x, set) else x)[:40]
)
def test_large_samples_are_near_the_truth(family, other, told):
    assert far_from(family, family) == set()
    assert far_from(family, other) >= told


def test_skce_of_a_large_sample():
    # Its root is the norm of the mean of e_y - p as elements of an RKHS, each of norm at most sqrt(2): that of n rows
    # is within sqrt(2/n) (1 + sqrt(2 ln(1/a))) of that of the law, but for a probability a (McDiarmid)
    n = 16_000
    near = math.sqrt(2 / n) * (1 + math.sqrt(2 * math.log(1 / ALARM)))
    for family in (dirichlet((0.1, 0.1, 0.1), temperature=0.1), always_wrong(3, 0.3)):
        y, p = family.sample(n, 2)
        found = math.sqrt(find_measure("skce", {}).of_vectors(p, y))
        assert abs(found - math.sqrt(family.truth("skce"))) < near
        assert abs(found - math.sqrt(dirichlet((1, 1, 1)).truth("skce"))) > near


def test_skce_of_two_classes_is_twice_the_square_of_the_binary_one():
    truth = temperature(2).truth("kernel_ce", bandwidth=0.5)
    assert dirichlet((1, 1), temperature=2).truth("skce", bandwidth=0.5) == pytest.approx(2 * truth**2, abs=1e-7)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_rows(family):
    y, p = family.sample(50, 7)
    assert y.shape == (50,)
    assert y.dtype == np.int64
    assert p.shape == (50, family.n_classes)
    assert p.dtype == np.float64
    assert y.min() >= 0
    assert y.max() < family.n_classes
    again = family.sample(50, 7)
    assert np.array_equal(again[0], y)
    assert np.array_equal(again[1], p)
    assert not np.array_equal(family.sample(50, 8)[0], y)
    assert np.array_equal(family.sample(50, np.random.default_rng(7))[1], p)
    Predictions.from_rows(y, p)
    assert not np.isnan(family.conditional(p)).any()
    assert pickle.loads(pickle.dumps(family)) == family
    assert hash(family) == hash(pickle.loads(pickle.dumps(family)))


alphas = st.lists(st.floats(0.01, 50), min_size=2, max_size=6)


@settings(max_examples=60, deadline=None)
@given(alphas, st.sampled_from([0.05, 0.5, 1.0, 3.0, 20.0]), st.integers(0, 2**32 - 1))
def test_any_dirichlet_gives_predictions(alpha, beta, seed):
    family = dirichlet(alpha, temperature=beta)
    y, p = family.sample(200, seed)
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
    Predictions.from_rows(y, p)
    net = family._net(64)
    for array in (net.prob, net.law):
        assert np.abs(array.sum(axis=1) - 1).max() < 1e-12
    assert np.isfinite(net.log_prob).all()


def test_a_draw_at_the_end_of_a_row():
    class Last:  # the largest number below 1
        def random(self, shape):
            return np.full(shape, np.nextafter(1, 0))

    class First:
        def random(self, shape):
            return np.zeros(shape)

    law = np.array([[0.5, 0.5 - 1e-9, 0, 0], [0.1] * 4, [0, 0, 0, 1], [0.3, 0.3, 0.4 + 1e-9, 0]])
    assert _classes(law, Last()).tolist() == [1, 3, 3, 2]
    assert _classes(law, First()).tolist() == [0, 0, 3, 0]


# --- arguments


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dirichlet((1,)), "two or more"),
        (lambda: dirichlet((1, 0)), "positive"),
        (lambda: dirichlet((1, -1)), "positive"),
        (lambda: dirichlet((1, math.nan)), "finite"),
        (lambda: dirichlet((1, math.inf)), "finite"),
        (lambda: dirichlet("two"), "numbers"),
        (lambda: dirichlet([[1, 1]]), "two or more"),
        (lambda: dirichlet((1, 1), temperature=0), "temperature"),
        (lambda: dirichlet((1, 1), temperature=math.nan), "temperature"),
        (lambda: dirichlet((1, 1), temperature=2, scale=(1, 1)), "one of"),
        (lambda: dirichlet((1, 1), matrix=np.eye(2), scale=(1, 1)), "one of"),
        (lambda: dirichlet((1, 1), shift=(1, 0)), "shift with"),
        (lambda: dirichlet((1, 1), temperature=2, shift=(1, 0)), "shift with"),
        (lambda: dirichlet((1, 1), scale=(1, 1, 1)), "shape"),
        (lambda: dirichlet((1, 1), matrix=(1, 1)), "shape"),
        (lambda: dirichlet((1, 1), scale=(1, 1), shift=(1,)), "shape"),
        (lambda: dirichlet((1, 1), scale=(1, math.inf)), "finite"),
        (lambda: always_wrong(1, 0.1), "n_classes"),
        (lambda: always_wrong(2.5, 0.1), "n_classes"),
        (lambda: always_wrong(True, 0.1), "n_classes"),
        (lambda: always_wrong(4, 0), "epsilon"),
        (lambda: always_wrong(4, 0.76), "epsilon"),
        (lambda: always_wrong(4, math.nan), "epsilon"),
        (lambda: label_noise(six_points(), 1.1), "fraction"),
        (lambda: label_noise(six_points(), -0.1), "fraction"),
        (lambda: label_noise(calibrated(), 0.1), "family of vectors"),
        (lambda: six_points().sample(0), "expected n"),
        (lambda: six_points().sample(2.5), "expected n"),
        (lambda: six_points().truth("unknown"), "expected a measure"),
        (lambda: six_points().truth("ece", lens="unknown"), "expected a lens"),
        (lambda: six_points().truth("ece", bins=3), "expected options"),
        (lambda: six_points().truth("ece", n_bins="cube_root"), "number of bins"),
        (lambda: six_points().truth("canonical_ce", strategy="uniform", n_bins="cube_root"), "number of bins"),
        (lambda: six_points().truth("ece", reduce="mean"), "class_wise"),
        (lambda: six_points().truth("ece", lens="class_wise", reduce="sum"), "reduce"),
        (lambda: six_points().truth("ks", lens="canonical"), "sees one event"),
        (lambda: six_points().truth("canonical_ce", lens="top_label"), "sees classes"),
        (lambda: six_points().truth("skce", kernel="box"), "kernel"),
        (lambda: six_points().truth("skce", statistic="W"), "statistic"),
        (lambda: six_points().truth("ece", lens=lenses.one_class(3)), "class from 0 to 2"),
        (lambda: six_points().conditional([0.5, 0.5]), "vectors of 3"),
        (lambda: six_points().conditional([0.5, 0.5, 0.5]), "sum to 1"),
        (lambda: six_points().conditional([1.5, -0.5, 0]), "at least 0"),
        (lambda: six_points().conditional([math.nan, 0.5, 0.5]), "at least 0"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_not_known():
    for options in ({}, {"refit": False}):
        with pytest.raises(NotImplementedError, match="same for every sample"):
            six_points().truth("canonical_ce", **options)
    with pytest.raises(NotImplementedError, match="gce"):
        six_points().truth("gce")
    with pytest.raises(NotImplementedError, match="distinct predictions"):
        dirichlet((1, 1, 1), temperature=2).truth("upper_distance")
    assert always_wrong(3, 0.1).truth("upper_distance") == pytest.approx(1 / 3 + 0.1)


def test_a_seminorm_of_ones_own():
    @cs.measure("unbinned", title="ECE", formula="E|c - v|", reference="-", bounds=(0, 1), norm=True)
    def unbinned(value, residual):
        """Return the total mass of the residual measure."""
        return np.abs(residual).sum()

    try:
        assert always_wrong(4, 0.2).truth("unbinned") == pytest.approx(0.45)
        assert dirichlet((1, 1, 1)).truth("unbinned") == 0
        # the points of the net have their own chances, not the mean chance of all vectors with this largest entry
        with pytest.raises(NotImplementedError, match="every score"):
            dirichlet((1, 1, 1), temperature=2).truth("unbinned")
    finally:
        from calibstat.measures.registry import _REGISTRY

        del _REGISTRY["unbinned"]


def test_repr():
    assert repr(six_points()) == "six_points()"
    assert repr(always_wrong(4, 0.2)) == "always_wrong(n_classes=4, epsilon=0.2)"
    assert repr(dirichlet(np.array([1, 2]))) == "dirichlet(alpha=(1.0, 2.0), temperature=1.0)"
    family = label_noise(dirichlet((1, 1), matrix=np.eye(2), shift=[1, 0]), 0.1)
    inside = "dirichlet(alpha=(1.0, 1.0), temperature=1.0, matrix=((1.0, 0.0), (0.0, 1.0)), shift=(1.0, 0.0))"
    assert repr(family) == f"label_noise(base={inside}, fraction=0.1)"
    for family in FAMILIES:
        assert eval(repr(family), vars(generators)) == family


def test_mapping():
    several = {name for name, family in cs.GENERATORS.items() if issubclass(family, generators.MulticlassGenerator)}
    assert several == {"six_points", "dirichlet", "label_noise", "always_wrong"}
