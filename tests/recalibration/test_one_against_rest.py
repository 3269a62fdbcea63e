"""One class against the rest: columns, rows and logarithms."""

import math

import numpy as np

from calibstat.recalibration import PlattScaling
from calibstat.recalibration.one_against_rest import columns_of, rows_of, two_logs


def test_two_classes_are_one_column():
    assert columns_of(2) == [1]
    assert columns_of(4) == [0, 1, 2, 3]
    assert rows_of(np.array([[0.25], [1.0]])).tolist() == [[0.75, 0.25], [0, 1]]
    assert rows_of(np.array([[1.0, 2, 1], [0, 0, 0]])).tolist() == [[0.25, 0.5, 0.25], [1 / 3] * 3]


def test_confident_predictions_keep_their_digits():
    # 1 - p of the first class is 1e-20, which 1 less p does not know: its logarithm is -46.05, not infinite
    own, others = two_logs(np.array([[1 - 1e-20, 6e-21, 4e-21], [0.2, 0.3, 0.5]]), None, PlattScaling())
    np.testing.assert_allclose(others[0], [-math.log(1e20), 0, 0], rtol=1e-14)
    np.testing.assert_allclose(others[1], np.log([0.8, 0.7, 0.5]), rtol=1e-14)
    np.testing.assert_allclose(own[1], np.log([0.2, 0.3, 0.5]), rtol=1e-15)


def test_two_columns_keep_the_digits_of_both():
    own, others = two_logs(np.array([[1e-20, 1.0]]), None, PlattScaling())
    assert (own.tolist(), others.tolist()) == ([[0.0]], [[math.log(1e-20)]])
