"""Rows in clusters: each row has the distribution of the generator, and rows depend on each other as they should."""

from itertools import product

import numpy as np
import pytest
from generator_examples import COMPOSED, FAMILIES, FIVE
from scipy import stats

from calibstat.generators import (
    Generator,
    always_wrong,
    calibrated,
    dirichlet,
    distorted,
    domain,
    groups,
    label_noise,
    prevalence,
    shift,
    six_points,
    temperature,
)

ALARM = 1e-6  # at most, of all limits of one test together
FINITE = [
    calibrated(FIVE),
    shift(1, [0.1, 0.6]),
    domain([0.2, 0.3, 0.5], [0.1, 0.9, 0.4], [0.4, 0.4, 0.7]),
    prevalence(calibrated(FIVE), 0.2),
    groups({"a": (0.4, calibrated([0.3, 0.6])), "b": (0.6, shift(1, [0.3]))}),
    distorted(calibrated(FIVE), temperature=2, subgroup=0.4),
    six_points(),
    always_wrong(4, 0.2),
    label_noise(six_points(), 0.5),
]
CONTINUOUS = [temperature(1.5), temperature(3, stats.beta(0.1, 0.1)), *COMPOSED[:5], *FAMILIES[2:7]]
KINDS = [{"share": 0.5}, {"share": 1.0, "size": "one_giant"}, {"share": 0.5, "alike": 0.5, "size": "geometric"}]
KINDS += [{"share": 0.0, "alike": 1.0}]


def chances(family, p):
    """The probability of each outcome given the prediction."""
    if isinstance(family, Generator):
        chance = family.curve(p)
        return np.stack([1 - chance, chance], axis=1)
    return family.conditional(p)


def one_of_each(cluster, last):
    """The first or the last row of each cluster: rows of different clusters are independent."""
    change = np.flatnonzero(np.diff(cluster))
    return np.append(change, cluster.size - 1) if last else np.append(0, change + 1)


def limits(rows, chance, level):
    chance = np.clip(chance, 0, 1)
    low, high = stats.binom.interval(1 - level, rows, np.where((chance > 0) & (chance < 1), chance, 0.5))
    return np.where(chance <= 0, 0, np.where(chance >= 1, rows, low)), np.where(
        chance <= 0, 0, np.where(chance >= 1, rows, high)
    )


def predictions(family):
    """The distinct predictions of a finite family, rounded, with their probabilities."""
    population = family._population
    if isinstance(family, Generator):
        pooled = population.summary()
        prob, weight = pooled.value[:, None], pooled.count
    else:
        prob, weight = population.prob, population.weight
    value, place = np.unique(prob.round(9), axis=0, return_inverse=True)
    return value, np.bincount(place.ravel(), weight) / weight.sum()


def wrong_counts(family, y, p):
    """Whether independent rows of a finite family are not as often at each prediction, or have not its outcomes."""
    value, place = np.unique(p.reshape(y.size, -1).round(9), axis=0, return_inverse=True)
    place = place.ravel()
    known, probability = predictions(family)
    assert np.array_equal(known, value)
    number = np.bincount(place)
    chance = chances(family, np.array([p[place == k][0] for k in range(len(value))]))
    level = ALARM / len(value) / (chance.shape[1] + 1)
    low, high = limits(y.size, probability, level)
    if np.any((number < low) | (number > high)):
        return True
    for k in range(len(value)):
        low, high = limits(number[k], chance[k], level)
        found = np.bincount(y[place == k], minlength=chance.shape[1])
        if np.any((found < low) | (found > high)):
            return True
    return False


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("family", FINITE, ids=repr)
def test_counts_of_rows_in_clusters(family, kind):
    y, p, cluster, _ = family.sample(16_000, 5, clusters=4000, **kind)
    for last in (False, True):
        rows = one_of_each(cluster, last)
        assert rows.size == 4000
        assert not wrong_counts(family, y[rows], p[rows])


@pytest.mark.parametrize("family", [FINITE[0], FINITE[2], six_points()], ids=repr)
def test_planted_faults_are_counted(family):
    y, p, cluster, _ = family.sample(16_000, 5, clusters=4000)
    first, rows = one_of_each(cluster, False), one_of_each(cluster, True)
    assert wrong_counts(family, y[first], p[rows])  # a cluster that shares its outcome, not its uniform number
    p[rows[:800]] = p[rows[0]]  # one prediction too often
    assert wrong_counts(family, y[rows], p[rows])


