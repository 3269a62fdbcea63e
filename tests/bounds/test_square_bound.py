"""Bounds of squared kernel errors: against sums over all pairs of rows, by enumeration, and at their edges."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm, t

from calibstat.bounds.square_bound import Side, SquareBound, bound_of

VALUES = [0.0, 0.1, 0.1 + 1e-9, 0.35, 0.5, 0.8, 1.0]


def bound(y, a, b, bandwidth, count=None, weight=None):
    """The bound of the squared error of a less that of b."""
    w = np.ones(len(y)) if weight is None else weight
    sides = [Side(a, w * (y - a), bandwidth), Side(b, w * (y - b), bandwidth, -1.0)]
    return bound_of(sides, np.ones(len(y)) if count is None else count, weight)


def pair_terms(y, a, b, bandwidth):
    """What every pair of rows adds, shape (n, n)."""
    r, s = y - a, y - b
    by_a, by_b = (np.exp(-np.abs(v[:, None] - v) / bandwidth) for v in (a, b))
    return r[:, None] * r * by_a - s[:, None] * s * by_b


def rounding(y, a, b, bandwidth):
    """The V1 below which d is taken for 0: what rows add is then less than 1e-12 of the terms that are subtracted."""
    size = np.zeros(y.size)
    for v in (a, b):
        smoothed = np.exp(-np.abs(v[:, None] - v) / bandwidth) @ (y - v)
        size += np.abs((y - v) * smoothed) + (y - v) ** 2
    return 4 * 1e-24 * (size**2).sum() / (y.size - 1) ** 2


def plain(y, a, b, bandwidth):
    """The estimate U, V1, V3, K and d by sums over all pairs of n rows, for n U."""
    n, terms = y.size, pair_terms(y, a, b, bandwidth)
    apart = terms * ~np.eye(n, dtype=bool)
    x = apart.sum(axis=1) / (n - 1)
    estimate = x.mean()
    c = x - estimate
    linear = 4 * (c**2).sum()
    curvature = 4 * (c[:, None] * c * terms).sum() / (n * linear) if linear > rounding(y, a, b, bandwidth) else 0.0
    return estimate, linear, 2 * (apart**2).sum() / (n * (n - 1)), 8 * (c**3).sum(), curvature


def spreads(y, v, z):
    """How many standard deviations the sum of residuals may be off, rare events and rare non-events apart."""
    r, share = y - v, np.clip((0.6 - v) / 0.2, 0, 1)
    parts = (share * r**3).sum(), ((1 - share) * r**3).sum()
    most = max(sum(max(s * part, 0) for part in parts) for s in (1, -1))
    k, variance = (2 * z**2 + 4) / 3, (r**2).sum()
    skewness = min((most + 2) / (variance + 2), 1) / np.sqrt(variance + 1)
    return skewness * k / 2 + np.sqrt(z**2 + (skewness * k / 2) ** 2)


def curvature_if_unsure(d, linear, quadratic, z):
    """d where V1 is many times what noise makes of it, else the root of V3 / 2, the most that d may be."""
    own, noise = max(d, 0), np.sqrt(2 * quadratic)
    sure = min(max(np.sqrt(linear) / noise - max(2, z), 0), 1) if noise > 0 else 1
    most = max(own, np.sqrt(quadratic / 2))
    return most + (own - most) * sure


def parts(found, n):
    return found.estimate, found.linear * n**2, found.quadratic * n**2, found.third * n**3, found.curvature * n


@given(st.integers(2, 25), st.integers(0, 2**32 - 1), st.sampled_from([0.001, 0.02, 0.2, 1.0]), st.booleans())
def test_it_is_the_sum_over_all_pairs(n, seed, bandwidth, tied):
    random = np.random.default_rng(seed)
    a, b = random.choice(VALUES, (2, n)) if tied else random.random((2, n))
    y = (random.random(n) < random.choice([0.1, 0.5, 0.9])).astype(float)
    *wanted, curvature = plain(y, a, b, bandwidth)
    kinds, count = np.unique(np.array([y, a, b]), axis=1, return_counts=True)
    # d is a ratio of squares of what rows add: the smaller these are beside their terms, the fewer digits it has
    digits = 1e-11 + 1e-2 * np.sqrt(rounding(y, a, b, bandwidth) / wanted[1]) if curvature else 0.0
    for found in (bound(y, a, b, bandwidth), bound(*kinds, bandwidth, count=count.astype(float))):
        *moments, bend = parts(found, n)
        assert moments == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        assert bend == pytest.approx(curvature, rel=digits, abs=1e-11)


def test_a_wrong_sum_would_be_noticed():
    random = np.random.default_rng(1)
    a, b, y = *random.random((2, 20)), random.integers(0, 2, 20).astype(float)
    found = parts(bound(y, a, b, 0.2), 20)
    for changed in (plain(y, a, b, 0.21), plain(y, b, a, 0.2)):
        assert all(one != pytest.approx(other, rel=1e-3) for one, other in zip(found[:1], changed[:1], strict=True))
    assert all(one != pytest.approx(other, rel=1e-3) for one, other in zip(found, plain(y, a, b, 0.21), strict=True))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_estimate_is_unbiased(n):
    """Its mean over all samples of n rows of three kinds and both outcomes is T_A**2 - T_B**2."""
    share, chance = np.array([0.5, 0.3, 0.2]), np.array([0.2, 1.0, 0.6])
    a, b = np.array([0.3, 0.3, 1.0]), np.array([0.0, 0.9, 0.6])
    mean = 0.0
    for rows in product(range(6), repeat=n):
        kind, y = np.array(rows) // 2, np.array(rows) % 2
        probability = np.prod(share[kind] * np.where(y == 1, chance[kind], 1 - chance[kind]))
        if probability > 0:
            mean += probability * bound(y.astype(float), a[kind], b[kind], 0.2).estimate
    squares = [
        (gap := share * (chance - v)) @ np.exp(-np.abs(v[:, None] - v) / 0.2) @ gap for v in (a, b)
    ]  # of residuals in the population
    assert mean == pytest.approx(squares[0] - squares[1], abs=1e-14)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_p_and_interval_in_closed_form(n, seed):
    """The end is U + b k / 2 + z**2 d + sqrt(z**2 V + b**2 k**2 / 4), and what skewness adds to the curvature."""
    random = np.random.default_rng(seed)
    a, b = random.choice(VALUES, (2, n))
    y = (random.random(n) < a).astype(float)
    found = bound(y, a, b, 0.2)
    for end in (found, -found):
        for tail in (0.005, 0.025, 0.1, 0.3):
            z = norm.isf(tail)
            k = (2 * z**2 + 4) / 3
            largest = end.most + max(4, np.log(tail) ** 2 / k) * end.alone
            variance = end.linear + (1 + max(z / 1.96, 1) ** 3) * end.quadratic
            seen, unseen = max(end.third, 0) + end.cancelled, 2 * largest**2
            of_linear = [min((part + unseen * largest) / (end.linear + unseen), largest) for part in (seen, 0)]
            rate = min(of_linear[0] - of_linear[1] + unseen * largest / (variance + unseen), largest)
            reach = rate * k / 2 + z**2 * max(end.curvature, 0) + np.sqrt(z**2 * variance + rate**2 * k**2 / 4)
            skewed = max(spreads(y, v, z) for v in (a, b)) ** 2 - z**2
            reach += skewed * curvature_if_unsure(end.curvature, end.linear, end.quadratic, z)
            assert end.high(tail) == pytest.approx(end.estimate + reach, rel=1e-12)
        tails = np.array([0.001, 0.01, 0.025, 0.05, 0.2, 0.5])
        assert (np.diff([end.high(tail) for tail in tails]) <= 0).all()
    assert found.low(0.025) == -(-found).high(0.025)


@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.2, 1.0]))
def test_no_further_row_adds_more(n, seed, bandwidth):
    """One more row of any two predictions and outcome adds 2 (r f(a) - s g(b)) / n**2, and takes no more than that."""
    random = np.random.default_rng(seed)
    a, b = random.choice([0.0, 0.2, 0.25, 0.7, 1.0], (2, n))
    y = random.integers(0, 2, n).astype(float)
    found = bound(y, a, b, bandwidth)
    grid = np.linspace(0, 1, 101)
    f, g = (np.exp(-np.abs(grid[:, None] - v) / bandwidth) @ (y - v) for v in (a, b))
    added = [(outcome - grid)[:, None] * f[:, None] - (outcome - grid) * g for outcome in (0, 1)]
    assert found.most >= 2 * np.max(added) / n**2 - 1e-15
    assert found.least >= -2 * np.min(added) / n**2 - 1e-15


def test_unseen_rows_of_three_classes_by_hand():
    """Two rows at (.8, .1, .1), both of the first class: f is at most .4, -.2 and -.2, so that a row adds at most .4 +
    .2 of any class, less than the .4 + .2 + .2 of all classes by themselves."""
    sides = [Side(np.full(2, v), np.full(2, (k == 0) - v), 0.2) for k, v in enumerate((0.8, 0.1, 0.1))]
    assert bound_of(sides, np.ones(2)).most == pytest.approx(2 * 0.6 / 4)


def test_unseen_rows_of_one_model_by_hand():
    """Two rows at .5, both 1: f(.5) = 1 and f(v) <= 1, so that a row adds at most (1 - v) f(v), v from 0 to .5: at most
    1 as bounded, and takes at most v f(v), v from .5 to 1: at most 1."""
    side = Side(np.array([0.5, 0.5]), np.array([0.5, 0.5]), 0.2)
    assert side.unseen(side.smoothed(side.residual)) == (1.0, 1.0)
    sharp = Side(np.array([0.0, 1.0]), np.array([0.5, 0.0]), 0.2)  # f falls from .5 at 0 to .0034 at 1
    assert sharp.unseen(sharp.smoothed(sharp.residual)) == (0.5, 0.5)
    both = bound_of([side], np.ones(2))  # a row is in a pair with each of two others, in either order
    assert (both.most, both.least) == (2 / 4, 2 / 4)
    one, other = Side(sharp.value, sharp.residual, 0.2), Side(sharp.value, -sharp.residual, 0.2, -1.0)
    assert one.unseen(one.smoothed(one.residual)) == other.unseen(other.smoothed(other.residual))


def test_equal_models_and_perfect_models():
    random = np.random.default_rng(2)
    a, y = random.random(30), random.integers(0, 2, 30).astype(float)
    for b in (a, a.copy()):
        same = bound(y, a, b, 0.2)
        assert same.estimate == 0
        assert same.low(0.025) < 0 < same.high(0.025)
        assert same.high(0.4999) > 0  # p is 1
    perfect = bound(y, y, y, 0.2)
    assert (perfect.estimate, perfect.linear, perfect.quadratic) == (0, 0, 0)
    assert perfect.high(0.4999) > 0


def test_rows_that_are_all_equal_do_not_bend():
    """What rows add is equal up to rounding, which would make d a ratio of two roundings."""
    y, a, b = np.ones(50), np.full(50, 0.3), np.full(50, 0.7 + 1e-9)
    found = bound(y, a, b, 0.2)
    assert found.curvature == 0
    assert found.estimate == pytest.approx(0.7**2 - 0.3**2)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_say_nothing(n):
    found = bound(np.ones(n), np.full(n, 0.2), np.full(n, 0.9), 0.2)
    assert found.estimate == 0
    assert found.high(0.025) >= 1
    assert found.low(0.025) <= -1


def test_weights():
    """Equal weights are rows, with Student's quantile; the scale of the weights does not matter."""
    random = np.random.default_rng(3)
    a, b, y = *random.random((2, 40)), random.integers(0, 2, 40).astype(float)
    rows = bound(y, a, b, 0.2)
    for scale in (1.0, 0.25):
        weighted = bound(y, a, b, 0.2, weight=np.full(40, scale))
        assert parts(weighted, 40) == pytest.approx(parts(rows, 40), rel=1e-12)
        assert weighted.high(0.025) > rows.high(0.025)
    weight = random.choice([0.5, 1.0, 3.0], 40)
    found, scaled = (bound(y, a, b, 0.2, weight=weight * scale) for scale in (1.0, 8.0))
    assert (found.low(0.025), found.high(0.025)) == pytest.approx((scaled.low(0.025), scaled.high(0.025)), rel=1e-12)
    terms = np.outer(weight, weight) * pair_terms(y, a, b, 0.2)
    apart = ~np.eye(40, dtype=bool)
    assert found.estimate == pytest.approx((terms * apart).sum() / (np.outer(weight, weight) * apart).sum(), rel=1e-12)
    # the linear part is what the estimate changes by if a row counts a little more: the derivative by its weight
    step = np.zeros(40)
    moved = []
    for i in range(40):
        step[i] = 1e-6
        up, down = (bound(y, a, b, 0.2, weight=weight * (1 + sign * step)).estimate for sign in (1, -1))
        moved.append((up - down) / 2e-6)
        step[i] = 0
    assert np.sum(np.square(moved)) == pytest.approx(found.linear, rel=0.1)
    z = t.isf(0.025, (weight**2).sum() ** 2 / (weight**4).sum() - 1)
    assert found.high(0.025) > found.estimate + z * np.sqrt(found.linear)


