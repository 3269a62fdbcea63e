"""Which recalibration is best, by which measure? Chidambaram and Ge (2024), section 3; Nixon et al. (2019), section 5.

Section 3 of arXiv:2406.04068 recalibrates networks on 20% of their test rows, with 15 bins, and judges them on the
rest. Its claim: giving every row the same confidence, the accuracy (mean replacement), has the smallest calibration
errors, keeps the accuracy, and is much worse by the log loss and the Brier score. Table 5 of arXiv:1904.01685 ranks
eight recalibrations by each of the 32 general calibration errors; table 4 has mean rank correlations of these errors
over models. Its claim: which recalibration is best depends on the measure. What it does not ask is how far one
measure agrees with itself on other rows: here the test rows are halved for that.

Given predictions are split at random into 20% and 80%, again and again. Without any, they are those of a softmax
regression fitted to half of the digits of scikit-learn, with a weak penalty, so that it is over-confident. If some of
them are exactly 0 or 1, the recalibrations that take logarithms move all by `clip`, half the distance from 0 and 1 of
the nearest other one; the table says by how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import gce_family, summarize
from calibstat.data.clipping import needed
from calibstat.generators.simulator import drawing
from calibstat.inference.gce_family import VARIANTS
from calibstat.inference.summarize import PROPER, SUMMARIZED
from calibstat.papers.parts.agreement import AGREEMENTS, PROPERTIES, agreement_rows, gce_rows
from calibstat.papers.parts.prediction_files import read_predictions
from calibstat.papers.parts.recalibrations import (
    BEFORE,
    RANKED,
    RECALIBRATIONS,
    REPLACED,
    differences,
    fitted_to,
    questions,
    recalibrated,
)
from calibstat.papers.parts.splits import averaged
from calibstat.plots.studies.estimates import panels, positions
from calibstat.study import Study

from .parts.digits import HELD_OUT, NoisyDigits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20301
DIGITS = NoisyDigits(0.02, strength=1000.0)
COMPARED = ("ece", *PROPER)
LABELS = ["question", "model", "measure", "against"]

Row = dict[str, Any]


def table(*, quick: bool, n_jobs: int | None = None, data: Sequence[Path] = ()) -> pd.DataFrame:
    """Split the rows again and again, and average what is found."""
    import pandas as pd
    from joblib import Parallel, delayed

    if len(data) > 1:
        raise ValueError(f"expected one file, found {len(data)}; the installed study tables takes several")
    y, p = read_predictions(data[0]) if data else DIGITS.sample(HELD_OUT, SEED)
    splits, n_resamples = (2, 19) if quick else (20, 119)
    seeds = np.random.SeedSequence(SEED).spawn(splits)
    found = Parallel(n_jobs=n_jobs)(delayed(one_split)(y, p, seed, n_resamples) for seed in seeds)
    return averaged(pd.DataFrame([row for rows in found for row in rows]), LABELS).assign(n=y.size - fitted_to(y.size))


def one_split(y: np.ndarray, p: np.ndarray, seed: np.random.SeedSequence, n_resamples: int) -> list[Row]:
    """Recalibrate on some rows, and judge on the others."""
    _, random = drawing(y.size, seed)
    order = random.permutation(y.size)
    fitted, rest = np.split(order, [fitted_to(y.size)])
    key = int(random.integers(2**31))
    clip = needed(p)
    models, converged = recalibrated(RECALIBRATIONS, y[fitted], p[fitted], p[rest], key, clip)
    rows = [{"question": "fit", "model": m, "measure": "converged", "value": float(c)} for m, c in converged.items()]
    if clip is not None:
        rows.append({"question": "fit", "model": BEFORE, "measure": "clip", "value": clip})
    rows += summary_rows(y[rest], models, n_resamples, key)
    rows += differences(y[rest], models, questions(COMPARED, p.shape[1]), REPLACED, n_resamples, key)
    ranked = {name: models[name] for name in RANKED}
    every = np.arange(rest.size)
    halves = np.array_split(every, 2)  # they are in random order
    families = [{name: gce_family(y[rest][some], p[some]) for name, p in ranked.items()} for some in (every, *halves)]
    return [*rows, *gce_rows(families[0]), *agreement_rows(*families)]


def summary_rows(y: np.ndarray, models: Mapping[str, np.ndarray], n_resamples: int, key: int) -> Iterator[Row]:
    """Return every measure of every model with its interval."""
    found = summarize(y, models, n_resamples=n_resamples, rng=key)
    for row in found.to_frame().rename(columns={"estimate": "value"}).to_dict("records"):
        yield {"question": "summary", **{str(name): value for name, value in row.items()}}


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the summary, the ranks by every member of the family, and how far these agree."""
    return {"": draw_summary(table), "ranks": draw_ranks(table), "agreement": draw_agreement(table)}


