"""Plots of calibration belts show the numbers of the result."""

import matplotlib as mpl
import numpy as np

import calibstat as cs
from calibstat.classical.calibration_belt import (
    calibration_belt,
)


def wavy(n, seed):
    """Outcomes whose calibration curve has a wave that a cubic sees."""
    rng = np.random.default_rng(seed)
    v = rng.beta(1, 2, n)
    return (rng.random(n) < v + 0.6 * np.sin(2 * np.pi * v) * v * (1 - v)).astype(int), v


def test_picture_shows_the_numbers_of_the_result():
    found = calibration_belt(*wavy(2000, 1), held_out=True)
    ax = cs.plot(found)
    labels = ax.get_legend_handles_labels()[1]
    assert labels[:4] == ["95% band", "80% band", "calibrated", "curve of degree 3"]
    assert np.array_equal(ax.lines[1].get_ydata(), found.curve)
    assert len(ax.lines) == 2 + len(found.departures())
    outline = ax.collections[0].get_paths()[0].vertices
    assert {found.low[1].min(), found.high[1].max()} <= set(outline[:, 1])
    mpl.pyplot.close(ax.figure)
