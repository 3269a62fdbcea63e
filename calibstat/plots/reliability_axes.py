"""The axes of reliability diagrams: the square, the strip of rows with its scale, and the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.plots.style import ROOM, TIGHT, as_text, colors, grid_of_axes, named_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROWEST_BAR = 0.006  # so that a bin of one prediction still shows
HEIGHT = 1.19  # of given axes or small ones, beside their width, so that the diagonal is at 45 degrees
SIDE = 4.2  # inches, of the square of a diagram in a figure of its own
STRIP_BELOW = (0.0, -0.25, 1.0, 0.2)  # the strip in a panel of its own, beside the square
STRIP_WITHIN = (0.0, 0.0, 1.0, 0.15)  # the strip along the lower edge of given axes
NAME = 26  # letters in a line of a legend
MARGIN = 0.02  # between 0 or 1 and the ends of the axes, as a share of these
ZOOMED = 0.5  # end of the axes of a diagram in which all is lower, at most


def diagram_axes(ax: Axes | None, diagrams: Sequence[Reliability], deviation: bool) -> tuple[Axes, Axes]:
    """Return axes with everything except the data, and the axes of the rows: in a panel below, of given axes within."""
    new = ax is None
    ax = grid_of_axes(1, 1, SIDE, SIDE)[0, 0] if ax is None else ax
    strip = strip_below(ax) if new else strip_within(ax)
    strip.set_ylabel(rows_or_weight(diagrams[0]) if new else "")
    numbers = {(one.n, one.effective_n) for one in diagrams}
    n, effective = numbers.pop() if len(numbers) == 1 else (None, None)
    rows = "" if n is None else f", n = {settled(n):,.10g}"
    rows += "" if effective is None else f" ({settled(effective):,.0f} effective)"
    (strip if new else ax).set_xlabel(f"Predicted probability{rows}")
    ax.set_ylabel(vertical_label(deviation))
    set_limits(ax, diagrams, deviation, within=not new)
    return ax, strip


def size_of_marks(ax: Axes) -> float:
    """Size of the marks in these axes, beside those in a figure of their own."""
    return float(np.clip(ax.bbox.width / ax.figure.dpi / 4, 0.5, 1))


def strip_below(ax: Axes) -> Axes:
    """Add the panel of the rows below axes, exactly as wide whatever the shape of the figure."""
    strip = ax.inset_axes(STRIP_BELOW, sharex=ax)
    ax.tick_params(axis="x", labelbottom=False, bottom=False)
    strip.grid(visible=False)
    return strip


def strip_within(ax: Axes) -> Axes:
    """Add the strip of the rows along the lower edge of axes, with its scale to the left."""
    strip = ax.inset_axes(STRIP_WITHIN, sharex=ax)
    strip.set_facecolor("none")
    strip.grid(visible=False)
    strip.spines[:].set_visible(False)
    strip.tick_params(axis="x", bottom=False, labelbottom=False)
    strip.tick_params(axis="y", length=2, labelsize="x-small")
    return strip


def set_limits(ax: Axes, diagrams: Sequence[Reliability], deviation: bool, within: bool) -> None:
    """Set the ends of the axes, with room for a strip within or without; the diagonal at 45 degrees."""
    end = end_of(diagrams)
    ax.set(xlim=(-MARGIN * end, (1 + MARGIN) * end), ylim=vertical_limits(diagrams, deviation, strip=within))
    ax.set_xticks(np.linspace(0, end, 6))
    if not deviation:
        ax.set_yticks(np.linspace(0, end, 6))
        ax.set_aspect("equal")
    elif within:
        highest = ax.get_ylim()[1]
        ax.set_yticks([tick for tick in ax.get_yticks() if abs(tick) <= highest])  # none beside the scale of the strip


def end_of(diagrams: Sequence[Reliability]) -> float:
    """Return where the axes end: at 1, or if nothing but the band of the highest bin is above, at a round number."""
    highest = max(float(max(one.frequency.max(), one.mean_prediction.max())) for one in diagrams)
    unit = 10.0 ** np.floor(np.log10(max(1.1 * highest, 1e-9)))
    end = min(step * unit for step in (1, 2, 3, 5, 10) if step * unit >= 1.1 * highest)
    return float(end) if end <= ZOOMED else 1.0


def vertical_limits(diagrams: Sequence[Reliability], deviation: bool, strip: bool) -> tuple[float, float]:
    """Ends of the vertical axis on which all of these fit, with room for a strip along its lower edge or without."""
    if not deviation:
        end = end_of(diagrams)
        return end * (1 + MARGIN - (1 + 2 * MARGIN) * (HEIGHT if strip else 1)), end * (1 + MARGIN)
    ends = [[one.frequency, one.low, one.high] for one in diagrams]
    heights = [d - one.mean_prediction for one, of in zip(diagrams, ends, strict=True) for d in of if d is not None]
    for steps in (one.steps for one in diagrams if one.corp_inside is None):
        heights += [] if steps is None else [d - steps.corners()[0] for d in steps.corners()[1:]]
    reach = max(0.01 * end_of(diagrams), 1.15 * np.abs(np.concatenate(heights)).max())
    return -ROOM * reach if strip else -reach, reach


def vertical_label(deviation: bool) -> str:
    """The label of the vertical axis."""
    return "Observed frequency − prediction" if deviation else "Observed frequency"


def rows_or_weight(diagram: Reliability) -> str:
    """The label of the strip."""
    if diagram.effective_n is not None:
        return "Effective rows"
    return "Rows" if isinstance(diagram.n, int) else "Weight"


def rows_strip(diagram: Reliability, strip: Axes, highest: float | None = None) -> None:
    """Draw the rows of each bin, up to the highest of all diagrams, with the numbers in a panel of their own."""
    end = strip.get_xlim()[1]
    width = np.maximum(diagram.right - diagram.left, NARROWEST_BAR * end)
    middle = (diagram.left + diagram.right) / 2
    grey: dict[str, Any] = {"color": colors()["grey"], "alpha": 0.5, "edgecolor": "white", "linewidth": 0.6}
    strip.bar(middle, diagram.count, width, **grey)
    own_panel = bool(strip.get_ylabel())
    scale_of_rows(strip, diagram.count.max() if highest is None else highest, 1.45 if own_panel else 1.3)
    if not own_panel:
        return
    last = -end
    for x, count in zip(middle, diagram.count, strict=True):
        if last < x - 0.055 * end and x <= end:
            strip.annotate(short(count), (x, count), (0, 1), textcoords="offset points", ha="center", fontsize=7.5)
            last = x


def scale_of_rows(strip: Axes, highest: float, room: float = 1.1) -> None:
    """Mark 0 and the largest round number up to the highest count."""
    unit = 10.0 ** np.floor(np.log10(highest))
    tick = max(unit * step for step in (1, 2, 5) if unit * step <= highest)
    strip.set_ylim(0, room * highest)
    strip.set_yticks([0, tick], ["0", short(tick)])


def short(rows: float) -> str:
    """Write a number of rows in at most three characters and a unit."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rows >= size:
            return f"{settled(rows / size):.1f}{unit}" if rows < 9.95 * size else f"{settled(rows / size):.0f}{unit}"
    return f"{settled(rows):.3g}"