def draw_summary(table: pd.DataFrame) -> Figure:
    """Draw the means of estimates and interval ends, a panel for each measure."""
    import seaborn as sns

    rows = table[table["question"] == "summary"]
    models = [BEFORE, *RECALIBRATIONS]
    color = sns.color_palette("colorblind")
    with sns.axes_style("whitegrid"):
        figure, grid = panels(2, 4, 3.3, 3.1, sharey=True)
    measures = [measure for measure in SUMMARIZED if (rows["measure"] == measure).any()]
    for axes in grid.flat[len(measures) :]:
        axes.set_visible(False)
    for measure, axes in zip(measures, grid.flat, strict=False):
        own = rows[rows["measure"] == measure].set_index("model").loc[models]
        y = positions(own.index.to_series(), models)
        for special, hue in ((False, color[0]), (True, color[3])):
            some = (own.index == REPLACED) == special
            axes.hlines(y[some], own["low"][some], own["high"][some], color=hue)
            axes.plot(own["mean"][some], y[some], "o", color=hue, markersize=5)
        for place in y[np.isinf(own["mean"])]:
            axes.annotate("∞", (0.97, place), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=12)
        axes.set_title(measure, fontsize="medium")
        axes.set(yticks=range(len(models)), yticklabels=models, ylim=(len(models) - 0.5, -0.5))
        if measure != "accuracy":
            axes.set_xlim(left=0)
    splits, n = rows[["splits", "n"]].iloc[0]
    figure.supxlabel(
        f"means over {splits} splits of estimates and of the ends of 95% intervals; {n:,} test rows", fontsize="medium"
    )
    return figure


def draw_ranks(table: pd.DataFrame) -> Figure:
    """Draw the mean rank of each recalibration by each member of the family."""
    import seaborn as sns

    rows = table[table["question"] == "gce"]
    shown = rows.assign(index=rows["measure"].astype(int)).pivot(index="model", columns="index", values="rank")
    figure, ((axes,),) = panels(1, 1, 14, 4.6)
    sns.heatmap(
        shown.loc[list(RANKED)],
        ax=axes,
        annot=True,
        fmt=".1f",
        annot_kws={"fontsize": 8},
        cmap="viridis",
        vmin=1,
        vmax=len(RANKED),
        cbar_kws={"label": "mean rank, 1: smallest error", "pad": 0.01},
    )
    names = [VARIANTS.get(k, "").replace("class-conditional", "class-\ncond.") for k in range(32)]
    axes.set_xticks(np.arange(32) + 0.5, [f"{k}\n{name}" for k, name in enumerate(names)])
    axes.tick_params(axis="x", rotation=0, labelsize=8)
    for k in (8, 16, 24):
        axes.axvline(k, color="white", linewidth=4)
    top = axes.secondary_xaxis("top")
    halves = product(("even bins", "adaptive bins"), ("most likely class", "all classes"))
    top.set_xticks((4, 12, 20, 28), [", ".join(half) for half in halves])
    top.tick_params(length=0)
    axes.set(ylabel="", xlabel="index of the general calibration error")
    return figure


def draw_agreement(table: pd.DataFrame) -> Figure:
    """Draw the rank correlations of the measures with each property."""
    import seaborn as sns

    rows = table[table["question"] == "agreement"]
    with sns.axes_style("whitegrid"):
        figure, ((axes,),) = panels(1, 1, 7.5, 4.4)
    color = sns.color_palette("colorblind")
    for against, hue, marker, beside in zip(AGREEMENTS, color[:4], "osD^", (-0.24, -0.08, 0.08, 0.24), strict=True):
        own = rows[rows["against"] == against]
        y = positions(own["measure"], list(PROPERTIES)) + beside
        error = 2 * own["sd"] / np.sqrt(own["splits"])
        axes.errorbar(own["mean"], y, xerr=error, fmt=marker, color=hue, markersize=5, label=against)
    axes.set(yticks=range(len(PROPERTIES)), yticklabels=list(PROPERTIES), ylim=(len(PROPERTIES) - 0.5, -0.5))
    axes.set_xlabel("mean rank correlation over eight recalibrations (bars: ± 2 standard errors over splits)")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


study = Study(
    question="Which recalibration is best, and by which measure?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    takes_data=True,
    figures=figures,
)
