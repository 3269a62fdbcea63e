"""Binary reliability diagrams, of one model or several, or their deviation from the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.inference.bands.bands import BANDS
from calibstat.inference.bands.consistency_bands import PLACES
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.plots.reliability_axes import (
    NAME,
    NARROWEST_BAR,
    diagram_axes,
    legend_of,
    rows_strip,
    scale_of_rows,
    size_of_marks,
)
from calibstat.plots.style import DIAGONAL, POINT, as_text, colors, pale, three_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENOUGH_ROWS = 10  # behind a flat piece of a CORP curve at one of its ends, below which it is not drawn
ENOUGH_WEIGHT = 0.01  # the same for real-valued weights, as a share of the total
MARKERS = "os^Dv*PX"  # of models in one diagram


def plot_reliability_diagram(diagram: Reliability, ax: Axes | None, deviation: bool = False) -> Axes:
    """Observed frequency against mean prediction, with band, CORP curve and rows of each bin; or the difference."""
    ax, strip = diagram_axes(ax, [diagram], deviation)
    plot_bins(diagram, ax, deviation, size_of_marks(ax))
    rows_strip(diagram, strip)
    ax.set_title(say_error(diagram), fontsize="medium")
    legend_of(ax, strip, *ax.get_legend_handles_labels(), [diagram])
    return ax


def plot_reliability_of_models(
    diagrams: Sequence[Reliability], names: Sequence[str], ax: Axes | None, deviation: bool = False
) -> Axes:
    """The points and CORP curves of several models in one diagram, without their bands, and the rows of each bin."""
    ax, strip = diagram_axes(ax, diagrams, deviation)
    ax.plot([0, 1], [0, 0 if deviation else 1], **DIAGONAL)
    hues = [hue for role, hue in colors().items() if role != "grey"]
    entries = []
    for k, one in enumerate(diagrams):
        hue, marker = hues[k % len(hues)], MARKERS[k % len(MARKERS)]
        height = one.frequency - (one.mean_prediction if deviation else 0)
        style: dict[str, Any] = {**POINT, "marker": marker, "color": hue, "clip_on": False}
        style |= {"markeredgecolor": hue, "markeredgewidth": 1.4, "markersize": 5.5 * size_of_marks(ax)}
        out = _outside(one)
        for these, face in ((out, hue), (~out, "white")):
            if these.any():  # marks that are not clipped would take up room even where there are none
                ax.plot(one.mean_prediction[these], height[these], label="_", **style, markerfacecolor=face)
        if deviation:
            ax.plot(one.mean_prediction, height, color=hue, linewidth=1, alpha=0.6)
        else:
            ax.plot(*supported_curve(one), color=hue, linewidth=1.4)
        entries += ax.plot([], [], color=hue, linewidth=1.4, marker=marker, markeredgecolor="white")
        middle = (one.left + one.right) / 2
        strip.plot(middle, one.count, color=hue, drawstyle="steps-mid", linewidth=1.2, marker=marker, markersize=3)
    labels = [f"{as_text(name, NAME)}\n{say_error(one, short=True)}" for name, one in zip(names, diagrams, strict=True)]
    if levels := say_level(diagrams):
        ax.set_title(f"ECE{levels}", fontsize="medium")
    if any(one.inside is not None for one in diagrams):
        empty: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": ".3"}
        entries += ax.plot([], [], markerfacecolor="white", **empty) + ax.plot([], [], **empty)
        labels += ["inside its own band", "outside"]
    scale_of_rows(strip, max(one.count.max() for one in diagrams))
    legend_of(ax, strip, entries, labels, diagrams)
    return ax


def say_error(diagram: Reliability, short: bool = False) -> str:
    """Write the expected calibration error over the bins, with its interval if it is known.

    Bins that are not of equal width are named, because tables of measures have the error over bins of equal width.
    """
    kind = {"quantile": "ECE in quantile bins", "tree": "ECE in bins of a tree"}.get(diagram.strategy)
    name, line = ("ECE", " ") if kind is None else (kind, "\n")
    if diagram.interval is None:
        return f"{name} {settled(diagram.error):.3g}"
    estimate, low, high = three_numbers(diagram.interval)
    level = f"{settled(100 * diagram.interval.confidence_level):.4g}% interval"
    return f"{name} {estimate} [{low}, {high}]" if short else f"{name} {estimate},{line}{level} {low} to {high}"


def say_level(diagrams: Sequence[Reliability]) -> str:
    """Say at which level the intervals are that stand beside the errors; nothing if there are none."""
    levels = {one.interval.confidence_level for one in diagrams if one.interval is not None}
    return (
        f" with {' and '.join(f'{settled(100 * level):.4g}%' for level in sorted(levels))} intervals" if levels else ""
    )


def plot_bins(diagram: Reliability, ax: Axes, deviation: bool, size: float = 1.0) -> None:
    """Draw the diagonal, the CORP curve, the band and points; `size` is relative to a single diagram's marks."""
    color, x = colors(), diagram.mean_prediction
    base, style = x if deviation else np.zeros_like(x), dict[str, Any]()
    ax.plot([0, 1], [0, 0 if deviation else 1], label="calibrated", **DIAGONAL)
    if diagram.expected is not None:
        style = {"color": color["orange"], "linewidth": 1.4 * size, "linestyle": "--"}
        ax.plot(x, diagram.expected - base, label=f"if {diagram.calibration_map} is right", **style)
    plot_curve(diagram, ax, deviation, size)
    kind = None if diagram.band is None else BANDS[diagram.band]
    marked = kind is not None and kind.compared == "frequency" and diagram.inside is not None
    if kind is not None and diagram.low is not None and diagram.high is not None and diagram.band_level is not None:
        label = f"{settled(100 * diagram.band_level):.4g}% {kind.name}"
        low, high = diagram.low - base, diagram.high - base
        if marked:
            ax.vlines(x, low, high, color=pale(color["blue"], 0.35), linewidth=7 * size, zorder=1.5, label=label)
        elif kind.boxes:  # of the whole bin, because they are about its average
            width = np.maximum(diagram.right - diagram.left, NARROWEST_BAR * ax.get_xlim()[1])
            style = {"color": (*color["blue"], 0.22), "edgecolor": "white", "linewidth": size}
            ax.bar((diagram.left + diagram.right) / 2, high - low, width, low, label=label, **style)
        else:
            ax.vlines(x, low, high, color=color["blue"], linewidth=1.6 * size, label=label)
    outside = _outside(diagram) if marked else np.zeros(x.size, bool)
    for these, marker, hue, where in ((~outside, "o", "blue", ", inside"), (outside, "D", "red", ", outside")):
        if these.any():
            label = f"observed{where if marked else ''}"
            style = {**POINT, "marker": marker, "color": color[hue], "markeredgewidth": size, "clip_on": False}
            style["markersize"] *= size
            ax.plot(x[these], (diagram.frequency - base)[these], label=label, **style)


