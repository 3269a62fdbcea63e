"""At most 14 rows: measures by their plain definitions, and p-values by all vectors of outcomes."""

import math
from itertools import product

import numpy as np
import pytest
from hostile_rows import binary_rows
from hypothesis import given, settings
from scipy.optimize import linprog
from scipy.stats import binom

import calibstat as cs

DRAWS = 999
UNLIKELY = 1e-9  # chance of a p-value that is called wrong; of a few hundred


def sums_up_to(y, p):
    """The sum of y - p over the rows predicted at most t, for every t, and 0."""
    return [0.0, *(math.fsum(a - b for a, b in zip(y, p, strict=True) if b <= t) for t in sorted(set(p)))]


def ks(y, p):
    return max(map(abs, sums_up_to(y, p))) / len(y)


def kuiper(y, p):
    sums = sums_up_to(y, p)
    return (max(sums) - min(sums)) / len(y)


def ece(y, p):
    """Of 15 bins of equal width, closed on the right, the first one on the left too."""
    gap = [0.0] * 15
    for a, b in zip(y, p, strict=True):
        gap[max(math.ceil(15 * b) - 1, 0)] += a - b
    return sum(map(abs, gap)) / len(y)


def brier(y, p):
    return math.fsum((a - b) ** 2 for a, b in zip(y, p, strict=True)) / len(y)


def kernel_ce(y, p):
    """The root of the mean of (y - p)(y' - p') exp(-|p - p'|) over all pairs."""
    rows = list(zip(y, p, strict=True))
    total = math.fsum((a - b) * (c - d) * math.exp(-abs(b - d)) for a, b in rows for c, d in rows)
    return math.sqrt(max(total, 0.0)) / len(y)


def smooth_ce(y, p):
    """The largest mean of (y - p) f(p) over 1-Lipschitz functions f to [-1, 1], by a linear programme over all rows."""
    n = len(y)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    slopes, limits = np.zeros((len(pairs), n)), np.zeros(len(pairs))
    for k, (i, j) in enumerate(pairs):
        slopes[k, i], slopes[k, j], limits[k] = 1, -1, abs(p[i] - p[j])
    gain = (np.asarray(y) - np.asarray(p)) / n
    return -linprog(-gain, A_ub=slopes if pairs else None, b_ub=limits if pairs else None, bounds=(-1, 1)).fun


def mcb(y, p):
    """The Brier score less the least one of a nondecreasing map, by its formula of largest least means."""
    at = sorted(set(p))
    rows = [[a for a, b in zip(y, p, strict=True) if b == t] for t in at]

    def mean(first, last):
        part = [a for group in rows[first : last + 1] for a in group]
        return sum(part) / len(part)

    places = range(len(at))
    fitted = {at[i]: max(min(mean(a, b) for b in places if b >= i) for a in places if a <= i) for i in places}
    return brier(y, p) - brier(y, [fitted[b] for b in p])


PLAIN = {each.__name__: each for each in (ks, kuiper, ece, brier, kernel_ce, smooth_ce, mcb)}


def share_as_large(y, p, statistic):
    """The probability of outcomes, each drawn from its prediction, with at least this statistic."""
    observed, total = statistic(y, p), 0.0
    for drawn in product((0, 1), repeat=len(y)):
        chance = math.prod(b if a else 1 - b for a, b in zip(drawn, p, strict=True))
        if chance > 0 and statistic(drawn, p) >= observed - 1e-9:
            total += chance
    return min(total, 1.0)


def is_likely(pvalue, share):
    """Whether a p-value of so many draws can come from this share."""
    as_large = round(pvalue * (DRAWS + 1)) - 1
    return min(binom.cdf(as_large, DRAWS, share), binom.sf(as_large - 1, DRAWS, share)) >= UNLIKELY


@pytest.mark.parametrize("name", PLAIN)
@given(rows=binary_rows().filter(lambda rows: len(rows[0]) <= 14))
def test_the_plain_definition(name, rows):
    y, p = (each.tolist() for each in rows)
    # the root of a sum that rounds to 0 has half of its digits
    assert cs.estimate(y, p, measure=name) == pytest.approx(
        PLAIN[name](y, p), abs=1e-8 if name == "kernel_ce" else 1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ks", "kuiper", "ece", "kernel_ce"])  # that count above alone
@settings(max_examples=30)
@given(rows=binary_rows(max_size=9).filter(lambda rows: len(rows[0]) <= 9))
def test_p_values_are_shares_of_all_outcomes(name, rows):
    y, p = (each.tolist() for each in rows)
    found = cs.calibration_test(y, p, measure=name, n_resamples=DRAWS, rng=1).pvalue
    assert is_likely(found, share_as_large(y, p, PLAIN[name]))


def test_definitions_agree_on_a_few_rows():
    y, p = [0, 1, 1, 0, 1], [0.2, 0.2, 0.55, 0.7, 0.9]
    for name, plain in PLAIN.items():
        assert cs.estimate(y, p, measure=name) == pytest.approx(plain(y, p), abs=1e-9)
        if name in ("ks", "ece"):
            assert is_likely(
                cs.calibration_test(y, p, measure=name, n_resamples=DRAWS, rng=1).pvalue, share_as_large(y, p, plain)
            )


def test_a_wrong_definition_and_a_wrong_p_value_are_found():
    y, p = [1, 0, 0], [0.2, 0.5, 0.8]  # sums of y - p: 0.8, 0.3, -0.5, so that ks is 0.8 / 3 and kuiper 1.3 / 3
    assert cs.estimate(y, p, measure="ks") == pytest.approx(0.8 / 3)
    assert kuiper(y, p) == pytest.approx(1.3 / 3)
    assert not is_likely(0.5, 0.3)
