"""The picture of a validation shows the curves, rows and numbers of its result."""

from dataclasses import replace
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import legend, lines, outside, overlapping
from val_prob_rows import NAMES, stored

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")
Y, P = stored("rare")
ROWS = {
    **{name: dict(zip(("y_true", "y_prob"), stored(name), strict=True)) for name in NAMES},
    "clusters": {"y_true": Y, "y_prob": P, "cluster": np.arange(Y.size) // 9},
    "weights": {"y_true": Y, "y_prob": P, "sample_weight": np.where(Y == 1, 2.5, 1.5)},
    "equal predictions": {"y_true": Y, "y_prob": np.full(Y.size, 0.1)},
    "no event": {"y_true": 0 * Y, "y_prob": P},
    "separated": {"y_true": (P > 0.1).astype(int), "y_prob": P},
    "two predictions": {"y_true": Y, "y_prob": np.where(P > 0.1, 0.6, 0.2)},
}


@cache
def validated(name):
    return cs.validate(**ROWS[name])


@pytest.mark.parametrize("name", ROWS)
def test_it_shows_the_numbers_of_the_result(name):
    found = validated(name)
    ax = cs.plot(found)
    drawn = lines(ax)
    curves = {line.get_color(): line.get_ydata() for line in ax.lines[1:]}
    assert len(drawn) >= 1
    assert any(np.array_equal(y, found.lowess[1]) for y in curves.values())
    has_curve = np.isfinite(found.flexible.frequency).all()
    assert any(np.array_equal(y, found.flexible.frequency) for y in curves.values()) == has_curve
    assert any("flexible" in name for name in legend(ax)) == has_curve
    strip = ax.child_axes[0]
    heights = np.array([bar.get_height() for bar in strip.patches]).reshape(2, -1)
    assert np.array_equal(heights, [found.histogram.sum(axis=0), found.histogram[1]])
    assert f"n = {found.n:,}, {found.events:,} events" in strip.get_xlabel()
    written = [text.get_text() for text in ax.texts]
    for name_of_r, number in (("Slope", found.slope), ("Emax", found.emax), ("R²", found.r2), ("Q", found.quality)):
        shown = written[written.index(name_of_r) + 1]
        assert shown == ("–" if np.isnan(number) else f"{number:.3f}".replace("-", "−"))
    assert ("95% band, pointwise" in legend(ax)) == (found.flexible.low is not None and has_curve)


@pytest.mark.parametrize("name", ROWS)
def test_nothing_overlaps_or_is_cut_off(name):
    figure = cs.plot(validated(name), title="$5 to $10 of a title_that is long").figure
    assert overlapping(figure) == []
    assert outside(figure) == []
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) >= 30
    for k, a in enumerate(boxes):
        assert not any(min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0) for b in boxes[:k])


def test_a_long_interval_is_noticed_where_it_overlaps():
    """The planted fault: ends with more digits than there is room for."""
    found = validated("small")
    wide = replace(found, intervals=found.intervals | {"slope": (-123456789.0, 123456789.0)})
    figure = cs.plot(wide).figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    pairs = [(a, b) for k, a in enumerate(boxes) for b in boxes[:k]]
    assert any(min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0) for a, b in pairs)


def test_axes_end_at_the_next_tenth_of_small_predictions():
    for name, end in (("over_confident", 1.0), ("rare", 0.5), ("equal predictions", 0.1)):
        ax = cs.plot(validated(name))
        assert ax.get_xlim() == pytest.approx((-0.02 * end, 1.02 * end))
        assert len(ax.get_xticks()) >= 4


def test_in_given_axes_it_has_no_table():
    figure, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
    for ax, name in zip(axes, ("over_confident", "rare"), strict=True):
        assert cs.plot(validated(name), ax=ax) is ax
        assert len(ax.texts) == 0
        assert "events" in ax.get_xlabel()
    figure.draw_without_rendering()
    assert outside(figure) == []


def test_a_small_p_value_is_written_as_small():
    written = [text.get_text() for text in cs.plot(validated("over_confident")).texts]
    assert written[written.index("S:p") + 1] == "< 0.001"


def test_it_has_no_deviations():
    with pytest.raises(ValueError, match="expected a reliability diagram with deviation=True, found Validation"):
        cs.plot(validated("small"), deviation=True)
