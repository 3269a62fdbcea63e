"""Bins against a loop over rows, and steps by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import weighted_rows

import calibstat as cs
from calibstat.inference.bands.reliability_bands import Bins, Steps
from calibstat.measures.bins import bin_cells


@given(data=weighted_rows(), n_bins=st.integers(1, 9))
def test_bins_equal_a_loop(data, n_bins):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    bins = Bins.of(sample, bin_cells(sample.value, sample.count, n_bins=n_bins, strategy="uniform"))
    y, p = np.repeat(y, weight), np.repeat(p, weight)
    number = np.maximum(np.ceil(p * n_bins - 1e-12), 1)
    for k, b in enumerate(np.unique(number)):
        here = number == b
        assert bins.count[k] == here.sum()
        assert bins.positives[k] == y[here].sum()
        np.testing.assert_allclose((bins.mean[k], bins.frequency[k]), (p[here].mean(), y[here].mean()), atol=1e-12)
        ends = sample.value[bins.first[k]], sample.value[bins.last[k]]
        assert ends == (p[here].min(), p[here].max())
    assert bins.count.size == np.unique(number).size


STEPS = Steps(np.array([0.2, 0.6]), np.array([0.1, 0.4]), np.array([0.5, 0.9]))


def test_lower_ends_go_on_to_the_right_and_upper_ones_to_the_left():
    low, high = STEPS.at(np.array([0, 0.2, 0.3, 0.6, 0.7, 1]))
    np.testing.assert_array_equal(low, [0, 0.1, 0.1, 0.4, 0.4, 0.4])
    np.testing.assert_array_equal(high, [0.5, 0.5, 0.9, 0.9, 1, 1])


def test_corners_draw_level_lines():
    x, low, high = STEPS.corners()
    np.testing.assert_array_equal(x, [0, 0.2, 0.2, 0.6, 0.6, 1])
    np.testing.assert_array_equal(low, [0, 0, 0.1, 0.1, 0.4, 0.4])
    np.testing.assert_array_equal(high, [0.5, 0.5, 0.9, 0.9, 1, 1])
    middle = (x[::2] + x[1::2]) / 2  # of each level line
    np.testing.assert_array_equal(np.stack(STEPS.at(middle)), np.stack((low[::2], high[::2])))
