"""Errors that no single class shows: table 1 and figure 2 of Vaicenavicius et al. (2019).

Example 1 of arXiv:1902.06977 has six equally likely predictions for three classes. The most likely class is observed as
often as predicted, and so is every single class, but each prediction is off by 0.1 in total variation. The
promise is that of the study of coverage: honest intervals at 95% cover in at least 94% of samples. The second picture
shows rows in exact proportion to the population through three lenses.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators, lenses, plot, reliability
from calibstat.papers.parts.grid import Grid, Measures
from calibstat.papers.parts.promises import COVERAGE, PROMISED, missed_too_often
from calibstat.plots.settings import settings
from calibstat.plots.studies.estimates import panels, positions
from calibstat.plots.style import PALETTE, RESULT_STYLE
from calibstat.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20280
EACH = 10_000  # rows of each point in the diagrams
SIZE_OF_ERROR = 0.1  # of each point, in total variation
LENSED: Measures = {
    "top label": ("ece", {"lens": "top_label"}),
    "class-wise, mean": ("ece", {"lens": "class_wise_mean"}),
    "class-wise, max": ("ece", {"lens": "class_wise_max"}),
    "canonical, 3 bins": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}),  # 0.1 and 0.3 share one
    "canonical, 7 bins": ("canonical_ce", {"strategy": "uniform", "n_bins": 7}),
    "canonical, tree": ("canonical_ce", {"strategy": "tree"}),
}


class PartedPoints(generators.six_points):
    """The six points, whose error is also known over a tree that parts them all."""

    def truth(self, measure: Any = "ece", **options: Any) -> Any:
        """Return the measure of the population; over a tree, that of each point by itself."""
        tree = measure == "canonical_ce" and options.get("strategy") == "tree"
        return SIZE_OF_ERROR if tree else super().truth(measure, **options)


def grids(quick: bool) -> list[Grid]:
    """Return one grid of numbers of rows."""
    return [
        {
            "question": "coverage",
            "generators": {"six points": PartedPoints()},
            "n": [1000, 10_000] if quick else [1000, 10_000, 100_000],
            "measures": LENSED,
            "n_resamples": 99 if quick else 199,
            "level": PROMISED,
            "replicates": 10 if quick else 400,
        }
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the table, and the population as each lens sees it."""
    return {"": draw_intervals(table), "diagrams": draw_diagrams()}


def draw_intervals(table: pd.DataFrame) -> Figure:
    """Draw for each measure and n the mean estimate beside the truth, and how often the interval covers that."""
    numbers = sorted(table["n"].unique())
    figure, ((estimate, cover),) = panels(1, 2, 4.6, 2.6, sharey=True)
    for n, hue, marker, beside in zip(numbers, PALETTE, "osD", (-0.22, 0, 0.22), strict=False):
        rows = table[table["n"] == n]
        y = positions(rows["measure"], list(LENSED)) + beside
        estimate.plot(rows["mean_estimate"], y, marker, color=hue, label=f"n = {n}")
        cover.hlines(y, rows["low"], rows["high"], color=hue)
        cover.plot(rows["rate"], y, marker, color=hue)
    one = table[table["n"] == numbers[0]]
    style: dict[str, Any] = {"color": "black", "linewidth": 1.4, "zorder": 1}
    y = positions(one["measure"], list(LENSED))
    estimate.vlines(one["truth"], y - 0.42, y + 0.42, label="population value", **style)
    cover.axvline(COVERAGE, linestyle="--", label=f"promised, {COVERAGE:g}", **style)
    estimate.set(yticks=range(len(LENSED)), yticklabels=list(LENSED), ylim=(len(LENSED) - 0.5, -0.5))
    estimate.set_xlabel("mean estimate")
    cover.set_xlabel(
        f"share of {table['replicates'].iloc[0]} data sets in which the interval covers\n(exact 95% limits)"
    )
    for axes in (estimate, cover):
        axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper center", ncols=5, frameon=False)
    return figure


def in_proportion(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return so many rows of each point, a multiple of ten, with every class observed as often as expected."""
    points = np.array(list(permutations((0.1, 0.3, 0.6))))
    chance = generators.six_points().conditional(points)
    y = [np.repeat(np.arange(3), np.rint(rows * each).astype(np.int64)) for each in chance]
    return np.concatenate(y), np.repeat(points, rows, axis=0)


def draw_diagrams() -> Figure:
    """Draw rows in proportion as the top label, as three classes by themselves, and through the canonical lens."""
    import matplotlib.pyplot as plt

    y, p = in_proportion(EACH)
    with settings(RESULT_STYLE):
        figure, grid = plt.subplot_mosaic(
            [["top", "0", "all"], ["1", "2", "all"]], figsize=(12, 7), width_ratios=(1, 1, 1.5), layout="constrained"
        )
    shown: dict[str, Any] = {}
    seen = {"top": lenses.top_label} | {str(k): lenses.one_class(k) for k in range(3)}
    for name, lens in seen.items():
        plot(reliability(y, p, lens=lens, rng=SEED), grid[name])
        grid[name].set_title("most likely class" if name == "top" else f"class {name}", fontsize="medium")
        legend = grid[name].get_legend()
        assert legend is not None
        legend.remove()
        shown |= {label: handle for handle, label in zip(*grid[name].get_legend_handles_labels(), strict=True)}
    grid["all"].set_title("canonical", fontsize="medium", loc="left")
    plot(reliability(y, p, lens=lenses.canonical, strategy="uniform", n_bins=7), grid["all"])
    figure.legend(list(shown.values()), list(shown), loc="outside lower left", ncols=3, frameon=False)
    return figure


study = Study(
    question="Which measures find errors that no single class shows?",
    seed=SEED,
    runtime_hours=0.2,
    grids=grids,
    figures=figures,
    violations=missed_too_often,
)
