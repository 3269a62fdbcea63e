"""Groups against the other rows: the conditional law by enumeration and by SciPy, its level, limits and power."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy import stats
from scipy.special import expit, logit

import calibstat as cs
from calibstat.inference.auditing import other_rows
from calibstat.inference.auditing.other_rows import ALIKE, Neighbours
from calibstat.inference.p_values import holm
from calibstat.resampling.poisson_binomial import pmf_of_positives


def audited(y, p, **groups):
    return cs.audit(y, p, groups, n_resamples=1, rng=1).beyond


def law(y, p, mask, stratum, theta):
    """The chance of each number of rows of the group with outcome 1, given how many each stratum has."""
    chance = np.zeros(y.size + 1)
    for labels in product([0, 1], repeat=y.size):
        z = np.array(labels)
        if np.array_equal(np.bincount(stratum, z), np.bincount(stratum, y)):
            chance[z[mask].sum()] += math.exp(z @ logit(p) + theta * z[mask].sum())
    return chance / chance.sum()


@pytest.mark.parametrize("seed", range(4))
def test_the_law_of_twelve_rows_by_enumeration(seed):
    """Four rows a stratum, as many as the root of 12, rounded up."""
    rng = np.random.default_rng(seed)
    p, stratum = np.sort(rng.random(12)), np.arange(12) // 4
    mask, y = rng.random(12) < 0.5, rng.random(12) < 0.5
    found = audited(y.astype(int), p, a=mask)
    k = (y & mask).sum()
    null = law(y, p, mask, stratum, 0.0)
    assert found.expected[1] * mask.sum() == pytest.approx(null @ np.arange(13))
    tails = null[k:].sum(), null[: k + 1].sum()
    assert found.pvalue[1] == pytest.approx(min(1, 2 * min(tails)))
    possible = np.flatnonzero(null)
    if k > possible[0]:
        assert law(y, p, mask, stratum, math.log(found.low[1]))[k:].sum() == pytest.approx(0.025, rel=1e-6)
    if k < possible[-1]:
        assert law(y, p, mask, stratum, math.log(found.high[1]))[: k + 1].sum() == pytest.approx(0.025, rel=1e-6)
    if possible[0] < k < possible[-1]:
        assert law(y, p, mask, stratum, math.log(found.odds_ratio[1])) @ np.arange(13) == pytest.approx(k)
    whole = law(y, p, mask, np.zeros(12, int), 0.0)  # without strata it is another law
    assert found.expected[1] * mask.sum() != pytest.approx(whole @ np.arange(13))


@pytest.mark.parametrize(
    "cells", [[[30, 70], [12, 88]], [[3, 997], [0, 500]], [[700, 300], [2000, 1900]], [[40, 3], [1, 9]]]
)
def test_one_prediction_is_the_conditional_odds_ratio_of_scipy(cells):
    (a, b), (c, d) = cells
    y = np.repeat([1, 0, 1, 0], [a, b, c, d])
    mask = np.arange(y.size) < a + b
    found = audited(y, np.full(y.size, 0.2), a=mask)
    expected = stats.contingency.odds_ratio(cells, kind="conditional")
    limits = expected.confidence_interval(0.95)
    assert found.odds_ratio[1] == pytest.approx(expected.statistic, rel=1e-5)
    assert (found.low[1], found.high[1]) == pytest.approx((limits.low, limits.high), rel=1e-5)
    less, greater = (stats.fisher_exact(cells, alternative=way).pvalue for way in ("less", "greater"))
    assert found.pvalue[1] == pytest.approx(min(1, 2 * min(less, greater)), rel=1e-9)


def test_large_strata_of_very_different_groups():
    """The maximum of the likelihood of two large binomial samples is their odds ratio, to a few rows in 100,000.

    The limits are half a row wider than the normal ones: 1 in 400 of 1.96 standard deviations of 107 rows.
    """
    y, mask = np.repeat([1, 0, 1, 0], [60_000, 40_000, 30_000, 70_000]), np.arange(200_000) < 100_000
    found = audited(y, np.full(y.size, 0.2), a=mask)
    assert found.odds_ratio[1] == pytest.approx(3.5, rel=1e-4)
    half = 3.92 / 2 * math.sqrt(1 / 60_000 + 1 / 40_000 + 1 / 30_000 + 1 / 70_000)
    assert math.log(found.high[1] / found.low[1]) / 2 == pytest.approx(half * (1 + 1 / 400), rel=1e-3)
    assert found.pvalue[1] == other_rows.LEAST_TOLD


def test_strata():
    """Of 49 rows seven at least make one; a prediction of many rows, 0 and 1 stand alone."""
    value = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0])
    count = np.array([2.0, 3, 3, 2, 30, 5, 4])
    assert Neighbours.of(value, count, count / 2).start.tolist() == [0, 1, 4, 5, 6, 7]
    many = Neighbours.of(np.linspace(0.1, 0.9, 10_000), np.ones(10_000), np.zeros(10_000))
    assert set(np.diff(many.start)[:-1]) == {other_rows.ROWS_OF_AN_AMOUNT}


def exact_and_alike(reach):
    """The law of one stratum row by row, and with chances that count as equal, of chances so far apart in log-odds."""
    rng = np.random.default_rng(2)
    chance = expit(np.sort(rng.uniform(-1, -1 + reach, 32)))
    group = (rng.random(32) < 0.3).astype(float)
    means = [np.average(chance, weights=each) for each in (group, 1 - group)]
    begin, quick = other_rows._alike(*means, group.sum(), 32 - group.sum(), 12.0)
    here, there = (pmf_of_positives(chance, each)[1] for each in (group, 1 - group))
    slow = np.array([here[k] * there[12 - k] for k in range(begin, begin + quick.size)])
    return slow / slow.sum(), quick / quick.sum()


def test_rows_of_nearly_equal_chances_count_as_equal():
    """The largest difference that is allowed changes the law by less than 1 in 1000, and a large one by more."""
    slow, quick = exact_and_alike(ALIKE)
    assert np.abs(slow - quick).max() < 1e-3 * slow.max()
    slow, quick = exact_and_alike(60 * ALIKE)
    assert np.abs(slow - quick).max() > 1e-3 * slow.max()


MAPS = {
    "right": lambda p: p,
    "shift": lambda p: expit(logit(p) + 1),
    "too far apart": lambda p: expit(logit(p) / 2),
    "square": lambda p: p**2,
    "waves": lambda p: expit(logit(p) + 0.7 * np.sin(12 * p)),
    "a step": lambda p: np.where(p > 0.4, 0.8, 0.1),
}
LAWS = {
    "uniform": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: rng.beta(1, 60, n),
    "ends": lambda rng, n: rng.beta(0.5, 0.5, n),
    "scores": lambda rng, n: rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], n),
}


def rows_in_groups(rng, n, draw):
    """Predictions, and 15 groups of them: thirds that go with the predictions, others that do not, and both."""
    p = np.clip(draw(rng, n), 1e-9, 1 - 1e-9)
    age = logit(p) + 2 * rng.normal(size=n)
    old, site = np.digitize(age, np.quantile(age, [1 / 3, 2 / 3])), rng.integers(0, 3, n)
    groups = [each == k for each in (old, site) for k in range(3)]
    return p, np.array(groups + [(old == i) & (site == j) for i in range(3) for j in range(3)])


def p_values(y, p, groups):
    value, place, count = np.unique(p, return_inverse=True, return_counts=True)
    of = lambda weight: np.bincount(place, weight, value.size)  # noqa: E731
    neighbours = Neighbours.of(value, count.astype(float), of(y))
    return np.array(
        [neighbours.compare(of(mask), float((mask & y).sum()), 0.01).pvalue for mask in groups if mask.any()]
    )


def share_found(n_sets, n, draw, common, beyond=0.0, seed=1):
    """In how many data sets any group is found, of outcomes with a common map, and one site beyond it."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(n_sets):
        p, groups = rows_in_groups(rng, n, draw)
        y = rng.random(n) < expit(logit(np.clip(common(p), 1e-12, 1 - 1e-12)) + beyond * groups[3])
        found += bool((holm(p_values(y, p, groups)) <= 0.05).any())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("draw", LAWS)
