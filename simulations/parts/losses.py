"""Losses of power below the best test on offer: their table and their pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.papers.parts.grid import DEFAULT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.2  # inches: words are still read on a screen 400 pixels wide
LINE = 0.24
FIRST = 4  # tests with the least losses, drawn over n beside these
KNOWN = ["calibration belt", "ece", "ks"]


def summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the mean, the 90 % quantile and the largest loss of each test, and how often its size was too large."""
    by = cells.groupby("measure")
    loss = by["loss"]
    found = loss.agg(cells="size", mean="mean", high=lambda each: each.quantile(0.9), worst="max")
    kinds = cells.pivot_table(index="measure", columns="kind", values="loss", aggfunc="mean")
    numbers = cells.pivot_table(index="measure", columns="n", values="loss", aggfunc="mean")
    invalid = (~cells["valid"].astype(bool)).groupby(cells["measure"]).mean()
    found = found.join(kinds).join(numbers.add_prefix("n = ")).assign(invalid=invalid)
    return found.sort_values("mean")


def draw_losses(cells: pd.DataFrame) -> Figure:
    """Draw the mean, the 90 % quantile and the largest loss of each test over all cells."""
    table = summary(cells)
    figure, axes = _panel(len(table))
    colors = _colors()
    for column, label, marker, color in (
        ("mean", "mean", "o", colors["blue"]),
        ("high", "90 % quantile", "|", colors["orange"]),
        ("worst", "largest", "x", colors["grey"]),
    ):
        axes.plot(table[column], np.arange(len(table)), marker, color=color, markeredgewidth=2, label=label)
    _name(axes, _with_stars(table))
    number = cells.groupby(["distribution", "n", "alternative"]).ngroups
    _words(figure, f"power below the best test of the cell\n({number} cells; *: size too large on some predictions)")
    axes.set_xlim(min(-0.02, table["mean"].min() - 0.02), 1)
    _legend(figure, axes)
    return figure


def draw_numbers(cells: pd.DataFrame) -> Figure:
    """Draw the mean losses of the first tests over the number of rows, against smooth and fine alternatives."""
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys([*summary(cells).index[:FIRST], *KNOWN]))
    mean = cells.groupby(["kind", "measure", "n"])["loss"].mean()
    figure, grid = plt.subplots(2, 1, figsize=(WIDTH, 7.5), sharex=True, sharey=True, layout="constrained")
    looks = zip(names, _colors().values(), "osX^Dv*P", strict=False)
    for name, color, marker in looks:
        for axes, kind in zip(grid, ("smooth", "fine"), strict=True):
            if kind in mean.index and name in mean[kind]:
                line = mean[kind][name]
                axes.plot(line.index, line, color=color, marker=marker, label=name)
            axes.set_title(f"{kind} alternatives", fontsize="medium")
    for axes in grid:
        axes.set_xscale("log")
        axes.grid(color=".92")
        axes.set_ylabel("mean loss")
    numbers = sorted(cells["n"].unique())
    grid[1].set_xticks(numbers, [str(n) for n in numbers])
    grid[1].set_xticks([], minor=True)
    grid[1].set_xlabel("rows")
    _legend(figure, grid[0])
    return figure


def draw_alternatives(cells: pd.DataFrame) -> Figure:
    """Draw the mean power of some tests against each alternative."""
    best = (cells["rate"] + cells["loss"]).groupby([cells["kind"], cells["alternative"]], sort=False).mean()
    rate = cells.groupby(["kind", "alternative", "measure"])["rate"].mean().unstack()
    order = best.sort_index(level="kind", ascending=False, sort_remaining=False).index
    figure, axes = _panel(len(order))
    y = np.arange(len(order))
    axes.plot(best[order], y, "|", color="black", markersize=9, markeredgewidth=2, label="best of all tests")
    names = [DEFAULT, *KNOWN]
    for name, color, marker in zip(names, _colors().values(), "osX^", strict=False):
        if name in rate:
            axes.plot(rate[name].loc[order], y, marker, color=color, markersize=6, label=name)
    _name(axes, [alternative for _, alternative in order])
    smooth = sum(kind == "smooth" for kind, _ in order)
    axes.axhline(smooth - 0.5, color="black", linewidth=1)
    _words(figure, "mean power at 5 %\n(smooth alternatives above the line, fine ones below)")
    axes.set_xlim(0, 1)
    _legend(figure, axes)
    return figure


def _panel(lines: int) -> tuple[Figure, Axes]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(WIDTH, lines * LINE + 1.5), layout="constrained")
    axes.grid(color=".92")
    axes.set_axisbelow(True)
    return figure, axes


def _name(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _with_stars(table: pd.DataFrame) -> list[str]:
    return [f"{name}{'*' * (share > 0)}" for name, share in table["invalid"].items()]


def _words(figure: Figure, text: str) -> None:
    figure.supxlabel(text, fontsize="medium")


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)


def _colors() -> dict[str, Any]:
    from calibstat.plots.style import colors

    return colors()
