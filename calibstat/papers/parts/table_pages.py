"""The study of the papers' tables as Markdown, LaTeX and one page of HTML, and its diagrams."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat.answers_by_model import Answers
from calibstat.data import lenses
from calibstat.digits import settled
from calibstat.inference.sharpness import CalibrationSharpness
from calibstat.output.fragments import Picture, Section, Table
from calibstat.output.html import render
from calibstat.output.latex import latex_tables
from calibstat.papers.parts.agreement import AGREEMENTS, PROPERTIES
from calibstat.papers.parts.splits import EVERY
from calibstat.plots.inline_svg import svg_of_figure
from calibstat.plots.plot import plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

HEADINGS = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "average_ce": "average CE",
    "adaptive_calibration_error": "ACE",
    "smooth_ece": "SmoothECE",
    "auc": "AUC of hits",
    "log_loss": "NLL",
    "brier": "Brier",
}
DIAGRAM = "calibration-sharpness diagrams"


@dataclass(frozen=True)
class Page:
    """A title and a version, as the templates of pages take them."""

    title: str
    version: str


def pages(table: pd.DataFrame, figures: Mapping[str, Figure]) -> dict[str, str]:
    """Return the texts that are written beside the table, by the ending of the file's name."""
    page, about = head("The papers' tables, of your models", table)
    found = [*sections(table)]
    pictures = [Section("Calibration-sharpness diagrams", pictures=[*_pictures(table, figures)])] if figures else []
    return {
        ".md": render("page.md", report=page, about=about, sections=found),
        ".tex": latex_tables(found),
        ".html": render("page.html", report=page, about=about, sections=[*found[:-1], *pictures, *found[-1:]]),
    }


def head(title: str, table: pd.DataFrame) -> tuple[Page, str]:
    """Return the head of a page about files, and what is said of them first."""
    from importlib.metadata import version

    page = Page(title, version("calibstat"))
    files = table.loc[table["file"] != EVERY, "file"].unique()
    about = (
        f"{len(files)} file{'s' * (len(files) != 1)}: {', '.join(files)}. Made on "
        f"{datetime.date.today().isoformat()} by calibstat {page.version}."
    )
    return page, about


