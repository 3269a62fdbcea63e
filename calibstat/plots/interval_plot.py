"""Confidence intervals below each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.plots.style import POINT, as_text, colors, new_axes, three_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_intervals(intervals: Sequence[ConfidenceInterval], names: Sequence[str], ax: Axes | None) -> Axes:
    """Estimates with their bars below each other, the numbers to the right."""
    ax, color = new_axes(ax, height=1.4 + 0.5 * len(intervals)), colors()
    place = np.arange(len(intervals))
    low, high = np.array([e.low for e in intervals]), np.array([e.high for e in intervals])
    levels, methods = {e.confidence_level for e in intervals}, {e.method for e in intervals}
    level = f"{settled(100 * levels.pop()):.4g}% " if len(levels) == 1 else ""
    method = f" ({methods.pop()})" if len(methods) == 1 else ""
    label = f"{level}confidence interval{method}"
    ax.hlines(place, low, high, color=color["blue"], linewidth=3, alpha=0.6, label=label)
    ax.plot([e.estimate for e in intervals], place, color=color["red"], label="estimate", **POINT)
    right = ax.get_yaxis_transform()
    for y, e in enumerate(intervals):
        estimate, one_end, other = three_numbers(e)
        ax.text(1.02, y, f"{estimate} [{one_end}, {other}]", transform=right, va="center", fontsize="small")
    ax.set_yticks(
        place, ["\n".join(as_text(line, 30) for line in name.split("\n")) for name in names], parse_math=False
    )
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(intervals) - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    if low.min() >= 0:
        ax.set_xlim(left=0)
    measures = {e.measure for e in intervals}
    ax.set_xlabel(measures.pop().in_prose if len(measures) == 1 else "Estimate", parse_math=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize="small", frameon=False)
    return ax
