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

import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import compare, gce_family, summarize
from calibstat.data.clipping import needed
from calibstat.generators.simulator import drawing
from calibstat.inference.gce_family import NAMES, GceFamily
from calibstat.inference.summarize import MEASURES, SCORES, question
from calibstat.recalibration import (
    HistogramBinning,
    IsotonicRegression,
    MatrixScaling,
    MeanReplacement,
    NeuralScaling,
    PlattScaling,
    Recalibrator,
    TemperatureScaling,
    VectorScaling,
)
from calibstat.study import Study
from calibstat.study.pictures.estimates import panels, positions

from .parts.digits import HELD_OUT, NoisyDigits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20301
FITTED = 0.2  # share of the rows that recalibrations are fitted to
DIGITS = NoisyDigits(0.02, strength=1000.0)
PASSES = 200  # of the neural network, whose loss falls for thousands
TOP_LABEL = {"lens": "top_label"}
BEFORE, REPLACED = "uncalibrated", "mean replacement"
RECALIBRATIONS: Mapping[str, Callable[[int, float | None], Recalibrator]] = {  # the arguments are a seed and `clip`
    "temperature": lambda seed, clip: TemperatureScaling(clip=clip),
    "temperature, by ECE": lambda seed, clip: TemperatureScaling(objective="ece", options=TOP_LABEL, clip=clip),
    "Platt": lambda seed, clip: PlattScaling(clip=clip),
    "vector": lambda seed, clip: VectorScaling(clip=clip),
    "matrix": lambda seed, clip: MatrixScaling(clip=clip),
    "neural network": lambda seed, clip: NeuralScaling(max_iter=PASSES, random_state=seed, clip=clip),
    "isotonic": lambda seed, clip: IsotonicRegression(),
    "histogram": lambda seed, clip: HistogramBinning(),
    "histogram, by class": lambda seed, clip: HistogramBinning(class_conditional=True),
    "histogram, bootstrap": lambda seed, clip: HistogramBinning(bootstrap=20, rng=seed),
    REPLACED: lambda seed, clip: MeanReplacement(),
}
RANKED = (  # by their numbers in the paper
    "histogram, by class",
    "histogram, bootstrap",
    "isotonic",
    "temperature",
    "temperature, by ECE",
    "vector",
    "matrix",
    "neural network",
)
THRESHOLDED = 2  # in the index of a general calibration error
COMPARED = ("ece", *SCORES)
PROPERTIES: Mapping[str, Callable[[GceFamily], np.ndarray]] = {
    "all": lambda family: family.index >= 0,
    "even bins": lambda family: family.binning == "even",
    "adaptive bins": lambda family: family.binning == "adaptive",
    "most likely class": lambda family: family.max_prob,
    "all classes": lambda family: ~family.max_prob,
    "class-conditional": lambda family: family.class_conditional,
    "class-unconditional": lambda family: ~family.class_conditional,
    "thresholded": lambda family: family.threshold > 0,
    "unthresholded": lambda family: family.threshold == 0,
    "L1": lambda family: family.norm == "l1",
    "L2": lambda family: family.norm == "l2",
}
AGREEMENTS = (
    "two measures, all test rows",
    "two measures, the same half",
    "one measure, two halves",
    "two measures, two halves",
)
LABELS = ["question", "model", "measure", "against"]

Row = dict[str, Any]
Rows = tuple[np.ndarray, np.ndarray]  # classes and predictions


def table(*, quick: bool, n_jobs: int | None = None, data: Path | None = None) -> pd.DataFrame:
    """Split the rows again and again, and average what is found."""
    import pandas as pd
    from joblib import Parallel, delayed

    y, p = DIGITS.sample(HELD_OUT, SEED) if data is None else read(data)
    splits, n_resamples = (2, 19) if quick else (20, 119)
    seeds = np.random.SeedSequence(SEED).spawn(splits)
    found = Parallel(n_jobs=n_jobs)(delayed(one_split)(y, p, seed, n_resamples) for seed in seeds)
    return averaged(pd.DataFrame([row for rows in found for row in rows])).assign(n=y.size - fitted_to(y.size))


def read(path: Path) -> Rows:
    """Read classes `y` and predictions `prob` from an .npz file."""
    with np.load(path) as file:
        if not {"prob", "y"} <= set(file.files):
            raise ValueError(f"expected arrays prob and y in {path}, found {', '.join(file.files) or 'none'}")
        p = file["prob"].astype(np.float64)
        return file["y"].astype(np.int64), p / p.sum(axis=1, keepdims=True)  # single precision sums to 1 only nearly


def fitted_to(n: int) -> int:
    """Return how many of n rows recalibrations are fitted to."""
    return round(FITTED * n)


def one_split(y: np.ndarray, p: np.ndarray, seed: np.random.SeedSequence, n_resamples: int) -> list[Row]:
    """Recalibrate on some rows, and judge on the others."""
    _, random = drawing(y.size, seed)
    order = random.permutation(y.size)
    fitted, rest = np.split(order, [fitted_to(y.size)])
    key = int(random.integers(2**31))
    clip = needed(p)
    models, converged = recalibrated(y[fitted], p[fitted], p[rest], key, clip)
    rows = [{"question": "fit", "model": m, "measure": "converged", "value": float(c)} for m, c in converged.items()]
    if clip is not None:
        rows.append({"question": "fit", "model": BEFORE, "measure": "clip", "value": clip})
    rows += summary_rows(y[rest], models, n_resamples, key)
    rows += difference_rows(y[rest], models, n_resamples, key)
    ranked = {name: models[name] for name in RANKED}
    every = np.arange(rest.size)
    halves = np.array_split(every, 2)  # they are in random order
    families = [{name: gce_family(y[rest][some], p[some]) for name, p in ranked.items()} for some in (every, *halves)]
    return [*rows, *gce_rows(families[0]), *agreement_rows(*families)]


