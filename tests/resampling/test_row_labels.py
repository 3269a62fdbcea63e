"""Labels drawn given the predictions, row by row and cluster by cluster."""

import numpy as np
import pytest
from scipy import stats

from calibstat.resampling import Draws, Labels, LabelsOfClusters, RowLabels, Stage, draw

CELL = np.array([0, 0, 1, 1, 2])
PREDICTION = np.array([0.0, 1.0, 0.3, 0.3, 0.8])


def drawn(scheme, n=4000, n_jobs=1, order=slice(None)):
    source = RowLabels(CELL[order], PREDICTION[order], 3)
    return draw(source, scheme, lambda theta: theta, Draws.of(1, n, n_jobs), Stage.TOGETHER)


def test_independent_rows_are_binomial():
    """Two rows at .3: residual sum y1 + y2 - .6 with y1 + y2 binomial; certain predictions never fail."""
    theta = drawn(Labels())
    assert theta[:, 0] == pytest.approx(0)
    seen = np.bincount(np.rint(theta[:, 1] * 5 + 0.6).astype(int), minlength=3)
    assert stats.chisquare(seen, 4000 * stats.binom.pmf([0, 1, 2], 2, 0.3)).pvalue > 1e-4


def test_rows_of_a_cluster_have_one_uniform_number():
    """Together both rows at .3 have the outcome 1 or neither, and only if that at .8 has it."""
    theta = drawn(LabelsOfClusters(np.zeros(5, np.int64)))
    pair, last = np.rint(theta[:, 1] * 5 + 0.6), np.rint(theta[:, 2] * 5 + 0.8)
    assert set(pair) == {0, 2}
    assert np.all(last[pair == 2] == 1)
    for events, chance in ((pair == 2, 0.3), (last == 1, 0.8)):
        low, high = stats.binom.interval(1 - 1e-5, 4000, chance)
        assert low <= np.sum(events) <= high


def test_threads_do_not_show():
    for scheme in (Labels(), LabelsOfClusters(np.array([0, 0, 0, 1, 1]))):
        assert np.array_equal(drawn(scheme, 50), drawn(scheme, 50, 2))
