"""Sums over the cells of a binary sample: their distributions, by whichever kernel is cheapest."""

from dataclasses import replace

import numpy as np
import pytest
from binary_draws import KEY, SCHEMES, SMALL, TIED, names, poisson_binomial
from oracles import follows
from oracles import splitmix_words as words
from scipy import stats

import calibstat as cs
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import (
    CellSums,
    Consistency,
    Draws,
    Labels,
    Pairs,
    binary_cells,
    draw,
    streams,
)
from calibstat.resampling.poisson_binomial import pmf_of_positives


def draw_cells(sample, cell, scheme, n_resamples):
    """Count, residual / n and prediction / n in every cell, (n_resamples, cells) or (1, cells) where all share them."""
    parts = []
    draw(CellSums(sample, cell), scheme, lambda *sums: parts.append(sums) or np.zeros(1), Draws(KEY, n_resamples), 1)
    assert len(parts) == 1
    return parts[0]


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
def test_cell_pmf(sample, scheme):
    """Sums over fixed cells have the distribution of the summary's sums, and the three of a cell belong together."""
    cell = find_measure("ece", {"n_bins": 3}).cells(sample.value, sample.count)
    count, residual, value = draw_cells(sample, cell, scheme, 40_000)
    n = sample.n
    positives = (residual + value) * n
    assert np.allclose(positives, np.round(positives), atol=1e-9)
    assert np.all(count.sum(axis=1) == n)
    for b in np.unique(cell):
        inside = cell == b
        v, c, a = (array[inside] for array in sample.arrays)
        hits = np.arange(n + 1)
        if scheme == Labels():
            pmf = poisson_binomial(np.repeat(v, c.astype(int)))
            assert np.allclose(value[:, b] * n, c @ v)
        else:
            assert follows(count[:, b], stats.binom.pmf(hits, n, c.sum() / n))
            pmf = stats.binom.pmf(hits, n, (c @ v if scheme == Consistency() else a.sum()) / n)
            # the mean prediction given the rows: compare the mean of sum v with its expectation, within normal limits
            difference = value[:, b] * n - count[:, b] * (c @ v) / c.sum()
            assert abs(difference.mean()) <= 4.5 * difference.std() / np.sqrt(len(difference)) + 1e-12
        assert follows(np.round(positives[:, b]), pmf)


def test_an_outcome_belongs_to_the_row_it_is_drawn_with():
    """With predictions 0 and 1 in one cell every drawn outcome equals its prediction, however the rows fall."""
    sample = cs.Sample.from_counts([0.0, 1.0], [30, 20], [10, 15])
    for scheme in (Consistency(), Pairs()):
        count, residual, value = draw_cells(sample, np.zeros(2, np.int64), scheme, 2000)
        assert np.unique(value).size > 10
        assert np.all(count == 50)
        assert np.all(residual == 0) == (scheme == Consistency())


