"""Tables of a summary that are drawn, against loops over the drawn counts."""

import numpy as np
import pytest
from binary_draws import KEY, SMALL, TIED
from scipy import stats

from calibstat.bounds.absolute_norms import SumOverCells
from calibstat.bounds.residual_tables import SummaryTable
from calibstat.resampling import Draws, Pairs, Stream, binary_cells, draw

DRAWS = Draws(KEY, 20)


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
def test_residuals_of_drawn_counts(sample, monkeypatch):
    """Of each distinct prediction, or added up in cells of them: of a large table by the same draws."""
    monkeypatch.setattr(binary_cells, "LARGEST_TABLE", 1)
    cell = np.minimum((sample.value * 3).astype(np.int64), 2)
    counts = draw(sample, Pairs(), lambda _, count, positives: np.array([count, positives]), DRAWS, Stream.ROWS)
    alone = SummaryTable.of_sample(sample).resampled(np.copy, DRAWS)
    together = SummaryTable.of_sample(sample, cell).resampled(np.copy, DRAWS)
    for r, (count, positives) in enumerate(counts):
        theta = [(a - c * v) / sample.n for v, c, a in zip(sample.value, count, positives, strict=True)]
        assert alone[r] == pytest.approx(np.array(theta), abs=1e-12)
        assert together[r] == pytest.approx(np.bincount(cell, theta), abs=1e-12)


@pytest.mark.parametrize("cell", [None, np.zeros(6, np.int64)], ids=["predictions", "one cell"])
def test_their_mean_is_that_of_the_data(cell):
    found = SummaryTable.of_sample(SMALL, cell).resampled(lambda theta: theta.sum(axis=-1), Draws(KEY, 20_000))
    limit = stats.norm.isf(1e-5) * found.std() / np.sqrt(found.size)
    assert abs(found.mean() - SMALL.residual.sum()) < limit
    assert abs(found.mean() - SMALL.residual.sum() - 0.01) > limit  # planted fault: residuals that are .01 off


@pytest.mark.parametrize("cell", [None, np.array([0, 0, 1, 1, 2, 2])], ids=["predictions", "cells"])
def test_norms_of_moved_sums(cell):
    """Of the sums of each resample, moved by a step from an origin."""
    norm, origin = SumOverCells("absolute sum", cell), np.linspace(-0.2, 0.3, 6 if cell is None else 3)
    table = SummaryTable.of_sample(SMALL, cell)
    drawn = table.resampled(np.copy, DRAWS)
    found = table.moved(norm.value, None, origin, 2.5, DRAWS)
    assert found == pytest.approx(np.abs(origin + 2.5 * (drawn - origin)).sum(axis=-1), abs=1e-12)


def test_stages_and_threads():
    table = SummaryTable.of_sample(SMALL)
    assert np.array_equal(table.resampled(np.copy, DRAWS), table.resampled(np.copy, Draws(KEY, 20, 2)))
    assert not np.array_equal(table.resampled(np.copy, DRAWS), table.resampled(np.copy, DRAWS, Stream.COMPARE))