@pytest.mark.parametrize("family", CONTINUOUS, ids=repr)
def test_outcomes_follow_continuous_predictions(family):
    y, p, cluster, _ = family.sample(40_000, 5, clusters=10_000, share=0.5, alike=0.3)
    rows = one_of_each(cluster, True)
    y, p = y[rows], p[rows]

    def worst(family):
        chance = chances(family, p)
        outcome = np.eye(chance.shape[1])[y]
        weights = np.stack([np.ones(y.size), *(p.reshape(y.size, -1).T)])
        spread = np.sqrt(weights**2 @ (chance * (1 - chance)))
        return np.max(np.abs(weights @ (outcome - chance)) / np.maximum(spread, 1e-9))

    assert worst(family) < stats.norm.isf(ALARM / 32)
    planted = shift(1.5) if p.ndim == 1 else label_noise(family, 0.6)
    assert worst(planted) > stats.norm.isf(ALARM / 32)


def pairs_law(share, alike, values, probability, chance):
    """The probability of each pair of predictions and outcomes of a cluster of two rows, by enumeration."""
    points, classes = len(values), chance.shape[1]
    below = np.concatenate([np.zeros((points, 1)), chance.cumsum(axis=1)], axis=1)
    law = np.zeros((points, classes, points, classes))
    for i, j, a, b in product(range(points), range(points), range(classes), range(classes)):
        overlap = max(0, min(below[i, a + 1], below[j, b + 1]) - max(below[i, a], below[j, b]))
        together = share * overlap + (1 - share) * chance[i, a] * chance[j, b]
        law[i, a, j, b] = together * ((1 - alike) * probability[i] * probability[j] + alike * probability[i] * (i == j))
    return law


TWO = calibrated({0.2: 0.3, 0.7: 0.7})
THREE = label_noise(always_wrong(3, 0.2), 0.5)


@pytest.mark.parametrize("family", [TWO, THREE], ids=repr)
@pytest.mark.parametrize(("share", "alike"), [(0.0, 0.0), (1.0, 0.0), (0.4, 0.0), (0.4, 0.5), (0.0, 1.0)])
def test_pairs_of_rows_by_enumeration(family, share, alike):
    number = 20_000
    y, p, _, _ = family.sample(2 * number, 7, clusters=number, share=share, alike=alike)
    values, place = np.unique(p.reshape(y.size, -1), axis=0, return_inverse=True)
    place = place.ravel()
    if family is TWO:
        probability, chance = np.array([0.3, 0.7]), np.array([[0.8, 0.2], [0.3, 0.7]])
    else:
        probability, chance = np.full(3, 1 / 3), family.conditional(values)

    def wrong(share, alike):
        law = pairs_law(share, alike, values, probability, chance)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        found = np.zeros(law.shape)
        np.add.at(found, (place[::2], y[::2], place[1::2], y[1::2]), 1)
        low, high = limits(number, law, ALARM / law.size)
        return bool(np.any((found < low) | (found > high)))

    assert not wrong(share, alike)
    assert wrong(abs(share - 0.3), alike)
    assert wrong(share, abs(alike - 0.3))


@pytest.mark.parametrize("family", [calibrated(), *COMPOSED[:4], *FAMILIES[:4]], ids=repr)
def test_the_same_rows_without_dependence(family):
    y, p = family.sample(60, 3)
    rows = family.sample(60, 3, clusters=9, share=0.0, size="geometric")
    assert np.array_equal(rows.y, y)
    assert np.array_equal(rows.p, p)
    assert rows.cluster.dtype == rows.y.dtype == np.int64
    assert np.array_equal(np.unique(rows.cluster), np.arange(9))
    dependent = family.sample(60, 3, clusters=9)
    assert np.array_equal(dependent.p, p)
    again = family.sample(60, np.random.default_rng(3), clusters=9)
    assert all(np.array_equal(a, b) for a, b in zip(dependent[:3], again[:3], strict=True))
    assert dependent.y.dtype == np.int64


def test_single_rows_are_independent_whatever_the_share():
    y, p, cluster, _ = calibrated(FIVE).sample(8000, 3, clusters=8000)
    assert np.array_equal(cluster, np.arange(8000))
    assert not wrong_counts(calibrated(FIVE), y, p)


def test_a_share_of_each_cluster():
    rows = calibrated([0.5]).sample(9000, 3, size=[3000] * 3, share=[0, 1, 0], alike=1.0)
    each = rows.y.reshape(3, 3000).mean(axis=1)
    assert each[1] in (0, 1)
    assert abs(each[[0, 2]] - 0.5).max() < 0.05


def test_outcomes_stay_where_rounding_hides_their_probability():
    family = dirichlet((0.002, 0.002), scale=(1, 2))
    y, p, _, _ = family.sample(400, 3, clusters=100, alike=0.5)
    hidden = np.isnan(family.conditional(p)).any(axis=1)
    assert hidden.any()
    assert set(np.unique(y)) == {0, 1}
    assert np.mean(p[np.arange(400), y] > 0.5) > 0.9  # nearly sure predictions, which outcomes still follow
