"""Sizes, styles, colours by role, new axes, legends and strips of all plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Color = tuple[float, float, float]  # red, green, blue, from 0 to 1

SIZE = (6.0, 5.0)
ROOM = 1.36  # how far below zero an axis goes if it goes to 1 above, so that a strip along its lower edge hides nothing
STYLE = {"axes.grid": True, "grid.color": ".92", "axes.spines.top": False, "axes.spines.right": False}
DIAGONAL: dict[str, Any] = {"color": ".4", "linestyle": "--", "linewidth": 1.2}
POINT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6.5, "markeredgecolor": "white", "zorder": 3}


def colors() -> dict[str, Color]:
    """Colours by role, from a palette that stays apart for colour-blind readers."""
    import seaborn as sns

    palette = sns.color_palette("colorblind")
    return dict(zip(("blue", "orange", "green", "red", "purple", "brown", "pink", "grey"), palette, strict=False))


def new_axes(ax: Axes | None, height: float = SIZE[1], width: float = SIZE[0]) -> Axes:
    """Return the given axes or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def legend(ax: Axes, above: bool = False, columns: int | None = None) -> None:
    """Put the legend above the axes in so many columns, or in two rows, to hide nothing; or where it hides least."""
    if above:
        columns = columns or (len(ax.get_legend_handles_labels()[0]) + 1) // 2
        tight: dict[str, Any] = {"columnspacing": 1.2, "handlelength": 1.6, "fontsize": "small", "frameon": False}
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, **tight)
    else:
        many = any(np.size(line.get_xdata()) > 200_000 for line in ax.lines)  # searching the best place would take long
        ax.legend(loc="upper right" if many else "best", fontsize="small", framealpha=0.9)


def strip_along(ax: Axes, label: str) -> Axes:
    """Axes along the lower edge of others, for how many predictions there are."""
    strip = ax.inset_axes((0, 0, 1, 0.15), sharex=ax)
    strip.axis("off")
    ax.fill_between([], [], color=colors()["grey"], alpha=0.5, linewidth=0, label=label)
    return strip
