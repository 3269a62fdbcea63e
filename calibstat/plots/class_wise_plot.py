"""One small reliability diagram for each class, and the test of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.plots.small_diagrams import ACROSS, PANELS, plot_small_diagrams
from calibstat.plots.style import POINT, as_text, colors, new_axes
from calibstat.resampling.quantiles import quantiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASS_LINES = 40  # classes in one figure of tests
_MARKED = 0.05  # of the tests that are marked


def plot_class_wise_diagrams(of_classes: ClassWiseReliability, ax: Axes | None, deviation: bool = False) -> Axes:
    """A small diagram for each class, or for the 16 with the largest error; returns the axes of the first."""
    if ax is not None:
        raise ValueError("expected no axes for a class-wise diagram, found axes: draw one of `diagrams` in them")
    n_classes = len(of_classes.names)
    shown = of_classes.largest_errors(PANELS) if n_classes > PANELS else np.arange(n_classes)
    which = (
        f"{n_classes} classes" if n_classes <= PANELS else f"the {PANELS} of {n_classes} classes with the largest ECE"
    )
    names = [of_classes.names[k] for k in shown]
    return plot_small_diagrams([of_classes.diagrams[k] for k in shown], names, which, deviation)


def plot_class_wise_of_models(
    of_models: Sequence[ClassWiseReliability], names: Sequence[str], ax: Axes | None, deviation: bool = False
) -> Axes:
    """A small diagram for each class of each model, one model after the other; of many those of the largest error."""
    if ax is not None:
        raise ValueError("expected no axes for class-wise diagrams, found axes: draw one of `diagrams` in them")
    most = max(len(one.names) for one in of_models)
    each = most if most * len(of_models) <= PANELS else max(1, min(ACROSS, PANELS // len(of_models)))
    shown = [(name, one, k) for name, one in zip(names, of_models, strict=True) for k in one.largest_errors(each)]
    if each == most:
        shown = [(name, one, k) for name, one in zip(names, of_models, strict=True) for k in range(len(one.names))]
    which = f"{len(of_models)} models"
    which += f", of each the classes with the largest ECE: {each} of {most}" if each < most else ""
    titles = [f"{name}, {one.names[k]}" for name, one, k in shown]
    across = each if each <= ACROSS else None  # a row for each model
    return plot_small_diagrams([one.diagrams[k] for _, one, k in shown], titles, which, deviation, across)


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