def test_independent_samples():
    """Variances add, and the noise of the difference bends by the share of each."""
    random = np.random.default_rng(4)
    (a, y), (b, x) = ((random.random(n), random.integers(0, 2, n).astype(float)) for n in (30, 50))
    one, other = bound_of([Side(a, y - a, 0.2)], np.ones(30)), bound_of([Side(b, x - b, 0.2)], np.ones(50))
    both = one.minus(other)
    assert both.estimate == one.estimate - other.estimate
    assert both.linear == one.linear + other.linear
    share = one.linear / both.linear
    assert both.curvature == pytest.approx(share * one.curvature - (1 - share) * other.curvature)
    back = other.minus(one)
    assert (back.low(0.025), back.high(0.025)) == (-both.high(0.025), -both.low(0.025))
    assert both.third == one.third - other.third
    assert (both.most, both.least) == (max(one.most, other.least), max(one.least, other.most))


def missed(true, curved=True):
    """How often the interval of t**2 misses it, of the Gaussian limit in one dimension, by integration.

    n U = (Z + t)**2 - 1 estimates t**2, with V1 = 4 (Z + t)**2, V3 = 2 and d = 1.
    """

    def misses(z):
        limit = SquareBound((z + true) ** 2 - 1, 4 * (z + true) ** 2, 2.0, 0.0, float(curved), 0.0, 0.0, 0.0)
        return limit.low(0.025) > true**2, limit.high(0.025) < true**2

    grid = np.linspace(-6, 6, 4001)
    outcome = np.array([misses(z) for z in grid])
    below, above = (float(np.trapezoid(part * norm.pdf(grid), grid)) for part in outcome.T)
    return below, above


