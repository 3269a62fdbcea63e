"""Chidambaram and Ge 2024 (arXiv:2406.04068): what they define and prove, against slow code written from the paper."""

import math
from itertools import pairwise

import numpy as np
import pytest
from binned_by_hand import binned_error, even_bin, hits_and_confidence, in_bins
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import calibstat as cs
from calibstat import recalibration

BINS = 15


def vectors(n, classes, seed):
    """Over-confident predictions of several classes, and as many whose probabilities are twentieths, 0 and 1 too."""
    label, prob = cs.generators.dirichlet((0.5,) * classes, temperature=1.7).sample(n, rng=seed)
    random = np.random.default_rng(seed)
    coarse = random.multinomial(20, random.dirichlet((0.4,) * classes, size=n)) / 20
    return {"all different": (label, prob), "tied": (random.integers(classes, size=n), coarse)}


VECTORS = vectors(200, 4, 1)
EVENTS = {
    "all different": cs.generators.temperature(2).sample(120, rng=1),
    "tied": (np.arange(120) % 3 == 0, np.random.default_rng(2).integers(0, 11, 120) / 10),
}
of_vectors = pytest.mark.parametrize("rows", VECTORS)
of_events = pytest.mark.parametrize("rows", EVENTS)


@of_vectors
def test_equation_2_3_the_error_of_the_confidence_and_its_third_power(rows):
    label, prob = VECTORS[rows]
    for norm, power in (("l1", 1), ("l2", 2), (3, 3)):
        slow = binned_error(*hits_and_confidence(label, prob), BINS, power)
        assert cs.estimate(label, prob, measure="ece", norm=norm) == pytest.approx(slow, abs=1e-14)


@of_vectors
def test_tables_1_to_6_the_column_ace_is_the_plain_mean_over_bins(rows):
    label, prob = VECTORS[rows]
    hits, confidence = hits_and_confidence(label, prob)
    cells = in_bins(hits, confidence, [even_bin(v, BINS) for v in confidence])
    slow = sum(abs(hit - value) for _, hit, value in cells) / len(cells)
    assert cs.estimate(label, prob, measure="average_ce") == pytest.approx(slow, abs=1e-14)
    assert slow != pytest.approx(binned_error(hits, confidence, BINS), abs=1e-3)


@of_vectors
def test_section_3_the_scores_of_vectors(rows):
    label, prob = VECTORS[rows]
    square = [sum((p - (k == y)) ** 2 for k, p in enumerate(row)) for y, row in zip(label, prob, strict=True)]
    assert cs.estimate(label, prob, measure="brier", lens="canonical") == pytest.approx(np.mean(square), abs=1e-14)
    log = [-math.log(row[y]) if row[y] else math.inf for y, row in zip(label, prob, strict=True)]
    assert cs.estimate(label, prob, measure="log_loss", lens="canonical") == pytest.approx(np.mean(log), abs=1e-13)


def smoothed_size(y, p, bandwidth, points):
    """The mean size at the middles of cells of the residuals smoothed by a Gaussian kernel with images on the line.

    A residual at v has images at v + 2 j and -v + 2 j.
    """
    middle = (np.arange(points) + 0.5) / points
    total = np.zeros(points)
    for residual, v in zip(np.asarray(y, float) - p, p, strict=True):
        for image in [v + 2 * j for j in (-1, 0, 1)] + [-v + 2 * j for j in (-1, 0, 1, 2)]:
            total += residual * np.exp(-(((middle - image) / bandwidth) ** 2) / 2)
    return np.abs(total / (len(p) * bandwidth * math.sqrt(2 * math.pi))).mean()


@of_events
def test_smooth_ece_is_its_own_bandwidth(rows):
    """Bisection; the middles of 3000 cells are within the square of 1 / 3000 of the integral, away from its kinks."""
    y, p = EVENTS[rows]
    low, high = 0.01, 1.0
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed_size(y, p, middle, 3000) > middle else (low, middle)
    assert cs.estimate(y, p, measure="smooth_ece") == pytest.approx(low, abs=2e-5)


