"""Does the number of bins change the ranking of models?

Nixon et al. (2019, section 5.3, arXiv:1904.01685) ranked 8 recalibrations of one Wide ResNet for CIFAR-10 by one
measure with 10, 20, 30, 40 and 50 bins. The rank correlation, averaged over the pairs of numbers of bins, was 0.59 with
bins of equal counts ("adaptive") and 0.37 with bins of equal width ("even"), 0.54 with the L1 norm and 0.43 with L2.
These four of their ten numbers are studied here: the other six are of multiclass measures (0.36 for the largest
probability and 0.60 for all, 0.55 with classes apart and 0.41 together, 0.50 with a threshold and 0.46 without), and
the models here are binary. Their formula has abs(r1 - r2) in place of its square; here it is Spearman's, and Kendall's
beside it.

Here models have a known truth, so that one sees more: whether the stable order is also the right one. Each model has
separate data sets, while theirs shared the images and one network. The families: ten models that are over- or
under-confident to some degree; the same with predictions near 1, as those of deep networks are; and these, recalibrated
until they hardly differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators
from calibstat.plots.studies.estimates import panels, positions
from calibstat.study import Study

from .parts.families import by_family, in_family
from .parts.grid import Grid, Measures

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BINS = (10, 20, 30, 40, 50)
STRATEGIES = {"even": "uniform", "adaptive": "quantile"}  # the paper's words for them
NORMS = ("l1", "l2", "max")


def families() -> dict[str, dict[str, Any]]:
    """Return ten models by family."""
    from scipy.stats import beta

    def models(low: float, high: float, predictions: Any) -> dict[str, Any]:
        chosen = np.linspace(low, high, 10).round(4)
        return {f"temperature {t:.3f}": generators.temperature(float(t), predictions) for t in chosen}

    near_1 = beta(5, 0.5)
    return {
        "predictions from 0 to 1": models(0.8, 1.3, "uniform"),
        "near 1": models(0.8, 1.3, near_1),
        "near 1, recalibrated": models(0.95, 1.06, near_1),
    }


def measures_of(strategy: str, norm: str) -> Measures:
    """Return one measure with each number of bins."""
    options = {"strategy": STRATEGIES[strategy], "norm": norm}
    return {f"{strategy}, {norm}, {bins} bins": ("ece", {**options, "n_bins": bins}) for bins in BINS}


def grids(quick: bool) -> list[Grid]:
    """Return a grid for each family, strategy and norm: only the numbers of bins are compared."""
    return [
        {
            "question": "ranking",
            "generators": dict(list(models.items())[::3]) if quick else models,
            "n": [1000] if quick else [1000, 10_000],
            "measures": in_family(measures_of(strategy, norm), family),
            "methods": ["spearman", "kendall"],
            "replicates": 10 if quick else 400,
        }
        for (family, models), strategy, norm in product(families().items(), STRATEGIES, NORMS)
    ]


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Average the correlations of all pairs of numbers of bins, and those with the true order of each number.

    Pairs share their data, so the standard error of an average is bounded by the average of the standard errors.
    """
    import pandas as pd

    parts = [part.assign(family=family) for family, part in by_family(table).items()]
    rows = pd.concat(parts, ignore_index=True)
    rows[["strategy", "norm"]] = rows["measure"].str.split(", ", expand=True)[[0, 1]].to_numpy()
    rows["with"] = np.where(rows["against"] == "its truth", "its truth", "other bins")
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
    marks = list(product(("other bins", "its truth"), STRATEGIES))
    for (i, name), (j, n) in product(enumerate(names), enumerate(numbers)):
        axes = grid[i, j]
        for (other, strategy), place in zip(marks, (-0.27, -0.09, 0.09, 0.27), strict=True):
            these = rows[(rows["family"] == name) & (rows["n"] == n)]
            these = these[(these["with"] == other) & (these["strategy"] == strategy)]
            style = {"marker": "os"[strategy == "adaptive"], "color": colors[strategy], "linestyle": "none"}
            if other == "its truth":
                style["markerfacecolor"] = "white"
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
