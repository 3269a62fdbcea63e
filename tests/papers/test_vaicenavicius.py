"""Vaicenavicius et al. 2019 (arXiv:1902.06977): fractions, enumeration of all outcomes, quadrature, own resampling."""

import math
from fractions import Fraction
from itertools import pairwise, product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from binned_by_hand import binned_error, even_bin, hits_and_confidence
from scipy import integrate, stats

import calibstat as cs

TENTHS = {  # table 1: predicted vector, true probabilities
    (1, 3, 6): (2, 2, 6),
    (1, 6, 3): (0, 7, 3),
    (3, 1, 6): (2, 2, 6),
    (3, 6, 1): (4, 5, 1),
    (6, 1, 3): (7, 0, 3),
    (6, 3, 1): (5, 4, 1),
}


def induced_error(seen):
    """The mean over the six points of |E[hit | what is seen] - what is seen|, in fractions; `seen` gives hit and it."""
    points = [(Fraction(*hit), Fraction(*value)) for hit, value in map(seen, TENTHS.items())]
    total = Fraction(0)
    for value in {value for _, value in points}:
        hits = [hit for hit, each in points if each == value]
        total += abs(sum(hits) - len(hits) * value)
    return total / len(points)


def test_table_1_six_points_in_fractions():
    """The most likely class, and each class by itself, are calibrated; each vector is off by 1/10."""
    family = cs.generators.six_points()
    top = induced_error(lambda point: ((point[1][point[0].index(max(point[0]))], 10), (max(point[0]), 10)))
    assert top == 0
    assert family.truth("ece", n_bins=None) == pytest.approx(0, abs=1e-15)
    for k in range(3):
        assert induced_error(lambda point, k=k: ((point[1][k], 10), (point[0][k], 10))) == 0
    assert family.truth("ece", lens="class_wise", n_bins=None) == pytest.approx([0, 0, 0], abs=1e-15)
    variation = sum(Fraction(abs(a - b), 20) for p, q in TENTHS.items() for a, b in zip(p, q, strict=True)) / 6
    assert variation == Fraction(1, 10)
    assert family.truth("canonical_ce", strategy="uniform", n_bins=None) == pytest.approx(0.1, abs=1e-15)


def by_cell(label, prob, cell_of):
    """Share, frequencies and mean prediction of each cell."""
    cells = {}
    for i, row in enumerate(prob):
        cells.setdefault(cell_of(row, i), []).append(i)
    found = []
    for rows in cells.values():
        frequency = [sum(label[i] == k for i in rows) / len(rows) for k in range(prob.shape[1])]
        found.append((len(rows) / len(prob), np.array(frequency), prob[rows].mean(axis=0)))
    return found


DISTANCES = {
    "total_variation": lambda a, b: np.abs(a - b).sum() / 2,
    "squared_euclidean": lambda a, b: ((a - b) ** 2).sum(),
    "l2": lambda a, b: math.sqrt(((a - b) ** 2).sum()),
    "max": lambda a, b: np.abs(a - b).max(),
}
LABEL, PROB = cs.generators.dirichlet((0.7,) * 4, temperature=2).sample(150, rng=1)


@pytest.mark.parametrize("distance", DISTANCES)
def test_equations_5_and_6_expected_miscalibration_on_a_grid(distance):
    cells = by_cell(LABEL, PROB, lambda row, _: tuple(even_bin(v, 4) for v in row))
    slow = sum(share * DISTANCES[distance](a, b) for share, a, b in cells)
    options = {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 4}
    assert cs.estimate(LABEL, PROB, distance=distance, **options) == pytest.approx(slow, abs=1e-14)
    assert cs.estimate(LABEL, PROB, distance=DISTANCES[distance], **options) == pytest.approx(slow, abs=1e-14)


def grown(prob, rows, least):
    """Appendix B: a cell of enough rows is cut at the mean of its coordinate of largest variance, if it can be."""
    part = prob[rows]
    k = int(part.var(axis=0).argmax())
    low = rows[part[:, k] <= part[:, k].mean()]
    high = rows[part[:, k] > part[:, k].mean()]
    if len(rows) < least or not len(low) or not len(high):
        return [rows]
    return grown(prob, low, least) + grown(prob, high, least)


