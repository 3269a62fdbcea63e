"""Diagrams of different kinds beside each other, with the same ends of their axes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.estimate import MeasureDetail
from calibstat.inference.sharpness import CalibrationSharpness
from calibstat.plots.detail_plot import plot_measure_detail
from calibstat.plots.reliability_plot import plot_reliability_diagram
from calibstat.plots.sharpness_plot import plot_sharpness

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 4  # diagrams beside each other
PLOTS_OF_ONE: dict[type, Callable[..., Axes]] = {
    CalibrationSharpness: plot_sharpness,
    Reliability: plot_reliability_diagram,
    MeasureDetail: plot_measure_detail,
}


def plot_beside(results: Sequence[Any], names: Sequence[str], ax: Axes | None) -> Axes:
    """A diagram for each result, in the first row the leading results of one kind; returns the axes of the first."""
    import matplotlib.pyplot as plt

    if ax is not None:
        raise ValueError("expected no axes for several diagrams, found axes: draw one result in them")
    alike = len(list(takewhile(lambda one: type(one) is type(results[0]), results)))
    across = min(alike if alike < len(results) and alike > 1 else len(results), ACROSS)
    down = -(-len(results) // across)
    figure, grid = plt.subplots(
        down, across, figsize=(3.9 * across + 0.4, 4.1 * down + 0.3), squeeze=False, layout="constrained"
    )
    drawn: list[Axes] = []
    labels: dict[str, Any] = {}
    for one, name, panel in zip(results, names, grid.flat, strict=False):
        draw = next(draw for kind, draw in PLOTS_OF_ONE.items() if isinstance(one, kind))
        drawn.append(draw(one, panel))
        panel.set_title(textwrap.fill(name, 36), fontsize="medium", parse_math=False)
        labels |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
        shown = panel.get_legend()
        if shown is not None:
            shown.remove()
    for spare in grid.flat[len(results) :]:
        spare.remove()
    low, high = (end(panel.get_ylim()[k] for panel in drawn) for k, end in enumerate((min, max)))
    for panel in drawn:
        panel.set_ylim(low, high)
        panel.set_aspect("auto")  # else a square diagram is narrower than the others
    figure.legend(
        list(labels.values()), list(labels), loc="outside upper center", ncols=2, fontsize="small", frameon=False
    )
    return drawn[0]
