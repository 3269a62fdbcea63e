"""The null distribution of a test, with the data in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled
from calibstat.inference.calibration_tests import CalibrationTestResult
from calibstat.inference.deviation import count, mean_count
from calibstat.inference.one_side import Events
from calibstat.plots.style import colors, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPIKE = 1e-12  # relative width below which a null distribution is one number and rounding


def plot_null_distribution(test: CalibrationTestResult, ax: Axes | None) -> Axes:
    """The null distribution, the part of it that is at least as extreme as the data, and the data."""
    ax, color = new_axes(ax), colors()
    of_side = "" if test.side is None else f", side {test.side}"
    ax.set_title(f"p = {settled(test.pvalue):.2g}, n = {test.n:,}{of_side}")
    if test.events is not None and not test.null_distribution.size:  # a bound has no draws
        return _plot_events(test.events, ax)
    whole, observed = test.null_distribution, test.statistic
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
    ax.axvline(observed, color=color["red"], linewidth=2, label=f"observed, {settled(observed):.3g}")
    ax.set_ylim(0, 1.3 * max(counts.max(), 1))  # room for the legend
    ax.set_ylabel("Resamples")
    ax.set_xlabel(test.measure.in_prose, parse_math=False)
    legend(ax)
    return ax


def _plot_events(events: Events, ax: Axes) -> Axes:
    """Draw the expected events beside the observed ones."""
    color = colors()
    bars = ax.bar(["expected", "observed"], [events.expected, events.observed], color=[color["blue"], color["red"]])
    ax.bar_label(bars, [mean_count(events.expected), count(events.observed)])
    ax.margins(y=0.12)
    ax.set_ylabel("Events")
    return ax