@pytest.mark.parametrize("least", [5, 30, 1000])
def test_appendix_b_bins_that_depend_on_the_data(least):
    cells = grown(PROB, np.arange(len(PROB)), least)
    number = {i: c for c, rows in enumerate(cells) for i in rows}
    slow = sum(s * DISTANCES["total_variation"](a, b) for s, a, b in by_cell(LABEL, PROB, lambda _, i: number[i]))
    assert cs.estimate(LABEL, PROB, measure="canonical_ce", min_size=least) == pytest.approx(slow, abs=1e-14)


def grouped(label, prob, groups):
    of_class = {k: g for g, group in enumerate(groups) for k in group}
    vectors = np.array([[sum(row[k] for k in group) for group in groups] for row in prob])
    return np.array([of_class[k] for k in label]), vectors


def in_top(label, prob, size):
    """The outcome is the rank of the observed class, or "any other"; predicted are the probabilities of the ranks."""
    order = [sorted(range(len(row)), key=lambda k: -row[k]) for row in prob]
    outcome = [min(ranks.index(k), size) for ranks, k in zip(order, label, strict=True)]
    vectors = [[row[k] for k in ranks[:size]] for ranks, row in zip(order, prob, strict=True)]
    return np.array(outcome), np.array([[*row, 1 - sum(row)] for row in vectors])


def on_grid_of_five(label, prob):
    columns = slice(1, None) if prob.shape[1] == 2 else slice(None)  # of two the other says the same
    cells = by_cell(label, prob, lambda row, _: tuple(even_bin(v, 5) for v in row[columns]))
    return sum(share * np.abs(a - b).sum() / 2 for share, a, b in cells)


@pytest.mark.parametrize("groups", [[[0, 1], [2, 3]], [[0], [1, 3], [2]]])
def test_example_2_a_partition_of_the_classes(groups):
    options = {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 5}
    found = cs.estimate(LABEL, PROB, lens=cs.lenses.groups(groups), **options)
    assert found == pytest.approx(on_grid_of_five(*grouped(LABEL, PROB, groups)), abs=1e-14)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_example_2_the_most_likely_classes(size):
    options = {"measure": "canonical_ce", "strategy": "tree", "min_size": 20}
    found = cs.estimate(LABEL, PROB, lens=cs.lenses.top_k(size), **options)
    outcome, vectors = in_top(LABEL, PROB, size)
    number = {i: c for c, rows in enumerate(grown(vectors, np.arange(len(vectors)), 20)) for i in rows}
    cells = by_cell(outcome, vectors, lambda _, i: number[i])
    assert found == pytest.approx(sum(s * np.abs(a - b).sum() / 2 for s, a, b in cells), abs=1e-12)


FEW = np.array([0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.6, 0.7, 0.9, 0.95])


def exact_p(y, p, statistic):
    """The probability, over all 2^n outcomes of independent rows, of a statistic at least as large as observed."""
    observed = statistic(y, p)
    chances = 0.0
    for outcomes in product((0, 1), repeat=len(p)):
        if statistic(np.array(outcomes), p) >= observed - 1e-12:
            chances += math.prod(v if hit else 1 - v for hit, v in zip(outcomes, p, strict=True))
    return chances


@pytest.mark.parametrize("name", ["ece", "one bin"])
def test_section_5_p_value_of_labels_drawn_given_the_predictions(name):
    """Binomial limits of how many of 9999 resamples are as extreme, false alarm 1e-5; a wrong null is outside."""
    y = np.array([1, 0, 1, 0, 1, 0, 1, 0, 1, 0])

    def three_bins(outcomes, p):
        cell = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])  # (0, 1/3], (1/3, 2/3], (2/3, 1]
        return np.abs(np.bincount(cell, outcomes - p)).sum() / len(p)

    def size(outcomes, p):
        return abs((outcomes - p).sum()) / len(p)

    statistic, options = {
        "ece": (three_bins, {"measure": "ece", "n_bins": 3}),
        "one bin": (size, {"measure": "ece", "n_bins": 1}),
    }[name]
    found = cs.calibration_test(y, FEW, n_resamples=9999, rng=1, **options)
    extreme = round(found.pvalue * 10_000) - 1
    exact = exact_p(y, FEW, statistic)
    low, high = stats.binom.ppf(5e-6, 9999, exact), stats.binom.isf(5e-6, 9999, exact)
    assert low <= extreme <= high
    wrong = exact_p(y, np.full(10, FEW.mean()), lambda outcomes, _: statistic(outcomes, FEW))
    assert not low <= 9999 * wrong <= high


