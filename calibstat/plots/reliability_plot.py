"""Binary reliability diagrams, or their deviation from the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.inference.band_kinds import BANDS
from calibstat.inference.consistency_bands import PLACES
from calibstat.inference.reliability_diagrams import Reliability
from calibstat.plots.style import DIAGONAL, POINT, ROOM, SIZE, colors, legend, strip_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROWEST = 0.006  # so that a bin of one prediction still shows


def plot_reliability_diagram(found: Reliability, ax: Axes | None, deviation: bool = False) -> Axes:
    """Observed frequency against mean prediction, with band, CORP curve and rows of each bin; or the difference."""
    import matplotlib.pyplot as plt

    new = ax is None
    if ax is None:
        figure, (ax, strip) = plt.subplots(2, 1, figsize=SIZE, height_ratios=(5, 1), sharex=True, layout="constrained")
        ax.tick_params(bottom=False)
        strip.set(xlabel="Predicted probability", ylabel="Rows" if isinstance(found.n, int) else "Weight")
        figure.align_ylabels()
    else:
        ax.set_xlabel("Predicted probability")
    plot_bins(found, ax, deviation)
    ax.set_xlim(-0.02, 1.02)
    ax.set(ylim=vertical_limits([found], deviation, strip=not new), ylabel=vertical_label(deviation))
    if not deviation:
        ax.set_yticks(np.linspace(0, 1, 6))
    plot_rows_of_bins(found, strip if new else strip_along(ax, "rows of each bin"), labelled=new)
    legend(ax, above=new, columns=2)
    return ax


def plot_bins(found: Reliability, ax: Axes, deviation: bool, size: float = 1.0) -> None:
    """Draw the diagonal, the CORP curve, the band and points; `size` is that of the marks beside a single diagram's."""
    color, x = colors(), found.mean_prediction
    base = x if deviation else np.zeros_like(x)
    ax.plot([0, 1], [0, 0 if deviation else 1], label="calibrated", **DIAGONAL)
    plot_curve(found, ax, deviation, size)
    kind = None if found.band is None else BANDS[found.band]
    marked = kind is not None and kind.compared == "frequency" and found.inside is not None
    if kind is not None and found.low is not None and found.high is not None and found.band_level is not None:
        label = f"{100 * found.band_level:.4g}% {kind.name}"
        low, high = found.low - base, found.high - base
        if marked:
            ax.vlines(x, low, high, color=color["blue"], alpha=0.3, linewidth=7 * size, label=label)
        elif kind.boxes:  # of the whole bin, because they are about its average
            width = np.maximum(found.right - found.left, NARROWEST)
            style: dict[str, Any] = {"color": (*color["blue"], 0.22), "edgecolor": "white", "linewidth": size}
            ax.bar((found.left + found.right) / 2, high - low, width, low, label=label, **style)
        else:
            ax.vlines(x, low, high, color=color["blue"], linewidth=1.6 * size, label=label)
    outside = ~found.inside if marked and found.inside is not None else np.zeros(x.size, bool)
    for these, marker, hue, where in ((~outside, "o", "blue", ", inside"), (outside, "D", "red", ", outside")):
        if these.any():
            label = f"observed{where if marked else ''}"
            style = {**POINT, "marker": marker, "color": color[hue], "markeredgewidth": size}
            style["markersize"] *= size
            ax.plot(x[these], (found.frequency - base)[these], label=label, **style)


def plot_curve(found: Reliability, ax: Axes, deviation: bool, size: float) -> None:
    """Draw the CORP curve, unless deviations are drawn, and the band of a curve as steps."""
    green, monotone = colors()["green"], found.corp_inside is None
    if found.steps is not None and (monotone or not deviation):
        x, low, high = found.steps.corners()
        if not monotone:  # the CORP curve ends with the predictions, and goes straight from one to the next
            few = found.steps.value.size <= PLACES  # all of them have a place
            ends = found.steps.value, found.steps.low, found.steps.high
            x, low, high = ends if few else (part[2:-2] for part in (x, low, high))
        base = x if deviation else 0.0
        name = "confidence band, non-decreasing curve" if monotone else "simultaneous band, CORP curve"
        label = f"{100 * (found.band_level or 0):.4g}% {name}"
        ax.fill_between(x, low - base, high - base, color=green, alpha=0.16, linewidth=0, label=label)
    if not deviation:
        corp = found.corp_value, found.corp_frequency
        ax.plot(*corp, color=green, linewidth=1.4 * size, label="CORP curve")


def vertical_limits(diagrams: Sequence[Reliability], deviation: bool, strip: bool) -> tuple[float, float]:
    """Ends of the vertical axis on which all of these fit, with room for a strip along its lower edge or without."""
    if not deviation:
        return -0.21 if strip else -0.02, 1.02
    ends = [[found.frequency, found.low, found.high] for found in diagrams]
    heights = [d - found.mean_prediction for found, of in zip(diagrams, ends, strict=True) for d in of if d is not None]
    for steps in (found.steps for found in diagrams if found.corp_inside is None):
        heights += [] if steps is None else [d - steps.corners()[0] for d in steps.corners()[1:]]
    reach = max(0.01, 1.15 * np.abs(np.concatenate(heights)).max())
    return -ROOM * reach if strip else -reach, reach


def vertical_label(deviation: bool) -> str:
    """What the vertical axis shows."""
    return "Observed frequency − prediction" if deviation else "Observed frequency"


def plot_rows_of_bins(found: Reliability, strip: Axes, labelled: bool) -> None:
    """Rows of each bin, with the numbers where there is room for them."""
    width = np.maximum(found.right - found.left, NARROWEST)
    middle = (found.left + found.right) / 2
    strip.bar(middle, found.count, width, color=colors()["grey"], alpha=0.5, edgecolor="white", linewidth=0.6)
    strip.set_ylim(0, found.count.max() * (1.45 if labelled else 1))
    if not labelled:
        return
    strip.grid(visible=False)
    strip.locator_params(axis="y", nbins=2)
    last = -1.0
    for x, count in zip(middle, found.count, strict=True):
        if x - last >= 0.055:
            strip.annotate(_short(count), (x, count), (0, 1), textcoords="offset points", ha="center", fontsize=7.5)
            last = x


def _short(rows: float) -> str:
    """Write a number of rows in at most three characters and a unit."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rows >= size:
            return f"{rows / size:.1f}{unit}" if rows < 9.95 * size else f"{rows / size:.0f}{unit}"
    return f"{rows:.3g}"
