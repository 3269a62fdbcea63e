"""The forest plot of a table of clusters: O/E of each with its interval, the mean over clusters and their spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibstat.classical.by_cluster_result import ByCluster, short_name
from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.plots.style import POINT, Color, colors, legend, new_axes, pale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = 6.5  # of the width
MOST_NAMED = 40  # clusters that have a line of text each; of more the picture has thin lines, ordered by O/E
ROW, TALL = 0.24, 4.5  # inches of a named cluster, and of all that have no names
MARGIN = 0.02  # of the axis, left of 0
ROOM = 1.4  # times the high end that half of the clusters stay below, beyond which other ends may be cut off


def plot_by_cluster(found: ByCluster, ax: Axes | None) -> Axes:
    """O/E of each cluster, named if they are few; below them the mean over clusters and O/E of all rows."""
    k = len(found.names)
    named = k <= MOST_NAMED
    ax, color = new_axes(ax, height=1.9 + (ROW * (k + 2) if named else TALL), width=INCHES), colors()
    order = np.arange(k) if named else smallest_first(found.ratio)
    right = _right_end(found)
    step = 1.0 if named else k / 20  # between what stands below the clusters
    _clusters(found, ax, order, right, color["blue"])
    _means(found, ax, k, step, right)
    ax.axvline(1, color="black", linewidth=1, zorder=1)
    places, names = [k - 0.5 + step, k - 0.5 + 2 * step], ["mean over clusters", "all rows"]
    if named:
        places, names = [*range(k), *places], [*map(short_name, found.names), *names]
    ax.axhline(k - 0.5 + step / 3, color=".6", linewidth=0.8)
    ax.set_yticks(places, names, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(-MARGIN * right, right), ylim=(k - 0.5 + 2.7 * step, -0.5 - step / 5))
    ax.grid(visible=False, axis="y")
    ax.set_ylabel("Cluster" if named else f"{k:,} clusters, ordered by O/E")
    ax.set_xlabel(f"Observed / expected events (O/E), n = {found.n.sum():,}")
    texts = [(found.mean_ratio.mean, found.mean_ratio.interval), (found.ratio_of_rows, found.ratio_of_rows_interval)]
    if named:
        texts = [*zip(found.ratio, found.ratio_interval, strict=True), *texts]
    for y, (number, ends) in zip(places, texts, strict=True):
        if not np.isnan(number):
            low, high = (f"{settled(end):.2f}" for end in ends)
            text = f"{settled(number):.2f} ({low} to {high})"
            ax.text(1.02, y, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    legend(ax, above=True, columns=2)
    return ax


def _right_end(found: ByCluster) -> float:
    """Return where the axis ends: all estimates and most intervals are within."""
    over = found.mean_ratio
    ends = [1.0, found.ratio_of_rows, np.nanmax(found.ratio), over.interval[1]]
    most = max(float(np.nanmax(ends)), ROOM * float(np.nanmedian(found.ratio_interval[:, 1])))
    return 1.05 * float(np.nanmax([most, min(over.prediction_interval[1], 1.5 * most)]))


def _clusters(found: ByCluster, ax: Axes, order: np.ndarray, right: float, color: Color) -> None:
    """Draw O/E of each cluster with its interval, with an arrow head where that is cut off."""
    k = order.size
    ratio, (low, high) = found.ratio[order], found.ratio_interval[order].T
    many = k > MOST_NAMED
    level = f"{settled(100 * found.confidence_level):.4g}% interval of each cluster"
    place = np.arange(k)
    ax.hlines(place, low, np.minimum(high, right), color=color, linewidth=0.8 if many else 2.2, alpha=0.55, label=level)
    edge = color if many else "white"
    point = POINT | {"markersize": 2.0 if many else 5.5, "markeredgecolor": edge}
    ax.plot(ratio, place, color=color, label="O/E of each cluster", **point)
    _cut_off(ax, place[high > right], right, color)


def _means(found: ByCluster, ax: Axes, k: int, step: float, right: float) -> None:
    """Draw the mean over clusters as a diamond, O/E of all rows, and a band where a further cluster may lie."""
    color, over = colors(), found.mean_ratio
    if not np.isnan(over.mean):
        low, high = over.interval
        y = k - 0.5 + step
        corners = [low, over.mean, high, over.mean], [y, y - 0.35 * step, y, y + 0.35 * step]
        ax.fill(*corners, color=color["red"], linewidth=0, zorder=3, label="mean over clusters")
        ax.axvline(over.mean, color=color["red"], linestyle="--", linewidth=1, zorder=1)
    if not np.isnan(over.prediction_interval[0]):
        ax.axvspan(
            *over.prediction_interval,
            color=pale(color["grey"], 0.3),
            zorder=0,
            label="a further cluster, approximately",
        )
    y = k - 0.5 + 2 * step
    low, high = found.ratio_of_rows_interval
    ax.hlines([y], low, min(high, right), color=color["green"], linewidth=2.2, alpha=0.55)
    ax.plot([found.ratio_of_rows], [y], color=color["green"], **POINT | {"marker": "s", "markersize": 5.5})
    _cut_off(ax, np.full(int(high > right), y), right, color["green"])


def _cut_off(ax: Axes, place: np.ndarray, right: float, color: Color) -> None:
    """Draw an arrow head where an interval goes on beyond the axes."""
    ax.plot(np.full(place.size, right), place, color=color, linestyle="none", marker=">", markersize=4)