def resampled(y, p, bins, draws, random):
    """Consistency resampling: rows with replacement, then an outcome for each from its prediction."""
    found = []
    for _ in range(draws):
        v = random.choice(p, p.size)
        found.append(binned_error(random.random(p.size) < v, v, bins))
    return np.array(found)


def test_section_4_3_consistency_resampling():
    """Two independent Monte Carlo shares: 4.5 standard errors, false alarm 1e-5. Labels alone would be further away."""
    random = np.random.default_rng(3)
    y, p = cs.generators.temperature(1.3).sample(40, rng=2)
    found = cs.calibration_test(y, p, measure="ece", n_bins=10, resample="both", n_resamples=4999, rng=1)
    slow = resampled(y, p, 10, 1500, random)
    share = np.mean(slow >= binned_error(y, p, 10) - 1e-12)
    error = math.sqrt(share * (1 - share) * (1 / 1500 + 1 / 4999))
    assert abs(found.pvalue - share) < 4.5 * error
    error_of_means = math.sqrt(slow.var() / 1500 + found.null_distribution.var() / 4999)
    assert abs(found.null_distribution.mean() - slow.mean()) < 4.5 * error_of_means
    labels = cs.calibration_test(y, p, measure="ece", n_bins=10, n_resamples=4999, rng=1)
    assert abs(labels.null_distribution.mean() - slow.mean()) > 4.5 * error_of_means


def table(y, p, bins):
    cell = np.array([even_bin(v, bins) for v in p])
    return [(np.mean(p[cell == b]), np.mean(y[cell == b])) for b in sorted(set(cell))]


def test_figure_4_deviations_and_consistency_bars(closed_figures):
    """The bars are percentiles of frequency minus mean prediction in resamples, around the observed mean prediction.

    Quantiles of 1500 and 4000 resamples differ by some hundredths; without the mean prediction they would by tenths.
    """
    random = np.random.default_rng(5)
    y, p = cs.generators.temperature(2).sample(300, rng=4)
    result = cs.reliability(y, p, n_bins=5, band="pointwise_consistency", confidence_level=0.9, n_resamples=4000, rng=1)
    mean, frequency = np.array(table(y, p, 5)).T
    assert result.mean_prediction == pytest.approx(mean, abs=1e-13)
    assert result.frequency == pytest.approx(frequency, abs=1e-13)
    deviations = []
    for _ in range(1500):
        v = random.choice(p, p.size)
        deviations.append([f - m for m, f in table(random.random(p.size) < v, v, 5)])
    low, high = np.quantile(deviations, [0.05, 0.95], axis=0)
    assert result.low == pytest.approx(mean + low, abs=0.02)
    assert result.high == pytest.approx(mean + high, abs=0.02)
    plt.switch_backend("Agg")
    drawn = {tuple(np.round(xy, 9)) for line in cs.plot(result, deviation=True).lines for xy in line.get_xydata()}
    assert {(round(m, 9), round(f - m, 9)) for m, f in zip(mean, frequency, strict=True)} <= drawn


def test_diagrams_of_four_classes_are_cells_of_the_tetrahedron():
    result = cs.reliability(LABEL, PROB, lens="canonical", n_bins=3)
    cells = by_cell(LABEL, PROB, lambda row, _: tuple(even_bin(v, 3) for v in row))
    slow = sorted((share * len(PROB), *mean, *frequency) for share, frequency, mean in cells)
    found = sorted(zip(result.count, *result.mean_prediction.T, *result.frequency.T, strict=True))
    assert np.array(found) == pytest.approx(np.array(slow), abs=1e-12)