def maps():
    """The recalibrations of section 3 as slow code: from the rows of a fit and new predictions to new ones."""

    def replaced(label, prob, new):
        accuracy = np.mean(hits_and_confidence(label, prob)[0])
        rest = (1 - accuracy) / (prob.shape[1] - 1)
        return np.array([[accuracy if k == row.argmax() else rest for k in range(len(row))] for row in new])

    def scaled(label, prob, new):
        def loss(t):
            power = prob ** (1 / math.exp(t))
            return -np.log(power[np.arange(len(label)), label] / power.sum(axis=1)).sum()

        power = new ** (1 / math.exp(minimize_scalar(loss, bounds=(-2, 2), options={"xatol": 1e-10}).x))
        return power / power.sum(axis=1, keepdims=True)

    def binned(groups):
        def apply(label, prob, new):
            out = np.zeros(new.shape)
            for group in groups:
                pairs = [(prob[i, k], label[i] == k) for i in range(len(label)) for k in group]
                level = [(b + 0.5) / BINS for b in range(BINS)]
                for b in range(BINS):
                    inside = [hit for v, hit in pairs if even_bin(v, BINS) == b]
                    level[b] = sum(inside) / len(inside) if inside else level[b]
                for i in range(len(new)):
                    for k in group:
                        out[i, k] = level[even_bin(new[i, k], BINS)]
            return out / out.sum(axis=1, keepdims=True)

        return apply

    def isotonic(label, prob, new):
        out = np.zeros(new.shape)
        for k in range(prob.shape[1]):
            value = sorted(set(prob[:, k]))
            rows = [prob[:, k] == v for v in value]
            hits = np.cumsum([0, *(np.sum(label[r] == k) for r in rows)])
            count = np.cumsum([0, *(r.sum() for r in rows)])

            def mean(a, b, hits=hits, count=count):
                return (hits[b + 1] - hits[a]) / (count[b + 1] - count[a])

            m = len(value)
            # the largest of the starts of the smallest of the ends of all runs of predictions around each
            fitted = [max(min(mean(a, b) for b in range(j, m)) for a in range(j + 1)) for j in range(m)]
            out[:, k] = np.interp(new[:, k], value, fitted)
        out[out.sum(axis=1) == 0] = 1
        return out / out.sum(axis=1, keepdims=True)

    return {
        "mean replacement": (recalibration.MeanReplacement(), replaced),
        "temperature": (recalibration.TemperatureScaling(), scaled),
        "bins": (recalibration.HistogramBinning(), binned([range(4)])),
        "bins by class": (recalibration.HistogramBinning(class_conditional=True), binned([[k] for k in range(4)])),
        "isotonic": (recalibration.IsotonicRegression(), isotonic),
    }


@pytest.mark.parametrize("name", maps())
def test_section_3_recalibrations(name):
    label, prob = cs.generators.dirichlet((0.5,) * 4, temperature=1.7).sample(90, rng=3)
    new = np.concatenate([prob[:20], cs.generators.dirichlet((0.5,) * 4).sample(40, rng=4)[1]])
    recalibrator, slow = maps()[name]
    found = recalibrator.fit(prob, label).predict_proba(new)
    assert found == pytest.approx(slow(label, prob, new), abs=1e-6 if name == "temperature" else 1e-12)


@pytest.mark.parametrize("classes", [10, 100, 1000])
def test_proposition_4_5_always_wrong(classes):
    """Confidence 1/K + e and never a hit. Of the vector 1/K + e is wrong, the class has 1/K - e / (K - 1), and so
    have K - 2 others: (1/K + e)² + (1 - r)² + (K - 2) r² with r = 1/K - e / (K - 1)."""
    e = 1 / classes
    family = cs.generators.always_wrong(classes, e)
    r = 1 / classes - e / (classes - 1)
    assert family.truth("brier") == pytest.approx((1 / classes + e) ** 2, rel=1e-13)
    whole = (1 / classes + e) ** 2 + (1 - r) ** 2 + (classes - 2) * r**2
    assert family.truth("brier", lens="canonical") == pytest.approx(whole, rel=1e-13)
    assert family.truth("ece") == pytest.approx(1 / classes + e, rel=1e-13)


KERNELS = {"gaussian": lambda u: math.exp(-u * u / 2), "epanechnikov": lambda u: max(1 - u * u, 0)}


