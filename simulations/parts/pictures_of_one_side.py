"""Pictures of the study of tests of one side: levels, power, and rows that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .alike_outcomes import EXACT, ROWS, SIGNS, STUDENT
from .errors_of_one_side import ONE, TWO

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVEL = 0.05


def draw_levels(table: pd.DataFrame) -> Figure:
    """Draw how often each promised test finds something that is not there: a point for each setting."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    kinds = {
        "predictions right": (table["method"] == "labels") & table["generator"].str.contains(", right"),
        "right, or wrong in\nthe other direction": (table["method"] == "labels")
        & ~table["generator"].str.contains(", right"),
        "rating grades": table["question"] == "grades, size",
        "rows in clusters": table["method"] == EXACT,
    }
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax = figure.subplots()
    for place, (label, which) in enumerate(kinds.items()):
        rates = np.sort(table.loc[which, "rate"])
        offset = 0.3 * np.linspace(-1, 1, max(rates.size, 2))[: rates.size]
        ax.plot(rates, place + offset, "o", ms=4, color=hue["blue"], label=label)
    ax.axvline(LEVEL, color="black", ls="--", lw=1)
    ax.set_yticks(range(len(kinds)), list(kinds))
    ax.set_ylim(len(kinds) - 0.5, -0.5)
    ax.set_xlim(-0.002, max(0.08, 1.05 * float(table["rate"].max())))
    ax.set_xlabel("share of data sets with a false finding (dashed: 5 %)", loc="right")
    ax.set_title("a point for each setting and measure", fontsize="medium", loc="right")
    return figure


def draw_power(table: pd.DataFrame) -> Figure:
    """Draw the power of the omnibus of one side and of two, and of other measures of one side, by error."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    looks = {
        (ONE, "mean"): ("mean, one side", "grey", "x"),
        (ONE, "ks"): ("ks, one side", "grey", "^"),
        (TWO, "omnibus"): ("omnibus, two sides", "orange", "s"),
        (ONE, "omnibus"): ("omnibus, one side", "blue", "o"),
    }
    parts = list(table.groupby("question", sort=False))
    heights = [part["generator"].nunique() for _, part in parts]
    figure = Figure(figsize=(7, 1.9 + 0.27 * sum(heights)), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(parts), 1, height_ratios=heights, sharex=True))
    for ax, (question, part) in zip(panels, parts, strict=True):
        _power_of(ax, part, {key: (label, hue[color], marker) for key, (label, color, marker) in looks.items()})
        which = (
            "all errors have the direction that is asked about" if question == "power" else "errors of both directions"
        )
        ax.set_title(which, fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    panels[-1].set_xlabel("share of data sets in which the error is found")
    return figure


def _power_of(ax: Axes, part: pd.DataFrame, looks: dict[tuple[str, str], tuple[str, Any, str]]) -> None:
    best = part[(part["method"] == ONE) & (part["measure"] == "omnibus")].sort_values("rate", ascending=False)
    names = list(best["generator"])
    for (method, measure), (label, color, marker) in looks.items():
        rows = part[(part["method"] == method) & (part["measure"] == measure)].set_index("generator").loc[names]
        ax.plot(rows["rate"], range(len(names)), marker, ms=5, color=color, label=label)
    ax.set_yticks(range(len(names)), [name.partition("; ")[0] for name in names], fontsize="small")
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.grid(axis="y", lw=0.4, alpha=0.4)


def draw_dependence(table: pd.DataFrame) -> Figure:
    """Draw how often tests reject calibrated rows whose outcomes are alike."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    looks = {
        ROWS: ("red", "s", "mean, as if rows were independent"),
        SIGNS: ("orange", "^", "signs of clusters"),
        STUDENT: ("purple", "v", "t of clusters"),
        EXACT: ("blue", "o", "with cluster="),
    }
    shown = table[table["measure"] == "mean"]
    shown = shown.assign(label=[f"{row.generator}, {row.side}, icc {row.icc:g}" for row in shown.itertuples()])
    names = list(dict.fromkeys(shown["label"]))
    figure = Figure(figsize=(7, 1.6 + 0.27 * len(names)), layout="constrained")
    ax = figure.subplots()
    for method, (color, marker, label) in looks.items():
        rows = shown[shown["method"] == method]
        ax.plot(
            rows["rate"], [names.index(name) for name in rows["label"]], marker, ms=5, color=hue[color], label=label
        )
    ax.axvline(LEVEL, color="black", ls="--", lw=1)
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(-0.01, max(0.2, 1.05 * float(shown["rate"].max())))
    ax.grid(axis="y", lw=0.4, alpha=0.4)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    ax.set_xlabel("share of calibrated data sets that are rejected", loc="right")
    ax.set_title("outcomes are alike within clusters (dashed: 5 %)", fontsize="medium", loc="right")
    return figure
