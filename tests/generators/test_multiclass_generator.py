"""What all generators of K classes share: rows, frequencies, printing, wrong arguments."""

import math
import pickle

import numpy as np
import pytest
from generator_examples import FAMILIES
from scipy import stats

import calibstat as cs
from calibstat import generators
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.generators import (
    always_wrong,
    calibrated,
    dirichlet,
    label_noise,
    six_points,
)
from calibstat.generators.multiclass_generator import draw_classes

ALARM = 1e-5  # at most, of all statistical checks of one test together


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_who_is_calibrated(family):
    assert family.is_calibrated == (family == dirichlet((1, 2, 3)))


# --- rows


def wrong_frequencies(family, chance_of, n=30_000):
    """Whether classes are drawn otherwise: their number in slices of each probability, by Hoeffding's bound.

    Given the predictions, classes are independent, so the number of class k among m rows is within sqrt(m ln(2/a)/2) of
    the sum of its chances but for a probability a.
    """
    y, p = family.sample(n, 5)
    distribution = chance_of.conditional(p)
    classes, slices = family.n_classes, 4
    level = ALARM / (classes * classes * slices)
    for j in range(classes):
        part = np.searchsorted(np.quantile(p[:, j], [0.25, 0.5, 0.75]), p[:, j])
        for b in range(slices):
            rows = part == b
            for k in range(classes):
                off = abs((y[rows] == k).sum() - distribution[rows, k].sum())
                if off > math.sqrt(rows.sum() * math.log(2 / level) / 2):
                    return True
    return False


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_classes_are_drawn_by_their_probabilities(family):
    assert not wrong_frequencies(family, family)
    assert wrong_frequencies(family, label_noise(family, 0.4))
    if family.is_calibrated:
        assert wrong_frequencies(family, dirichlet(family.alpha, temperature=1.3))


def test_frequencies_of_six_points():
    n, family = 60_000, six_points()
    y, p = family.sample(n, 3)
    distribution = family.conditional(p[0])
    for k in range(3):
        hits = int(((p == p[0]).all(axis=1) & (y == k)).sum())
        low, high = stats.binom.interval(1 - ALARM / 3, n, distribution[k] / 6)
        assert low <= hits <= high
        low, high = stats.binom.interval(1 - ALARM / 3, n, (distribution[k] + 0.1) / 6)
        assert not low <= hits <= high


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


def test_a_draw_at_the_end_of_a_row():
    class Last:  # the largest number below 1
        def random(self, shape):
            return np.full(shape, np.nextafter(1, 0))

    class First:
        def random(self, shape):
            return np.zeros(shape)

    distribution = np.array([[0.5, 0.5 - 1e-9, 0, 0], [0.1] * 4, [0, 0, 0, 1], [0.3, 0.3, 0.4 + 1e-9, 0]])
    assert draw_classes(distribution, Last()).tolist() == [1, 3, 3, 2]
    assert draw_classes(distribution, First()).tolist() == [0, 0, 3, 0]


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
        (lambda: label_noise(calibrated(), 0.1), "multiclass generator"),
        (lambda: six_points().sample(0), "expected n"),
        (lambda: six_points().sample(2.5), "expected n"),
        (lambda: six_points().truth("unknown"), "expected a measure"),
        (lambda: six_points().truth("ece", lens="unknown"), "expected a lens"),
        (lambda: six_points().truth("ece", bins=3), "expected n_bins= of measure"),
        (lambda: six_points().truth("ece", n_bins="cube_root"), "number of bins"),
        (lambda: six_points().truth("canonical_ce", strategy="uniform", n_bins="cube_root"), "number of bins"),
        (lambda: six_points().truth("ece", reduce="mean"), "expected lens='class_wise_mean' for truth, found reduce="),
        (lambda: six_points().truth("ece", lens="class_wise_sum"), "expected a lens"),
        (lambda: six_points().truth("ks", lens="canonical"), "shows a binary outcome"),
        (lambda: six_points().truth("canonical_ce", lens="top_label"), "shows several classes"),
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
    assert several == {"six_points", "dirichlet", "label_noise", "always_wrong", "reweighted_classes"}
