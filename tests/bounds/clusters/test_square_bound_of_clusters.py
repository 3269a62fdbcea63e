"""Bounds of squared kernel errors of clusters and of classes: against double sums, by enumeration, at their edges."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.bounds import square_bound
from calibstat.bounds.square_bound import Side, bound_of
from calibstat.bounds.tail_bound import TailBound

H = 0.2
VALUES = [0.0, 0.1, 0.1 + 1e-9, 0.35, 0.5, 0.8, 1.0]


def parts(found):
    return found.estimate, found.linear, found.quadratic, found.third, found.curvature


def rounding(sides, weight, unit):
    """The V1 below which d is taken for 0: what units add is then less than 1e-12 of the terms that are subtracted."""
    size, terms = np.bincount(unit, weight), np.zeros(unit.size)
    for side in sides:
        kernel = near(side)
        terms += np.abs(side.residual * (kernel @ side.residual))
        terms += np.abs(side.residual * ((kernel * (unit[:, None] == unit)) @ side.residual))
    n, pairs = size.sum(), size.sum() ** 2 - (size**2).sum()
    return 4e-24 * (n / pairs) ** 2 * (np.bincount(unit, terms) ** 2).sum()


def plain(sides, weight, unit):
    """The estimate, V1, V3, K and d by sums over all pairs of clusters, in units of the estimate."""
    terms = sum(side.sign * np.outer(side.residual, side.residual) * near(side) for side in sides)
    member = (unit[:, None] == np.arange(unit.max() + 1)).astype(float)
    added, size = member.T @ terms @ member, member.T @ weight
    apart = added * ~np.eye(size.size, dtype=bool)
    n, pairs = size.sum(), size.sum() ** 2 - (size**2).sum()
    estimate = apart.sum() / pairs
    c = n / pairs * (apart.sum(axis=1) - estimate * size * (n - size))
    linear = 4 * (c**2).sum()
    curvature = 4 * (c @ added @ c) / (n * linear) if linear > rounding(sides, weight, unit) else 0.0
    quadratic = 2 * (n / pairs) ** 2 * (1 - 1 / size.size) * (apart**2).sum()
    return estimate, linear / n**2, quadratic / n**2, 8 * (c**3).sum() / n**3, curvature / n


def near(side):
    return np.exp(-np.abs(side.value[:, None] - side.value) / side.bandwidth)


def rows(random, n, units, events, tied, bandwidth=H, weighted=True):
    """Two models of so many events, each event with outcomes of its own, on rows in clusters of unequal sizes."""
    unit = np.append(np.arange(units), random.integers(0, random.integers(1, units + 1), n - units))
    weight = random.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    sides = []
    for sign in (1.0, -1.0):
        for _ in range(events):
            value = random.choice(VALUES, n) if tied else random.random(n)
            sides.append(Side(value, weight * (random.integers(0, 2, n) - value), bandwidth, sign))
    return sides, weight, unit


@pytest.mark.parametrize("direct", [0, 8, 10**6])  # no unit is large, some are, all are
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.002, 0.2, 1.0]), st.booleans(), st.integers(1, 3))
def test_it_is_the_sum_over_all_pairs_of_clusters(direct, seed, bandwidth, tied, events):
    random = np.random.default_rng(seed)
    units = int(random.integers(2, 8))
    sides, weight, unit = rows(random, units + int(random.integers(0, 30)), units, events, tied, bandwidth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(square_bound, "DIRECT", direct)
        found = bound_of(sides, np.ones(unit.size), weight, unit)
    *wanted, curvature = plain(sides, weight, unit)
    *moments, bend = parts(found)
    assert moments == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    # d is a ratio of squares of what units add: the smaller these are beside their terms, the fewer digits it has
    linear = wanted[1] * weight.sum() ** 2
    digits = 1e-9 + 1e-2 * np.sqrt(rounding(sides, weight, unit) / linear) if curvature else 0.0
    assert bend == pytest.approx(curvature, rel=digits, abs=1e-12)


def test_a_wrong_sum_would_be_noticed():
    sides, weight, unit = rows(np.random.default_rng(1), 40, 8, 2, tied=False)
    found = parts(bound_of(sides, np.ones(40), weight, unit))
    for wrong in (plain(sides, weight, np.arange(40)), plain([*sides[:3], sides[2]], weight, unit)):
        assert all(one != pytest.approx(other, rel=1e-3) for one, other in zip(found, wrong, strict=True))


def test_clusters_of_one_row_are_rows():
    """All but the quantile, which is Student's; one cluster, or none, says nothing."""
    sides, weight, _ = rows(np.random.default_rng(2), 50, 2, 1, tied=True, weighted=False)
    rows_alone, clusters = bound_of(sides, weight), bound_of(sides, weight, None, np.arange(50))
    assert parts(clusters) == pytest.approx(parts(rows_alone), rel=1e-12)
    assert (clusters.most, clusters.least, clusters.alone) == (rows_alone.most, rows_alone.least, rows_alone.alone)
    assert clusters.high(0.025) > rows_alone.high(0.025)
    assert replace(clusters, units=TailBound.of_rows).high(0.025) == pytest.approx(rows_alone.high(0.025), rel=1e-12)
    for n in (0, 1, 3):
        few = [Side(side.value[:n], side.residual[:n], H, side.sign) for side in sides]
        assert bound_of(few, np.ones(n), None, np.zeros(n, np.int64)).high(0.025) >= 1


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (2, 1), (2, 1, 1)])
def test_the_estimate_is_unbiased(sizes):
    """Its mean over all samples of clusters, whose rows are of one kind and have one outcome half of the time."""
    share, chance = np.array([0.6, 0.4]), np.array([0.2, 0.9])
    a, b = np.array([0.3, 0.3]), np.array([0.0, 0.8])
    cell = np.stack([share * (1 - chance), share * chance], axis=1).ravel()
    unit = np.repeat(np.arange(len(sizes)), sizes)
    mean = together = 0.0
    for drawn in product(range(4), repeat=unit.size):
        cells = np.array(drawn)
        probability = 1.0
        for c in range(len(sizes)):
            own = cells[unit == c]
            probability *= (np.prod(cell[own]) + cell[own[0]] * (own == own[0]).all()) / 2
        y, kind = (cells % 2).astype(float), cells // 2
        sides = [Side(v[kind], y - v[kind], H, sign) for v, sign in ((a, 1.0), (b, -1.0))]
        mean += probability * bound_of(sides, np.ones(unit.size), None, unit).estimate
        together += probability * bound_of(sides, np.ones(unit.size)).estimate
    gap = [share * (chance - v) for v in (a, b)]
    squares = [g @ np.exp(-np.abs(v[:, None] - v) / H) @ g for g, v in zip(gap, (a, b), strict=True)]
    assert mean == pytest.approx(squares[0] - squares[1], abs=1e-14)
    if max(sizes) > 1:  # pairs of rows of one cluster would bias it
        assert together != pytest.approx(mean, abs=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_no_further_row_of_classes_adds_more(seed, classes):
    """One more row with any two vectors of predictions and any class adds at most `most`, takes at most `least`."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 12))
    label = random.integers(0, classes, n)
    models = [random.dirichlet(np.full(classes, 0.5), n).T for _ in range(2)]
    sides = [
        Side(model[k], (label == k) - model[k], H, sign)
        for model, sign in zip(models, (1.0, -1.0), strict=True)
        for k in range(classes)
    ]
    found = bound_of(sides, np.ones(n))
    assert found.alone == 2 / n**2
    for _ in range(40):
        further = [random.dirichlet(np.full(classes, random.choice([0.1, 1.0]))) for _ in models]
        y = random.integers(0, classes)
        added = 0.0
        for s, side in enumerate(sides):
            v = further[s // classes][s % classes]
            f = np.exp(-np.abs(side.value - v) / H) @ side.residual
            added += side.sign * ((y == s % classes) - v) * f
        assert -found.least - 1e-15 <= 2 * added / n**2 <= found.most + 1e-15


def test_whole_clusters_hide_or_rows_alone():
    sides, weight, unit = rows(np.random.default_rng(3), 200, 20, 1, tied=False)
    clusters = bound_of(sides, np.ones(200), weight, unit)
    rows_alone = bound_of(sides, np.ones(200), weight, unit, unseen="rows")
    assert parts(clusters) == parts(rows_alone)
    assert clusters.high(0.025) > rows_alone.high(0.025)
    size = np.bincount(unit, weight)
    of_clusters, of_rows = (TailBound.of_units(size, 0.025, hides) for hides in (None, weight))
    assert of_clusters.z == of_rows.z
    assert of_rows.cap == 3
    assert of_rows.largest == pytest.approx(hidden_by_hand(weight, of_rows.k), rel=1e-9)
    assert of_clusters == TailBound.of_units(size, 0.025)


def hidden_by_hand(size, k):
    """What such units hide over k: the sum of max(size - mu, 0), where their logarithms above log mu add up to k."""
    low, high = 1e-9, size.max()
    for _ in range(200):
        mu = (low + high) / 2
        low, high = (mu, high) if np.log(np.maximum(size / mu, 1)).sum() > k else (low, mu)
    return np.maximum(size - mu, 0).sum() / k
