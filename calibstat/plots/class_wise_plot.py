"""One small reliability diagram for each class, and the test of each class."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.inference.calibration_tests import ClassWiseTestResult
from calibstat.inference.reliability_diagrams import ClassWiseReliability
from calibstat.plots.reliability_plot import plot_bins, plot_rows_of_bins, vertical_label, vertical_limits
from calibstat.plots.style import POINT, colors, new_axes, strip_along
from calibstat.resampling.quantiles import quantiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 25  # classes in one figure of diagrams
LINES = 40  # classes in one figure of tests
LEVEL = 0.05  # of the tests that are marked


def plot_class_wise_diagrams(found: ClassWiseReliability, ax: Axes | None, deviation: bool = False) -> Axes:
    """A small diagram for each class, or for the 25 with the largest error; returns the axes of the first."""
    import matplotlib.pyplot as plt

    if ax is not None:
        raise ValueError("expected no axes for a class-wise diagram, found axes: draw one of `diagrams` in them")
    n_classes = len(found.names)
    shown = found.worst(PANELS) if n_classes > PANELS else np.arange(n_classes)
    across = shown.size if shown.size <= 3 else int(np.ceil(np.sqrt(shown.size)))
    down = -(-shown.size // across)
    side = 2.3 if across <= 3 else 1.9
    size = side * across + 0.6, side * down + 1.2
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
    figure, grid = plt.subplots(down, across, figsize=size, **shared)
    limits = vertical_limits([found.diagrams[k] for k in shown], deviation, strip=True)
    legend: dict[str, Any] = {}
    for k, panel in zip(shown, grid.flat, strict=False):
        diagram = found.diagrams[k]
        plot_bins(diagram, panel, deviation, size=0.7)
        plot_rows_of_bins(diagram, strip_along(panel, "rows of each bin"), labelled=False)
        name = textwrap.fill(str(found.names[k]), 24)
        panel.set_title(f"{name}\nECE {found.error[k]:.3g}", fontsize="small", parse_math=False)
        handles, labels = panel.get_legend_handles_labels()
        legend = dict(zip(labels, handles, strict=True)) | legend
    grid[0, 0].set(xlim=(-0.02, 1.02), ylim=limits)
    for spare in grid.flat[shown.size :]:
        spare.remove()
    for above in grid.flat[shown.size - across : shown.size]:  # the lowest of each column
        above.tick_params(labelbottom=True)
    which = f"{n_classes} classes"
    if n_classes > PANELS:
        which = f"the {PANELS} of {which} with the largest ECE"
    own = ", each with its own band" if found.diagrams[0].band else ""
    figure.supxlabel("Predicted probability", fontsize="medium")
    figure.supylabel(vertical_label(deviation), fontsize="medium")
    style: dict[str, Any] = {"ncols": min(across, 3), "fontsize": "small", "frameon": False}
    entries = list(legend.values()), list(legend)
    figure.legend(*entries, title=f"{which}, n = {found.n}{own}", loc="outside upper center", **style)
    first: Axes = grid[0, 0]
    return first


def plot_class_wise_test(found: ClassWiseTestResult, ax: Axes | None) -> Axes:
    """The statistic of each class against the range of its null distribution, smallest p-values first."""
    n_classes, order = len(found.names), np.argsort(found.pvalue, kind="stable")[:LINES]
    ax, color = new_axes(ax, height=1.8 + 0.22 * order.size), colors()
    place, statistic = np.arange(order.size), found.statistic[order]
    low, high = quantiles(found.null_distribution[:, order], (0.05, 0.95), axis=0)
    label = "middle 90% of resamples if calibrated"
    ax.hlines(place, low, high, color=color["blue"], alpha=0.3, linewidth=7, label=label)
    far = found.pvalue_holm[order] <= LEVEL
    for these, marker, hue, sign in ((~far, "o", "blue", ">"), (far, "D", "red", "≤")):
        if these.any():
            style = {**POINT, "marker": marker, "color": color[hue]}
            ax.plot(statistic[these], place[these], label=f"observed, p (Holm) {sign} {LEVEL}", **style)
    right = ax.get_yaxis_transform()
    for y, pvalue in enumerate(found.pvalue_holm[order]):
        ax.text(1.02, y, f"{pvalue:.2g}", transform=right, va="center", fontsize="small")
    ax.text(1.02, 1, "p (Holm)", transform=ax.transAxes, va="bottom", fontsize="small")
    ax.set_yticks(place, [str(found.names[k]) for k in order], fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(order.size - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    which = f"The {LINES} of {n_classes} classes with the smallest p" if n_classes > LINES else "Class"
    ax.set(xlabel=f"{found.measure}, n = {found.n}", ylabel=which)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False)
    return ax
