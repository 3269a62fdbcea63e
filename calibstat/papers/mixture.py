"""Binned estimates for a known Gaussian mixture: figures 6 to 14 of Vaicenavicius et al. (2019).

Section 5.1 of arXiv:1902.06977 estimates the miscalibration of three logistic models, whose expected deviation in total
variation is known, from data sets of many sizes with many numbers of bins. For two classes total variation is the
absolute deviation of one, so this is `ece`. The paper's claims: estimates of calibrated models are close to zero
but almost always too high. Estimates of the uncalibrated model are too high or too low. They are more likely too low
with more rows, and with more rows in each bin.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators, plot, reliability
from calibstat.papers.parts.grid import Grid
from calibstat.plots.settings import settings
from calibstat.plots.studies.estimates import panels
from calibstat.plots.style import PALETTE, RESULT_STYLE, light_to_dark
from calibstat.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20268
MODELS = {
    "perfect": generators.gaussian_mixture(0, -2),
    "constant": generators.gaussian_mixture(0, 0),
    "uncalibrated": generators.gaussian_mixture(1, 1),
}
DEVIATION = {"perfect": 0.0, "constant": 0.0, "uncalibrated": 0.5637511405526}  # E abs(P(Y = -1 | X) - g1(X))
NUMBERS_OF_BINS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
ROWS = 10_000  # of the reliability diagrams


def grids(quick: bool) -> list[Grid]:
    """Return one grid of sample sizes and numbers of bins."""
    bins = NUMBERS_OF_BINS[::3] if quick else NUMBERS_OF_BINS
    return [
        {
            "question": "bias",
            "generators": MODELS,
            "n": [100, 1000] if quick else [32, 100, 316, 1000, 10_000, 100_000],
            "measures": {f"{b} bins": ("ece", {"n_bins": b}) for b in bins},
            "replicates": 20 if quick else 1000,
        }
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw estimates over bins, estimates of the uncalibrated model over rows in each bin, and deviation diagrams."""
    table = table.assign(bins=table["measure"].str.removesuffix(" bins").astype(int))
    uncalibrated = table[table["generator"] == "uncalibrated"]
    return {"": draw_estimates(table), "rows_in_bins": draw_rows_in_bins(uncalibrated), "deviation": draw_deviation()}


def draw_estimates(table: pd.DataFrame) -> Figure:
    """Draw where 90% of the estimates lie, over the number of bins, for each model and n."""
    models, numbers = list(table["generator"].unique()), list(table["n"].unique())
    bins = sorted(table["bins"].unique())
    blue, orange = PALETTE[:2]
    figure, grid = panels(len(models), len(numbers), 2.3, 2.3, sharex=True, sharey="row")
    for (i, model), (j, n) in product(enumerate(models), enumerate(numbers)):
        axes = grid[i, j]
        rows = table[(table["generator"] == model) & (table["n"] == n)].sort_values("bins")
        axes.axhline(DEVIATION[model], color="black", label="analytic value, without bins", zorder=1)
        axes.plot(rows["bins"], rows["truth"], color=orange, linestyle="--", label="population value with these bins")
        axes.vlines(rows["bins"], rows["q05"], rows["q95"], color=blue, linewidth=2.5, label="5% to 95% of estimates")
        axes.plot(rows["bins"], rows["q50"], "o", color=blue, markersize=5, markeredgecolor="white", label="median")
        axes.set(xscale="log", xlim=(bins[0] / 1.8, bins[-1] * 1.8))
        if i == 0:
            axes.set_title(f"n = {n}")
        if j == 0:
            axes.set_ylabel(f"{model}: ece")
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=4 if len(numbers) > 3 else 2, frameon=False)
    figure.supxlabel(f"number of bins (replicates: {table['replicates'].iloc[0]})", fontsize="medium")
    return figure


def draw_rows_in_bins(table: pd.DataFrame) -> Figure:
    """Draw by how much the estimates miss the analytic value, over the mean number of rows in a bin."""
    import matplotlib.pyplot as plt

    numbers = list(table["n"].unique())
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for n, color, marker in zip(numbers, light_to_dark(len(numbers)), "osD^vP", strict=False):
        rows = table[table["n"] == n]
        analytic = rows["generator"].map(DEVIATION)
        x, middle = rows["n"] / rows["bins"], rows["q50"] - analytic
        error = [rows["q50"] - rows["q05"], rows["q95"] - rows["q50"]]
        axes.errorbar(x, middle, error, color=color, marker=marker, markersize=4.5, linestyle="none", label=f"n = {n}")
    axes.axhline(0, color="black", linewidth=1, zorder=1)
    axes.set(xscale="log", xlabel="n / number of bins", ylabel="ece − analytic value (median, 5% to 95%)")
    axes.set_yscale("symlog", linthresh=0.02)
    ticks = (-0.5, -0.2, -0.1, -0.05, -0.02, -0.01, 0, 0.01, 0.02, 0.05, 0.1, 0.2)
    axes.set_yticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    axes.set_yticks([], minor=True)
    axes.set_title("uncalibrated model: above the line too high, below too low", fontsize="medium")
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw_deviation() -> Figure:
    """Draw deviation diagrams of one sample of each model with the true deviation."""
    with settings(RESULT_STYLE):
        figure, grid = panels(1, len(MODELS), 4.4, 3.6)
    v = np.linspace(0, 1, 801)
    entries: dict[str, Any] = {}
    for axes, (label, model) in zip(grid.flat, MODELS.items(), strict=True):
        plot(reliability(*model.sample(ROWS, SEED), rng=SEED), axes, deviation=True)
        known = v[~np.isnan(model.curve(v))]
        alone = {"marker": "X", "markersize": 9} if known.size == 1 else {}
        axes.plot(known, model.curve(known) - known, color="black", label="true deviation", zorder=2.5, **alone)
        axes.set_title(label)
        axes.get_legend().remove()
        entries |= {name: handle for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=6, frameon=False)
    return figure


study = Study(
    question="What does a binned estimate say of a known Gaussian mixture?",
    seed=SEED,
    runtime_hours=0.01,
    grids=grids,
    figures=figures,
)
