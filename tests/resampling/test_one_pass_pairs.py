"""Statistics in one pass over drawn pairs: of the same rows as sums that are held."""

import numpy as np
import pytest
from binary_draws import KEY, SMALL, TIED

import calibstat as cs
from calibstat.resampling import Draws, pairs_in_one_pass, residuals_of_pairs
from calibstat.resampling.one_pass import SumsInCells
from calibstat.resampling.row_counts import BLOCK

Y, P = cs.generators.temperature(2).sample(2 * BLOCK + 300, rng=1)
SAMPLES = {
    "ties": SMALL,
    "cells": TIED,
    "rows": cs.Sample.from_rows(Y, P),
    "ties across blocks": cs.Sample.from_rows(Y, P.round(2)),
    "one value": cs.Sample.from_rows(Y[:31], np.full(31, 0.5)),
    "full blocks": cs.Sample.from_rows(Y[: 2 * BLOCK], P[: 2 * BLOCK]),
    "a tie of two blocks": cs.Sample.from_rows(Y, np.where(np.argsort(np.argsort(P)) // 3 == BLOCK // 3, 0.5, P)),
}


class Sums(SumsInCells):
    """The residuals themselves, and which predictions were seen."""

    def __init__(self, sample):
        super().__init__(np.arange(sample.value.size), sample.value.size)
        object.__setattr__(self, "seen", [])

    def add(self, state, rows, residual):
        self.seen.append((rows, residual.shape))
        super().add(state, rows, residual)


def held(sample, n=20, n_jobs=1, stream=1, origin=None):
    origin = np.sin(sample.value) if origin is None else origin
    return pairs_in_one_pass(sample, origin, 2.0, Sums(sample), Draws(KEY, n, n_jobs), stream)


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_the_same_rows_as_sums_that_are_held(sample):
    plain = residuals_of_pairs(sample, np.sin(sample.value), 2.0, np.copy, Draws(KEY, 20), 1)
    np.testing.assert_allclose(held(sample), plain, rtol=0, atol=1e-12)
    assert not np.allclose(held(sample, origin=np.cos(sample.value)), plain)


def test_neither_threads_nor_the_number_of_draws_show():
    sample = SAMPLES["ties across blocks"]
    assert np.array_equal(held(sample, 40, n_jobs=3), held(sample, 40))
    assert np.array_equal(held(sample, 40)[:7], held(sample, 7))
    assert not np.array_equal(held(sample, 7, stream=2), held(sample, 7))


@pytest.mark.parametrize("name", ["rows", "ties across blocks"])
def test_each_prediction_is_added_once_and_a_block_is_all_that_is_held(name):
    sample = SAMPLES[name]
    sums = Sums(sample)
    pairs_in_one_pass(sample, np.zeros(sample.value.size), 1.0, sums, Draws(KEY, 16), 1)
    assert np.array_equal(np.concatenate([np.arange(rows.start, rows.stop) for rows, _ in sums.seen]), sums.cell)
    assert all(shape == (rows.stop - rows.start, 16) and shape[0] <= BLOCK for rows, shape in sums.seen)
