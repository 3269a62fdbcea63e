"""Spiegelhalter's z by hand, against the Brier score row by row, and its size."""

import math

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows
from scipy import stats
from sizes import compatible, rejected, statistics

import calibstat as cs
from calibstat.classical.cox import cox
from calibstat.classical.spiegelhalter import spiegelhalter

SAMPLE = cs.Sample.from_counts([0.2, 0.7], [100, 100], [28, 70])


def test_spiegelhalter_by_hand():
    # residual sums 8 and 0, weights .6 and -.4: 4.8; variance 100 (.36 * .16 + .16 * .21) = 9.12
    found = spiegelhalter(SAMPLE)
    assert found.statistic == pytest.approx(4.8 / math.sqrt(9.12), rel=1e-14)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(4.8 / math.sqrt(9.12)), rel=1e-13)


@given(weighted_rows())
def test_spiegelhalter_compares_the_brier_score_with_its_expectation(data):
    y, p, weight = data
    y, p = np.repeat(y, weight), np.repeat(p, weight)
    variance = np.sum((1 - 2 * p) ** 2 * p * (1 - p))
    if variance == 0:
        with pytest.raises(ValueError, match="0 / 0"):
            spiegelhalter(y, p)
        return
    excess = np.sum((y - p) ** 2) - np.sum(p * (1 - p))  # of the Brier score over what the predictions say
    assert spiegelhalter(y, p).statistic == pytest.approx(excess / math.sqrt(variance), rel=1e-9, abs=1e-9)


def test_spiegelhalter_is_blind_to_a_shift():
    # .1 too low everywhere: the terms at .3 and .7 cancel
    shifted = cs.Sample.from_counts([0.3, 0.7], [100, 100], [40, 80])
    assert spiegelhalter(shifted).statistic == pytest.approx(0, abs=1e-12)
    assert cox(shifted, held_out=True).in_the_large_test.pvalue < 0.01


def test_spiegelhalter_needs_a_weight():
    with pytest.raises(ValueError, match="other than 0, 1/2 and 1"):
        spiegelhalter([0, 1, 1, 0], [0, 1, 0.5, 0.5])


def test_size_of_spiegelhalter():
    found = statistics(spiegelhalter, 3000, 300, 12)
    assert compatible(rejected(found), 3000, 0.045, 0.055)
    one_sided = sum(stats.norm.sf(abs(test.statistic)) <= 0.05 for test in found)  # the side chosen from the data
    assert not compatible(one_sided, 3000, 0.045, 0.055)  # one in ten rejects; so few with probability 1e-6
