"""Comparisons of models: differences with their intervals and p-values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.comparison_results import Comparison
from calibstat.plots.style import POINT, as_text, colors, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAIR_LINES = 45  # pairs in one figure, as ten models have
LETTERS = 34  # in a line below the axes, which are narrow beside long names
MOST_TICKS = 4  # at most one more: differences of scores have many decimals
_MARKED = 0.05  # of the differences that are marked


def plot_differences(comparison: Comparison, ax: Axes | None) -> Axes:
    """The differences below each other, smallest p-values first if there are too many, their p-values to the right."""
    lines = min(len(comparison.pairs), PAIR_LINES)
    ax = new_axes(ax, height=1.9 + (0.26 if lines > 6 else 0.42) * lines)
    color, place = colors(), np.arange(min(len(comparison.pairs), PAIR_LINES))
    order = place if place.size == len(comparison.pairs) else smallest_first(comparison.pvalue)[: place.size]
    ax.axvline(0, color="black", linewidth=1, zorder=1)
    if comparison.method == "bootstrap":
        label = f"{settled(100 * comparison.confidence_level):.4g}% confidence interval"
        style: dict[str, Any] = {"color": color["blue"], "linewidth": 3, "alpha": 0.6}
        ax.hlines(place, comparison.low[order], comparison.high[order], label=label, **style)
    far = comparison.pvalue_adjusted[order] <= _MARKED
    p = "p" if len(comparison.pairs) == 1 else f"p ({ {'holm': 'Holm', 'bh': 'BH'}[comparison.adjust] })"
    for these, marker, hue, sign in ((~far, "o", "blue", ">"), (far, "D", "red", "≤")):
        if these.any():
            look = {**POINT, "marker": marker, "color": color[hue]}
            ax.plot(
                comparison.difference[order][these], place[these], label=f"difference, {p} {sign} {_MARKED}", **look
            )
    right = ax.get_yaxis_transform()
    for y, pvalue in zip(place, comparison.pvalue_adjusted[order], strict=True):
        ax.text(1.02, float(y), f"{settled(pvalue):.2g}", transform=right, va="center", fontsize="small")
    ax.text(1.02, 1, p, transform=ax.transAxes, va="bottom", fontsize="small")
    labels = [" − ".join(as_text(name, 30) for name in comparison.pairs[i]) for i in order]
    ax.set_yticks(place, labels, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(place.size - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    ax.locator_params(axis="x", nbins=MOST_TICKS)
    rows = f"n = {comparison.n[0]}" if comparison.paired else "n = " + ", ".join(map(str, comparison.n))
    which = f", {place.size} of {len(comparison.pairs)} pairs" if place.size < len(comparison.pairs) else ""
    title = f"Difference of {comparison.measure}, {rows}{which}"
    ax.set_xlabel(textwrap.fill(title, LETTERS), parse_math=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small", frameon=False)
    return ax
