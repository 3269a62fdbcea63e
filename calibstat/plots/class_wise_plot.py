"""One small reliability diagram for each class, and the test of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.plots.reliability_axes import (
    HEIGHT,
    NAME,
    rows_or_weight,
    rows_strip,
    set_limits,
    strip_within,
    vertical_label,
)
from calibstat.plots.reliability_plot import plot_bins, say_error, say_level
from calibstat.plots.style import POINT, TIGHT, as_text, colors, grid_middle, grid_of_axes, named_legend, new_axes
from calibstat.resampling.quantiles import quantiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 16  # classes in one figure of diagrams, which fits on a page
ACROSS = 4  # diagrams beside each other
PAGE = 6.7  # inches that they share
PANEL_WIDTH = 2.4  # inches of one
CLASS_LINES = 40  # classes in one figure of tests
_MARKED = 0.05  # of the tests that are marked


def plot_class_wise_diagrams(of_classes: ClassWiseReliability, ax: Axes | None, deviation: bool = False) -> Axes:
    """A small diagram for each class, or for the 16 with the largest error; returns the axes of the first."""
    from matplotlib.transforms import ScaledTranslation

    if ax is not None:
        raise ValueError("expected no axes for a class-wise diagram, found axes: draw one of `diagrams` in them")
    n_classes = len(of_classes.names)
    shown = of_classes.largest_errors(PANELS) if n_classes > PANELS else np.arange(n_classes)
    across = shown.size if shown.size <= 3 else min(ACROSS, int(np.ceil(np.sqrt(shown.size))))
    down = -(-shown.size // across)
    diagrams = [of_classes.diagrams[k] for k in shown]
    titles = [f"{as_text(of_classes.names[k], NAME)}\n{say_error(of_classes.diagrams[k], short=True)}" for k in shown]
    lines = max(title.count("\n") for title in titles) + 1
    width = min(PAGE / across, PANEL_WIDTH)
    grid = grid_of_axes(across, down, width, HEIGHT * width, gap=0.14 * lines + (0.2 if shown.size % across else 0.1))
    middle, centre = grid_middle(grid)
    highest = max(diagram.count.max() for diagram in diagrams)
    entries: dict[str, Any] = {}
    for diagram, title, panel in zip(diagrams, titles, grid.flat, strict=False):
        set_limits(panel, diagrams, deviation, within=True)
        _draw_class(diagram, panel, title, deviation, highest, in_first_column=panel in grid[:, 0])
        handles, labels = panel.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | entries
    for spare in grid.flat[shown.size :]:
        spare.remove()
    for lowest in grid.flat[shown.size - across : shown.size]:  # of each column
        lowest.tick_params(labelbottom=True)
    which = (
        f"{n_classes} classes" if n_classes <= PANELS else f"the {PANELS} of {n_classes} classes with the largest ECE"
    )
    own = ", each with its own band" if diagrams[0].band else ""
    heading = (
        f"{which}, n = {of_classes.n:,}{own}\nECE{say_level(diagrams)}; below, {rows_or_weight(diagrams[0]).lower()}"
    )
    first: Axes = grid[0, 0]
    figure = cast("Figure", first.figure)
    above = first.transAxes + ScaledTranslation(0, 0.14 * lines + 0.1, figure.dpi_scale_trans)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (middle, 1), "bbox_transform": above}
    named_legend(figure, [*entries.values()], [*entries], title=heading, ncols=min(across, 3), **place, **TIGHT)
    _label_both_axes(grid[-1, 0], middle, centre, vertical_label(deviation))
    return first


def _draw_class(
    diagram: Reliability, panel: Axes, title: str, deviation: bool, highest: float, *, in_first_column: bool
) -> None:
    """Draw the diagram of one class, with a strip of rows below that goes up to `highest`."""
    strip = strip_within(panel)
    plot_bins(diagram, panel, deviation, size=0.6)
    rows_strip(diagram, strip, highest)
    panel.tick_params(labelsize="x-small", labelbottom=False, labelleft=in_first_column)
    strip.tick_params(axis="y", labelleft=in_first_column, labelsize="xx-small")
    panel.set_title(title, fontsize="x-small", pad=3, parse_math=False)


def _label_both_axes(corner: Axes, middle: float, centre: float, vertical: str) -> None:
    """Write once what all panels have on their axes: below and to the left of the panel in the corner."""
    from matplotlib.transforms import ScaledTranslation

    figure = cast("Figure", corner.figure)
    below = ScaledTranslation(0, -0.42, figure.dpi_scale_trans)
    beside = ScaledTranslation(-0.58, 0, figure.dpi_scale_trans)
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "medium"}
    figure.text(middle, 0, "Predicted probability", transform=corner.transAxes + below, **text)
    figure.text(0, centre, vertical, rotation=90, transform=corner.transAxes + beside, **text)


def plot_class_wise_test(test: CalibrationTestResult, ax: Axes | None) -> Axes:
    """The statistic of each class against the range of its null distribution, smallest p-values first."""
    each = test.classes
    assert each is not None
    n_classes, order = len(each.names), smallest_first(each.pvalue)[:CLASS_LINES]
    ax, color = new_axes(ax, height=1.8 + 0.22 * order.size), colors()
    place, statistic = np.arange(order.size), each.statistic[order]
    low, high = quantiles(each.null_distribution[:, order], (0.05, 0.95), axis=0)
    label = "middle 90% of resamples if calibrated"
    ax.hlines(place, low, high, color=color["blue"], alpha=0.3, linewidth=7, label=label)
    far = each.pvalue_holm[order] <= _MARKED
    for these, marker, hue, sign in ((~far, "o", "blue", ">"), (far, "D", "red", "≤")):
        if these.any():
            style = {**POINT, "marker": marker, "color": color[hue]}
            ax.plot(statistic[these], place[these], label=f"observed, p (Holm) {sign} {_MARKED}", **style)
    right = ax.get_yaxis_transform()
    for y, pvalue in enumerate(each.pvalue_holm[order]):
        ax.text(1.02, y, f"{settled(pvalue):.2g}", transform=right, va="center", fontsize="small")
    ax.text(1.02, 1, "p (Holm)", transform=ax.transAxes, va="bottom", fontsize="small")
    ax.set_yticks(place, [as_text(each.names[k], 30) for k in order], fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(order.size - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    which = f"The {CLASS_LINES} of {n_classes} classes with the smallest p" if n_classes > CLASS_LINES else "Class"
    ax.set(xlabel=f"{test.measure}, n = {test.n}", ylabel=which)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False)
    return ax
