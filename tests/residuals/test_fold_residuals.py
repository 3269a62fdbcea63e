"""Residuals in folds: the noise in cells is divided by the number of rows."""

import numpy as np
import pytest

from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.data.sample import Sample
from calibstat.resampling import Draws, sums_of_fold_signs
from calibstat.residuals.fold_residuals import FoldResiduals


def test_noise_is_of_residuals_at_distinct_predictions():
    y, p = np.array([0, 1, 1, 0, 1, 0.0]), np.array([0.2, 0.2, 0.5, 0.5, 0.9, 0.9])
    fold, draws = np.array([0, 1, 0, 1, 0, 1]), Draws.of(2, 65)
    table = RowTable.of_rows(LabelledRows(y, p), Sample.from_rows(y, p), None)
    noise = FoldResiduals(table, fold).noise(lambda theta: theta, draws)
    by_row = sums_of_fold_signs((np.arange(6), y - p), 6, fold, np.arange(6), lambda sums: sums, draws)
    assert noise == pytest.approx(by_row.reshape(65, 3, 2).sum(axis=2) / 6, abs=1e-15)
