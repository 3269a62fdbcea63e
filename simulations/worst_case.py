"""Is there a population in which an honest interval fails? A search for the worst.

For every interval that is offered (each measure, clusters, classes, also with weights, comparisons, other levels)
random populations of 1 to 8 predictions and random curves are tried, with 30 to 100,000 rows, and small changes of the
worst of them. The worst 20 of each interval of one model at 95 %, and 6 of each other one, are asked again with fresh
data sets: what is promised is then a coverage of at least .94 at 95 %, and the truth below the interval, or above it,
with a probability of at most .035; in general misses of at most 1.2 times the nominal probability, and on one side of
at most 1.4 times its half. Of two models with the same measure `compare` finds a difference at 5 % in at most 5 %,
and its p-value and interval disagree in at most 1 %. Each up to the exact binomial limit.

Not tried is what nobody can see: where a loss has no bound every prediction is expected in at least 8 rows, and every
kind of cluster in at least 4 clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat import MEASURES
from calibstat.papers.parts.promises import MORE_MISSES, PROMISED, more_often
from calibstat.study import Study
from calibstat.study.stored_rows import stored

from .parts.search import MORE_ON_ONE_SIDE, NO_DIFFERENCE, Effort, Recipe, Row, recipes, search

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20310
HOURS = 0.4  # of one core, about; numbers of populations and of data sets are in proportion to it
QUICK = ["ece", "brier", "l1"]
OTHER_MEASURES = 4  # how many times less is spent on an interval at another level than 95 %
COST = {
    "Rows": 1,
    "RisingRows": 1,
    "Clusters": 2,
    "Classes": 4,
    "Pair": 6,
    "Samples": 6,
    "PairInClusters": 6,
    "PairOfClasses": 6,
}
COST |= {"WeightedClasses": 2, "ClassesInClusters": 2, "PairOfClassesInClusters": 2}
MOST_DISAGREEMENTS = 0.01  # share of data sets in which p-value and interval do not say the same of no difference
PLAIN_RESAMPLES = 999  # a measure with fewer by default takes longer for each
SLOW = {"smooth_ece": 8, "smooth_ce": 2}  # how many times longer than others


def effort_of(recipe: Recipe, quick: bool, hours: float) -> Effort:
    """Return what is spent on an interval."""
    if quick:
        return Effort(4, 10, 1, 2, 2, worst=2, fresh=20, most=40, n_resamples=39)
    full = Effort(240, 50, 2, 10, 4, worst=20, fresh=1000, most=20_000, n_resamples=199)
    slow = SLOW.get(recipe.name, PLAIN_RESAMPLES / MEASURES[recipe.name].info.resamples)
    other = 1 if recipe.level == PROMISED else OTHER_MEASURES
    return full.share(hours / 2 / (COST[recipe.kind] * slow * other))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Search for the worst cases of every interval; those of which the store has the outcome are not searched again."""
    import pandas as pd
    from joblib import Parallel, delayed

    asked = recipes(QUICK if quick else None)
    found = Parallel(n_jobs=n_jobs)(delayed(searched)(each, effort_of(each, quick, HOURS), store) for each in asked)
    return pd.DataFrame([row for rows in found for row in rows])


def searched(recipe: Recipe, effort: Effort, store: Path | None) -> list[Row]:
    """Return the worst cases of an interval, kept in a file of the store."""
    return stored(store, (recipe, effort, SEED), lambda: search(recipe, effort, SEED))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cases that miss, or find a difference where there is none, more often than is promised."""
    import pandas as pd

    parts = []
    for level, rows in table.groupby("level", sort=False):
        alpha = 1 - float(level)  # type: ignore[arg-type]
        null = rows[rows["rejections"].notna() & (rows["truth"].abs() < NO_DIFFERENCE)]
        parts += [
            more_often(rows, rows["missed_below"] + rows["missed_above"], MORE_MISSES * alpha, len(table)),
            more_often(rows, rows["missed_below"], MORE_ON_ONE_SIDE * alpha / 2, len(table)),
            more_often(rows, rows["missed_above"], MORE_ON_ONE_SIDE * alpha / 2, len(table)),
            more_often(null, null["rejections"], alpha, len(table)),
            more_often(rows, rows["disagreements"].fillna(0), MOST_DISAGREEMENTS, len(table)),
        ]
    return pd.concat(parts).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each of the worst cases misses, for each kind of data and level."""
    return {
        f"{str(kind).lower()}_{100 * float(level):g}": draw_misses(rows)  # type: ignore[arg-type]
        for (kind, level), rows in table.groupby(["kind", "level"], sort=False)
    }


def draw_misses(table: pd.DataFrame) -> Figure:
    """Draw the share of data sets in which the truth is below the interval, and above it, beside what is promised."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    measures = list(table["measure"].unique())
    alpha = 1 - float(table["level"].iloc[0])
    sides = {"truth below the interval": "missed_below", "truth above the interval": "missed_above"}
    with sns.axes_style("whitegrid"):
        figure, axes = plt.subplots(
            1, 2, sharey=True, sharex=True, figsize=(10, 1.6 + 0.28 * len(measures)), layout="constrained"
        )
    place = table["measure"].map(measures.index)
    for ax, (title, column) in zip(axes, sides.items(), strict=True):
        ax.plot(table[column] / table["replicates"], place, "o", alpha=0.5, markersize=4)
        ax.axvline(alpha / 2, color="black", linewidth=1, label="nominal")
        ax.axvline(MORE_ON_ONE_SIDE * alpha / 2, color="black", linestyle="--", linewidth=1, label="promised")
        ax.set_title(title, fontsize="medium")
        ax.set_xscale("function", functions=(_root, _square))
    axes[0].set(yticks=range(len(measures)), yticklabels=measures, ylim=(len(measures) - 0.5, -0.5))
    axes[0].set_xlim(-0.002, None)
    ticks = sorted({tick for tick in (0, alpha / 5, alpha, 0.2, 0.5, 1) if tick <= axes[0].get_xlim()[1]})
    axes[0].set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    figure.supxlabel(
        f"share of fresh data sets, {100 * (1 - alpha):g}% interval, one mark for each of the worst cases\n"
        "(scale: square root)",
        fontsize="medium",
    )
    return figure


def _root(share: Any) -> Any:
    import numpy as np

    return np.sign(share) * np.sqrt(np.abs(share))


def _square(root: Any) -> Any:
    return root * abs(root)


study = Study(
    question="Is there a population in which an honest interval fails?",
    seed=SEED,
    runtime_hours=HOURS,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
