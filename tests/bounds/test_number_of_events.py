"""Bounds of a number of events: against exact laws of unequal probabilities, the level by enumeration, and SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from calibstat.bounds.number_of_events import most_likely_tail, smallest_mean

LEVELS = (0.01, 0.05, 0.1, 0.25, 0.4)


def distribution(probability):
    """The probability of each number of positives, by convolution."""
    found = np.ones(1)
    for q in probability:
        found = np.convolve(found, [1 - q, q])
    return found


def unequal(random, most=7):
    """Outcome probabilities of a few rows: any, equal, one row alone, certain ones among equal ones, near 0 and 1."""
    n = random.integers(1, most + 1)
    alone = np.zeros(n)
    alone[0] = random.random() * random.choice([1, 0.3])
    certain = np.where(random.random(n) < 0.5, random.integers(0, 2, n), random.random())
    kinds = [random.random(n), np.full(n, random.random()), alone, 1 - alone, certain, random.beta(0.2, 0.2, n)]
    return kinds[random.integers(len(kinds))]


def plain_tail(seen, n, mean):
    """The binomial tail for every number seen, as if rows had equal probabilities: a planted fault."""
    return np.where(mean <= 0, 0.0, binom.sf(seen - 1, n, np.clip(mean, 0, 1)))


def false_claims(random, tail, together):
    """The exact probabilities of a claim at each level, where in one of several bins the gap is the margin.

    `together` makes one p-value of those of the bins: of each bin, that of the likelier side.
    """
    bins = [unequal(random) for _ in range(random.integers(1, 4))]
    predicted = random.random(len(bins))
    gap = [q.mean() - v for q, v in zip(bins, predicted, strict=True)]
    margin = np.abs(gap).max() * (1 - 1e-9)  # the null hypothesis: more than this
    pvalues, chances = [], []
    for q, v in zip(bins, predicted, strict=True):
        k, n = np.arange(q.size + 1), q.size
        pvalues.append(np.maximum(tail(k, n, v - margin), tail(n - k, n, 1 - v - margin)))
        chances.append(distribution(q))
    claims = np.zeros(len(LEVELS))
    for cell in product(*(range(p.size) for p in pvalues)):
        p = together([each[k] for each, k in zip(pvalues, cell, strict=True)])
        claims += (p <= np.array(LEVELS)) * np.prod([each[k] for each, k in zip(chances, cell, strict=True)])
    return claims


def broken(tail, together=max, tries=500):
    """Configurations in which a false claim is more likely than its level."""
    random = np.random.default_rng(7)
    found = [false_claims(random, tail, together) for _ in range(tries)]
    return sum(np.any(claims > np.array(LEVELS) + 1e-12) for claims in found)


@pytest.mark.parametrize("tries", [500, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_level_holds_for_many_small_configurations(tries):
    assert broken(most_likely_tail, tries=tries) == 0


def test_a_binomial_tail_everywhere_breaks_the_level():
    assert broken(plain_tail, tries=500) > 0


def test_one_bin_within_the_margin_is_not_enough():
    assert broken(most_likely_tail, min, tries=500) > 0


def test_one_row_alone_attains_the_level():
    """Of 50 rows one is 1 with probability .05, others never: the mean is .001, and 1 - (1 - .001)^50 = .0488."""
    assert most_likely_tail(np.array(1.0), 50, np.array(0.001)) == pytest.approx(0.05, abs=1e-15)
    assert plain_tail(1, 50, 0.001) == pytest.approx(0.0488, abs=1e-4)
    assert smallest_mean(np.array(1.0), 50, 0.05) == pytest.approx(0.001, abs=1e-15)


def test_no_probabilities_have_a_larger_tail():
    random = np.random.default_rng(3)
    for _ in range(3000):
        q = unequal(random, 9)
        seen = np.arange(1, q.size + 1)
        exact = distribution(q)[::-1].cumsum()[::-1][1:]
        bound = most_likely_tail(seen, q.size, np.full(q.size, q.mean()))
        assert np.all(bound >= exact - 1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 40, 10**6])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.3, 0.7])
def test_limits_invert_tails(n, level):
    seen = np.unique(np.minimum([1, 2, 3, 5, n // 2, n - 1, n], n))
    seen = seen[seen > 0].astype(float)
    limit = smallest_mean(seen, n, level)
    assert np.all(most_likely_tail(seen, n, limit * (1 - 1e-9)) <= level)
    assert np.all(most_likely_tail(seen, n, limit * (1 + 1e-9)) > level)
    assert smallest_mean(np.array(0.0), n, level) == 0


def test_limits_are_those_of_clopper_and_pearson_from_two_on():
    for n in (2, 3, 10, 37, 200):
        for k in (2, n // 2, n - 1, n):
            if k >= 2:
                expected = binomtest(k, n).proportion_ci(0.9, "exact").low
                assert smallest_mean(np.array(float(k)), n, 0.05) == pytest.approx(expected, abs=1e-9)
