"""The study of the choices behind a calibration error as Markdown and one page of HTML, and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.output.fragments import Picture, Section, Table
from calibstat.output.html import render
from calibstat.papers.parts.agreement import PROPERTIES
from calibstat.papers.parts.splits import EVERY
from calibstat.papers.parts.table_pages import head, left_out_section, records, signed, times_100
from calibstat.plots.inline_svg import svg_of_figure
from calibstat.plots.studies.estimates import panels, positions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 10  # files whose classes are drawn
CAPTIONS = {
    "bins": "Mean rank correlations of one error with other numbers of bins, by property",
    "temperatures": "Temperatures fitted to each of the 32 errors, by their index",
    "classes": "The adaptive error of each class, and what it is on average if the predictions are calibrated",
}


def pages(table: pd.DataFrame, figures: Mapping[str, Figure]) -> dict[str, str]:
    """Return the texts that are written beside the table, by the ending of the file's name."""
    page, about = head("The choices behind a calibration error, for your models", table)
    found = [*sections(table)]
    pictures = [Picture(svg_of_figure(figure, CAPTIONS[name]), CAPTIONS[name], wide=True)
                for name, figure in figures.items()]  # fmt: skip
    drawn = [Section("Pictures", pictures=pictures)] if pictures else []
    return {
        ".md": render("page.md", report=page, about=about, sections=found),
        ".html": render("page.html", report=page, about=about, sections=[*found[:-1], *drawn, found[-1]]),
    }


def sections(table: pd.DataFrame) -> Iterator[Section]:
    """Return the tables of each block of files with the same number of classes, and what was left out."""
    for classes, block in table[table["classes"] > 0].groupby("classes", sort=False):
        rows = chosen(block)
        of = f"{classes} classes"
        splits = int(block["splits"].max())
        words = f"Means over {splits} random split{'s' * (splits != 1)} into 20% of the rows, to fit to, and 80%. "
        words += (
            f"Means over {int(rows['files'].max())} files, ± their standard errors."
            if rows["file"].iloc[0] == EVERY
            else "One file: splits share its rows, so that no standard error is given."
        )
        steady = (
            "Mean rank correlation of recalibrations by one error with 10 to 50 bins, on the same and on other rows."
        )
        yield Section(f"Section 5.3, {of}", [words, steady], tables=[by_property(rows, "bins", signed)])
        fitted = "ECE and RMSCE, times 100, of temperatures fitted to the errors with each property. " + _worse(rows)
        yield Section(f"Table 3, {of}", [fitted], tables=[by_property(rows, "fitted temperature", times_100)])
        yield Section(f"Tables 1 and 2, {of}", ["Times 100."], tables=[_histograms(rows)])
        yield Section(f"Claims of Nixon et al., {of}", tables=[_claims(rows, splits)])
    yield left_out_section(table)


