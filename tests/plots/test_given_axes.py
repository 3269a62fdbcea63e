"""In small given axes nothing is cut off, nothing is hidden by the legend, and all that is written can be read."""

import functools
import itertools
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from plotted_results import asked, cells, interval, made_up_tests, rows

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")

SIDE, HEIGHT = 3.5, 3.0  # inches, of a column of a journal
PRINTED = 200  # dots per inch
LEAST = 6.0  # points that can be read
FEW = "random forest with 500 trees"


def models():
    y, p = rows(600)
    return y, {"logistic": p, FEW: p**2, "boosting": p**0.5, "naive Bayes": 1 - p, "network": np.full(600, 0.5)}


def reversed_rows():
    """Points in the two corners that a good model leaves free for a legend, and near the diagonal."""
    y, p = rows(600)
    return cs.reliability(np.append(y, y), np.append(p, 1 - p), rng=1)


def audited():
    y, p = rows(600)
    groups = {"the first half": np.arange(600) < 300, "odd": np.arange(600) % 2 == 1}
    return cs.audit(y, {"A": p, FEW: p**2}, groups=groups, rng=1)


def watched():
    """A monitor whose evidence goes over powers of ten."""
    y, p = rows(600)
    monitor = cs.Monitor()
    for month in range(1, 7):
        monitor.update(y, p, period=f"2025-{month:02d}")
    return monitor


RESULTS = {
    "reliability": asked(cs.reliability, rng=1),
    "reversed": reversed_rows,
    "several": lambda: cs.reliability(*models(), rng=1),
    "test": asked(cs.calibration_test, measure="brier", n_resamples=99, rng=1),
    "tests of classes": lambda: made_up_tests(12),
    "intervals": lambda: {FEW: interval(0.01, 0.03, 0.02), "B": interval(0, 0.02, 0.01)},
    "differences": lambda: cs.compare(*models(), measure="brier", rng=1),
    "smooth": asked(cs.detail, measure="smooth_ece"),
    "gaps": asked(cs.detail, measure="ece"),
    "sharpness": asked(cs.sharpness),
    "validation": asked(cs.validate),
    "hospitals": lambda: cs.validate(*rows(600), cluster=[f"hospital number {i % 5}" for i in range(600)]).by_cluster,
    "belt": lambda: cs.classical.calibration_belt(*rows(600), held_out=True),
    "monitor": watched,
    "width": lambda: cs.sample_size(rows(600)[1], width=0.2),
    "net benefit": lambda: cs.net_benefit(*models()),
    "losses": lambda: cs.decision_loss(*models(), n_resamples=19, rng=1),
    "groups": lambda: audited()["A"],
    "groups of models": audited,
    "triangle": lambda: cells(3),
}
made = functools.cache(lambda name: RESULTS[name]())


def visible_texts(figure):
    """All texts that are drawn: those of ticks beyond the ends of an axis are not."""
    hidden = {
        label
        for ax in figure.axes
        for one in (ax, *ax.child_axes)
        for axis in (one.xaxis, one.yaxis)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        for label in (tick.label1, tick.label2)
        if not (one.axison and min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval()))
    }
    return [each for each in figure.findobj(Text) if each.get_visible() and each.get_text() and each not in hidden]


def cut_off(figure):
    width, height = figure.bbox.width, figure.bbox.height
    boxes = {each.get_text(): each.get_window_extent() for each in visible_texts(figure)}
    return [t for t, b in boxes.items() if b.x0 < 0 or b.y0 < 0 or b.x1 > width or b.y1 > height]


def is_whole(ax):
    """Whether the legend of axes is in the figure."""
    box, whole = ax.get_legend().get_window_extent(), ax.figure.bbox
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= whole.x1 and box.y1 <= whole.y1


def hidden(ax):
    """How many of many points along the lines and marks of axes lie under the legend."""
    box, count = ax.get_legend().get_window_extent(), 0
    for line in ax.lines:
        at = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        at = at[np.isfinite(at).all(axis=1)]
        steps = np.linspace(0, 1, 50)[:, None]
        if len(at) > 1 and line.get_linestyle() != "None":
            at = np.vstack([(1 - steps) * a + steps * b for a, b in itertools.pairwise(at)])
        at = at[[ax.bbox.contains(*each) for each in at]] if len(at) else at
        count += sum(box.contains(*each) for each in at)
    return count


def small(name, layout=None, **options):
    ax = cs.plot(made(name), plt.subplots(figsize=(SIDE, HEIGHT), layout=layout)[1], **options)
    ax.figure.draw_without_rendering()
    return ax


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("name", RESULTS)
def test_small_axes_show_everything(name, layout):
    ax = small(name, layout)
    assert tuple(ax.figure.get_size_inches()) == (SIDE, HEIGHT)
    for dpi in (ax.figure.dpi, PRINTED):  # letters end at pixels, so that text is wider in one than in the other
        ax.figure.set_dpi(dpi)
        ax.figure.draw_without_rendering()
        assert cut_off(ax.figure) == []
        assert ax.get_legend() is None or is_whole(ax)
    assert hidden(ax) == 0
    assert min(each.get_fontsize() for each in visible_texts(ax.figure)) >= LEAST
    assert ax.get_window_extent().width > SIDE / 4 * ax.figure.dpi


def test_numbers_below_do_not_touch_each_other():
    for name in ("differences", "intervals", "groups of models"):
        ax = small(name)
        boxes = [e.get_window_extent() for e in ax.get_xticklabels() if e in visible_texts(ax.figure)]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_without_room_for_wider_text_something_is_cut_off_where_it_is_printed(monkeypatch):
    """The planted fault."""
    left = small("intervals").get_position().x0
    monkeypatch.setattr(sys.modules["calibstat.plots.given_axes"], "UNEVEN", 0.0)
    assert small("intervals").get_position().x0 < left
    ax = small("sharpness")
    ax.figure.set_dpi(PRINTED)
    ax.figure.draw_without_rendering()
    assert cut_off(ax.figure) or not is_whole(ax)


def test_numbers_of_a_logarithmic_axis_stay_formulas():
    ax = small("monitor")
    numbers = [label for label in ax.get_yticklabels() if label.get_text()]
    assert numbers
    assert all(label.get_parse_math() and "\n" not in label.get_text() for label in numbers)


def test_a_validation_in_given_axes_names_its_numbers():
    found = made("validation")
    assert small("validation").get_title() == f"O/E {found.ratio:.2f}, slope {found.slope:.2f}, C {found.auc:.2f}"


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_a_long_title_takes_several_lines(layout):
    ax = small("test", layout, title="The calibration of the model of last year in the hospitals of two countries")
    assert ax.get_title().count("\n") >= 2
    assert cut_off(ax.figure) == []
    assert ax.title.get_fontsize() >= LEAST


@pytest.mark.parametrize("name", ["reversed", "several", "differences", "sharpness"])
def test_without_it_something_is_cut_off_or_hidden(name, monkeypatch):
    """The planted fault: given axes are left as they are."""
    monkeypatch.setattr(sys.modules["calibstat.plots.plot"], "are_alone", lambda ax: False)
    ax = small(name)
    assert cut_off(ax.figure)
    assert name not in ("reversed", "several") or hidden(ax)


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_a_title_and_no_legend(layout):
    ax = small("reversed", layout, title="A title of some length", legend=False)
    assert ax.get_legend() is None
    assert cut_off(ax.figure) == []
    assert ax.get_title().startswith("A title of some length\n")


def test_what_somebody_arranged_stays():
    """Axes beside others, in a place of their own, or in a figure whose margins were set, are not moved."""
    result = made("reversed")
    beside = plt.subplots(1, 2, figsize=(2 * SIDE, SIDE))[1][0]
    own = plt.figure(figsize=(SIDE, SIDE)).add_axes((0.3, 0.3, 0.5, 0.5))
    figure, adjusted = plt.subplots(figsize=(SIDE, SIDE))
    figure.subplots_adjust(left=0.3)
    for ax in (beside, own, adjusted):
        before = ax.get_position(original=True).bounds
        cs.plot(result, ax)
        ax.figure.draw_without_rendering()
        assert ax.get_position(original=True).bounds == before
