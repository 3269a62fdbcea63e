"""Sizes, styles, colours by role, new axes, titles, legends, names and numbers of all plots."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.output.visible_text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Color = tuple[float, float, float]  # red, green, blue, from 0 to 1

SIZE = (6.0, 5.0)
ROOM = 1.36  # how far below zero an axis goes if it goes to 1 above, so that a strip along its lower edge hides nothing
AXES_GAP = 0.2  # inches between axes beside each other
NAME_LINES = 3  # of a name that is longer than a line
RESULT_STYLE = Path(__file__).with_name("results.mplstyle")
PALETTE = ("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9")
DIAGONAL: dict[str, Any] = {"color": ".4", "linestyle": "--", "linewidth": 1.2}
POINT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6.5, "markeredgecolor": "white", "zorder": 3}
TIGHT: dict[str, Any] = {"columnspacing": 1.2, "handlelength": 1.6, "fontsize": "small", "frameon": False}


def colors() -> dict[str, Color]:
    """Colours by role, from a palette that stays apart for colour-blind readers: "colorblind" of seaborn."""
    from matplotlib.colors import to_rgb

    roles = ("blue", "orange", "green", "red", "purple", "brown", "pink", "grey")
    return dict(zip(roles, map(to_rgb, PALETTE), strict=False))


def light_to_dark(number: int) -> list[Color]:
    """Return so many colours for numbers in order, from yellow green to dark purple, without the ends of viridis."""
    import matplotlib as mpl

    return [tuple(color[:3]) for color in mpl.colormaps["viridis_r"](np.linspace(0, 1, number + 2)[1:-1])]


def pale(color: Color, share: float) -> Color:
    """Mix a colour with white: bars of it that overlap look no darker there, as transparent ones would."""
    red, green, blue = (1 - share * (1 - part) for part in color)
    return red, green, blue


def new_axes(ax: Axes | None, height: float = SIZE[1], width: float = SIZE[0]) -> Axes:
    """Return the given axes or the axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def grid_of_axes(across: int, down: int, width: float, height: float, gap: float = 0.0) -> np.ndarray:
    """Axes of so many inches in a new figure without a layout, which `fit_figure` fits around them.

    The layouts of matplotlib take several rounds to fit axes of a given shape and what stands around them, and stop
    before. `gap` is between the rows of axes; beside each other they are closer.
    """
    import matplotlib.pyplot as plt

    size = across * (width + AXES_GAP) + 2.0, down * (height + gap) + 2.0
    figure = plt.figure(figsize=size)
    grid = np.empty((down, across), dtype=object)
    for row, column in np.ndindex(down, across):
        low, left = 1.0 + (down - 1 - row) * (height + gap), 1.0 + column * (width + AXES_GAP)
        place = left / size[0], low / size[1], width / size[0], height / size[1]
        grid[row, column] = figure.add_axes(place)
    return grid


def grid_middle(grid: np.ndarray) -> tuple[float, float]:
    """The middle of a grid of axes, from the lower left of its last row, in widths and heights of one of them."""
    lowest, highest, last = (ax.get_window_extent() for ax in (grid[-1, 0], grid[0, 0], grid[0, -1]))
    return (last.x1 - lowest.x0) / 2 / lowest.width, (highest.y1 - lowest.y0) / 2 / lowest.height


def fit_figure(figure: Figure, left: float = 0.08, below: float = 0.08) -> None:
    """Make a figure as large as what is drawn, and these inches more, while its axes stay as large as they are."""
    pad, whole = 0.08, figure.get_tightbbox()
    boxes = [ax.get_window_extent().frozen() for ax in figure.axes]  # as they are before the figure grows
    size = whole.width + left + pad, whole.height + below + pad
    figure.set_size_inches(*size)
    for ax, box in zip(figure.axes, boxes, strict=True):
        x, y, width, height = (part / figure.dpi for part in box.bounds)
        low = (y - whole.y0 + below) / size[1]
        ax.set_position(((x - whole.x0 + left) / size[0], low, width / size[0], height / size[1]))


def as_text(name: object, width: int) -> str:
    """Write any name in a few lines of this width, control characters as in code.

    Whoever shows it says ``parse_math=False``, or matplotlib takes what is between two dollars for a formula.
    """
    plain = visible(" ".join(str(name).split()))
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)
    return textwrap.fill(plain, width, max_lines=NAME_LINES, placeholder="…")


def three_numbers(interval: ConfidenceInterval) -> tuple[str, str, str]:
    """Estimate and ends of an interval, all with three decimals, or as many as the largest needs for two digits."""
    numbers = interval.estimate, interval.low, interval.high
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    decimals = min(max(1 - math.floor(math.log10(largest)), 3), 12) if largest else 3
    estimate, low, high = (f"{settled(number + 0.0):.{decimals}f}" for number in numbers)
    return estimate, low, high


def legend(ax: Axes, above: bool = False, columns: int | None = None) -> None:
    """Put the legend above the axes in so many columns, or in two rows, to hide nothing; or where it hides least."""
    handles, labels = ax.get_legend_handles_labels()
    if above:
        columns = columns or (len(labels) + 1) // 2
        place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": columns, **TIGHT}
    else:
        many = any(np.size(line.get_xdata()) > 200_000 for line in ax.lines)  # searching the best place would take long
        place = {"loc": "upper right" if many else "best", "fontsize": "small", "framealpha": 0.9}
    named_legend(ax, handles, labels, **place)


def named_legend(where: Axes | Figure, handles: Sequence[Any], names: Sequence[str], **place: Any) -> None:
    """Add a legend that shows any names as they are: a leading underscore hides none, and none is a formula."""
    made = where.legend(handles, ["."] * len(handles), **place)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set(text=name, parse_math=False)


def entitle(ax: Axes, title: str, new: bool) -> None:
    """Put a title over axes, or over a new figure of several, above what stands there: another title, or a legend."""
    shared = ax.figure.legends[0] if new and ax.figure.legends else None
    own, whole = ax.get_legend(), as_text(title, 60)
    if shared is not None:
        shared.set_title(_above(whole, shared.get_title().get_text()))
        shared.get_title().set_parse_math(False)
    else:
        over = own is not None and own.get_bbox_to_anchor().y0 >= ax.bbox.y1 - 1
        height = own.get_window_extent().height * 72 / ax.figure.dpi if own is not None and over else 0.0
        letters = ax.title.get_fontsize()  # which are smaller in small axes
        ax.set_title(_above(whole, ax.get_title()), fontsize=letters, pad=height + 10, parse_math=False)


def _above(title: str, other: str) -> str:
    return "\n".join(filter(None, (title, other)))


def strip_along(ax: Axes, label: str) -> Axes:
    """Axes along the lower edge of others, for how many predictions there are."""
    strip = ax.inset_axes((0, 0, 1, 0.15), sharex=ax)
    strip.axis("off")
    ax.fill_between([], [], color=colors()["grey"], alpha=0.5, linewidth=0, label=label)
    return strip
