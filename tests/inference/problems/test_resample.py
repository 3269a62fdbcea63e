"""Resamples of a measure of one event: an exact mean, and that neither threads nor chunks show."""

from itertools import pairwise

import numpy as np
import pytest
from binary_draws import FALSE_ALARM, KEY, SCHEMES, names, poisson_binomial
from scipy import stats

import calibstat as cs
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import (
    CellSums,
    ClassCells,
    ClassSamples,
    Draws,
    Labels,
    binary_cells,
    binary_labels,
    draw,
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
    by_pmf = resampler(bound, sample, Labels(), 1)(Draws(KEY, 40_000))
    by_row = draw(sample, Labels(), bound.evaluate, Draws(KEY, 20_000), 1)
    for drawn in (by_pmf, by_row):
        limit = stats.norm.isf(FALSE_ALARM / 2) * drawn.std() / np.sqrt(drawn.size)
        assert abs(drawn.mean() - exact) < limit
        assert abs(drawn.mean() * 1.02 - exact) > limit  # planted fault: two per cent off


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
@pytest.mark.parametrize("name", ["ece", "mcb"])
def test_threads_and_chunks_do_not_show(scheme, name, monkeypatch):
    generator = np.random.default_rng(2)
    p = np.round(generator.random(5000), 4)
    sample = cs.Sample.from_rows(generator.random(5000) < p, p)
    bound = find_measure(name, {})

    def run(n_jobs):
        return resampler(bound, sample, scheme, 1)(Draws(KEY, 130, n_jobs))

    alone = run(1)
    assert np.array_equal(alone, run(2))
    assert np.array_equal(alone, run(3))
    monkeypatch.setattr(binary_cells, "WORTH_A_THREAD", 0)
    assert np.array_equal(alone, run(2))
    for module in (binary_labels, binary_cells):
        monkeypatch.setattr(module, "chunks", lambda size, jobs: list(pairwise([0, 1, size // 3, size - 2, size])))
    assert np.array_equal(alone, run(1))
    assert not np.array_equal(alone, resampler(bound, sample, scheme, 1)(Draws(KEY + np.uint64(1), 130)))
    assert not np.array_equal(alone, resampler(bound, sample, scheme, 2)(Draws(KEY, 130)))


def test_more_resamples_extend_the_same_sequence():
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
    bound = find_measure("ks", {})
    for scheme in SCHEMES:
        few, many = (resampler(bound, sample, scheme, 1)(Draws(KEY, r)) for r in (10, 100))
        assert np.array_equal(few, many[:10])


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
@pytest.mark.parametrize(
    ("name", "worth", "table"), [("ece", 1e9, 2**24), ("ece", 0.11, 2**24), ("ece", 1e9, 1500), ("ks", 5.0, 2**24)]
)
def test_parts_make_the_whole(scheme, name, worth, table, monkeypatch):
    """Parts of the resamples, in any order, are those of the whole; the way of drawing is that of the whole."""
    monkeypatch.setattr(binary_cells, "LARGEST_PMF", worth)  # .11: worth while for 130 resamples, not for 90
    monkeypatch.setattr(binary_cells, "LARGEST_TABLE", table)  # 1500: of 15 cells for 90 resamples, not for 130
    p = np.round(np.random.default_rng(2).random(300), 3)
    sample = cs.Sample.from_rows(p > 0.4, p)
    one, whole = resampler(find_measure(name, {}), sample, scheme, 1), Draws(KEY, 130)
    expected = one(whole)
    for first, last in ((40, 130), (0, 40), (99, 100)):
        assert np.array_equal(one(whole.part(first, last, 1)), expected[first:last])


def test_the_distributions_of_cells_are_kept(monkeypatch):
    """They are computed once for all draws from the same probabilities, and anew for others."""
    sample = cs.Sample.from_counts([0.2, 0.5, 0.9], [30, 3, 40], [6, 1, 30])
    source, truth, asked = CellSums(sample, np.arange(3)), np.array([0.4, 0.5, 0.7]), []
    compute = binary_cells.pmfs_of_positives
    monkeypatch.setattr(binary_cells, "pmfs_of_positives", lambda *known: asked.append(known[3]) or compute(*known))

    def run(scheme):
        return draw(source, scheme, lambda _, residual, __: residual.copy(), Draws(KEY, 50), 1)

    null, other = run(Labels()), run(Labels(truth))
    assert np.array_equal(run(Labels(truth)), other)
    assert np.array_equal(run(Labels()), null)
    assert [chance is truth for chance in asked] == [False, True, False]
    monkeypatch.setattr(binary_cells, "WORTH_A_THREAD", 0)
    for n_jobs in (1, 3):  # of other draws from the same probabilities
        for others in (1, 2, 3):
            fresh = CellSums(sample, np.arange(3))
            for jobs in (n_jobs, others):
                drawn = draw(fresh, Labels(), lambda _, residual, __: residual.copy(), Draws(KEY, 50, jobs), 1)
                assert np.array_equal(drawn, null)
    assert not np.array_equal(null, other)


def test_labels_of_an_alternative(monkeypatch):
    """Labels are drawn from `truth`, by every way of drawing, while the residuals are those of the predictions."""
    value, count, truth = np.array([0.2, 0.5, 0.9]), np.array([30.0, 3.0, 40.0]), np.array([0.4, 0.5, 0.7])
    sample = cs.Sample.from_counts(value, count, [6, 1, 30])
    mean = np.array([30 * 0.2, 0.0, 40 * -0.2]) / 73  # Σ count (truth - value) / n in each of the three bins
    kept = []
    for worth in (1e9, 0.0):  # from the distribution of each cell, and row by row
        monkeypatch.setattr(binary_cells, "LARGEST_PMF", worth)
        source = CellSums(sample, np.arange(3))
        drawn = draw(source, Labels(truth), lambda _, residual, __: residual, Draws(KEY, 4000), 1)
        kept.append(drawn)
        sd = np.sqrt(count * truth * (1 - truth) / 4000) / 73
        assert np.all(np.abs(drawn.mean(axis=0) - mean) < 5 * sd)
    assert not np.array_equal(*kept)
    monkeypatch.setattr(binary_cells, "LARGEST_PMF", 1e9)
    null = draw(source, Labels(), lambda _, residual, __: residual, Draws(KEY, 4000), 1)
    assert abs(null.mean(axis=0)[0] - mean[0]) > 5 * sd[0]  # the same check finds labels drawn from the predictions


def test_resampler_again():
    """Draws of one resampler do not depend on draws before."""
    sample = cs.Sample.from_rows([0, 1, 1, 0], [0.1, 0.4, 0.6, 0.6])
    one = resampler(find_measure("ece", {}), sample, Labels(), 1)
    first, _ = one(Draws(KEY, 20)), one(Draws(KEY + np.uint64(1), 20))
    assert np.array_equal(first, one(Draws(KEY, 20)))
    assert np.array_equal(first, resampler(find_measure("ece", {}), sample, Labels(), 1)(Draws(KEY, 20)))


def test_labels_of_an_alternative_of_classes():
    """Every source of labels draws them from `truth`: here from certain ones, so that all draws are the same."""
    predictions = cs.Predictions.from_rows([0, 1, 2], [[0.5, 0.25, 0.25]] * 3)
    of_truth = Labels(np.eye(3)[[2, 0, 1]])
    draws = Draws(KEY, 7)
    assert np.array_equal(draw(predictions, of_truth, np.copy, draws, 1), np.tile([2, 0, 1], (7, 1)))
    sums = ClassCells(predictions, np.arange(3)[:, None] * 3, 1, 9)
    assert np.array_equal(draw(sums, of_truth, np.copy, draws, 1)[0].reshape(3, 3), np.eye(3)[[2, 0, 1]])
    of_classes = draw(ClassSamples(predictions), of_truth, lambda v, c: lambda v, c, a: a @ v, draws, 1)
    assert np.array_equal(of_classes, np.tile([0.5, 0.25, 0.25], (7, 1)))  # one row of each class