def test_inversion_is_exact():
    """The table that speeds up inversion gives what a search of it all gives; one cell holds no rows."""
    generator = np.random.default_rng(6)
    p = np.sort(generator.beta(0.3, 0.3, 6000))
    sample = cs.Sample.from_rows(np.zeros(p.size), p)
    cell = np.searchsorted([0.001, 0.2, 0.2, 0.9], sample.value)
    count, residual, value = draw_cells(sample, cell, Labels(), 500)
    starts = [streams.first_state(KEY, 1, replicate) for replicate in range(500)]
    uniform = ((words(starts, 5) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    for b in range(5):
        least, pmf = pmf_of_positives(sample.value[cell == b], sample.count[cell == b])
        total = np.cumsum(pmf)
        positives = least + np.searchsorted(total, uniform[:, b] * total[-1])
        assert np.array_equal(residual[:, b], positives / sample.n - value[0, b])
        assert count[0, b] == np.sum(cell == b)


def test_few_rows_at_each_prediction_are_drawn_one_by_one(monkeypatch):
    """All twelve outcomes of three predictions have their probabilities, and no distribution is computed."""
    monkeypatch.setattr(binary_cells, "_from_distributions", None)
    sample = cs.Sample.from_counts([0.1, 0.4, 0.8], [1, 2, 1], [0, 1, 1])
    count, residual, value = draw_cells(sample, np.arange(3), Labels(), 20_000)
    assert np.all(count == [1, 2, 1])
    assert np.allclose(value, [[0.1 / 4, 0.8 / 4, 0.8 / 4]])
    outcome = np.round((residual + value) * 4) @ [6, 2, 1]

    def law(*chances):
        of_each = (stats.binom.pmf(np.arange(c + 1), c, p) for c, p in zip((1, 2, 1), chances, strict=True))
        return np.einsum("i,j,k->ijk", *of_each).ravel()

    assert follows(outcome, law(0.1, 0.4, 0.8))
    assert not follows(outcome, law(0.1, 0.46, 0.8))


def test_rows_one_by_one_have_the_law_of_the_distributions(monkeypatch):
    """Two samples of the default statistic, drawn in two ways; other probabilities would be found."""
    p = np.random.default_rng(4).beta(0.5, 0.8, 300).round(3)
    sample = cs.Sample.from_rows(p > 0.5, p)
    scheme, drawn = Labels(), {}
    for rows in (10, 0):
        monkeypatch.setattr(binary_cells, "ROWS_OF_A_CELL", rows)
        statistic = resampler(find_measure("omnibus", {}), sample, scheme, 1)
        drawn[rows] = statistic(Draws(KEY, 4000))
    assert not np.array_equal(drawn[10], drawn[0])
    assert stats.ks_2samp(drawn[10], drawn[0]).pvalue > 1e-3
    moved = Labels(sample.value + 0.04 * (sample.value < 0.9))
    other = resampler(find_measure("omnibus", {}), sample, moved, 1)(Draws(KEY, 4000))
    assert stats.ks_2samp(other, drawn[0]).pvalue < 1e-6


def test_large_distributions_are_drawn_cell_by_cell(monkeypatch):
    """Where the exact distribution would cost too much, the cells are drawn from the summary: other numbers."""
    monkeypatch.setattr(binary_cells, "LARGEST_PMF", 0.0)
    test_cell_pmf(SMALL, Labels())


@pytest.mark.parametrize(
    ("value", "count", "n_resamples", "exact"),
    [
        (np.linspace(0, 1, 101), 100.0, 999, True),
        (
            np.linspace(0, 1, 1001),
            1e5,
            999,
            False,
        ),  # a second for each bin, but .1 microseconds for a draw
        (np.linspace(0, 1, 1001), 1e12, 999, False),
        (np.linspace(0, 1, 2000), 1.0, 999, True),
        (np.linspace(0, 1, 100_000), 1.0, 3, False),  # few resamples are drawn before the distributions are made
        (np.linspace(0, 1, 100_000), 1.0, 999, True),
    ],
)
def test_the_exact_distribution_is_taken_where_it_is_cheaper(monkeypatch, value, count, n_resamples, exact):
    taken = []
    monkeypatch.setattr(binary_cells, "_from_distributions", lambda *_: taken.append(True) or np.zeros((3, 1, 1)))
    monkeypatch.setattr(binary_cells, "labels_in_one_pass", lambda *_: np.zeros((1, 15)))
    counts = np.full(value.size, count)
    sample = cs.Sample.from_counts(value, counts, np.round(counts * value))
    cell = np.minimum((value * 15).astype(np.int64), 14)
    draw_cells(sample, cell, Labels(), n_resamples)
    assert taken == [True] * exact


def test_statistics_of_the_same_cells_share_their_draws(monkeypatch):
    """The rows of a sample are drawn once for several statistics; other words, cells and samples are drawn anew."""
    drawn, kernel = [], binary_cells._rows_in_cells
    monkeypatch.setattr(binary_cells, "_rows_in_cells", lambda *a: drawn.append(1) or kernel(*a))
    sample = cs.Sample.from_rows(*cs.generators.temperature(2).sample(500, rng=1))
    again, cell = replace(sample), np.minimum((sample.value * 5).astype(np.int64), 4)

    def sums(sample, cell=cell, stream=1, scheme=SCHEMES[2]):
        source = CellSums(sample, cell)
        return draw(source, scheme, lambda *s: np.stack(np.broadcast_arrays(*s), axis=1), Draws(KEY, 30), stream)

    first = sums(sample)
    assert np.array_equal(sums(sample, cell.copy()), first)
    assert len(drawn) == 1
    assert np.array_equal(sums(again), first)
    for other in ({"stream": 2}, {"cell": np.minimum(cell, 3)}, {"scheme": SCHEMES[1]}, {}):
        sums(sample, **other)
    assert len(drawn) == 6
    with pytest.raises(ValueError, match="read-only"):  # so that no statistic changes what the next one is given
        draw(CellSums(sample, cell), SCHEMES[2], lambda count, residual, value: residual.fill(0), Draws(KEY, 30), 1)


def many_predictions(m=10_000, rows=40):
    """Predictions over (0, 1), of which each has many rows."""
    value = (np.arange(m) + 0.5) / m
    count = np.full(m, float(rows))
    positives = np.random.default_rng(7).binomial(rows, value**1.2).astype(float)
    return cs.Sample.from_counts(value, count, positives)


def in_four(sample):
    return find_measure("ece", {"n_bins": 4}).cells(sample.value, sample.count)


def moments_are_right(scheme, resamples=1000):
    """Whether the drawn sums of rows, predictions and residuals have the means and variances of rows drawn alone."""
    sample = many_predictions()
    (value, count, positives), cell, n = sample.arrays, in_four(sample), sample.n
    drawn = draw_cells(sample, cell, scheme, resamples)
    chance = positives / count if scheme == Pairs() else value
    ratio = stats.chi2.ppf([1e-6, 1 - 1e-6], resamples - 1) / resamples
    good = True
    for b in range(4):
        c, v, q = (array * (cell == b) for array in (count, value, chance))
        means = c.sum(), c @ (q - v), c @ v
        squares = c.sum(), c @ (q * (1 - v) ** 2 + (1 - q) * v**2), c @ v**2
        for sums, mean, square, unit in zip(drawn, means, squares, (1, n, n), strict=True):
            variance, found = square - mean**2 / n, sums[:, b] * unit
            good &= bool(abs(found.mean() - mean) <= 4.9 * np.sqrt(variance / resamples))
            good &= bool(ratio[0] <= found.var() / variance <= ratio[1])
    return good


@pytest.mark.parametrize("scheme", [Pairs(), Consistency()], ids=names)
def test_very_many_predictions_are_drawn_with_the_moments_of_all(scheme, monkeypatch):
    assert moments_are_right(scheme)

    def wrong(source, predictions):
        """Neighbours put together at the lowest of them."""
        value, count, positives = source.sample.arrays
        sums = (np.add.reduceat(array, np.arange(0, value.size, 10)) for array in (count, positives))
        return CellSums(cs.Sample(value[::10].copy(), *sums), source.cell[::10].copy())

    monkeypatch.setattr(binary_cells, "with_few_predictions", wrong)
    assert not moments_are_right(scheme)


def test_few_predictions_are_drawn_as_they_are():
    few, many = many_predictions(1000), many_predictions()
    source = CellSums(few, in_four(few))
    assert binary_cells.with_few_predictions(source, binary_cells.PREDICTIONS) is source
    merged = binary_cells.with_few_predictions(CellSums(many, in_four(many)), binary_cells.PREDICTIONS)
    assert 4 * binary_cells.PREDICTIONS <= merged.sample.value.size <= 5 * binary_cells.PREDICTIONS
    assert merged.size == 4
    for name in ("count", "positives"):
        assert getattr(merged.sample, name).sum() == getattr(many, name).sum()
    assert merged.sample.count @ merged.sample.value == pytest.approx(many.count @ many.value, rel=1e-14)