def test_section_5_1_mixture_by_quadrature():
    """P(Y = -1 | X = x) = 1 / (1 + exp(2 x)) against g = 1 / (1 + exp(-1 - x)), X half of N(-1, 1) and half of N(1, 1).

    In two bins of g, cut at g = 1/2, which is x = -1, each has the size of its mean difference.
    """

    def density(x):
        return (stats.norm.pdf(x + 1) + stats.norm.pdf(x - 1)) / 2

    def difference(x):
        return (1 / (1 + math.exp(2 * x)) - 1 / (1 + math.exp(-1 - x))) * density(x)

    where = -1 / 3  # they are equal where -2 x = 1 + x
    precise = {"epsabs": 1e-12, "epsrel": 1e-12}
    size = sum(
        integrate.quad(lambda x: abs(difference(x)), a, b, **precise)[0]
        for a, b in ((-12, -1), (-1, where), (where, 2), (2, 12))
    )
    family = cs.generators.gaussian_mixture(1, 1)
    assert size == pytest.approx(0.5637, abs=5e-4)  # "the analytic value", .56 in the paper
    assert family.truth("ece", n_bins=None) == pytest.approx(size, abs=1e-7)
    halves = sum(
        abs(sum(integrate.quad(difference, a, b, **precise)[0] for a, b in parts))
        for parts in (((-12, -1),), ((-1, where), (where, 2), (2, 12)))
    )
    assert family.truth("ece", n_bins=2) == pytest.approx(halves, abs=1e-9)
    assert halves < size  # theorem 2: with few bins it is a lower bound


def test_theorems_1_and_2_finer_grids_of_the_simplex_rise_to_the_limit():
    """The limit from the middles of 120² equal triangles; truths are uniform, their normalised squares predicted."""
    m = 120
    i, j = (each.ravel() for each in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
    up, down = i + j <= m - 1, i + j <= m - 2
    x = np.concatenate([(i[up] + 1 / 3) / m, (i[down] + 2 / 3) / m])
    y = np.concatenate([(j[up] + 1 / 3) / m, (j[down] + 2 / 3) / m])
    truth = np.stack([x, y, 1 - x - y], axis=1)  # calibrated vectors, of which the squares are predicted
    predicted = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    limit = np.abs(truth - predicted).sum(axis=1).mean() / 2
    family = cs.generators.dirichlet((1, 1, 1), temperature=2)
    values = [family.truth("canonical_ce", strategy="uniform", n_bins=bins) for bins in (1, 2, 4, 8, 16)]
    assert all(rough <= fine + 1e-9 for rough, fine in pairwise(values))
    exact = family.truth("canonical_ce", strategy="uniform", n_bins=None)
    assert exact == pytest.approx(limit, abs=2e-5)
    assert values[-1] < exact
    assert limit - values[-1] < 0.001
    assert limit - values[1] > 0.005


def test_the_confidence_alone_is_a_binary_problem():
    hits, confidence = hits_and_confidence(LABEL, PROB)
    assert cs.estimate(LABEL, PROB, measure="ece") == pytest.approx(binned_error(hits, confidence, 15), abs=1e-14)


def test_section_2_1_a_reliability_diagram_is_a_recalibration():
    """Histogram binning predicts the frequency that the diagram shows in the bin of a prediction."""
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    diagram = cs.reliability(y, p, n_bins=10, band=None)
    fitted = cs.recalibration.HistogramBinning(n_bins=10).fit(p, y).predict_proba(diagram.mean_prediction)
    assert fitted == pytest.approx(diagram.frequency, abs=1e-15)
    again = cs.recalibration.HistogramBinning(n_bins=10).fit(p, y).predict_proba(p)
    assert cs.estimate(y, again, n_bins=None) == pytest.approx(0, abs=1e-12)  # on the rows that it was fitted to


def test_theorem_2_when_bins_lose_nothing():
    """Equality where the distance is linear on the errors of each bin: an absolute value where they have one sign.

    The errors of `shift` are all positive; those of `temperature` change their sign at 1/2, which ends a bin of an even
    number and lies within one of an odd number. A square is nowhere linear, so that errors have to be constant in a
    bin.
    """
    shift, over = cs.generators.shift(-0.5), cs.generators.temperature(2)
    for n_bins in (1, 2, 3, 8):
        assert shift.truth("ece", n_bins=n_bins) == pytest.approx(shift.truth("ece", n_bins=None), abs=1e-12)
        lost = over.truth("ece", n_bins=None) - over.truth("ece", n_bins=n_bins)
        assert (abs(lost) < 1e-12) if n_bins % 2 == 0 else (lost > 1e-3)
        assert shift.truth("ece", n_bins=n_bins, norm="l2") < shift.truth("ece", n_bins=None, norm="l2") - 1e-4
    constant = cs.generators.domain((0.5, 0.5), (0.3, 0.5), (0.2, 0.4))
    squares = [constant.truth("ece", n_bins=n_bins, norm="l2") for n_bins in (1, None)]
    assert squares == pytest.approx([0.1, 0.1], abs=1e-15)
