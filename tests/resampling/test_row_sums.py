"""Sums of drawn and of signed rows, against loops over rows."""

import numpy as np
import pytest
from row_examples import CELL, KEY, RESIDUAL, UNIT, N, drawn_units, signs_of

from calibstat.resampling import Draws, UnitCounts, products_of_counts, random_signs, row_sums, sums_of_counts


def counts(units=9, n=8, n_jobs=1, stream=1, key=KEY, most=0):
    return UnitCounts(units, Draws(key, n, n_jobs), stream, most)


def every(drawn, n=None):
    return np.concatenate(list(drawn.in_blocks(np.copy, n)))


@pytest.mark.parametrize("units", [1, 9, 200])
def test_counts_of_drawn_units(units):
    expected = [np.bincount(drawn_units(r, units), minlength=units) for r in range(40)]
    assert every(counts(units, 40)).tolist() == np.array(expected).tolist()


def test_neither_threads_nor_blocks_show(monkeypatch):
    """Nor how many are drawn; other words are other numbers."""
    base = every(counts(n=70))
    assert np.array_equal(every(counts(n=70, n_jobs=3)), base)
    assert np.array_equal(every(counts(n=41)), base[:41])
    assert np.array_equal(every(counts(n=70), 41), base[:41])
    assert not np.array_equal(every(counts(n=70, stream=2)), base)
    assert not np.array_equal(every(counts(n=70, key=KEY + np.uint64(1))), base)
    monkeypatch.setattr(row_sums, "BLOCK", 5)
    assert np.array_equal(every(counts(n=70)), base)


def test_counts_that_fit_are_drawn_once(monkeypatch):
    drawn = []

    def count(key, stream, first, array, draw=row_sums._draw):
        drawn.append(array.size)
        draw(key, stream, first, array)

    monkeypatch.setattr(row_sums, "_draw", count)
    for most, passes in ((9 * 70, 1), (9 * 70 - 1, 3)):
        kept = counts(n=70, most=most)
        assert np.array_equal(every(kept), every(kept))
        every(kept)
        assert (sum(drawn), kept.are_stored) == (passes * 9 * 70, passes == 1)
        drawn.clear()
    kept = counts(n=70, most=9 * 70)
    assert len(every(kept, 8)) == 8  # a part of a block, which is then drawn whole
    assert np.array_equal(every(kept), every(counts(n=70)))


@pytest.mark.parametrize("unit", [np.arange(N), UNIT], ids=["rows", "clusters"])
def test_sums_of_drawn_rows(unit):
    times = every(counts(unit.max() + 1, 7))[:, unit]
    found = sums_of_counts(times, [(CELL[:, m].copy(), RESIDUAL[:, m].copy()) for m in range(2)], 6)
    for r in range(7):
        sums = np.zeros(6)
        for u in drawn_units(r, unit.max() + 1):
            for i in np.flatnonzero(unit == u):
                for m in range(2):
                    sums[CELL[i, m]] += RESIDUAL[i, m]
        np.testing.assert_allclose(found[r], sums, rtol=0, atol=1e-12)


def test_sums_are_those_of_each_resample_alone():
    """To the last bit: in the order of the rows, also where resamples are added up side by side."""
    times = every(counts(N, 7))
    columns = [(CELL[:, 0].copy(), RESIDUAL[:, 0].copy())]
    expected = [np.bincount(CELL[:, 0], RESIDUAL[:, 0] * row, 6) for row in times]
    assert np.array_equal(sums_of_counts(times, columns, 6), expected)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("units", [1, 3, 9, 70, 131])
def test_products(units, n_jobs):
    """Unit by unit, to the last bit, and so for any number of threads."""
    added = np.random.default_rng(0).normal(size=(3, units))
    times = every(counts(units, 41))
    expected = [[np.cumsum(row * each)[-1] for each in added] for row in times]
    assert np.array_equal(counts(units, 41, n_jobs).products(added), expected)
    assert np.array_equal(products_of_counts(times[:5], added), expected[:5])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_weighted_counts(n_jobs):
    weight = np.random.default_rng(0).normal(size=(2, 41))
    expected = np.zeros((2, 9))
    for r in range(41):
        for u in drawn_units(r, 9):
            expected[:, u] += weight[:, r]
    found = counts(n=41, n_jobs=n_jobs).weighted(weight)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(found, counts(n=41).weighted(weight))


def test_signs_in_threads():
    def signs(n, n_jobs=1, stream=1):
        return random_signs(N, lambda found: found.astype(float), Draws(KEY, n, n_jobs), stream)

    assert np.array_equal(signs(37, 3), signs(37))
    assert np.array_equal(signs(21), signs(37)[:21])
    assert not np.array_equal(signs(37, stream=2), signs(37))


def test_signs_of_units():
    """Sums of signed rows are tested where tables draw them."""
    found = random_signs(8, lambda signs: 2.0 * signs - 1, Draws(KEY, 8), 1)
    for r in range(8):
        assert found[r].tolist() == signs_of(r, np.arange(8)).tolist()
