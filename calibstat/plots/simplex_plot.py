"""Reliability diagrams of three classes on a triangle and of four on a tetrahedron."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.inference.bands.reliability_diagrams import SimplexReliability
from calibstat.output.wording import level_text
from calibstat.plots.style import colors, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1 / 2, 3**0.5 / 2, 0], [1 / 2, 3**0.5 / 6, (2 / 3) ** 0.5]])  # sides 1
_MANY_CELLS = 60  # cells, above which a new figure is larger and the arrows are finer
GRID_LINES = np.arange(1, 5) / 5
ON_CELLS = ".2"  # of arrows on filled cells
FILLED = 0.6  # opacity of filled cells
EDGE_LINE: dict[str, Any] = {"color": ".4", "linewidth": 1.2, "zorder": 1}
FAINT: dict[str, Any] = {"color": ".88", "linewidth": 0.8, "zorder": 0}


def plot_simplex_diagram(diagram: SimplexReliability, ax: Axes | None) -> Axes:
    """An arrow for each cell, from mean prediction to observed frequencies, and the cell's share of the rows as colour.

    Cells of a triangle are filled with it, if their ends are known, and else it is the colour of the arrow. Arrows of
    cells that are off beyond their limits are red.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import PowerNorm, to_rgba
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    n_classes = len(diagram.names)
    if n_classes not in INSIDE:
        raise ValueError(
            f"expected three or four classes, found {n_classes}: group them into three or four with lenses.groups"
        )
    ax = _axes(ax, None if n_classes == 3 else "3d", many=diagram.count.size > _MANY_CELLS)
    order = np.argsort(diagram.count, kind="stable")  # cells with many rows lie on top
    share = diagram.count[order] / diagram.count.sum()
    scale = ScalarMappable(PowerNorm(0.5, 0, share.max()), _colormap())  # the error of a cell goes with 1 / sqrt(rows)
    corners = CORNERS[:n_classes, : n_classes - 1]
    tails, heads = diagram.mean_prediction[order] @ corners, diagram.frequency[order] @ corners
    color, marks = scale.to_rgba(share), dict[str, Any](ticks=MaxNLocator(5), format=PercentFormatter(1))
    if n_classes == 3 and diagram.lower is not None and diagram.upper is not None:
        _fill_cells(ax, diagram.lower[order], diagram.upper[order], color)
        color, marks["alpha"] = np.full(color.shape, to_rgba(ON_CELLS)), FILLED
    off = np.zeros(order.size, bool) if diagram.low is None else diagram.low[order] > 0
    color[off] = to_rgba(colors()["red"])
    INSIDE[n_classes](ax, [str(name) for name in diagram.names], tails, heads, color)
    style: dict[str, Any] = {"color": ON_CELLS, "linestyle": "none"}
    ax.plot([], [], marker="o", markersize=3.5, label="mean prediction of a cell", **style)
    ax.plot([], [], marker=r"$\rightarrow$", markersize=11, label="to its observed frequencies", **style)
    if off.any() and diagram.band_level is not None:
        style["color"] = colors()["red"]
        label = f"off beyond chance ({level_text(diagram.band_level)} limits of all cells)"
        ax.plot([], [], marker=r"$\rightarrow$", markersize=11, label=label, **style)
    legend(ax, above=True)
    ax.figure.colorbar(scale, ax=ax, label=f"Share of the {diagram.n} rows", shrink=0.6, **marks)
    return ax


def _fill_cells(ax: Axes, lower: np.ndarray, upper: np.ndarray, color: np.ndarray) -> None:
    """Fill the cells of a triangle, whose coordinates have these ends."""
    from matplotlib.collections import PolyCollection

    polygons = [cell_corners(low, high) @ CORNERS[:3, :2] for low, high in zip(lower, upper, strict=True)]
    ax.add_collection(
        PolyCollection(polygons, facecolors=color, edgecolors="white", linewidth=0.8, alpha=FILLED, zorder=0.5)
    )


