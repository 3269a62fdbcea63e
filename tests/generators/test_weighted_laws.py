"""Populations in which rows count by their weights: by enumeration, in closed form, and as weighted rows show them."""

import math
import pickle

import numpy as np
import pytest
from generator_examples import COMPOSED, FIVE
from scipy import integrate, stats

from calibstat.generators import (
    Weights,
    calibrated,
    dirichlet,
    distorted,
    groups,
    label_noise,
    prevalence,
    reweighted,
    reweighted_classes,
    shift,
    six_points,
    temperature,
)

BOTH = Weights(cv=0.7, prediction=2, outcome=(1, 3))
CLASSES = Weights(cv=0.7, prediction=(1, 0, 2), outcome=(1, 2, 4))
ALARM = 1e-5


def test_two_points_by_enumeration():
    family = reweighted(shift(1, {0.2: 0.3, 0.6: 0.7}), BOTH)
    law = {}
    for chance, share in ((0.2, 0.3), (0.6, 0.7)):
        odds = math.e * chance / (1 - chance)
        p = odds / (1 + odds)
        for y, probability in ((0, 1 - chance), (1, chance)):
            law[p, y] = share * probability * math.exp(2 * p) * (3 if y else 1)
    total = sum(law.values())
    values = sorted({p for p, _ in law})
    ones = [law[p, 1] / (law[p, 0] + law[p, 1]) for p in values]
    error = [abs(law[p, 1] - p * (law[p, 0] + law[p, 1])) / total for p in values]
    assert family.curve(values) == pytest.approx(ones, abs=1e-12)
    assert family.truth("ece", n_bins=None) == pytest.approx(sum(error), abs=1e-12)
    squares = sum(mass * (p - y) ** 2 for (p, y), mass in law.items()) / total
    assert family.truth("brier") == pytest.approx(squares, abs=1e-12)


def test_uniform_predictions_in_closed_form():
    # a factor of the prediction alone: still calibrated, with density proportional to exp(2 v)
    family = reweighted(calibrated(), Weights(prediction=2))
    mean = integrate.quad(lambda v: v * (1 - v) * math.exp(2 * v), 0, 1)[0] / ((math.exp(2) - 1) / 2)
    assert family.is_calibrated
    assert family.truth("brier") == pytest.approx(mean, abs=1e-9)
    assert reweighted(calibrated(), Weights(outcome=(1, 3))).curve([0.25, 0.5]) == pytest.approx([0.5, 0.75])


MIXTURE = groups({"a": (0.4, temperature(2)), "b": (0.6, shift(1))})


@pytest.mark.parametrize("family", [temperature(2), MIXTURE, calibrated(FIVE), *COMPOSED[4:7]], ids=repr)
def test_what_is_known_otherwise(family):
    rate = family._population.rate()
    new = 3 * rate / (3 * rate + 1 - rate)
    noise = reweighted(family, Weights(cv=2))
    outcome = reweighted(family, Weights(outcome=(1, 3)))
    back = reweighted(reweighted(family, BOTH), Weights(prediction=-2, outcome=(3, 1)))
    v = family.sample(20, 1)[1]
    for measure in ("ece", "ks", "brier"):
        assert noise.truth(measure) == pytest.approx(family.truth(measure), abs=1e-9)
        assert back.truth(measure) == pytest.approx(family.truth(measure), abs=1e-6)
        assert outcome.truth(measure) == pytest.approx(prevalence(family, new).truth(measure), abs=1e-9)
    assert reweighted(family, Weights(prediction=3)).curve(v) == pytest.approx(family.curve(v), abs=1e-9)
    assert back.curve(v) == pytest.approx(family.curve(v), abs=1e-9)


def largest_z(y, p, weight, mean, chance):
    """The largest of weighted sums of residuals, and of predictions less their mean, over their standard errors."""
    residual = np.stack([(y - chance), (y - chance) * p, p - mean])
    terms = weight * residual
    return np.max(np.abs(terms.sum(axis=1)) / np.sqrt((terms**2).sum(axis=1)))


