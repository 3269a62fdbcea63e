"""The axes of reliability diagrams: square, with the scale of the rows, and a legend that hides nothing."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import outside, rows

import calibstat as cs
from calibstat.plots.reliability_axes import end_of, short

pytestmark = pytest.mark.usefixtures("closed_figures")


def scale(strip):
    return [(tick, label.get_text()) for tick, label in zip(strip.get_yticks(), strip.get_yticklabels(), strict=True)]


@cache
def diagrams(names):
    """Diagrams of 2000 rows, the same ones for each of several models; or the one diagram."""
    y, p = rows(2000)
    found = cs.reliability(y, p, rng=1)
    return dict.fromkeys(names, found) if len(names) > 1 else found


@pytest.mark.parametrize(
    ("layout", "names"),
    [("own", "A"), *((layout, n) for layout in ("constrained", "tight", None) for n in ("A", "ABC"))],
)
def test_the_diagonal_is_at_45_degrees_and_the_rows_have_a_scale(layout, names):
    found = diagrams(names)
    ax = None if layout == "own" else plt.subplots(figsize=(5, 4), layout=layout)[1]
    ax = cs.plot(found, ax)
    figure = ax.figure
    figure.draw_without_rendering()
    (x0, y0), (x1, y1) = ax.transData.transform([[0, 0], [1, 1]])
    assert abs((x1 - x0) - (y1 - y0)) < 1e-6
    (strip,) = ax.child_axes
    counts = (found if len(names) == 1 else found["A"]).count
    low, (tick, label) = scale(strip)
    assert low == (0, "0")
    assert label == f"{tick:g}"
    assert counts.max() / 2.5 < tick <= counts.max()
    box, of_rows, key = ax.get_window_extent(), strip.get_window_extent(), ax.get_legend().get_window_extent()
    assert of_rows.x0 == pytest.approx(box.x0)
    assert of_rows.x1 == pytest.approx(box.x1)
    assert of_rows.y1 < ax.transData.transform([0, 0])[1]  # hides nothing
    assert key.y1 < of_rows.y0  # nor does the legend
    assert outside(figure) == []


def test_the_scale_does_not_touch_that_of_the_frequencies():
    for n in (200, 499, 500, 999):
        sample = cs.Sample.from_counts([0.2, 0.7], [n, 40], [n // 5, 28])
        ax = cs.plot(cs.reliability(sample, rng=1), plt.subplots(figsize=(3.2, 3.6))[1])
        ax.figure.draw_without_rendering()
        zero = next(label for label in ax.get_yticklabels() if label.get_text() == "0.0").get_window_extent()
        assert ax.child_axes[0].get_yticklabels()[1].get_window_extent().y1 < zero.y0


def test_rows_are_written_short():
    assert [short(rows) for rows in (7, 999, 1000, 9960, 1.25e6, 3e9, 0.25)] == [
        "7", "999", "1.0k", "10k", "1.2M", "3.0G", "0.25"
    ]  # fmt: skip
    assert np.isfinite(float(short(1e-9)))


def test_deviations_have_no_numbers_beside_the_scale_of_the_strip():
    y, p = np.repeat([0, 1], 5000), np.full(10_000, 0.5)
    ax = cs.plot(cs.reliability(y, p, rng=1), plt.subplots()[1], deviation=True)
    (strip,) = ax.child_axes
    ax.figure.draw_without_rendering()
    lowest = min(label.get_window_extent().y0 for label in ax.get_yticklabels())
    assert lowest > max(label.get_window_extent().y1 for label in strip.get_yticklabels() if label.get_text())


@cache
def up_to(largest):
    """The diagram of ten predictions of a million rows each, which are all right."""
    value = np.linspace(0.1, 1, 10) * largest
    return cs.reliability(cs.Sample.from_counts(value, [10**6] * 10, np.round(value * 10**6)), rng=1)


@pytest.mark.parametrize(("largest", "end"), [(0.004, 0.005), (0.016, 0.02), (0.3, 0.5), (0.47, 1), (0.9, 1)])
@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_axes_end_where_nothing_is_above_them(largest, end, deviation, own):
    """All points are inside, and the diagonal is still at 45 degrees."""
    found = up_to(largest)
    assert end_of([found]) == pytest.approx(end)
    ax = cs.plot(found, None if own else plt.subplots(figsize=(5, 5), layout="constrained")[1], deviation=deviation)
    ax.figure.draw_without_rendering()
    assert ax.get_xticks().tolist() == pytest.approx(np.linspace(0, end, 6))
    assert ax.get_xlim()[1] == pytest.approx(1.02 * end)
    assert found.mean_prediction.max() < ax.get_xlim()[1]
    if not deviation:
        (x0, y0), (x1, y1) = ax.transData.transform([[0, 0], [end, end]])
        assert abs((x1 - x0) - (y1 - y0)) < 1e-6
        assert found.frequency.max() < ax.get_ylim()[1]
    assert outside(ax.figure) == []
