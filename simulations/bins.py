"""Does the number of bins change the ranking of models?

Nixon et al. (2019, section 5.3, arXiv:1904.01685) ranked 8 recalibrations of one Wide ResNet for CIFAR-10 by one
measure with 10, 20, 30, 40 and 50 bins. The rank correlation, averaged over the pairs of numbers of bins, was 0.59 with
bins of equal counts ("adaptive") and 0.37 with bins of equal width ("even"), 0.54 with the L1 norm and 0.43 with L2.
These four of their ten numbers are studied here: the other six are of multiclass measures (0.36 for the largest
probability and 0.60 for all, 0.55 with classes apart and 0.41 together, 0.50 with a threshold and 0.46 without), and
the models here are binary. Their formula has abs(r1 - r2) in place of its square; here it is Spearman's, and Kendall's
beside it.

Here models have a known truth, so that one sees more: whether the stable order is also the right one. All models are
judged on the same rows, as theirs were. The families: ten models that are over- or under-confident to some degree; the
same with predictions near 1, as those of deep networks are; and these, recalibrated until they hardly differ. They are
increasing maps of one prediction, as recalibrations of one event are, so that an adaptive bin holds the same rows for
each of them. The square error in such bins is the Brier score less a part that does not depend on the model, up to the
spread of predictions in a bin; so it is asked, too, whether models are ranked as by the Brier score.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from calibstat import generators
from calibstat.papers.parts.grid import Grid, Measures
from calibstat.plots.studies.estimates import panels, positions
from calibstat.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BINS = (10, 20, 30, 40, 50)
STRATEGIES = {"even": "uniform", "adaptive": "quantile"}  # the paper's words for them
NORMS = ("l1", "l2", "max")
BRIER = "the Brier score"


def families(every: int = 1) -> dict[str, generators.models]:
    """Return ten models on the same rows by family, or every third of them and the like."""
    from scipy.stats import beta

    def models(low: float, high: float, base: generators.Generator) -> generators.models:
        chosen = np.linspace(low, high, 10).round(4).tolist()[::every]
        return generators.models(base, {f"temperature {t:.3f}": {"temperature": t} for t in chosen})

    near_1 = generators.calibrated(beta(5, 0.5))
    return {
        "predictions from 0 to 1": models(0.8, 1.3, generators.calibrated()),
        "near 1": models(0.8, 1.3, near_1),
        "near 1, recalibrated": models(0.95, 1.06, near_1),
    }


def measures_of(strategy: str, norm: str) -> Measures:
    """Return one measure with each number of bins."""
    options = {"strategy": STRATEGIES[strategy], "norm": norm}
    return {f"{strategy}, {norm}, {bins} bins": ("ece", {**options, "n_bins": bins}) for bins in BINS}


def grids(quick: bool) -> list[Grid]:
    """Return a grid for each strategy and norm: only numbers of bins are compared, and each with the Brier score."""
    return [
        {
            "question": "ranking",
            "generators": families(3 if quick else 1),
            "n": [1000] if quick else [1000, 10_000],
            "measures": measures_of(strategy, norm) | {BRIER: ("brier", {})},
            "methods": ["spearman", "kendall"],
            "replicates": 10 if quick else 400,
        }
        for strategy, norm in product(STRATEGIES, NORMS)
    ]


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Average the correlations of pairs of numbers of bins, and of each number with the Brier score and the true order.

    Pairs share their data, so the standard error of an average is bounded by the average of the standard errors.
    """
    rows = table[table["measure"] != BRIER].rename(columns={"generator": "family"})
    rows[["strategy", "norm"]] = rows["measure"].str.split(", ", expand=True)[[0, 1]].to_numpy()
    rows["with"] = rows["against"].where(rows["against"].isin(["its truth", BRIER]), "other bins")
    keys = ["family", "n", "method", "norm", "strategy", "with"]
    return rows.groupby(keys, sort=False, as_index=False)[["correlation", "correlation_se"]].mean()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw a picture for each of the two correlations."""
    found = averages(table)
    return {str(method): draw(rows) for method, rows in found.groupby("method", sort=False)}


def draw(rows: pd.DataFrame) -> Figure:
    """Draw the averages of even and adaptive bins side by side."""
    import seaborn as sns

    names, numbers, norms = (list(rows[column].unique()) for column in ("family", "n", "norm"))
    colors = dict(zip(STRATEGIES, sns.color_palette("colorblind"), strict=False))
    with sns.axes_style("whitegrid"):
        figure, grid = panels(len(names), len(numbers), 4.0, 2.2, sharex=True, sharey=True)
    marks = list(product(("other bins", "its truth", BRIER), STRATEGIES))
    for (i, name), (j, n) in product(enumerate(names), enumerate(numbers)):
        axes = grid[i, j]
        for (other, strategy), place in zip(marks, np.linspace(-0.35, 0.35, len(marks)), strict=True):
            these = rows[(rows["family"] == name) & (rows["n"] == n)]
            these = these[(these["with"] == other) & (these["strategy"] == strategy)]
            style = {"marker": "os"[strategy == "adaptive"], "color": colors[strategy], "linestyle": "none"}
            style |= {"its truth": {"markerfacecolor": "white"}, BRIER: {"fillstyle": "top"}}.get(other, {})
            x, error = positions(these["norm"], norms) + place, 2 * these["correlation_se"]
            axes.errorbar(x, these["correlation"], error, label=f"{strategy} bins, with {other}", **style)
        axes.set(title=f"{name}, n = {n}", xticks=range(len(norms)), xticklabels=norms, xlim=(-0.5, len(norms) - 0.5))
        axes.axhline(0, color="black", linewidth=1, zorder=1)
    grid[0, 0].set_ylim(top=1.05)
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=2, frameon=False)
    figure.supylabel(f"mean rank correlation ({rows['method'].iloc[0].capitalize()}'s)", fontsize="medium")
    figure.supxlabel("norm over bins (bars: at most ± 2 standard errors)", fontsize="medium")
    return figure


study = Study(
    question="Does the number of bins change the ranking of models?",
    seed=20266,
    runtime_hours=0.03,
    grids=grids,
    figures=figures,
)