def _outside(diagram: Reliability) -> np.ndarray:
    """Whether each point is outside its band; none is without a band."""
    return np.zeros(diagram.count.size, bool) if diagram.inside is None else ~diagram.inside


def supported_curve(diagram: Reliability) -> tuple[np.ndarray, np.ndarray]:
    """Return the CORP curve without the flat pieces at its ends that rest on too few rows.

    The first rows of a model that nobody looks at are often all without the event, and the curve begins at 0: a piece
    of k rows there, of probability v, has frequency 0 with probability (1 - v)**k.
    """
    enough = ENOUGH_ROWS if isinstance(diagram.n, int) else ENOUGH_WEIGHT * diagram.n
    kept = np.flatnonzero(diagram.corp_count >= enough)
    shown = slice(kept[0], kept[-1] + 1) if kept.size else slice(0)
    return diagram.corp_value[shown], diagram.corp_frequency[shown]


def plot_curve(diagram: Reliability, ax: Axes, deviation: bool, size: float) -> None:
    """Draw the CORP curve, unless deviations are drawn, and the band of a curve as steps."""
    green, monotone = colors()["green"], diagram.corp_inside is None
    if diagram.steps is not None and (monotone or not deviation):
        x, low, high = diagram.steps.corners()
        if not monotone:  # the CORP curve ends with the predictions, and goes straight from one to the next
            few = diagram.steps.value.size <= PLACES  # all of them have a place
            ends = diagram.steps.value, diagram.steps.low, diagram.steps.high
            x, low, high = ends if few else (part[2:-2] for part in (x, low, high))
        base = x if deviation else 0.0
        name = "confidence band, non-decreasing curve" if monotone else "simultaneous band, CORP curve"
        label = f"{settled(100 * (diagram.band_level or 0)):.4g}% {name}"
        if has_width(x):
            ax.fill_between(x, low - base, high - base, color=pale(green, 0.16), linewidth=0, label=label)
    curve = supported_curve(diagram)
    if not deviation and has_width(curve[0]):
        ax.plot(*curve, color=green, linewidth=1.4 * size, label="CORP curve")


def has_width(x: np.ndarray) -> bool:
    """Whether a curve over these increasing predictions can be seen, and so belongs into the legend."""
    return x.size > 1 and bool(x[0] < x[-1])