def recalibrated(
    y: np.ndarray, p: np.ndarray, others: np.ndarray, seed: int, clip: float | None = None
) -> tuple[dict[str, np.ndarray], dict[str, bool]]:
    """Fit everything to some predictions, and return all predictions of others, and which fits converged."""
    models, converged = {BEFORE: others}, {}
    for name, make in RECALIBRATIONS.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* has not converged", category=RuntimeWarning)  # it is counted
            warnings.filterwarnings("ignore", message=".* where the log loss", category=RuntimeWarning)  # it is shown
            fit = make(seed, clip).fit(p, y)
        models[name], converged[name] = fit.predict_proba(others), fit.converged_
    return models, converged


def summary_rows(y: np.ndarray, models: Mapping[str, np.ndarray], n_resamples: int, key: int) -> Iterator[Row]:
    """Return every measure of every model with its interval."""
    found = summarize(y, models, n_resamples=n_resamples, rng=key)
    for row in found.to_frame().rename(columns={"estimate": "value"}).to_dict("records"):
        yield {"question": "summary", **{str(name): value for name, value in row.items()}}


def difference_rows(y: np.ndarray, models: Mapping[str, np.ndarray], n_resamples: int, key: int) -> Iterator[Row]:
    """Return by how much each model exceeds mean replacement on the same rows, with the interval of `compare`."""
    chance = {name: p[np.arange(y.size), y] for name, p in models.items()}
    for measure in COMPARED:
        shared: Row = {"question": "difference", "measure": measure, "against": REPLACED}
        finite = {name: p for name, p in models.items() if measure != "log_loss" or chance[name].all()}
        if REPLACED in finite and len(finite) > 1:
            arguments = question(measure, models[REPLACED].shape[1])
            found = compare(y, finite, reference=REPLACED, n_resamples=n_resamples, rng=key, **arguments)
            for (_, name), d, low, high in zip(found.pairs, found.difference, found.low, found.high, strict=True):
                yield {**shared, "model": name, "value": -d, "low": -high, "high": -low}
        for name in models:
            if name != REPLACED and not (name in finite and REPLACED in finite):
                infinite = np.nan if name not in finite and REPLACED not in finite else np.inf
                value = -infinite if name in finite else infinite
                yield {**shared, "model": name, "value": value, "low": value, "high": value}


def ranks(families: Mapping[str, GceFamily]) -> np.ndarray:
    """Return the rank of each model, from 1 for the smallest error, by each member; shape (models, 32)."""
    from scipy.stats import rankdata

    return rankdata([family.value for family in families.values()], axis=0)


def gce_rows(families: Mapping[str, GceFamily]) -> Iterator[Row]:
    """Return every general calibration error of every model, and its rank."""
    for (name, family), rank in zip(families.items(), ranks(families), strict=True):
        for k, value in enumerate(family.value):
            yield {"question": "gce", "model": name, "measure": str(k), "value": float(value), "rank": rank[k]}


def agreement_rows(*families: Mapping[str, GceFamily]) -> Iterator[Row]:
    """Return mean rank correlations of measures with each property, on all test rows and on halves of them.

    Pairs are left out that are equal by construction: the largest of ten probabilities is always above the threshold.
    """
    every, first, second = (ranks(each) for each in families)
    whole, same, halves = correlation(every, every), correlation(first, first), correlation(first, second)
    family = next(iter(families[0].values()))
    equal = family.max_prob & (family.threshold == 0)  # to the same with a threshold
    for name, has in PROPERTIES.items():
        own = np.flatnonzero(has(family))
        pairs = [(i, j) for i, j in combinations(own, 2) if not (equal[i] and j == i + THRESHOLDED)]
        i, j = np.array(pairs).T
        crossed = (halves[i, j] + halves[j, i]) / 2
        values = (whole[i, j], same[i, j], np.diag(halves)[own], crossed)
        for against, value in zip(AGREEMENTS, values, strict=True):
            yield {"question": "agreement", "measure": name, "against": against, "value": float(value.mean())}


def correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the correlations of the columns of one array of ranks with those of another."""
    size = first.shape[1]
    return np.corrcoef(first, second, rowvar=False)[:size, size:]


def averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """Average over the splits, and count those in which an interval is on one side of 0."""
    rows = rows.assign(below=rows["high"] < 0, above=rows["low"] > 0)
    compared = rows["question"] == "difference"
    rows[["below", "above"]] = rows[["below", "above"]].astype(float).where(compared)
    parts = rows.groupby(LABELS, sort=False, dropna=False)
    found = parts.agg(
        splits=("value", "size"),
        mean=("value", "mean"),
        sd=("value", _sd),
        low=("low", "mean"),
        high=("high", "mean"),
        below=("below", _sum),
        above=("above", _sum),
        rank=("rank", "mean"),
    )
    return found.reset_index()


def _sd(values: pd.Series) -> float:
    """The standard deviation, nan if some value is infinite."""
    return float(values.std()) if np.isfinite(values).all() else np.nan


def _sum(values: pd.Series) -> float:
    """The sum, nan if a value is."""
    return float(values.sum(skipna=False))


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
    measures = [measure for measure in MEASURES if (rows["measure"] == measure).any()]
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
    names = [NAMES.get(k, "").replace("class-conditional", "class-\ncond.") for k in range(32)]
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