@pytest.mark.parametrize("family", [temperature(2), MIXTURE, calibrated(FIVE), COMPOSED[5]], ids=repr)
def test_weighted_rows_and_rows_of_the_law(family):
    law = reweighted(family, BOTH)
    summary = law._population.summary()
    mean = summary.count @ summary.value / summary.count.sum()
    y, p, _, weight = family.sample(40_000, 5, weights=BOTH)
    clusters = family.sample(40_000, 5, weights=BOTH, clusters=40_000)
    own_y, own_p = law.sample(40_000, 6)
    ones, border = np.ones(40_000), stats.norm.isf(ALARM)
    assert largest_z(y, p, weight, mean, law.curve(p)) < border
    assert largest_z(clusters.y, clusters.p, clusters.weight, mean, law.curve(clusters.p)) < border
    assert largest_z(own_y, own_p, ones, mean, law.curve(own_p)) < border
    assert largest_z(y, p, ones, mean, law.curve(p)) > border  # planted: weights left out
    assert largest_z(own_y, own_p, ones, p.mean(), law.curve(own_p)) > border  # planted: the mean of the rows
    assert largest_z(y, p, weight, mean, family.curve(p)) > border  # planted: the curve of the rows


def test_distortions_come_after_weights():
    law = reweighted(calibrated(FIVE), BOTH)
    y, p = law.sample(2000, 5)
    _, changed = distorted(law, temperature=2, shift=-1).sample(2000, 5)
    odds = math.exp(-1) * (p / (1 - p)) ** 2
    assert changed == pytest.approx(odds / (1 + odds), abs=1e-12)
    assert not np.isnan(distorted(law, temperature=2, shift=-1).curve(changed)).any()
    value = np.array(FIVE)
    odds = math.exp(-1) * (value / (1 - value)) ** 2
    assert distorted(law, temperature=2, shift=-1).curve(odds / (1 + odds)) == pytest.approx(law.curve(value))
    assert y.dtype == np.int64


def test_six_points_by_enumeration():
    base = six_points()._population
    law = reweighted_classes(six_points(), CLASSES)
    mass = base.chance * [1, 2, 4] * np.exp(base.prob @ [1, 0, 2])[:, None]
    mass /= mass.sum()
    conditional = mass / mass.sum(axis=1, keepdims=True)
    assert law.conditional(base.prob) == pytest.approx(conditional, abs=1e-12)
    loss = ((base.prob[:, None, :] - np.eye(3)) ** 2).sum(axis=2)
    assert law.truth("brier", lens="canonical") == pytest.approx((mass * loss).sum(), abs=1e-12)

    def wrong(y, p, weight, known):
        place = np.abs(p[:, None, :] - base.prob).sum(axis=2).argmin(axis=1)
        for point in range(6):
            for k in range(3):
                terms = weight * (((place == point) & (y == k)) - known[point, k])
                if abs(terms.sum()) > stats.norm.isf(ALARM) * math.sqrt((terms**2).sum()):
                    return True
        return False

    y, p, _, weight = six_points().sample(20_000, 5, weights=CLASSES)
    own_y, own_p = law.sample(20_000, 6)
    assert not wrong(y, p, weight, mass)
    assert not wrong(own_y, own_p, np.ones(20_000), mass)
    assert wrong(y, p, np.ones(20_000), mass)
    assert wrong(own_y, own_p, weight, base.chance / 6)


def test_classes_that_are_known_otherwise():
    family = label_noise(six_points(), 0.3)
    back = reweighted_classes(reweighted_classes(family, CLASSES), Weights(prediction=(-1, 0, -2), outcome=(4, 2, 1)))
    assert back.truth("ece", lens="class_wise") == pytest.approx(family.truth("ece", lens="class_wise"), abs=1e-12)
    assert reweighted_classes(dirichlet((1, 2, 3)), Weights(prediction=3)).is_calibrated
    assert not reweighted_classes(dirichlet((1, 2, 3)), Weights(outcome=(1, 1, 2))).is_calibrated


@pytest.mark.parametrize("law", [reweighted(calibrated(FIVE), BOTH), reweighted_classes(six_points(), CLASSES)])
def test_laws_are_reproducible(law):
    assert all(np.array_equal(a, b) for a, b in zip(law.sample(50, 3), pickle.loads(pickle.dumps(law)).sample(50, 3),
                                                    strict=True))  # fmt: skip
    assert "weights=Weights(cv=0.7" in repr(law)
    assert law.sample(1, 3)[0].shape == (1,)
    assert law.sample(30, 3, clusters=5).cluster.max() == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: reweighted(six_points(), BOTH), "expected a generator, found six_points"),
        (lambda: reweighted_classes(calibrated(), CLASSES), "expected a generator of classes, found calibrated"),
        (lambda: reweighted(calibrated(), "related"), "expected weights to be Weights, found str 'related'"),
        (lambda: reweighted(calibrated(), CLASSES), "of 2 numbers, one for each class, found 3"),
        (lambda: reweighted_classes(six_points(), BOTH), "of 3 numbers, one for each class, found 2"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
