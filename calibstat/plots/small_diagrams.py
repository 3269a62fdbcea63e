"""Small reliability diagrams beside each other, of classes or of models, on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat.digits import settled
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.plots.reliability_axes import (
    HEIGHT,
    NAME,
    rows_or_weight,
    rows_strip,
    set_limits,
    strip_within,
    vertical_label,
)
from calibstat.plots.reliability_plot import plot_bins, plot_reliability_of_models, say_error, say_level
from calibstat.plots.style import TIGHT, as_text, grid_middle, grid_of_axes, named_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = 16  # diagrams in one figure, which fits on a page
ACROSS = 4  # diagrams beside each other
PAGE = 6.7  # inches that they share
PANEL_WIDTH = 2.8  # inches of one


def plot_small_diagrams(
    diagrams: Sequence[Reliability],
    names: Sequence[object],
    which: str,
    deviation: bool = False,
    across: int | None = None,
) -> Axes:
    """A small diagram for each, so many beside each other, below what `which` says of all; returns the first axes."""
    from matplotlib.transforms import ScaledTranslation

    count = len(diagrams)
    across = across or (count if count <= 3 else min(ACROSS, int(np.ceil(np.sqrt(count)))))
    down = -(-count // across)
    titles = [f"{as_text(name, NAME)}\n{say_error(one, short=True)}" for name, one in zip(names, diagrams, strict=True)]
    lines = max(title.count("\n") for title in titles) + 1
    width = min(PAGE / across, PANEL_WIDTH)
    grid = grid_of_axes(across, down, width, HEIGHT * width, gap=0.14 * lines + (0.2 if count % across else 0.1))
    middle, centre = grid_middle(grid)
    highest = max(one.count.max() for one in diagrams)
    entries: dict[str, Any] = {}
    for one, title, panel in zip(diagrams, titles, grid.flat, strict=False):
        set_limits(panel, diagrams, deviation, within=True)
        _draw_one(one, panel, title, deviation, highest, in_first_column=panel in grid[:, 0])
        handles, labels = panel.get_legend_handles_labels()
        entries = dict(zip(labels, handles, strict=True)) | entries
    for spare in grid.flat[count:]:
        spare.remove()
    for lowest in grid.flat[count - across : count]:  # of each column
        lowest.tick_params(labelbottom=True)
    first: Axes = grid[0, 0]
    figure = cast("Figure", first.figure)
    above = first.transAxes + ScaledTranslation(0, 0.14 * lines + 0.1, figure.dpi_scale_trans)
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (middle, 1), "bbox_transform": above}
    columns = {"title": _heading(diagrams, which), "ncols": min(across, 2)}
    named_legend(figure, [*entries.values()], [*entries], **columns, **place, **TIGHT)
    _label_both_axes(grid[-1, 0], middle, centre, vertical_label(deviation))
    return first


def plot_models_beside(
    diagrams: Sequence[Reliability], names: Sequence[str], ax: Axes | None, deviation: bool = False
) -> Axes:
    """A small diagram for each model with its band; in given axes the points and curves of all, without bands."""
    if ax is not None:
        return plot_reliability_of_models(diagrams, names, ax, deviation)
    return plot_small_diagrams(diagrams, names, f"{len(diagrams)} models", deviation)


def _heading(diagrams: Sequence[Reliability], which: str) -> str:
    """Say which diagrams these are, of how many rows, and what stands above and below each."""
    numbers = {one.n for one in diagrams}
    n = f", n = {settled(numbers.pop()):,.10g}" if len(numbers) == 1 else ""
    own = ", each with its own band" if any(one.band for one in diagrams) else ""
    return f"{which}{n}{own}\nECE{say_level(diagrams)}; below, {rows_or_weight(diagrams[0]).lower()}"


def _draw_one(
    diagram: Reliability, panel: Axes, title: str, deviation: bool, highest: float, *, in_first_column: bool
) -> None:
    """Draw one diagram, with a strip of rows below that goes up to `highest`."""
    strip = strip_within(panel)
    plot_bins(diagram, panel, deviation, size=0.6)
    rows_strip(diagram, strip, highest)
    panel.tick_params(labelsize="x-small", labelbottom=False, labelleft=in_first_column)
    strip.tick_params(axis="y", labelleft=in_first_column, labelsize="xx-small")
    panel.set_title(title, fontsize="x-small", pad=3, parse_math=False)


def _label_both_axes(corner: Axes, middle: float, centre: float, vertical: str) -> None:
    """Write once what all panels have on their axes: below and to the left of the panel in the corner."""
    from matplotlib.transforms import ScaledTranslation

    figure = cast("Figure", corner.figure)
    below = ScaledTranslation(0, -0.42, figure.dpi_scale_trans)
    beside = ScaledTranslation(-0.58, 0, figure.dpi_scale_trans)
    text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "medium"}
    figure.text(middle, 0, "Predicted probability", transform=corner.transAxes + below, **text)
    figure.text(0, centre, vertical, rotation=90, transform=corner.transAxes + beside, **text)