@pytest.mark.parametrize("common", MAPS)
def test_the_level_whatever_all_rows_have_in_common(common, draw, n):
    n_sets = 2000
    assert share_found(n_sets, n, LAWS[draw], MAPS[common]) <= stats.binom.isf(1e-5, n_sets, 0.05)


def test_the_level_and_a_group_that_is_found():
    limit = stats.binom.isf(1e-5, 60, 0.05)
    assert share_found(60, 400, LAWS["uniform"], MAPS["shift"]) <= limit
    assert share_found(60, 400, LAWS["uniform"], MAPS["shift"], beyond=1.5) > limit
    rng = np.random.default_rng(3)  # the audit itself finds what all rows have in common, which is not asked here
    p, groups = rows_in_groups(rng, 1600, LAWS["uniform"])
    y = rng.random(1600) < MAPS["shift"](p)
    found = cs.audit(y, p, groups.T, n_resamples=199, rng=1)
    assert found.found.size > 5 + found.beyond.found.size


def covered(n_sets, narrower=1.0):
    """How often the interval holds the odds ratio of one group of rare rows, which is 2."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(n_sets):
        p = rng.beta(1, 30, 500)
        mask = rng.random(500) < 0.3
        y = rng.random(500) < expit(logit(p) + 0.5 + math.log(2) * mask)
        found = Neighbours.of(*(np.sort(p), np.ones(500), y[np.argsort(p)].astype(float)))
        ends = found.compare(mask[np.argsort(p)].astype(float), float((mask & y).sum()), 0.025)
        half = narrower * min(ends.high - ends.log_odds, ends.log_odds - ends.low)
        low, high = (ends.low, ends.high) if narrower == 1 else (ends.log_odds - half, ends.log_odds + half)
        held += bool(low <= math.log(2) <= high)
    return held


def test_intervals_hold_the_odds_ratio():
    """The limits are of a discrete law, so that they hold it in 95 % of the data sets at least."""
    assert covered(400) >= stats.binom.ppf(1e-5, 400, 0.95)
    assert covered(400, narrower=0.5) < stats.binom.ppf(1e-5, 400, 0.95)


def power(n_sets, known):
    """How often the one site beyond the total is found: with the common map known, or by the audit."""
    rng = np.random.default_rng(6)
    found = 0
    for _ in range(n_sets):
        p, groups = rows_in_groups(rng, 1500, LAWS["uniform"])
        common = MAPS["too far apart"](p)
        y = rng.random(1500) < expit(logit(common) + 0.55 * groups[3])
        if known:  # normal tests of the residuals of each group against those of the rest, at the truth
            spread = common * (1 - common)
            share = groups @ spread / spread.sum()
            z = (groups @ (y - common) - share * (y - common).sum()) / np.sqrt(share * (1 - share) * spread.sum())
            pvalue = 2 * stats.norm.sf(np.abs(z))
        else:
            pvalue = p_values(y, p, groups)
        found += bool(holm(pvalue)[3] <= 0.05)
    return found


@pytest.mark.slow
def test_power_is_near_that_with_the_common_map_known():
    """In the limit it is the efficient score; the strata and the discrete law cost a little. Twice the sets differ."""
    n_sets = 1000
    oracle, ours = power(n_sets, known=True), power(n_sets, known=False)
    assert 0.5 * n_sets < oracle < 0.95 * n_sets
    assert ours > oracle - 0.07 * n_sets


@given(rows(), st.data())
def test_any_rows(data, draw):
    """Ties, 0 and 1, one row, no event: limits and p-values are in order, and rows in any order give the same."""
    y, p = data
    p = np.where(p < 1e-300, 0, p)
    mask = np.array(draw.draw(st.lists(st.booleans(), min_size=y.size, max_size=y.size)))
    mask[0] = True
    found = audited(y, p, a=mask)
    assert np.isnan(found.pvalue[0])
    if len(found.names) == 1:  # the group is all rows
        return
    assert 0 <= found.low[1] <= found.odds_ratio[1] <= found.high[1]
    assert 0 < found.pvalue[1] <= found.pvalue_adjusted[1] <= 1
    assert 0 <= found.expected[1] <= 1 + 1e-9
    order = np.array(draw.draw(st.permutations(range(y.size))))
    other = audited(y[order], p[order], a=mask[order])
    assert repr(other.to_dict()) == repr(found.to_dict())
    if np.array_equal(1 - (1 - p), p):
        turned = audited(1 - y, 1 - p, a=mask)  # what is 1 becomes 0
        assert turned.odds_ratio[1] == pytest.approx(
            1 / found.odds_ratio[1] if found.odds_ratio[1] else np.inf, rel=1e-6
        )


@pytest.mark.parametrize(("level", "far"), [(0.95, False), (1 - 1e-12, False), (1 - 1e-15, True)])
@pytest.mark.parametrize("upper", [False, True])
def test_a_limit_beyond_sixty_log_odds_is_infinite(level, far, upper):
    """Three rows of the group at odds of a million to 1, and another one at 1 to a million, of which one has outcome 1.

    It is in the group with odds of 3 x to 1, x = exp(theta + log 1e12), which are level / (1 - level) at the limit: at
    theta = log(level / 3) - 27.6, which is -63.9 in the last case, where -60.7 was the answer. The other twelve rows
    have outcome 0. Of the mirrored rows three have outcome 1, and the limit is the upper one.
    """
    p = np.r_[np.linspace(1e-9, 1e-8, 12), 1e-6, 1 - 1e-6, 1 - 5e-7, 1 - 2e-7]
    y, group = np.r_[np.zeros(12), 0, 0, 0, 1], np.r_[np.zeros(13, bool), np.ones(3, bool)]
    found = cs.audit(1 - y if upper else y, 1 - p if upper else p, {"g": group}, n_resamples=1, confidence_level=level)
    limit = (
        -math.log(found.beyond.high[1])
        if upper
        else math.log(found.beyond.low[1])
        if found.beyond.low[1]
        else -math.inf
    )
    odds = (1 - level) / 2
    odds /= 1 - odds
    expected = -math.inf if far else math.log(odds / 3) - 2 * math.log(1e6 - 1)
    assert limit == pytest.approx(expected, abs=1e-3)  # 1 less a probability next to 1 has few digits
