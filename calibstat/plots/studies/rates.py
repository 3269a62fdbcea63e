"""Pictures of rates: how often tests reject, and how often intervals cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calibstat.plots.style import PALETTE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osX^Dv"
MARK_GAP = 0.12  # inches between marks that are drawn beside each other
TITLE = 0.33  # inches above a panel
RATE_TICKS = [0, 0.5, 0.8, 0.95, 1]
LIMITS = "bars: exact 95% limits"


def draw_rejections(table: pd.DataFrame) -> Figure:
    """Draw the share of rejections of each measure, a panel for each generator, with the level as a line."""
    several = table["method"].nunique() > 1
    panels = {
        f"{generator}, {method}" if several else str(generator): part
        for (generator, method), part in table.groupby(["generator", "method"], sort=False)
    }
    figure = _panels(panels, table, "measure", "n", most=4, width=2.2)
    level = " or ".join(f"{100 * level:g}%" for level in table["level"].unique())
    figure.supxlabel(f"share of data sets in which the test rejects at {level} (dashed; {LIMITS})", fontsize="medium")
    farthest = max(table["high"].max(), 2 * table["level"].max())
    figure.axes[0].set_xlim(-0.04 * farthest, 1.04 * farthest)
    return figure


def draw_coverage(table: pd.DataFrame) -> Figure:
    """Draw the coverage of each method, a panel for each measure and number of rows, with the level as a line.

    The scale is the square root of the share of misses: it shows 94% beside 95%, and 0 as well.
    """
    panels = {f"{measure}\nn = {n}": part for (n, measure), part in table.groupby(["n", "measure"], sort=False)}
    across = table["measure"].nunique()  # so that each row has one n
    figure = _panels(
        panels, table, "generator", "method", most=across if 1 < across <= 10 else 7, width=1.6, title_lines=2
    )
    level = " or ".join(f"{100 * level:g}%" for level in table["level"].unique())
    covers = f"share of data sets in which the {level} interval covers the truth"
    legend = f"dashed: {level}; {LIMITS}; scale: square root of the share of misses"
    figure.supxlabel(f"{covers}\n({legend})", fontsize="medium")
    figure.axes[0].set_xscale("function", functions=(_root_of_misses, _covered))
    figure.axes[0].set_xlim(-0.12, 1.002)
    figure.axes[0].set_xticks(RATE_TICKS, [f"{tick:g}".removeprefix("0") or "0" for tick in RATE_TICKS])
    return figure


def _root_of_misses(covered: np.ndarray) -> np.ndarray:
    missed = 1 - np.asarray(covered)
    return -np.sign(missed) * np.sqrt(np.abs(missed))


def _covered(root: np.ndarray) -> np.ndarray:
    root = np.asarray(root)
    return 1 + np.sign(root) * root**2


def _panels(
    panels: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    place: str,
    beside: str,
    *,
    most: int,
    width: float,
    title_lines: int = 1,
) -> Figure:
    """Draw rates with their limits in panels: a place for each value of one column, in which another has a mark.

    There are at most so many panels side by side.
    """
    import matplotlib.pyplot as plt

    places, marks = list(table[place].unique()), list(table[beside].unique())
    marks = sorted(marks) if beside == "n" else marks
    rows = -(-len(panels) // most)
    columns = -(-len(panels) // rows)
    room = MARK_GAP * len(marks) + 0.08  # inches for each place
    shift = (np.arange(len(marks)) - (len(marks) - 1) / 2) * MARK_GAP / room
    label_width, height = 0.085 * max(map(len, places)), len(places) * room
    figure, axes = plt.subplots(
        rows,
        columns,
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=(
            max(columns * width + label_width + 1.1, 7.0),
            max(rows * (height + title_lines * TITLE) + 0.8, 0.5 + 0.25 * len(marks)),
        ),
    )
    for ax, (title, part) in zip(axes.flat, panels.items(), strict=False):
        for k, mark in enumerate(marks):
            here = part[part[beside] == mark]
            y = np.array([places.index(value) for value in here[place]]) + shift[k]
            color = PALETTE[k % len(PALETTE)]
            ax.hlines(y, here["low"], here["high"], color=color, linewidth=1.4)
            ax.plot(here["rate"], y, MARKERS[k % len(MARKERS)], color=color, markersize=4.5, label=str(mark))
        for level in part["level"].unique():
            ax.axvline(level, color="black", linestyle="--", linewidth=1)
        ax.set_title(title, fontsize="medium")
        _name_places(ax, places)
    axes[0, 0].set_ylim(len(places) - 0.5, -0.5)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for ax in axes[-2, len(panels) - (rows - 1) * columns :] if rows > 1 else ():
        ax.tick_params(labelbottom=True)  # the lowest of its column
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, title="rows (n)" if beside == "n" else beside, loc="outside right upper")
    return figure


def _name_places(ax: Axes, places: list[str]) -> None:
    """Name the places of marks on the vertical axis, with lines between them and not through marks."""
    ax.set_yticks(range(len(places)), places)
    ax.set_yticks(np.arange(1, len(places)) - 0.5, minor=True)
    ax.locator_params(axis="x", nbins=4)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.grid(False, axis="y", which="major")
    ax.grid(True, axis="y", which="minor")
