"""Sums of drawn and of signed rows, against loops over rows."""

import numpy as np
import pytest
from row_examples import CELL, KEY, RESIDUAL, UNIT, N, drawn_units, signs_of

from calibstat.resampling import Draws, random_signs, row_sums, sums_of_units, threads, weighted_counts

ALONE = np.arange(N)
WEIGHT = np.random.default_rng(5).lognormal(0, 1, N)


def columns(models):
    return [lambda m=m: (CELL[:, m], RESIDUAL[:, m]) for m in range(models)]


def drawn(models=2, unit=ALONE, weight=None, n=8, n_jobs=1, stage=1, key=KEY):
    """The numbers of drawn rows, or the sums of their weights, and what they add up to."""

    def both(sums, sizes):
        return np.column_stack([sizes, sums])

    return sums_of_units(columns(models), 3 * models, unit, weight, both, Draws(key, n, n_jobs), stage)


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("unit", [ALONE, UNIT], ids=["rows", "clusters"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
def test_sums_of_drawn_rows(unit, models, weight):
    found = drawn(models, unit, weight)
    for r in range(8):
        rows = [i for u in drawn_units(r, unit.max() + 1) for i in np.flatnonzero(unit == u)]
        sums = np.zeros(3 * models)
        for i in rows:
            for m in range(models):
                sums[CELL[i, m]] += RESIDUAL[i, m]
        assert found[r, 0] == pytest.approx(len(rows) if weight is None else weight[rows].sum(), abs=1e-12)
        np.testing.assert_allclose(found[r, 1:], sums, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", [ALONE, UNIT], ids=["rows", "clusters"])
def test_neither_threads_nor_pieces_show(unit, monkeypatch):
    """Nor how many are drawn, nor whether columns are kept in order or made again; other words are other numbers."""
    base = drawn(unit=unit, n=37)
    assert np.array_equal(drawn(unit=unit, n=37, n_jobs=3), base)
    assert np.array_equal(drawn(unit=unit, n=21), base[:21])
    assert not np.array_equal(drawn(unit=unit, n=37, stage=2), base)
    assert not np.array_equal(drawn(unit=unit, n=37, key=KEY + np.uint64(1)), base)
    monkeypatch.setattr(row_sums, "FEW_COLUMNS", 0)
    monkeypatch.setattr(row_sums, "KEPT", 0)
    for piece in (1, 1000):
        monkeypatch.setattr(threads, "LARGEST_PIECE", piece)
        for n_jobs in (1, 2):
            assert np.array_equal(drawn(unit=unit, n=37, n_jobs=n_jobs), base)


def test_signs_in_threads():
    def signs(n, n_jobs=1, stage=1):
        return random_signs(N, lambda found: found.astype(float), Draws(KEY, n, n_jobs), stage)

    assert np.array_equal(signs(37, 3), signs(37))
    assert np.array_equal(signs(21), signs(37)[:21])
    assert not np.array_equal(signs(37, stage=2), signs(37))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_weighted_counts(n_jobs):
    weight = np.random.default_rng(0).normal(size=(11, 2))
    expected = np.zeros((9, 2))
    for r in range(11):
        for u in drawn_units(r, 9):
            expected[u] += weight[r]
    found = weighted_counts(9, weight, Draws(KEY, 11, n_jobs), 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.array_equal(found, weighted_counts(9, weight, Draws(KEY, 11), 1))


def test_signs_of_units():
    """Sums of signed rows are tested where tables draw them."""
    found = random_signs(8, lambda signs: 2.0 * signs - 1, Draws(KEY, 8), 1)
    for r in range(8):
        assert found[r].tolist() == signs_of(r, np.arange(8)).tolist()
