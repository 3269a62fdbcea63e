"""Power curves, sample sizes, and widths of intervals against the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibstat.digits import settled
from calibstat.output.wording import level_text
from calibstat.planning.power import PowerCurve
from calibstat.planning.precision import PrecisionSize
from calibstat.planning.sample_size import SampleSize
from calibstat.plots.style import DIAGONAL, POINT, colors, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_power_curve(curve: PowerCurve, ax: Axes | None) -> Axes:
    """The power for each number of rows with its limits, and the level."""
    ax, color, points = new_axes(ax), colors(), curve.points
    n, power = [point.n for point in points], [point.power for point in points]
    reach = [[point.power - point.low for point in points], [point.high - point.power for point in points]]
    ax.errorbar(n, power, yerr=reach, color=color["blue"], **POINT, label="power, with 95 % limits")
    ax.plot(n, power, color=color["blue"], linewidth=1.2, alpha=0.5)
    ax.axhline(points[0].level, **DIAGONAL, label=f"level, {level_text(points[0].level)}")
    if n[-1] > 3 * n[0]:
        ax.set_xscale("log")
    title = f"{points[0].test} against {points[0].alternative}"
    ax.set(xlabel="Rows", ylabel="Probability of rejection", ylim=(0, 1.04), title=title)
    _whole_numbers(ax)
    legend(ax)
    return ax


def plot_sample_size(size: SampleSize, ax: Axes | None) -> Axes:
    """The powers that were simulated, and the number of rows with the wished power."""
    ax = plot_power_curve(size.curve, ax)
    ax.axhline(size.power, color=".6", linewidth=1)
    ax.axvline(size.n, color=colors()["red"], linewidth=2, label=f"n = {size.n} for {size.power:g}")
    legend(ax)
    return ax


def plot_widths(size: PrecisionSize, ax: Axes | None) -> Axes:
    """The width of intervals for each number of rows, and the number of rows with the wished width."""
    ax, color = new_axes(ax), colors()
    n, width = zip(*size.curve, strict=True)
    ax.plot(n, width, color=color["blue"], marker="o", markersize=5, label="width")
    ax.axhline(size.width, color=".6", linewidth=1)
    ax.axvline(size.n, color=color["red"], linewidth=2, label=f"n = {size.n} for {size.width:g}")
    ax.set(xscale="log", yscale="log", xlabel="Rows", ylabel=f"Width of the interval for {size.of}")
    ax.set_title(size.method, fontsize="small", wrap=True)
    _whole_numbers(ax)
    legend(ax)
    return ax


def _whole_numbers(ax: Axes) -> None:
    """Write numbers of rows, and widths, as they are said."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for axis, scale in ((ax.xaxis, ax.get_xscale()), (ax.yaxis, ax.get_yscale())):
        if scale == "log":
            axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
            axis.set_minor_formatter(NullFormatter())
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{settled(value):,.10g}"))
        elif axis is ax.xaxis:
            axis.set_major_locator(MaxNLocator(6, integer=True))
