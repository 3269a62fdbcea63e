"""The calibration belt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibstat.classical.calibration_belt import CalibrationBelt
from calibstat.digits import settled
from calibstat.plots.style import DIAGONAL, SIZE, colors, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = (0.2, 0.45)  # opacity of the widest band and of the narrowest


def plot_calibration_belt(belt: CalibrationBelt, ax: Axes | None) -> Axes:
    """The fitted curve in its bands, the diagonal, and along the lower edge where the widest band leaves it."""
    ax, color = new_axes(ax, height=SIZE[1]), colors()
    bands = list(zip(belt.confidence_levels, belt.low, belt.high, strict=True))[::-1]
    for i, (level, low, high) in enumerate(bands):
        alpha = SHADES[0] + (SHADES[1] - SHADES[0]) * i / max(len(bands) - 1, 1)
        label = f"{settled(100 * level):.4g}% band"
        ax.fill_between(belt.prediction, low, high, color=color["blue"], alpha=alpha, linewidth=0, label=label)
    ax.plot([0, 1], [0, 1], label="calibrated", **DIAGONAL)
    ax.plot(belt.prediction, belt.curve, color=color["blue"], linewidth=1.8, label=f"curve of degree {belt.degree}")
    hue = {"above": "orange", "below": "red"}
    for side, left, right in belt.departures():
        label = f"{settled(100 * belt.confidence_levels[-1]):.4g}% band {side} the diagonal"
        known = label in ax.get_legend_handles_labels()[1]
        style: dict[str, Any] = {"color": color[hue[side]], "linewidth": 4, "solid_capstyle": "butt"}
        ax.plot([left, right], [-0.02, -0.02], label="_" if known else label, **style)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.04, 1.02), xlabel="Predicted probability", ylabel="Observed frequency")
    ax.set_title(f"p = {settled(belt.pvalue):.2g}, n = {belt.n}")
    ax.legend(loc="best", fontsize="small", framealpha=0.9)
    return ax