def cell_corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the corners of the part of the triangle of vectors with coordinates between these, in order around it."""
    corners = np.eye(3)
    for k in range(3):
        for side, end in ((1, low[k]), (-1, high[k])):
            room = side * (corners[:, k] - end)  # negative outside
            found = []
            for i in range(len(corners)):
                if room[i - 1] * room[i] < 0:
                    part = room[i - 1] / (room[i - 1] - room[i])
                    found.append((1 - part) * corners[i - 1] + part * corners[i])
                if room[i] >= 0:
                    found.append(corners[i])
            corners = np.reshape(found, (-1, 3))
    return corners


def _axes(ax: Axes | None, projection: str | None, many: bool) -> Axes:
    """Return the given axes, if they are of this kind, or the axes of a new figure, larger for many cells."""
    import matplotlib.pyplot as plt

    if ax is None:
        size = (9.0, 7.0) if many else (6.8, 4.8)
        return plt.subplots(figsize=size, subplot_kw={"projection": projection}, layout="constrained")[1]
    if (ax.name == "3d") != (projection == "3d"):
        kind = "three-dimensional axes (projection='3d')" if projection else "two-dimensional axes"
        raise ValueError(f"expected {kind}, found {type(ax).__name__}")
    return ax


def _colormap() -> Colormap:
    """Few rows green, many rows dark: the part of viridis that is seen on white."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    return ListedColormap(mpl.colormaps["viridis_r"](np.linspace(0.2, 1, 256)), "share of rows")


def _arrows_in_triangle(
    ax: Axes, names: Sequence[str], tails: np.ndarray, heads: np.ndarray, color: np.ndarray
) -> None:
    """Arrows on an equilateral triangle; the percentages along each edge count the corner that they rise to."""
    corners = CORNERS[:3, :2]
    ax.plot(*corners[[0, 1, 2, 0]].T, **EDGE_LINE)
    points: dict[str, Any] = {"textcoords": "offset points"}
    for k in range(3):
        before, corner, after = corners[k - 1], corners[k], corners[k - 2]
        for part in GRID_LINES:
            start, end = (1 - part) * np.array([before, after]) + part * corner
            out = (start - end) / np.linalg.norm(start - end)
            ax.plot(*np.transpose([start + 0.015 * out, end]), **FAINT)
            ax.annotate(
                f"{settled(part):.0%}", start, 13 * out, ha="center", va="center", fontsize=7, color=".4", **points
            )
    places = ((-10, -18, "left", "top"), (10, -18, "right", "top"), (0, 6, "center", "bottom"))
    for name, corner, (right, up, ha, va) in zip(names, corners, places, strict=True):
        text = name if va == "bottom" else textwrap.fill(name, 20)
        ax.annotate(text, corner, (right, up), ha=ha, va=va, weight="bold", parse_math=False, **points)
    width = 0.022 if len(tails) <= _MANY_CELLS else 0.014  # inches
    x, y = tails.T
    ax.scatter(x, y, s=(72 * 2.7 * width) ** 2, c=color, linewidth=0, zorder=2)
    arrows: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "units": "inches", "width": width}
    arrows |= {"headwidth": 4, "headlength": 4.5, "headaxislength": 4}
    ax.quiver(x, y, *(heads - tails).T, color=color, zorder=3, **arrows)
    ax.set(xlim=(-0.08, 1.08), ylim=(-0.08, 0.97), aspect="equal")
    ax.set_axis_off()


def _arrows_in_tetrahedron(
    ax: Any, names: Sequence[str], tails: np.ndarray, heads: np.ndarray, color: np.ndarray
) -> None:
    """Arrows in a regular tetrahedron."""
    for edge in combinations(CORNERS, 2):
        ax.plot(*np.transpose(edge), **EDGE_LINE)
    middle = CORNERS.mean(axis=0)
    sides = (("right", "center"), ("center", "top"), ("left", "center"), ("center", "bottom"))  # outside at first
    for name, corner, (ha, va) in zip(names, CORNERS, sides, strict=True):
        place = middle + 1.05 * (corner - middle)
        ax.text(*place, textwrap.fill(name, 14), ha=ha, va=va, weight="bold", parse_math=False)
    x, y, z = tails.T
    size, width, head = (12, 1.3, 0.25) if len(tails) <= _MANY_CELLS else (6, 0.9, 0.2)
    ax.scatter(x, y, z, s=size, c=color, depthshade=False, linewidth=0)
    ax.quiver(x, y, z, *(heads - tails).T, colors=color, linewidth=width, arrow_length_ratio=head)
    ax.set(**{f"{axis}lim": (m - 0.5, m + 0.5) for axis, m in zip("xyz", middle, strict=True)})  # turns about it
    ax.set_box_aspect((1, 1, 1), zoom=1.12)
    ax.view_init(elev=28, azim=-45)
    ax.set_axis_off()


INSIDE: dict[int, Any] = {3: _arrows_in_triangle, 4: _arrows_in_tetrahedron}
