"""The bias of the plug-in estimate of each measure, over n and over bins.

Most estimates of calibration errors are too high, the more so the fewer rows and the more bins. The second picture
shows, for each number of bins, the mean estimate beside the population value of the measure with the same bins, which
itself grows with their number.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from calibstat.papers.parts.grid import Grid, binned, every_measure, models
from calibstat.plots.studies.estimates import panels
from calibstat.plots.style import light_to_dark
from calibstat.study import Study, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

ECE_BINS, OTHERS = 15, (5, 50, 100)  # numbers of bins


def grids(quick: bool) -> list[Grid]:
    """Return one grid of all measures, the binned ones with several numbers of bins."""
    every, chosen = every_measure(), models()
    if quick:
        chosen = {label: chosen[label] for label in ("calibrated", "five scores", "temperature 1.5")}
    return [
        {
            "question": "bias",
            "generators": chosen,
            "n": [100, 1000] if quick else [100, 300, 1000, 10_000, 100_000],
            "measures": every | binned(every, OTHERS),
            "replicates": 20 if quick else 400,
        }
    ]


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw all measures with their default options over n, and the binned ones over their bins."""
    has_bins = with_bins(table)
    default = ~table.index.isin(has_bins.index[has_bins["bins"] != ECE_BINS])
    return {"": plot(table[default]), "bins": draw_bins(has_bins)}


def with_bins(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of measures that are there with several numbers of bins, with these in a column `bins`."""
    parts = table["measure"].str.extract(r"^(?P<measure>.*?)(?:, (?P<bins>\d+) bins)?$")
    several = parts["measure"].isin(parts["measure"][parts["bins"].notna()])
    return table.assign(measure=parts["measure"], bins=parts["bins"].fillna(str(ECE_BINS)).astype(int))[several]


def draw_bins(table: pd.DataFrame) -> Figure:
    """Draw mean estimates for each n, and the population value, over the number of bins."""
    forms, labels, numbers = (list(table[column].unique()) for column in ("measure", "generator", "n"))
    bins = sorted(table["bins"].unique())
    figure, grid = panels(len(forms), len(labels), 1.9, 1.75, sharex=True, sharey="row")
    colors = light_to_dark(len(numbers))
    for (row, form), (column, label) in product(enumerate(forms), enumerate(labels)):
        axes = grid[row, column]
        rows = table[(table["measure"] == form) & (table["generator"] == label)].sort_values("bins")
        for n, color, marker in zip(numbers, colors, "osD^v", strict=False):
            these = rows[rows["n"] == n]
            style = {"color": color, "marker": marker, "markersize": 4, "label": f"mean estimate, n = {n}"}
            axes.errorbar(these["bins"], these["mean"], 2 * these["mean_se"], **style)
        truth = rows.drop_duplicates("bins")
        axes.plot(truth["bins"], truth["truth"], color="black", linestyle="--", label="population value", zorder=3)
        axes.set_xscale("log")
        axes.set_xticks(bins, [str(b) for b in bins])
        axes.set_xticks([], minor=True)
        if row == 0:
            axes.set_title(label.replace(", ", ",\n"), fontsize="medium")
        if column == 0:
            axes.set_ylabel(form)
    for axes in grid[:, 0]:  # only now, because limits that are set no longer follow what is drawn
        shown = table[table["measure"] == axes.get_ylabel()]
        axes.set_ylim(bottom=min(0.0, (shown["mean"] - 2 * shown["mean_se"]).min()))  # a debiased one may be below 0
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel("number of bins (bars: ± 2 standard errors)", fontsize="medium")
    return figure


study = Study(
    question="How far off is the plug-in estimate of each measure, over n and bins?",
    seed=20264,
    runtime_hours=0.05,
    grids=grids,
    figures=figures,
)
