"""Power curves, sample sizes and widths: the pictures show the numbers of the results."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibstat as cs

P = np.linspace(0.05, 0.95, 200)
FEW = {"test": "ks", "n_datasets": 40, "n_resamples": 99, "rng": 1}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn(ax):
    return {line.get_label(): line for line in ax.lines}


def points(ax):
    (bars,) = [each for each in ax.containers if each.get_label().startswith("power")]
    return bars.lines[0]


def test_a_power_curve():
    curve = cs.power(P, "temperature=2", [50, 100, 400], **FEW)
    ax = cs.plot(curve)
    assert points(ax).get_xdata().tolist() == [50, 100, 400]
    assert points(ax).get_ydata().tolist() == [point.power for point in curve.points]
    assert drawn(ax)["level, 5 %"].get_ydata()[0] == 0.05
    assert ax.get_xscale() == "log"
    ends = points(ax).axes.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose([seg[:, 1] for seg in ends], [(point.low, point.high) for point in curve.points])


def test_a_sample_size():
    found = cs.sample_size(P, "shift=1", **FEW)
    ax = cs.plot(found)
    assert drawn(ax)[f"n = {found.n} for 0.8"].get_xdata()[0] == found.n
    assert points(ax).get_xdata().tolist() == [point.n for point in found.curve.points]


def test_widths():
    found = cs.sample_size(P, width=0.2, of="slope")
    ax = cs.plot(found)
    assert drawn(ax)["width"].get_xdata().tolist() == [n for n, _ in found.curve]
    assert drawn(ax)["width"].get_ydata().tolist() == [width for _, width in found.curve]
    assert drawn(ax)[f"n = {found.n} for 0.2"].get_xdata()[0] == found.n


def test_given_axes_are_drawn_in():
    _, ax = plt.subplots()
    assert cs.plot(cs.sample_size(P, width=0.2), ax) is ax
