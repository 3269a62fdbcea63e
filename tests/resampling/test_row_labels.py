"""Labels drawn given the predictions, row by row and cluster by cluster."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from calibstat.resampling import Draws, Stream, row_labels, sums_of_row_labels, sums_of_signs
from calibstat.resampling.streams import first_state, word

CELL = np.array([0, 0, 1, 1, 2])
PREDICTION = np.array([0.0, 1.0, 0.3, 0.3, 0.8])


ALONE = np.arange(5)


def drawn(unit, n=4000, n_jobs=1, order=slice(None), weight=None):
    rows = CELL[order], PREDICTION[order], 3, unit[order], weight
    return sums_of_row_labels(*rows, lambda theta: theta, Draws.of(1, n, n_jobs), Stream.SHARED)


def test_independent_rows_are_binomial():
    """Two rows at .3: residual sum y1 + y2 - .6 with y1 + y2 binomial; certain predictions never fail."""
    theta = drawn(ALONE)
    assert theta[:, 0] == pytest.approx(0)
    seen = np.bincount(np.rint(theta[:, 1] * 5 + 0.6).astype(int), minlength=3)
    assert stats.chisquare(seen, 4000 * stats.binom.pmf([0, 1, 2], 2, 0.3)).pvalue > 1e-4


def test_rows_of_a_cluster_have_one_uniform_number():
    """Together both rows at .3 have the outcome 1 or neither, and only if that at .8 has it."""
    theta = drawn(np.zeros(5, np.int64))
    pair, last = np.rint(theta[:, 1] * 5 + 0.6), np.rint(theta[:, 2] * 5 + 0.8)
    assert set(pair) == {0, 2}
    assert np.all(last[pair == 2] == 1)
    for events, chance in ((pair == 2, 0.3), (last == 1, 0.8)):
        low, high = stats.binom.interval(1 - 1e-5, 4000, chance)
        assert low <= np.sum(events) <= high


def test_threads_do_not_show():
    for unit in (ALONE, np.array([0, 0, 0, 1, 1])):
        assert np.array_equal(drawn(unit, 50), drawn(unit, 50, 2))
        assert np.array_equal(drawn(unit, 50)[:20], drawn(unit, 20))


def test_the_order_of_the_rows_does_not_show():
    """The words are those of units, and rows of a cell are added up in any order."""
    for unit in (ALONE, np.array([0, 0, 0, 1, 1])):
        assert drawn(unit, 50, order=np.array([4, 2, 3, 0, 1])) == pytest.approx(drawn(unit, 50), abs=1e-15)


def test_words_by_hand():
    """The uniform number of 53 bits of a unit's word, below the predictions of rows with outcome 1; with weights."""
    unit, weight, key = np.array([0, 0, 1, 1, 2]), np.array([1.0, 2.0, 0.5, 1.0, 3.0]), Draws.of(1, 1).key
    found = drawn(unit, 30, weight=weight)
    for r in range(30):
        start = np.uint64(first_state(key, Stream.SHARED, r))
        uniform = np.array([((int(word(start, u)) >> 11) + 0.5) * 2.0**-53 for u in unit.tolist()])
        theta = np.bincount(CELL, weight * ((uniform < PREDICTION) - PREDICTION)) / weight.sum()
        assert found[r] == pytest.approx(theta, abs=1e-12)


def test_certain_labels():
    """A row at .25 adds (0 - .25) / 2 or (1 - .25) / 2, one at .5 a quarter or takes it; at 0 and 1 nothing varies."""
    ends = {-0.125, 0.375}, {-0.25, 0.25}
    rows = np.array([1, 0]), np.array([0.25, 0.5]), 2, np.arange(2), None
    found = sums_of_row_labels(*rows, np.copy, Draws.of(1, 40), Stream.LABELS)
    assert (set(found[:, 1]), set(found[:, 0])) == ends
    certain = np.array([1, 0]), np.array([0.0, 1.0]), 2, np.arange(2), None
    assert not sums_of_row_labels(*certain, np.copy, Draws.of(1, 40), Stream.LABELS).any()


def test_sums_of_signs_by_hand():
    """The sign of a unit is the first bit of its word, for all that its rows add in every column; in blocks of 64."""
    unit, key = np.array([0, 0, 1, 1, 2]), Draws.of(1, 1).key
    columns = [(CELL, PREDICTION), (CELL + 3, PREDICTION - 1)]
    found = sums_of_signs(columns, 6, unit, np.copy, Draws.of(1, 100), Stream.SIGNS)
    for r in range(100):
        start = np.uint64(first_state(key, Stream.SIGNS, r))
        sign = np.array([2.0 * (int(word(start, u)) >> 63) - 1 for u in range(3)])[unit]
        expected = np.concatenate([np.bincount(CELL, sign * part, 3) for _, part in columns])
        assert np.array_equal(found[r], expected)
    for n_jobs, n in ((2, 100), (1, 7)):
        again = sums_of_signs(columns, 6, unit, np.copy, Draws.of(1, n, n_jobs), Stream.SIGNS)
        assert np.array_equal(again, found[:n])


@pytest.mark.parametrize("most", [7, 2])
def test_many_cells_are_held_a_few_resamples_at_a_time(most, monkeypatch):
    """The same numbers, two resamples at a time or, where not even one has room, one."""
    unit = np.array([0, 0, 1, 1, 2])
    expected = drawn(unit, 100)
    monkeypatch.setattr(row_labels, "HELD_SUMS", most)
    assert np.array_equal(drawn(unit, 100), expected)


def test_classes_by_hand():
    """The class of a row is the first whose cumulated probability exceeds the number of the word of its unit."""
    prob, unit = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.6, 0.1, 0.3]]), np.array([0, 0, 1])
    cell, weight, key = np.array([[0, 1, 2], [0, 1, 2], [3, 4, 5]]), np.array([1.0, 2.0, 0.5]), Draws.of(1, 1).key
    found = row_labels.sums_of_class_labels(
        cell, prob, 6, unit, weight, lambda theta: theta, Draws.of(1, 30), Stream.SHARED
    )
    for r in range(30):
        start, theta = np.uint64(first_state(key, Stream.SHARED, r)), np.zeros(6)
        for i, u in enumerate(unit.tolist()):
            label = int(np.searchsorted(prob[i].cumsum(), (int(word(start, u)) >> 1) / 2.0**63, side="right"))
            theta[cell[i]] -= weight[i] * prob[i]
            theta[cell[i, label]] += weight[i]
        assert found[r] == pytest.approx(theta / weight.sum(), abs=1e-12)


@given(st.floats(0, 1))
@example(0.0)
@example(1.0)
@example(0.5 * 2.0**-53)
@example(0.75 * 2.0**-53)
@example(1.25 * 2.0**-53)
def test_limits_count_the_numbers_below_a_probability(probability):
    """The numbers (k + 1/2) / 2**53, k from 0, by exact fractions: the last one below it and the first that is not."""
    limit = int(row_labels._limit(np.array([probability]))[0])
    numbers = [(Fraction(limit + step) + Fraction(1, 2)) / 2**53 for step in (-1, 0)]
    assert limit == 0 or numbers[0] < Fraction(probability)
    assert numbers[1] >= Fraction(probability)
