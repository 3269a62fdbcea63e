"""Resamples of a measure of one event: an exact mean, and that neither threads nor chunks show."""

from itertools import pairwise

import numpy as np
import pytest
from binary_draws import FALSE_ALARM, KEY, SCHEMES, names, poisson_binomial
from scipy import stats

import calibstat as cs
from calibstat.measures.registry import find_measure
from calibstat.resampling import (
    Draws,
    Labels,
    binary_cells,
    binary_labels,
    binary_pairs,
    draw,
    resample,
)


def test_mean_null_ece_is_exact():
    """The mean of ECE* under labels-only resampling is that under the Poisson-binomial distributions of the bins."""
    generator = np.random.default_rng(8)
    p = generator.random(300)
    sample = cs.Sample.from_rows(generator.random(300) < p, p)
    bound = find_measure("ece", {"n_bins": 10})
    cell = bound.cells(sample.value, sample.count)
    exact = 0.0
    for b in range(10):
        v = np.repeat(sample.value[cell == b], sample.count[cell == b].astype(int))
        pmf = poisson_binomial(v)
        exact += pmf @ np.abs(np.arange(pmf.size) - v.sum()) / 300
    by_pmf = resample(bound, sample, Labels(), Draws(KEY, 40_000), 1)
    by_row = draw(sample, Labels(), bound.evaluate, Draws(KEY, 20_000), 1)
    for drawn in (by_pmf, by_row):
        limit = stats.norm.isf(FALSE_ALARM / 2) * drawn.std() / np.sqrt(drawn.size)
        assert abs(drawn.mean() - exact) < limit
        assert abs(drawn.mean() * 1.01 - exact) > limit  # planted fault: one per cent off


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
@pytest.mark.parametrize("name", ["ece", "mcb"])
def test_threads_and_chunks_do_not_show(scheme, name, monkeypatch):
    generator = np.random.default_rng(2)
    p = np.round(generator.random(5000), 4)
    sample = cs.Sample.from_rows(generator.random(5000) < p, p)
    bound = find_measure(name, {})

    def run(n_jobs):
        return resample(bound, sample, scheme, Draws(KEY, 130, n_jobs), 1)

    alone = run(1)
    assert np.array_equal(alone, run(2))
    assert np.array_equal(alone, run(3))
    monkeypatch.setattr(binary_cells, "WORTH_A_THREAD", 0)
    assert np.array_equal(alone, run(2))
    for module in (binary_labels, binary_pairs, binary_cells):
        monkeypatch.setattr(module, "chunks", lambda size, jobs: list(pairwise([0, 1, size // 3, size - 2, size])))
    assert np.array_equal(alone, run(1))
    assert not np.array_equal(alone, resample(bound, sample, scheme, Draws(KEY + np.uint64(1), 130), 1))
    assert not np.array_equal(alone, resample(bound, sample, scheme, Draws(KEY, 130), 2))


def test_more_resamples_extend_the_same_sequence():
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
    bound = find_measure("ks", {})
    for scheme in SCHEMES:
        few, many = (resample(bound, sample, scheme, Draws(KEY, r), 1) for r in (10, 100))
        assert np.array_equal(few, many[:10])
