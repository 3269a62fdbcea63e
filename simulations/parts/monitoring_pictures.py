"""Pictures of the study of monitors: false alarms, delays, confidence sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw each question."""
    return {"false_alarms": false_alarms(table), "delays": delays(table), "sequences": sequences(table)}


def false_alarms(table: pd.DataFrame) -> Figure:
    """Draw the share of calibrated streams ever flagged over the number of looks, and mean run lengths."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    flagged, runs = (table[table["question"] == name] for name in ("false alarms", "run length"))
    labels = list(dict.fromkeys(flagged["generator"]))
    color = [*colors().values()]
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (method, rows), shade, style in zip(flagged.groupby("method"), color, ("--", "-"), strict=False):
        for k, (_, cell) in enumerate(rows.groupby("generator")):
            given = {"label": method} if k == 0 else {}
            left.plot(cell["looks"], cell["rate"], style, marker="o", ms=3, lw=1, color=shade, **given)
    left.axhline(0.05, color="black", ls=":", lw=1)
    left.set(xscale="log", ylim=(0, 1), xlabel="looks", ylabel="share of calibrated streams ever flagged")
    left.legend(frameon=False)
    for k, (length, rows) in enumerate(runs.groupby("arl")):
        place = [labels.index(label) + 0.2 * (2 * k - 1) for label in rows["generator"]]
        error = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        shown = {"fmt": "o", "ms": 4, "lw": 1, "color": color[k], "label": f"promised {length:g}"}
        right.errorbar(rows["mean"], place, xerr=error, **shown)
        right.axvline(length, color=color[k], ls=":", lw=1)
    right.set(xscale="log", xlabel="mean number of looks to a false alarm (bars: 95 %)")
    right.set_yticks(range(len(labels)), labels)
    right.invert_yaxis()
    right.legend(frameon=False, fontsize="small")
    return figure


def delays(table: pd.DataFrame) -> Figure:
    """Draw median delays up to the 80 % quantile, beside the days of one test that knows the date."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    rows = table[table["question"] == "delay"]
    labels = list(dict.fromkeys(rows["generator"]))
    figure = Figure(figsize=(8, 5.2), layout="constrained")
    ax = figure.subplots()
    groups = rows.groupby(["method", "change"])
    for k, (((method, date), part), shade) in enumerate(zip(groups, colors().values(), strict=False)):
        place = [labels.index(label) + 0.16 * (k - 1.5) for label in part["generator"]]
        ends = np.where(np.isfinite(part["late"]), part["late"], part["median"])
        ax.hlines(place, part["median"], ends, color=shade, lw=1.5)
        ax.plot(part["median"], place, "o", ms=5, color=shade, label=f"{method}, change on day {date:g}")
    known = rows.drop_duplicates("generator")
    for times, grey, label in ((1, "black", "Cox test of the days since, power .8"), (4, ".6", "four times that")):
        ax.plot(times * known["known"], range(len(known)), "|", color=grey, ms=26)
        ax.plot([], [], "|", color=grey, ms=9, label=label)
    ax.set(xscale="log", xlabel="days from the change to the alarm: median, line to the 80 % quantile")
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    return figure


def sequences(table: pd.DataFrame) -> Figure:
    """Draw how often sequences and fixed intervals ever miss, and widths beside those of fixed intervals."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    rows = table[table["question"].isin(["gap", "Brier"])]
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    axes = figure.subplots(1, 2)
    for (label, cell), shade in zip(rows.groupby("generator", sort=False), colors().values(), strict=False):
        for method, style in (("sequence", "-"), ("fixed", "--")):
            part = cell[cell["method"] == method]
            axes[0].plot(part["rows"], part["rate"], style, marker="o", ms=3, lw=1, color=shade)
        part = cell[cell["method"] == "sequence"]
        axes[1].plot(part["rows"], part["ratio"], marker="o", ms=3, lw=1, color=shade, label=label)
    axes[0].axhline(0.05, color="black", ls=":", lw=1)
    axes[0].set(xscale="log", ylim=(-0.02, 1), xlabel="rows so far", ylabel="ever missed the truth")
    axes[0].set_title("sequence (lines), fixed interval at each look (dashed)", fontsize="medium")
    axes[1].set(xscale="log", xlabel="rows so far", ylabel="width / that of an interval for one fixed look")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure
