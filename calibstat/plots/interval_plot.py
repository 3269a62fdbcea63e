"""Tests and intervals: the null distribution with the data in it, estimates with their bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibstat.inference.calibration_test import CalibrationTestResult
from calibstat.inference.confidence_interval import ConfidenceInterval
from calibstat.plots.style import POINT, colors, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SPIKE = 1e-12  # relative width below which a null distribution is one number and rounding


def null_distribution(found: CalibrationTestResult, ax: Axes | None) -> Axes:
    """The null distribution, the part of it that is at least as extreme as the data, and the data."""
    ax, color = new_axes(ax), colors()
    whole, observed = found.null_distribution, found.statistic
    null = whole[np.isfinite(whole)]
    infinite = f", {whole.size - null.size} of them infinite" if null.size < whole.size else ""
    middle, width = ((null.min() + null.max()) / 2, np.ptp(null)) if null.size else (0.0, 0.0)
    if width <= SPIKE * max(1.0, abs(middle)):  # only rounding: one bar of some width about it
        width = max(abs(middle), abs(observed - middle) if np.isfinite(observed) else 0.0, 1e-3) / 20
        counts, edges = np.array([null.size]), np.array([middle - width / 2, middle + width / 2])
    else:
        counts, edges = np.histogram(null, bins=40)
    label = f"{whole.size} resamples if calibrated{infinite}"
    ax.stairs(counts, edges, fill=True, color=color["blue"], alpha=0.45, label=label)
    ax.axvline(observed, color=color["red"], linewidth=2, label=f"observed, {observed:.3g}")
    ax.set_ylim(0, 1.3 * max(counts.max(), 1))  # room for the legend
    ax.set(xlabel=found.measure, ylabel="Resamples", title=f"p = {found.pvalue:.2g}, n = {found.n}")
    legend(ax)
    return ax


def intervals(found: Sequence[ConfidenceInterval], names: Sequence[str], ax: Axes | None) -> Axes:
    """Estimates with their bars below each other, the numbers to the right."""
    ax, color = new_axes(ax, height=1.4 + 0.5 * len(found)), colors()
    place = np.arange(len(found))
    low, high = np.array([e.low for e in found]), np.array([e.high for e in found])
    levels, methods = {e.confidence_level for e in found}, {e.method for e in found}
    level = f"{100 * levels.pop():.4g}% " if len(levels) == 1 else ""
    method = f" ({methods.pop()})" if len(methods) == 1 else ""
    label = f"{level}confidence interval{method}"
    ax.hlines(place, low, high, color=color["blue"], linewidth=3, alpha=0.6, label=label)
    ax.plot([e.estimate for e in found], place, color=color["red"], label="estimate", **POINT)
    right = ax.get_yaxis_transform()
    for y, e in enumerate(found):
        numbers = f"{e.estimate:.3g} [{e.low:.3g}, {e.high:.3g}]"
        ax.text(1.02, y, numbers, transform=right, va="center", fontsize="small")
    ax.set_yticks(place, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(found) - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    if low.min() >= 0:
        ax.set_xlim(left=0)
    measures = {e.measure for e in found}
    ax.set_xlabel(measures.pop() if len(measures) == 1 else "Estimate")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize="small", frameon=False)
    return ax
