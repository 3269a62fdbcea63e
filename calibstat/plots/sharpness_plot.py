"""The calibration-sharpness diagram of one model, or of several side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.lenses import top_label
from calibstat.inference.sharpness import CalibrationSharpness
from calibstat.plots.style import DIAGONAL, colors, new_axes, strip_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 4  # diagrams beside each other
STRIP = 0.21  # how far below zero an axis goes for the density, if it goes to 1 above
NUMBERS = 0.62  # inches of the box of numbers, with the space around it
LEGEND: dict[str, Any] = {"fontsize": "small", "frameon": False}


def plot_sharpness(curve: CalibrationSharpness, ax: Axes | None) -> Axes:
    """Calibration curve with the sharpness gap as a band around it, and the density of the predictions below."""
    ax = new_axes(ax)
    _plot_curve_and_band(curve, ax, curve.density.max())
    _set_limits([curve], ax, room=_room_for_numbers(ax))
    ax.set(xlabel=_horizontal_label(curve), ylabel="Observed frequency")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, **LEGEND)
    return ax


def plot_sharpness_of_models(curves: Sequence[CalibrationSharpness], names: Sequence[str], ax: Axes | None) -> Axes:
    """A diagram for each model on the same scale; returns the axes of the first."""
    import matplotlib.pyplot as plt

    if ax is not None:
        raise ValueError("expected no axes for several models, found axes: draw one model in them")
    across = min(len(curves), ACROSS)
    down = -(-len(curves) // across)
    shared: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
    figure, grid = plt.subplots(down, across, figsize=(3.3 * across + 0.6, 3.4 * down + 0.9), **shared)
    densest = max(one.density.max() for one in curves)
    for one, name, panel in zip(curves, names, grid.flat, strict=False):
        _plot_curve_and_band(one, panel, densest)
        panel.set_title(textwrap.fill(name, 30), fontsize="medium", parse_math=False)
    for spare in grid.flat[len(curves) :]:
        spare.remove()
    for above in grid.flat[len(curves) - across : len(curves)]:  # the lowest of each column
        above.tick_params(labelbottom=True)
    first: Axes = grid[0, 0]
    _set_limits(curves, first, room=0.34)
    titles = {_horizontal_label(one) for one in curves}
    figure.supxlabel(titles.pop() if len(titles) == 1 else "Predicted probability", fontsize="medium")
    figure.supylabel("Observed frequency", fontsize="medium")
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=min(2 * across, 4), **LEGEND)
    return first


def _plot_curve_and_band(curve: CalibrationSharpness, ax: Axes, densest: float) -> None:
    """Draw one diagram in the axes, the strip below it up to this density."""
    color = colors()
    ax.plot([0, 1], [0, 1], label="calibrated", **DIAGONAL)
    band: dict[str, Any] = {"color": color["red"], "alpha": 0.3, "linewidth": 0}
    ax.fill_between(curve.grid, curve.low, curve.high, label="sharpness gap × density", **band)
    ax.plot(curve.grid, curve.curve, color=color["blue"], linewidth=2, label="calibration curve")
    strip = strip_along(ax, "density of the predictions")
    strip.fill_between(curve.grid, curve.density, color=color["grey"], alpha=0.5, linewidth=0)
    strip.set_ylim(0, densest)
    name = "Brier" if curve.divergence == "brier" else "KL"
    numbers = (
        f"calibration error {curve.written('calibration_error', '.4f')}\n"
        f"sharpness gap {curve.written('sharpness_gap', '.4f')}\n"
        f"total divergence {curve.written('total_divergence', '.4f')} ({name})"
    )
    box = {"facecolor": "white", "edgecolor": ".85", "alpha": 0.85, "boxstyle": "round"}
    ax.text(0.03, 0.97, numbers, transform=ax.transAxes, va="top", fontsize="small", bbox=box)


def _room_for_numbers(ax: Axes) -> float:
    """Room above 1 for three lines of numbers, which take up more of small axes."""
    share = min(NUMBERS * ax.figure.dpi / ax.bbox.height, 0.5)
    return (1 + STRIP) * share / (1 - share)


def _set_limits(curves: Sequence[CalibrationSharpness], ax: Axes, room: float) -> None:
    """Set the ends of the axes, on which all of these fit, with this room for the numbers above."""
    highest = max(1.0, *(float(np.nanmax(one.high)) for one in curves))
    ax.set(xlim=(-0.02, 1.02), ylim=(-STRIP * highest, (1 + room) * highest))
    ticks = ax.get_yticks()
    ax.set_yticks(ticks[(ticks >= 0) & (ticks <= highest)])


def _horizontal_label(curve: CalibrationSharpness) -> str:
    """The label of the horizontal axis."""
    return (
        "Predicted probability" if curve.lens.subject != top_label.subject else "Probability of the most likely class"
    )