def near(y, p, x, kernel, bandwidth):
    """Kernel weights that sum to 1 at a point, and the frequency there."""
    weight = np.array([KERNELS[kernel]((x - v) / bandwidth) for v in p])
    return weight / weight.sum(), weight @ np.asarray(y, float) / weight.sum()


def divergence(name, m, v):
    if name == "brier":
        return (m - v) ** 2
    return sum(a * math.log(a / b) for a, b in ((m, v), (1 - m, 1 - v)) if a > 0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.02, 0.05, 0.3])
def test_equations_4_8_and_c_3_kernel_regression(kernel, bandwidth):
    y, p = EVENTS["all different"]
    m = [near(y, p, v, kernel, bandwidth)[1] for v in p]
    options = {"measure": "regression_ce", "kernel": kernel, "bandwidth": bandwidth}
    for name in ("brier", "log_loss"):
        slow = np.mean([divergence(name, each, v) for each, v in zip(m, p, strict=True)])
        assert cs.estimate(y, p, divergence=name, **options) == pytest.approx(slow, abs=1e-12)
    # phi(m) - phi(v) - phi'(v) (y - v) with phi(x) = x²
    plug_in = np.mean([a * a - v * v - 2 * v * (hit - v) for a, v, hit in zip(m, p, y, strict=True)])
    assert cs.estimate(y, p, estimator="plug_in", **options) == pytest.approx(plug_in, abs=1e-12)


@of_vectors
@pytest.mark.parametrize("kernel", KERNELS)
def test_section_4_2_the_diagram(rows, kernel):
    """Curve by the kernel, density and gap by the kernel with its images at the points 2 - x and -x."""
    label, prob = VECTORS[rows]
    hits, confidence = hits_and_confidence(label, prob)
    bandwidth = 0.08
    result = cs.sharpness(label, prob, kernel=kernel, bandwidth=bandwidth, n_points=21)
    loss = np.array([sum((p - (k == y)) ** 2 for k, p in enumerate(row)) for y, row in zip(label, prob, strict=True)])
    assert result.total_divergence == pytest.approx(loss.mean(), abs=1e-13)
    m = [near(hits, confidence, v, kernel, bandwidth)[1] for v in confidence]
    slow = np.mean([(a - v) ** 2 for a, v in zip(m, confidence, strict=True)])
    assert result.calibration_error == pytest.approx(slow, abs=1e-12)
    assert result.sharpness_gap == pytest.approx(loss.mean() - slow, abs=1e-12)
    scale = {"gaussian": math.sqrt(2 * math.pi), "epanechnikov": 4 / 3}[kernel] * bandwidth
    shown = 0
    for x, curve, gap, density in zip(result.grid, result.curve, result.gap, result.density, strict=True):
        image = [
            sum(KERNELS[kernel]((z - v) / bandwidth) for z in (x, -x, 2 - x) + ((2 + x,) if x < 0.1 else ()))
            for v in confidence
        ]
        assert density == pytest.approx(sum(image) / (len(confidence) * scale), abs=1e-9)
        if np.isnan(curve):
            continue
        shown += 1
        assert curve == pytest.approx(near(hits, confidence, x, kernel, bandwidth)[1], abs=1e-9)
        weight = np.array(image) / sum(image)
        pointwise = weight @ loss - (weight @ np.array(hits) - weight @ np.array(confidence)) ** 2
        assert gap == pytest.approx(pointwise, abs=1e-9)
        assert gap >= 0  # proposition 4.8
    assert shown >= 12


@of_events
@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_lemma_4_1_the_divergence_is_gap_and_calibration_error(rows, score):
    """With a kernel narrower than the distances of the predictions the frequency is the mean outcome of each."""
    y, p = EVENTS[rows]
    y, p = y[(p > 0) & (p < 1)], p[(p > 0) & (p < 1)]
    parts = cs.decompose(y, p, method="sharpness", score=score, kernel="epanechnikov", bandwidth=1e-4)
    mean = np.array([np.mean(y[np.abs(p - v) < 1e-4]) for v in p])
    error = np.mean([divergence(score, m, v) for m, v in zip(mean, p, strict=True)])
    pairs = list(zip(y, mean, strict=True))
    gap = np.mean([divergence(score, hit, m) if score == "brier" or 0 < m < 1 else 0 for hit, m in pairs])
    assert parts["calibration_error"] == pytest.approx(error, abs=1e-12)
    assert parts["sharpness_gap"] == pytest.approx(gap, abs=1e-12)
    assert parts.score == pytest.approx(error + gap, abs=1e-12)