@pytest.mark.parametrize("true", [0.0, 0.3, 1.0, 2.0, 3.0, 5.0, 40.0])
def test_the_gaussian_limit_in_one_dimension(true):
    below, above = missed(true)
    assert below + above <= 0.0505
    assert max(below, above) <= 0.0275  # one side by itself is promised nothing


def test_without_the_curvature_the_limit_fails():
    assert max(sum(missed(true, curved=False)) for true in (2.0, 3.0)) > 0.055
    assert quad(norm.pdf, -6, 6)[0] == pytest.approx(1)


def test_the_mean_of_the_variances_is_known():
    """By enumeration of 3 rows of two kinds: the means of V1 and V3 in the page on squares, and V is not too small."""
    share, chance = np.array([0.7, 0.3]), np.array([0.2, 0.9])
    a, b = np.array([0.3, 0.6]), np.array([0.0, 1.0])
    n = 3
    cell_share = np.concatenate([share * (1 - chance), share * chance])
    y, a, b = np.repeat([0.0, 1.0], 2), np.tile(a, 2), np.tile(b, 2)
    terms = pair_terms(y, a, b, 0.2)
    mean = terms @ cell_share
    difference = float(mean @ cell_share)
    linear = float(cell_share @ mean**2) - difference**2
    rest = float(cell_share @ terms**2 @ cell_share) - 2 * linear - difference**2
    found = np.zeros(4)
    for rows in product(range(4), repeat=n):
        kind = np.array(rows)
        each = bound(y[kind], a[kind], b[kind], 0.2)
        values = [each.linear * n**2, each.quadratic * n**2, each.estimate, each.estimate**2]
        found += np.prod(cell_share[kind]) * np.array(values)
    variance = n**2 * (found[3] - found[2] ** 2)
    assert variance == pytest.approx(
        4 * n * (n - 2) / (n - 1) * linear + 2 * n / (n - 1) * (rest + 2 * linear), rel=1e-12
    )
    assert found[1] == pytest.approx(2 * (rest + 2 * linear + difference**2), rel=1e-12)
    assert found[0] == pytest.approx(4 * (n - 2) ** 2 / (n - 1) * linear + 4 * (n - 2) / (n - 1) * rest, rel=1e-12)
    assert found[0] + 2 * found[1] >= (1 - 1 / n) * variance