def sections(table: pd.DataFrame) -> Iterator[Section]:
    """Return the tables of each block of files with the same number of classes, and what was left out."""
    splits = int(table["splits"].max())
    for classes, block in table[table["classes"] > 0].groupby("classes", sort=False):
        of = f"{classes} classes"
        words = (
            f"Means over {splits} random splits into 20% of the rows, to fit to, and 80%. All numbers are times 100."
        )
        measures = _by_model(block, "measure", lambda row: times_100(row["mean"]))
        yield Section(f"Measures, {of}", [words], tables=[measures])
        yield Section(f"Differences, {of}", tables=[_differences(block, splits)])
        yield Section(f"Ranks, {of}", tables=[_ranks(block)])
        if (block["question"] == "agreement").any():
            yield Section(f"Rank correlations of general calibration errors, {of}", tables=[_agreement(block)])
        if (block["question"] == "claim").any():
            yield Section(f"Claims of Chidambaram and Ge, {of}", tables=[_claims(block, splits)])
    yield left_out_section(table)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as mappings."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _by_model(block: pd.DataFrame, question: str, cell: Callable[[dict[str, Any]], str]) -> Table:
    """Return a table with a line for each model of each file, and a column for each measure."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in records(block[block["question"] == question]):
        lines.setdefault((row["file"], row["model"]), {})[row["measure"]] = cell(row)
    cells = [[*names, *(shown.get(measure, "") for measure in HEADINGS)] for names, shown in lines.items()]
    return Table(["file", "model", *(f">{title}" for title in HEADINGS.values())], cells)


def _differences(block: pd.DataFrame, splits: int) -> Table:
    """Return the differences from the reference with their intervals."""

    def cell(row: dict[str, Any]) -> str:
        mean, low, high = row["mean"], row["low"], row["high"]
        ends = "" if np.isnan(low) or np.isinf(mean) else f" [{times_100(low)}, {times_100(high)}]"
        clear = splits in (row["below"], row["above"])
        return f"{times_100(mean)}{ends}{' *' * (clear and bool(ends))}"

    found = _by_model(block, "difference", cell)
    against = block.loc[block["question"] == "difference", "against"]
    reference = against.iloc[0] if len(against) else "the reference"
    note = (
        f"Model minus {reference}, on the same rows, times 100, with the mean ends of 95% intervals over the splits, "
        "whose rows overlap. A star: the interval is on one side of 0 in every split. Without ends: no honest interval "
        "of the difference is known, or for the accuracy, the most likely class of no row changes."
    )
    return Table(found.header, found.rows, note)


def _ranks(block: pd.DataFrame) -> Table:
    """Return the mean ranks, and below them how far a measure agrees with itself."""
    found = _by_model(
        block, "rank", lambda row: "undefined" if np.isnan(row["mean"]) else f"{settled(row['mean']):.1f}"
    )
    ceilings = _by_model(block, "ceiling", lambda row: "undefined" if np.isnan(row["mean"]) else signed(row["mean"]))
    rows = [*found.rows, *([file, "two halves", *cells] for file, _, *cells in ceilings.rows)]
    order = list(dict.fromkeys(row[0] for row in found.rows))
    note = (
        "Mean rank, 1 for the best, ties shared. Two halves: the rank correlation of a measure with itself on the "
        "other half of the rows; two measures cannot be expected to agree more."
    )
    return Table(found.header, sorted(rows, key=lambda row: order.index(row[0])), note)


def _agreement(block: pd.DataFrame) -> Table:
    """Return mean rank correlations by property: of the only file, or over files with standard errors."""
    rows = block[block["question"] == "agreement"]
    several = (rows["file"] == EVERY).any()
    rows = rows[rows["file"] == (EVERY if several else rows["file"].iloc[0])]
    found = {(row["measure"], row["against"]): row for row in records(rows)}

    def cell(row: dict[str, Any]) -> str:
        if np.isnan(row["mean"]):
            return "undefined"
        return signed(row["mean"]) + (f" ± {settled(row['sd'] / np.sqrt(row['files'])):.2f}" if several else "")

    lines = [[name, *(cell(found[name, against]) for against in AGREEMENTS)] for name in PROPERTIES]
    error = "mean over files ± its standard error over files" if several else "one file: no standard error"
    note = f"Of the measures with each property, for models other than mean replacement; {error}."
    return Table(["property", *(f">{against}" for against in AGREEMENTS)], lines, note)


def _claims(block: pd.DataFrame, splits: int) -> Table:
    """Return in which files each claim holds."""
    rows = block[(block["question"] == "claim") & (block["file"] != EVERY)]
    lines = [[row["file"], row["measure"], verdict(row["mean"], splits)] for row in records(rows)]
    return Table(["file", "claim", "holds"], lines)


def verdict(share: float, splits: int) -> str:
    """Say in how many of the splits something holds."""
    held = round(share * splits)
    if held in (0, splits):
        return "yes" if held else "no"
    return f"in {held} of {splits} splits"


def left_out_section(table: pd.DataFrame) -> Section:
    """Return what has no line, and why."""
    rows = table[table["question"] == "left out"]
    moved = table[(table["question"] == "fit") & (table["measure"] == "clip")]
    failed = table[(table["question"] == "fit") & (table["measure"] == "converged") & (table["mean"] < 1)]
    lines = [[row[name] for name in ("file", "model", "measure", "reason")] for row in records(rows)]
    notes = [
        f"{row['file']}: probabilities of exactly 0 or 1 are moved by {settled(row['mean']):.2g} for recalibrations "
        "that take "
        "logarithms."
        for row in records(moved)
    ]
    notes += [
        f"{row['file']}: {row['model']} converged in {settled(row['mean']):.0%} of the splits."
        for row in records(failed)
    ]
    tables = [Table(["file", "model", "what", "reason"], lines)] if lines else []
    return Section("Left out", [] if lines else ["Nothing was left out."], tables=tables, notes=notes)


def draw_diagrams(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw the calibration-sharpness diagrams of the first split, the models of a file on one scale."""
    found: dict[str, Figure] = {}
    for file, rows in table[table["question"] == "diagram"].groupby("file", sort=False):
        numbers = table[(table["question"] == "sharpness") & (table["file"] == file)]
        curves = {
            str(model): _diagram(own, numbers[numbers["model"] == model])
            for model, own in rows.groupby("model", sort=False)
        }
        name = re.sub(r"\W+", "_", str(file)).strip("_") or "file"
        same = sum(each == name or each.startswith(f"{name}_") for each in found)
        found[f"{name}_{same + 1}" if name in found else name] = cast("Figure", plot(Answers(curves)).figure)
    return found


def _diagram(rows: pd.DataFrame, numbers: pd.DataFrame) -> CalibrationSharpness:
    """Return a diagram from the rows of the table."""
    points = rows.pivot(index="at", columns="measure", values="mean")
    means = numbers.set_index("measure")["mean"]
    return CalibrationSharpness(
        grid=points.index.to_numpy(),
        curve=points["curve"].to_numpy(),
        gap=points["gap"].to_numpy(),
        density=points["density"].to_numpy(),
        calibration_error=float(means["calibration_error"]),
        total_divergence=float(means["total_divergence"]),
        sharpness_gap=float(means["sharpness_gap"]),
        divergence="brier",
        kernel="gaussian",
        bandwidth=0.05,
        lens=lenses.top_label.named,
        n=int(rows["n"].iloc[0]),
    )


def _pictures(table: pd.DataFrame, figures: Mapping[str, Figure]) -> Iterator[Picture]:
    """Return the diagrams as pictures of a page."""
    files = table.loc[table["question"] == "diagram", "file"].unique()
    for file, figure in zip(files, figures.values(), strict=True):
        caption = f"{file}: curves of the first split, numbers are means over the splits"
        yield Picture(svg_of_figure(figure, f"{DIAGRAM} of {file}"), caption, wide=True)


def times_100(value: float) -> str:
    """Write a number times 100, as the papers do."""
    if np.isnan(value):
        return "undefined"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{settled(100 * value):.2f}".replace("-", "−")


def signed(value: float) -> str:
    """Write a correlation."""
    return f"{settled(value):.2f}".replace("-", "−")