def coarse(bins):
    """X is uniform, the chance of outcome 1 is X, and the prediction is the mean of X in its bin: calibrated."""
    return cs.generators.calibrated([(b + 0.5) / bins for b in range(bins)])


@pytest.mark.parametrize("bins", [1, 2, 5, 40])
def test_appendix_e_irreducible_and_grouping_loss(bins):
    """E X (1 - X) = 1/6; within a bin X has the variance 1 / (12 B²); the calibration loss is 0."""
    family = coarse(bins)
    assert family.truth("brier") == pytest.approx(1 / 6 + 1 / (12 * bins**2), abs=1e-14)
    assert family.truth("ece", n_bins=None) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_propositions_4_2_and_4_3_finer_calibrated_predictions_are_better_and_none_is_worse_than_the_mean(score):
    losses = [coarse(bins).truth(score) for bins in (1, 2, 4, 8, 16)]  # each refines the one before
    assert all(fine < rough for rough, fine in pairwise(losses))
    random = np.random.default_rng(4)
    for _ in range(20):
        places = random.random(5)
        family, mean = cs.generators.calibrated(places), cs.generators.calibrated([places.mean()])
        assert family.truth(score) <= mean.truth(score) + 1e-15


def world(random, classes=4, points=6):
    """A finite population: equally likely vectors in tenths that repeat a confidence, and numbers of each class."""
    confidence = random.choice([0.4, 0.5, 0.7], size=points)
    prob = []
    for c in confidence:
        rest = random.dirichlet((1.0,) * (classes - 1)) * (1 - c)
        while rest.max() >= c:
            rest = random.dirichlet((1.0,) * (classes - 1)) * (1 - c)
        prob.append(np.roll([c, *rest], random.integers(classes)))
    return np.array(prob), random.multinomial(20, random.dirichlet((0.5,) * classes), size=points)


def full_and_confidence_error(name, prob, counts):
    """The divergence of the frequencies given the vector, and, by calibstat, of hits given the confidence."""
    share = counts / counts.sum(axis=1, keepdims=True)
    if name == "brier":
        full = ((share - prob) ** 2).sum(axis=1).mean()
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            full = np.where(share > 0, share * np.log(share / prob), 0).sum(axis=1).mean()
    label = np.concatenate([np.repeat(np.arange(counts.shape[1]), row) for row in counts])
    rows = np.repeat(prob, counts.sum(axis=1), axis=0)
    narrow = {"kernel": "epanechnikov", "bandwidth": 1e-3}
    return full, cs.estimate(label, rows, measure="regression_ce", divergence=name, **narrow)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_lemma_4_6_and_corollary_4_7_the_error_of_the_confidence_is_a_lower_bound(name):
    random = np.random.default_rng(5)
    found = [full_and_confidence_error(name, *world(random)) for _ in range(40)]
    assert all(confidence <= full + 1e-12 for full, confidence in found)
    assert sum(confidence > full / 4 for full, confidence in found) >= 1  # so that the bound could fail


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 5), kinds=st.integers(1, 6))
@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_lemma_4_6_and_corollary_4_7_on_rows(score, seed, classes, kinds):
    """Over level sets of the vectors and of the confidences; vectors that repeat, ties and absent classes included."""
    random = np.random.default_rng(seed)
    parts = random.integers(1, 5, (kinds, classes)).astype(float)
    prob = (parts / parts.sum(axis=1, keepdims=True))[random.integers(0, kinds, 40)]
    label = random.integers(0, classes, 40)
    level_sets = {"method": "sharpness", "strategy": "uniform", "n_bins": None}
    whole = cs.decompose(label, prob, lens="canonical", score=score, **level_sets)
    assert whole.score == pytest.approx(whole["calibration_error"] + whole["sharpness_gap"], abs=1e-12)
    confidence = cs.decompose(label, prob, lens="top_label", method="murphy", score=score, n_bins=None)
    assert confidence["reliability"] <= whole["calibration_error"] + 1e-12