def test_a_difference_with_few_events_is_missed_as_seldom_as_nominal():
    """3000 rows of outcomes (yA, yB): expected .17 of (1, 1), 13.5 of (1, 0), 2.4 of (0, 1); predicted 5.5 and 3.9.

    The high end at 99 %, over all counts that may miss. The planted fault leaves out the skewness of the residuals.
    """
    from scipy.stats import poisson

    n, a, b, expected = 3000, 5.46 / 3000, 3.9 / 3000, (0.17, 13.54, 2.37)
    truth = ((0.17 + 13.54 - 5.46) / n) ** 2 - ((0.17 + 2.37 - 3.9) / n) ** 2
    of_a, of_b = np.array([0, 1, 1, 0.0]), np.array([0, 1, 0, 1.0])
    missed, fault = 0.0, 0.0
    for seen in product(range(2), range(9), range(7)):
        count = np.array([n - sum(seen), *seen], dtype=float)
        kept = count > 0
        sides = [Side(np.full(kept.sum(), v), (y - v)[kept], 0.2, s) for v, y, s in ((a, of_a, 1.0), (b, of_b, -1.0))]
        found = bound_of(sides, count[kept])
        chance = np.prod(poisson.pmf(seen, expected))
        missed += chance * (found.high(0.005) < truth)
        fault += chance * (replace(found, plain=()).high(0.005) < truth)
    assert missed <= 0.01
    assert fault > 0.02