def chosen(block: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all files of a block, or of its only one."""
    several = (block["file"] == EVERY).any()
    found: pd.DataFrame = block[block["file"] == (EVERY if several else block["file"].iloc[0])]
    return found


def cell(row: Mapping[str, Any], write: Callable[[float], str]) -> str:
    """Write a mean, with its standard error over files if there are several."""
    error = row["sd"] / np.sqrt(row["files"])
    known = row["file"] == EVERY and np.isfinite(error)
    return write(row["mean"]) + (f" ± {write(error)}" if known else "")


def by_property(rows: pd.DataFrame, question: str, write: Callable[[float], str]) -> Table:
    """Return a table with a line for each property, and a column for each thing that is asked in each way."""
    own = rows[(rows["question"] == question) & rows["measure"].isin(PROPERTIES)]
    own = own[~own["against"].str.startswith("errors")]  # a count, of which the words tell
    asked = list(dict.fromkeys(zip(own["against"], own["way"], strict=True)))
    cells = {(row["measure"], row["against"], row["way"]): cell(row, write) for row in records(own)}
    lines = [[name, *(cells.get((name, *each), "") for each in asked)] for name in PROPERTIES]
    return Table(["property", *(f">{against}, {way}" for against, way in asked)], lines)


def _worse(rows: pd.DataFrame) -> str:
    """Say how many errors prefer predictions with a larger log loss."""
    own = rows[rows["against"].str.startswith("errors")].set_index("way")["mean"]
    counts = " and ".join(f"{settled(count):.1f} by a {way} search" for way, count in own.items())
    return f"Of the 32 errors {counts} have their minimum where the log loss of the other rows is larger than before."


def _histograms(rows: pd.DataFrame) -> Table:
    own = rows[rows["question"] == "histogram"]
    asked = list(dict.fromkeys(zip(own["measure"], own["way"], strict=True)))
    cells = {(row["model"], row["measure"], row["way"]): cell(row, times_100) for row in records(own)}
    lines = [[name, *(cells[(name, *each)] for each in asked)] for name in own["model"].unique()]
    note = "Beyond calibrated: minus the mean error of labels that are drawn from the predictions."
    return Table(["model", *(f">{measure}, {way}" for measure, way in asked)], lines, note)


def _claims(rows: pd.DataFrame, splits: int) -> Table:
    """Return each difference that should be above 0, and whether it is."""
    own = rows[rows["question"] == "claim"]
    lines = [
        [row["against"], row["way"], row["measure"], cell(row, lambda value: f"{settled(value):.3f}".replace("-", "−")),
         judged(row, splits)]
        for row in records(own)
    ]  # fmt: skip
    note = "Each difference is above 0 by the paper. Over files: found, or reversed, by more than two standard errors."
    return Table(["of", "way", "difference", ">mean", "verdict"], lines, note)


def judged(row: Mapping[str, Any], splits: int) -> str:
    """Say whether a difference is above 0: beyond two standard errors over files, or in how many splits of one file."""
    mean = row["mean"]
    if np.isnan(mean):
        return "undefined"
    if row["file"] != EVERY:
        return f"above 0 in {int(row['above'])} of {splits} splits"
    if abs(mean) <= 2 * row["sd"] / np.sqrt(row["files"]):
        return "not settled"
    return "found" if mean > 0 else "reversed"


# --- pictures --------------------------------------------------------------------------------------------------------


def draw(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw the correlations, the temperatures and the classes of the first block of files."""
    block = table[table["classes"] > 0]
    if block.empty:
        return {}
    block = block[block["classes"] == block["classes"].iloc[0]]
    found = {"temperatures": draw_temperatures(block), "classes": draw_classes(block)}
    return ({"bins": draw_bins(chosen(block))} if (block["question"] == "bins").any() else {}) | found


def draw_bins(rows: pd.DataFrame) -> Figure:
    """Draw the correlations by property, with two standard errors over several files."""
    from calibstat.plots.style import PALETTE

    figure, ((axes,),) = panels(1, 1, 7.0, 4.6)
    own = rows[rows["question"] == "bins"]
    asked = list(dict.fromkeys(zip(own["against"], own["way"], strict=True)))
    for k, (against, way) in enumerate(asked):
        these = own[(own["against"] == against) & (own["way"] == way)]
        y = positions(these["measure"], list(PROPERTIES)) + (k - (len(asked) - 1) / 2) / 6
        error = (2 * these["sd"] / np.sqrt(these["files"])).where(these["file"] == EVERY, 0.0)
        axes.errorbar(
            these["mean"], y, xerr=error, fmt="osD^"[k], color=PALETTE[k], markersize=5, label=f"{against}, {way}"
        )
    axes.set(yticks=range(len(PROPERTIES)), yticklabels=list(PROPERTIES), ylim=(len(PROPERTIES) - 0.5, -0.5))
    axes.set_xlabel("mean rank correlation (bars: ± 2 standard errors over files)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize="small")
    return figure


def draw_temperatures(block: pd.DataFrame) -> Figure:
    """Draw the temperature that each error prefers, by both searches, mean over splits, a dot for each file."""
    from calibstat.plots.style import PALETTE

    figure, ((axes,),) = panels(1, 1, 9.0, 3.6)
    rows = block[(block["question"] == "each error") & (block["against"] == "temperature")]
    for k, (way, own) in enumerate(rows.groupby("way", sort=False)):
        x = own["measure"].astype(int) + (k - 0.5) / 4
        axes.plot(x, own["mean"], "os"[k], color=PALETTE[k], markersize=4, alpha=0.7, label=f"{way} search")
    for at in (8, 16, 24):
        axes.axvline(at - 0.5, color="black", linewidth=0.5)
    axes.axhline(1, color="black", linewidth=1, linestyle=":")
    axes.set(yscale="log", xticks=range(32), xlabel="index of the general calibration error", ylabel="temperature")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize="small")
    return figure


def draw_classes(block: pd.DataFrame) -> Figure:
    """Draw the error of each class over its share if calibrated, in the order of the first, of up to ten files."""
    figure, ((axes,),) = panels(1, 1, 7.0, 3.8)
    rows = block[block["question"] == "each class"]
    for k, (file, own) in enumerate(rows.groupby("file", sort=False)):
        if k < MOST_LINES:
            _draw_class(axes, own, str(file), k)
    axes.set(xlabel="class, by its error", ylabel="adaptive calibration error")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")
    return figure


def _draw_class(axes: Axes, rows: pd.DataFrame, file: str, number: int) -> None:
    from calibstat.plots.style import PALETTE

    values = rows.pivot(index="at", columns="way", values="mean").sort_values("observed")
    color = PALETTE[number % len(PALETTE)]
    x = np.arange(len(values))
    axes.plot(x, values["observed"], "o-", color=color, markersize=4, label=file)
    axes.plot(x, values["if calibrated"], ":", color=color, label="if calibrated" if number == 0 else None)
