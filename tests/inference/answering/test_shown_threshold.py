"""The threshold from which on errors are shown to be few."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import calibstat as cs
from calibstat.inference.answering.answered_rows import AnsweredRows
from calibstat.inference.answering.shown_threshold import least_rows, shown_threshold, starts

MISS = 0.05


def rows_of(wrong, size=1):
    """Rows in levels of this size, the most confident first."""
    wrong = np.asarray(wrong, np.float64)
    return AnsweredRows.of_cells(1 - (np.arange(wrong.size) // size) / wrong.size, np.ones(wrong.size), wrong)


def tail(errors, rows, most):
    """The probability of so few errors in exact fractions, and Markov's bound where most are not right."""
    right, chance = rows - errors, 1 - most
    if right == 0:
        return Fraction(1)
    if right < rows * chance + 1:
        return min(Fraction(1), rows * chance / right)
    return sum(comb(rows, k) * most**k * chance ** (rows - k) for k in range(errors + 1))


def by_hand(seen, most, miss):
    """The rule of docs/evidence/proofs/error-threshold.md, one place after the other in exact fractions."""
    n, sizes = int(seen.n), []
    size = n
    while size and (1 - most) ** size <= miss / (len(sizes) + 1):
        sizes.append(size)
        size //= 2
    level, last, waiting = Fraction(0), None, sorted(sizes)
    for place, (rows, errors) in enumerate(zip(seen.answered.astype(int), seen.errors.astype(int), strict=True)):
        while waiting and rows >= waiting[0]:
            level += Fraction(miss, len(sizes))
            waiting.pop(0)
        if level and tail(int(errors), int(rows), most) <= level:
            last = place
        else:
            level = Fraction(0)
    return last


@given(
    st.lists(st.sampled_from([0, 0, 0, 0, 0, 0, 1]), min_size=1, max_size=80),
    st.integers(1, 9),
    st.sampled_from([Fraction(1, 20), Fraction(1, 7), Fraction(2, 5), Fraction(19, 20)]),
    st.sampled_from([Fraction(1, 20), Fraction(1, 3)]),
)
def test_the_rule_by_hand(wrong, size, most, miss):
    seen = rows_of(wrong, size)
    assert shown_threshold(seen, float(most), float(miss)) == by_hand(seen, most, miss)


def test_so_few_rows_show_nothing():
    assert least_rows(0.05, MISS) == 59  # 0.95^59 is 0.0485, 0.95^58 is 0.0511
    assert least_rows(0.95, MISS) == 1  # 1 - 0.95 is a bit above 0.05 in floats
    assert starts(58, 0.05, MISS) == []
    assert starts(59, 0.05, MISS) == [59]
    assert shown_threshold(rows_of(np.zeros(58)), 0.05, MISS) is None
    assert shown_threshold(rows_of(np.zeros(59)), 0.05, MISS) == 58


def test_many_rows_of_which_few_are_wrong_are_all_answered():
    wrong = np.zeros(1000)
    wrong[::40] = 1  # 2.5 %, the most confident one among them
    assert shown_threshold(rows_of(wrong), 0.05, MISS) == 999
    assert shown_threshold(rows_of(1 - wrong), 0.05, MISS) is None


# --- how often it is wrong --------------------------------------------------------------------------------------------

CHANCES = {  # the probability of being wrong, by the share of rows from the most confident one on
    "all alike": lambda s: 0.1001 + 0 * s,
    "none, then many": lambda s: np.where(s < 0.5, 0.0, 0.2002),
    "many, few, many": lambda s: np.where(s < 0.06, 0.5, np.where(s < 0.5, 0.02, 0.3)),
}


def broken(choose, chance, n=400, size=1, replicates=300, seed=3):
    """In how many data sets the rows from the threshold on have a mean probability above 0.1 of being wrong."""
    random, count = np.random.default_rng(seed), 0
    probability = chance((np.arange(n) + 0.5) / n)
    mean = np.cumsum(probability) / np.arange(1, n + 1)
    for _ in range(replicates):
        place = choose(rows_of(random.random(n) < probability, size))
        if place is not None:
            count += mean[min((place + 1) * size, n) - 1] > 0.1
    return count


@pytest.mark.parametrize("size", [1, 25])
@pytest.mark.parametrize("case", CHANCES)
def test_a_threshold_is_wrong_seldom(case, size):
    most = cs.study.most_rejections(MISS, 300, 1e-5)
    assert broken(lambda seen: shown_threshold(seen, 0.1, MISS), CHANCES[case], size=size) <= most


def largest_that_passes(seen):
    """The fault: each threshold is tested by itself, and the one that answers most is taken."""
    passed = np.flatnonzero(binom.cdf(seen.errors, seen.answered, 0.1) <= MISS)
    return int(passed[-1]) if passed.size else None


def test_the_best_of_many_thresholds_is_found():
    most = cs.study.most_rejections(MISS, 300, 1e-5)
    assert broken(largest_that_passes, CHANCES["all alike"]) > most


def test_a_sequence_from_the_least_confident_on_is_found():
    """The fault: rows that are numbered from the least confident one on."""

    def ascending(seen):
        return shown_threshold(rows_of(seen.wrong[::-1]), 0.1, MISS)

    def few_at_the_end(s):
        return np.where(s < 0.5, 0.3, 0.0)

    assert broken(ascending, few_at_the_end) > cs.study.most_rejections(MISS, 300, 1e-5)
