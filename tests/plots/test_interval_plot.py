"""Intervals show their ends."""

import numpy as np
import pytest
from plotted_results import interval, lines, segments

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


def test_intervals_show_their_ends():
    found = {"A": interval(0.01, 0.03, 0.02), "B": interval(0.02, 0.05, 0.06, method="basic")}  # estimate outside
    ax = cs.plot(found)
    bars = segments(ax)["95% confidence interval"]
    np.testing.assert_array_equal(bars, [[[0.01, 0], [0.03, 0]], [[0.02, 1], [0.05, 1]]])
    np.testing.assert_array_equal(lines(ax)["estimate"], [[0.02, 0], [0.06, 1]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B"]
    assert "0.060 [0.020, 0.050]" in [text.get_text() for text in ax.texts]
