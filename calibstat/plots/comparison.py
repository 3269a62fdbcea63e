"""Comparisons of models: differences with their intervals, and how often each model came first, second and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.plots.marks import POINT, colors, new_axes
from calibstat.results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = 45  # pairs in one figure: those of ten models
LEVEL = 0.05  # of the differences that are marked
WRITTEN = 0.1  # share from which a rank's number is written into its bar
DARK = 0.5  # luminance below which writing is white


def comparison(found: Comparison, ax: Axes | None) -> Axes:
    """Differences below each other; in a new figure, how often each model has each rank is beside them."""
    if ax is not None or found.method == "swap":
        ax = new_axes(ax, height=_height(found))
        _differences(found, ax)
        return ax
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, _height(found)), width_ratios=(1.2, 1), layout="constrained"
    )
    _differences(found, left)
    _ranks(found, right)
    figure.align_xlabels()
    first: Axes = left
    return first


def _height(found: Comparison) -> float:
    lines = min(len(found.pairs), LINES)
    return 1.9 + max(0.26 * lines if lines > 6 else 0.42 * lines, 0.32 * len(found.names))


def _differences(found: Comparison, ax: Axes) -> None:
    """The differences, smallest p-values first if there are too many to draw, with their p-values to the right."""
    color, place = colors(), np.arange(min(len(found.pairs), LINES))
    order = place if place.size == len(found.pairs) else np.argsort(found.pvalue, kind="stable")[: place.size]
    ax.axvline(0, color="black", linewidth=1, zorder=1)
    if found.method == "bootstrap":
        label = f"{100 * found.confidence_level:.4g}% confidence interval"
        style: dict[str, Any] = {"color": color["blue"], "linewidth": 3, "alpha": 0.6}
        ax.hlines(place, found.low[order], found.high[order], label=label, **style)
    far = found.pvalue_adjusted[order] <= LEVEL
    p = "p" if len(found.pairs) == 1 else f"p ({ {'holm': 'Holm', 'bh': 'BH'}[found.adjust] })"
    for these, marker, hue, sign in ((~far, "o", "blue", ">"), (far, "D", "red", "≤")):
        if these.any():
            look = {**POINT, "marker": marker, "color": color[hue]}
            ax.plot(found.difference[order][these], place[these], label=f"difference, {p} {sign} {LEVEL}", **look)
    right = ax.get_yaxis_transform()
    for y, pvalue in zip(place, found.pvalue_adjusted[order], strict=True):
        ax.text(1.02, float(y), f"{pvalue:.2g}", transform=right, va="center", fontsize="small")
    ax.text(1.02, 1, p, transform=ax.transAxes, va="bottom", fontsize="small")
    labels = [f"{found.pairs[i][0]} − {found.pairs[i][1]}" for i in order]
    ax.set_yticks(place, labels, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(place.size - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    rows = f"n = {found.n[0]}" if found.paired else "n = " + ", ".join(map(str, found.n))
    which = f", {place.size} of {len(found.pairs)} pairs" if place.size < len(found.pairs) else ""
    ax.set_xlabel(f"Difference of {found.measure}, {rows}{which}", parse_math=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False)


def _ranks(found: Comparison, ax: Axes) -> None:
    """A bar for each model, in the order of their measures, cut by rank from dark (smallest measure) to light."""
    import seaborn as sns

    size = len(found.names)
    order, place = np.argsort(found.estimates, kind="stable"), np.arange(size)
    shades = sns.color_palette("cividis", size)
    share = found.best[order]
    begin = np.cumsum(share, axis=1) - share
    for rank, shade in enumerate(shades):
        ax.barh(place, share[:, rank], left=begin[:, rank], color=shade, edgecolor="white", linewidth=0.6)
        writing = "white" if np.dot(shade, (0.299, 0.587, 0.114)) < DARK else "black"
        for y in np.flatnonzero(share[:, rank] >= WRITTEN):
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "color": writing}
            ax.text(begin[y, rank] + share[y, rank] / 2, float(y), str(rank + 1), **style)
    names = [f"{found.names[m]}  {found.estimates[m]:.3g}" for m in order]
    ax.set_yticks(place, names, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, 1), ylim=(size - 0.4, -0.6))
    ax.grid(visible=False)
    ax.set_xlabel(f"Share of {found.n_resamples} resamples")
    ax.set_title(f"Rank by {found.measure}, 1: smallest", fontsize="medium", loc="left", parse_math=False)