def legend_of(
    ax: Axes, strip: Axes, handles: Sequence[Any], labels: Sequence[str], diagrams: Sequence[Reliability]
) -> None:
    """Add the legend below everything; where nothing would make room for it there, beside the points."""
    from matplotlib.transforms import ScaledTranslation

    lines = ["\n".join(as_text(line, NAME) for line in label.splitlines()) for label in labels]
    own_panel = bool(strip.get_ylabel())
    if own_panel or ax.figure.get_layout_engine() is not None:
        ticks_and_label = ScaledTranslation(0, -0.5, ax.figure.dpi_scale_trans)  # fonts do not grow with the figure
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": 2, **TIGHT}
        place["bbox_transform"] = (strip if own_panel else ax).transAxes + ticks_and_label
    else:
        above = np.mean([np.average(one.frequency - one.mean_prediction, weights=one.count) for one in diagrams]) >= 0
        place = {"loc": "lower right", "bbox_to_anchor": (1, STRIP_WITHIN[3])}
        place = place if above else {"loc": "upper left", "bbox_to_anchor": (0, 1)}
        place |= {"borderaxespad": 0.2, "labelspacing": 0.2, "handlelength": 1.2, "fontsize": 6.5, "framealpha": 0.7}
    named_legend(ax, handles, lines, **place)
