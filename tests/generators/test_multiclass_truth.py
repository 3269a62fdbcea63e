"""Population values of multiclass measures: against binary ones, and large samples."""

import math

import numpy as np
import pytest
from generator_examples import ROTATION
from scipy import stats

import calibstat as cs
from calibstat import generators
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.generators import (
    always_wrong,
    calibrated,
    dirichlet,
    distorted,
    label_noise,
    six_points,
    temperature,
)
from calibstat.measures.kinds.registry import find_measure

ALARM = 1e-5  # at most, of all statistical checks of one test together


# Of two classes, class 1 alone is a binary family, whose truths are integrated otherwise
BINARY = [
    (dirichlet((1, 1), temperature=2), temperature(2)),
    (dirichlet((3, 2), temperature=0.5), temperature(0.5, stats.beta(2, 3))),
    (dirichlet((1, 1), scale=(2, 2), shift=(0, 0.3)), distorted(calibrated(), temperature=2, shift=0.3)),
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


# --- calibrated families


@pytest.mark.parametrize("alpha", [(1, 1, 1), (0.01, 0.01), (2, 0.5, 3, 1)])
def test_calibrated_needs_no_quadrature(alpha, monkeypatch):
    family = dirichlet(alpha)
    monkeypatch.setattr(dirichlet, "_net", None)
    assert family.is_calibrated
    for name, entry in cs.MEASURES.items():
        if entry.info.complete and name != "gce":
            assert family.truth(name) == 0
    assert np.array_equal(family.truth("ece", lens="class_wise"), np.zeros(len(alpha)))
    assert family.truth("canonical_ce") == 0  # with a tree too
    with pytest.raises(TypeError):
        family.truth("brier")


def test_bad_options_are_found_without_quadrature():
    family = dirichlet((1, 1, 1))
    for measure, options in [("ece", {"n_bins": 0}), ("ece", {"strategy": "odd"}), ("skce", {"bandwidth": 0})]:
        with pytest.raises(ValueError):
            family.truth(measure, **options)


def bound_of(cells, spread, n):
    """How far a binned L1 error of n rows may be from its distribution's, but for a probability of ALARM / 4.

    It is off by at most N, the sum over cells of |mean residual - its expectation|. A row changes N by at most 2/n, so
    N exceeds its mean by more than sqrt(2 ln(1/a) / n) with probability a at most (McDiarmid). By Cauchy and Schwarz
    its mean is at most sqrt(cells * E r² / n), summed over coordinates; r² has mean q (1 - p)² + (1 - q) p² <= 1.
    """
    return math.sqrt(cells * spread / n) + math.sqrt(2 * math.log(4 / ALARM) / n)


def far_from(family, others, n=100_000):
    """The measures by which a sample of one family is too far from the truth of each of the others."""
    y, p = family.sample(n, 11)
    hit, top = lenses.top_label.rows(Predictions.from_rows(y, p))
    k, bins = family.n_classes, {"strategy": "uniform", "n_bins": 3}
    ece = find_measure("ece", {}).estimate_rows(hit, top)
    canonical = find_measure("canonical_ce", bins).evaluate(p, y)
    brier = ((np.eye(k)[y] - p) ** 2).sum(axis=1).mean()
    near = 2 * math.sqrt(math.log(8 / ALARM) / (2 * n))  # of the mean of numbers from 0 to 2: Hoeffding
    for other in others:
        off = {
            "ece": abs(ece - other.truth("ece")) / bound_of(15, 1, n),
            # half the sum over k coordinates in at most 3**k cells; the squares of e_y - p sum to at most 2
            "canonical_ce": abs(canonical - other.truth("canonical_ce", **bins)) / bound_of(3**k * k / 4, 2, n),
            "brier": abs(brier - other.truth("brier", lens="canonical")) / near,
        }
        yield {measure for measure, times in off.items() if times > 1}


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
    own, of_other = far_from(family, (family, other))
    assert own == set()
    assert of_other >= told


def test_skce_of_a_large_sample():
    # Its root is the norm of the mean of e_y - p as elements of an RKHS, each of norm at most sqrt(2): that of n rows
    # is within sqrt(2/n) (1 + sqrt(2 ln(1/a))) of that of the distribution, but for a probability a (McDiarmid)
    n = 12_000
    near = math.sqrt(2 / n) * (1 + math.sqrt(2 * math.log(1 / ALARM)))
    for family in (dirichlet((0.1, 0.1, 0.1), temperature=0.1), always_wrong(3, 0.3)):
        y, p = family.sample(n, 2)
        found = math.sqrt(find_measure("skce", {}).evaluate(p, y))
        assert abs(found - math.sqrt(family.truth("skce"))) < near
        assert abs(found - math.sqrt(dirichlet((1, 1, 1)).truth("skce"))) > near


def test_skce_of_two_classes_is_twice_the_square_of_the_binary_one():
    truth = temperature(2).truth("kernel_ce", bandwidth=0.5)
    assert dirichlet((1, 1), temperature=2).truth("skce", bandwidth=0.5) == pytest.approx(2 * truth**2, abs=1e-7)


def test_what_is_not_known():
    for options in ({}, {"refit": False}):
        with pytest.raises(NotImplementedError, match="same for every sample"):
            six_points().truth("canonical_ce", **options)
    with pytest.raises(NotImplementedError, match="gce"):
        six_points().truth("gce")
    with pytest.raises(NotImplementedError, match="distinct predictions"):
        dirichlet((1, 1, 1), temperature=2).truth("upper_distance")
    assert always_wrong(3, 0.1).truth("upper_distance") == pytest.approx(1 / 3 + 0.1)


def test_canonical_error_without_cells():
    """Of noisy labels half the sum over classes of .1 abs(q - 1/3), q with density 2 (1 - q): E abs(q - 1/3) is twice
    the integral of (q - 1/3) 2 (1 - q) from 1/3 on, 4 (2/3)³ / 6 = 16/81. Squares: .01 times three variances, 1/18.
    Through a lens the points of a net are not those of the law."""
    options = {"strategy": "uniform", "n_bins": None}
    noisy = cs.generators.label_noise(dirichlet((1, 1, 1)), 0.1)
    assert noisy.truth("canonical_ce", **options) == pytest.approx(0.1 * 1.5 * 16 / 81, abs=1e-6)
    squared = noisy.truth("canonical_ce", distance="squared_euclidean", **options)
    assert squared == pytest.approx(0.01 * 3 / 18, abs=1e-6)
    assert noisy.truth("canonical_ce", strategy="uniform", n_bins=2) < 0.1 * 1.5 * 16 / 81 - 1e-3
    for lens in (cs.lenses.top_k(1), cs.lenses.groups([[0, 1], [2]])):
        with pytest.raises(NotImplementedError, match="same for every sample"):
            noisy.truth("canonical_ce", lens=lens, **options)


def test_a_user_defined_seminorm(unbinned):
    assert always_wrong(4, 0.2).truth(unbinned) == pytest.approx(0.45)
    assert dirichlet((1, 1, 1)).truth(unbinned) == 0
    # the points of the net have their own chances, not the mean chance of all vectors with this largest entry
    with pytest.raises(NotImplementedError, match="every score"):
        dirichlet((1, 1, 1), temperature=2).truth(unbinned)


def test_a_user_defined_loss_of_classes(registry):
    @cs.measure("spherical", tail="two-sided")
    class Spherical(cs.measures.MeanLoss):
        """Minus the probability of the observed class over the length of the vector."""

        def loss(self, value):
            length = np.hypot(value, 1 - value)
            return -(1 - value) / length, -value / length

        def vector_loss(self, prob, label):
            return -prob[np.arange(len(prob)), label] / np.linalg.norm(prob, axis=1)

    family = six_points()
    length = math.sqrt(0.46)  # of every vector: .1² + .3² + .6²
    # q . p of the six points, in the order of the table
    dots = [0.44, 0.51, 0.44, 0.43, 0.51, 0.43]
    assert family.truth(Spherical(), lens="canonical") == pytest.approx(-np.mean(dots) / length, abs=1e-14)
    top = -(0.6 * 0.6 + 0.4 * 0.4) / math.sqrt(0.52)  # the top label is .6 and right with chance .6
    assert family.truth("spherical") == pytest.approx(top, abs=1e-14)


def test_a_user_defined_binned_measure_of_classes(registry):
    @cs.measure("by_top", bounds=(0, 1))
    class ByTop(cs.measures.VectorBinned):
        """The largest absolute residual over classes and cells, one cell for each most likely class."""

        def cells(self, prob):
            return prob.argmax(axis=1)

        def reduce(self, count, residual, value):
            return np.abs(residual).max(axis=(-1, -2))

    # Of the six points, the two whose top is class 0 have residuals (.1, -.1, 0) and (-.1, .1, 0): 0 in their cell
    assert six_points().truth("by_top") == pytest.approx(0, abs=1e-14)
    # always wrong: class k is known in 1 of K, another is the top with a = 1/K + e: its residual in that cell is -a / K
    assert always_wrong(4, 0.2).truth(ByTop()) == pytest.approx((1 - (0.25 - 0.2 / 3)) / 4, abs=1e-14)


def test_a_user_defined_statistic_of_classes_says_its_value(registry):
    @cs.measure("surprise", bounds=(0, 1))
    class Surprise(cs.measures.VectorStatistic):
        """The share of observations whose class is not the most likely one."""

        def evaluate(self, prob, label):
            return float((prob.argmax(axis=1) != label).mean())

        def population_value(self, population):
            top = population.chance[np.arange(len(population.prob)), population.prob.argmax(axis=1)]
            return float(population.weight @ (1 - top) / population.weight.sum())

    assert six_points().truth("surprise") == pytest.approx(0.4, abs=1e-14)
    assert always_wrong(4, 0.2).truth(Surprise()) == 1

    @cs.measure("silent", bounds=(0, 1))
    def silent(prob, label):
        return 0.0

    with pytest.raises(NotImplementedError, match="'silent' is not known"):
        six_points().truth("silent")
