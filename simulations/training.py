"""When is a network calibrated as it learns, and what do loss, decay and augmentation do? Three papers, on digits.

Vaicenavicius et al. (2019, figure 3) find that the network with the least test log loss is quite consistently called
miscalibrated by the test; here five starts are trained until the test log loss is 5 % above its least, or for 600
passes.
Of the first start are drawn what Nixon et al. (2019) draw: the ranges of adaptive bins during training (figures 2 and
5), a histogram of probabilities (figure 5), and errors over the temperature (figure 1). Nakkiran's slides (2023) claim
that the error on training rows is nearly nothing for networks that are hardly regularised, with any proper loss; that
the gap to test rows is at most the gap of the classification error; that decay makes the first part larger and the gap
smaller; and that augmentation does, "standard" one by smaller gaps, "exotic" one by larger errors on training rows.
Each is asked of 20 networks with other rows and starts. Errors on training rows are of the rows as they are, and of
rows as they were changed for training, labels drawn from what they were trained to.

All are networks with one or two hidden layers of 100 neurons, for digits of 8 by 8 pixels: nothing is said of deep or
convolutional networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import calibration_test, detail, estimate, from_logits
from calibstat.generators.simulator import drawing
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts.digits import CLASSES, HELD_OUT, digits
from .parts.small_network import AUGMENTATIONS, Network, Recipe, augmented, passes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20343
STARTS, MOST_PASSES, ABOVE = 5, 600, 1.05
EVERY = 10  # passes between two looks, after the first few
FIRST = (1, 2, 3, 5)
SEEDS = 20  # of each recipe
ROWS, PASSES = 300, 60  # of the recipes
TEMPERATURES = np.geomspace(0.5, 3, 37)
BINS = (15, 100)
SHOWN = 20  # ends of many bins that are kept
THRESHOLD = 0.01
SGD_RATE = 0.05
RECIPES: Mapping[str, Recipe] = {
    "log loss, Adam": Recipe(),
    "two layers": Recipe(hidden=(100, 100)),
    "MSE, Adam": Recipe(loss="mse"),
    "log loss, SGD": Recipe(optimiser="sgd", rate=SGD_RATE),
    "MSE, SGD": Recipe(loss="mse", optimiser="sgd", rate=SGD_RATE),
    **{f"decay {decay:g}": Recipe(decay=decay) for decay in (1e-3, 1e-2, 3e-2, 1e-1)},
    **{name: Recipe(augmentation=name) for name in AUGMENTATIONS[1:]},
}
PLAIN = ("log loss, Adam", "two layers", "MSE, Adam", "log loss, SGD", "MSE, SGD")  # for which claims are made
MEASURES = ("log loss, train", "log loss, test", "accuracy, test", "ECE, test", "p by ECE", "p by omnibus")
KINDS = ("train", "train as changed", "test", "gap", "error train", "error test", "error gap", "log loss, test")


def rows_for(seed: np.random.SeedSequence, n: int) -> tuple[Any, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Return a random generator, and pixels and classes of n training rows and of test rows."""
    pixels, label = digits()
    _, random = drawing(label.size, seed)
    order = random.permutation(label.size)
    test, train = order[:HELD_OUT], order[HELD_OUT : HELD_OUT + n]
    return random, (pixels[train], label[train]), (pixels[test], label[test])


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    """Return the mean log loss; a softmax is never exactly 0 here."""
    return float(-np.log(np.maximum(p[np.arange(y.size), y], np.finfo(float).tiny)).mean())


def top_ece(y: np.ndarray, p: np.ndarray) -> float:
    """Return the ECE of the most likely class."""
    return float(estimate(y, p, measure="ece", lens="top_label"))


# --- during training -------------------------------------------------------------------------------------------------


def during(start: int, most: int, n_resamples: int) -> list[Row]:
    """Return what is seen of one start while it is trained, and of its network with the least test log loss."""
    seed = np.random.SeedSequence([SEED, start])
    random, (rows, y), (others, label) = rows_for(seed, 900)
    found: list[Row] = []
    least, best, at = np.inf, np.empty(0), 0
    p = best
    for done, network in enumerate(passes(rows, y, CLASSES, Recipe(), random), 1):
        p = network.predict(others)
        loss = log_loss(label, p)
        if loss < least:
            least, best, at = loss, p, done
            on_train = log_loss(y, network.predict(rows))
        last = done == most or loss > ABOVE * least
        if done in FIRST or done % EVERY == 0 or last:
            values = looked(label, p, log_loss(y, network.predict(rows)), n_resamples)
            found += [{"question": "during", "start": start, "passes": done, "measure": m, "value": v}
                      for m, v in values.items()]  # fmt: skip
            found += ranges(start, done, label, p) if start == 1 else []
        if last:
            break
    values = looked(label, best, on_train, n_resamples)
    found += [{"question": "best", "start": start, "passes": at, "measure": m, "value": v} for m, v in values.items()]
    found += over_temperatures(start, at, label, best)
    return found + (histogram(start, at, label, best) if start == 1 else [])


def looked(label: np.ndarray, p: np.ndarray, on_train: float, n_resamples: int) -> dict[str, float]:
    """Return all that figure 3 of Vaicenavicius et al. shows, with a p-value by the omnibus test beside it."""
    asked: dict[str, Any] = {"lens": "top_label", "n_resamples": n_resamples, "rng": 1}
    values = (
        on_train,
        log_loss(label, p),
        float(np.mean(p.argmax(axis=1) == label)),
        top_ece(label, p),
        calibration_test(label, p, measure="ece", **asked).pvalue,
        calibration_test(label, p, measure="omnibus", **asked).pvalue,
    )
    return {measure: float(value) for measure, value in zip(MEASURES, values, strict=True)}


def ranges(start: int, done: int, label: np.ndarray, p: np.ndarray) -> Iterator[Row]:
    """Return the lower ends of adaptive bins of the probability of class 0, all or those above the threshold."""
    above = p[:, 0] > THRESHOLD
    for bins in BINS:
        for kind, some in (("all", np.ones(label.size, bool)), ("above .01", above)):
            event, value = (label[some] == 0).astype(np.float64), p[some, 0]
            low = detail(event, value, measure="ece", strategy="quantile", n_bins=bins)["low"]
            shared: Row = {"question": "range", "start": start, "passes": done, "measure": f"{bins} bins, {kind}"}
            for k in range(0, low.size, max(bins // SHOWN, 1)):
                yield {**shared, "at": float(k), "value": float(low[k])}


def over_temperatures(start: int, at: int, label: np.ndarray, p: np.ndarray) -> Iterator[Row]:
    """Return log loss, ECE and ACE of the predictions at each temperature."""
    logits = np.log(np.maximum(p, np.finfo(float).tiny))
    for t in TEMPERATURES:
        scaled = from_logits(logits / t)
        values = {
            "log loss": log_loss(label, scaled),
            "ECE": top_ece(label, scaled),
            "ACE": float(estimate(label, scaled, measure="gce", binning="adaptive")),
        }
        for measure, value in values.items():
            yield {"question": "temperature", "start": start, "passes": at, "measure": measure, "at": t, "value": value}


def histogram(start: int, at: int, label: np.ndarray, p: np.ndarray) -> list[Row]:
    """Return the shares of probabilities of class 0 in 20 equal bins, of rows of this class and of others."""
    found: list[Row] = []
    for kind, some in (("class 0", label == 0), ("other classes", label != 0)):
        count, ends = np.histogram(p[some, 0], bins=20, range=(0, 1))
        found += [
            {"question": "histogram", "start": start, "passes": at, "measure": kind, "at": float(e), "value": float(c)}
            for e, c in zip(ends[:-1], count / some.sum(), strict=True)
        ]
    return found


# --- recipes ---------------------------------------------------------------------------------------------------------


def trained(name: str, seed: int) -> list[Row]:
    """Return errors of one network on the rows it was trained on, on these as they were changed, and on test rows."""
    recipe = RECIPES[name]
    random, (rows, y), (others, label) = rows_for(np.random.SeedSequence([SEED, 1000 + seed]), ROWS)
    training = passes(rows, y, CLASSES, recipe, random)
    network: Network = [next(training) for _ in range(PASSES)][-1]
    p, q = network.predict(rows), network.predict(others)
    changed, soft = augmented(rows, np.eye(CLASSES)[y], recipe, random)
    drawn = (random.random((len(y), 1)) > soft.cumsum(axis=1)).sum(axis=1).clip(max=CLASSES - 1)
    error = [float(np.mean(each.argmax(axis=1) != of)) for each, of in ((p, y), (q, label))]
    train, test = top_ece(y, p), top_ece(label, q)
    values = (
        train,
        top_ece(drawn, network.predict(changed)),
        test,
        test - train,
        *error,
        error[1] - error[0],
        log_loss(label, q),
    )
    return [{"question": "recipe", "recipe": name, "measure": kind, "value": value}
            for kind, value in zip(KINDS, values, strict=True)]  # fmt: skip


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Train all networks, and average the recipes over their seeds."""
    import pandas as pd
    from joblib import Parallel, delayed

    starts, most, n_resamples = (2, 20, 99) if quick else (STARTS, MOST_PASSES, 499)
    names, seeds = (list(RECIPES)[::4], 2) if quick else (list(RECIPES), SEEDS)
    parallel = Parallel(n_jobs=n_jobs)
    first = parallel(delayed(kept_part)(store, "during", (start, most, n_resamples)) for start in range(1, starts + 1))
    second = parallel(delayed(kept_part)(store, "trained", (name, seed)) for name in names for seed in range(seeds))
    rows = pd.DataFrame([row for part in second for row in part])
    groups = rows.groupby(["question", "recipe", "measure"], sort=False)["value"]
    means = groups.agg(value="mean", sd="std", networks="size").reset_index()
    return pd.concat([pd.DataFrame([row for part in first for row in part]), means], ignore_index=True)


PARTS: Mapping[str, Any] = {"during": during, "trained": trained}


def kept_part(store: Path | None, what: str, arguments: tuple[Any, ...]) -> list[Row]:
    """Return the rows of one start, or of one network of a recipe, from the store if they are there."""
    return stored(store, (what, arguments), lambda: list(PARTS[what](*arguments)))


# --- pictures --------------------------------------------------------------------------------------------------------


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw what is seen during training, bins and temperatures, and the recipes."""
    return {"": draw_training(table), "bins": draw_bins(table), "recipes": draw_recipes(table)}


def draw_training(table: pd.DataFrame) -> Figure:
    """Draw log losses, accuracy, ECE and p-values over the passes, with stars at the least test log loss."""
    from calibstat.plots.style import PALETTE

    figure, grid = panels(2, 3, 4.2, 3.1)
    rows, best = (table[table["question"] == name] for name in ("during", "best"))
    for measure, axes in zip(MEASURES, grid.flat, strict=True):
        for color, start in zip(PALETTE, sorted(rows["start"].unique()), strict=False):
            own = rows[(rows["measure"] == measure) & (rows["start"] == start)]
            star = best[(best["measure"] == measure) & (best["start"] == start)]
            axes.plot(own["passes"], own["value"], color=color)
            axes.plot(star["passes"], star["value"], "*", color=color, markersize=14, markeredgecolor="black")
        axes.set(title=measure, xscale="log")
        if measure.startswith("p "):
            axes.axhline(0.05, color="black", linewidth=1, linestyle=":")
            axes.set_ylim(-0.02, 1.02)
        if measure.startswith("log"):
            axes.set_yscale("log")
    figure.supxlabel("passes over the training rows; stars: the least test log loss; dots: p = .05", fontsize="medium")
    return figure


def draw_bins(table: pd.DataFrame) -> Figure:
    """Draw the lower ends of adaptive bins during training, the histogram, and errors over the temperature."""
    from calibstat.plots.style import PALETTE

    figure, grid = panels(2, 3, 4.2, 3.1)
    rows = table[table["question"] == "range"]
    for measure, axes in zip(rows["measure"].unique(), grid.flat[:4], strict=True):
        for _, own in rows[rows["measure"] == measure].groupby("at"):
            axes.plot(own["passes"], own["value"], color=PALETTE[0], linewidth=0.6)
        axes.set(title=measure, xscale="log", xlabel="passes", ylabel="lower end of a bin", ylim=(-0.02, 1.02))
    _draw_histogram(grid.flat[4], table[table["question"] == "histogram"])
    axes = grid.flat[5]
    curves = table[(table["question"] == "temperature") & (table["start"] == 1)]
    for color, (name, own) in zip(PALETTE, curves.groupby("measure", sort=False), strict=False):
        at, value = own["at"].to_numpy(), own["value"].to_numpy()
        axes.plot(at, value / value.min(), color=color, label=f"{name!s}, least at {at[value.argmin()]:.2f}")
    axes.set(title="errors over their least", xscale="log", yscale="log", xlabel="temperature")
    axes.legend(frameon=False, fontsize="small")
    return figure


def _draw_histogram(axes: Axes, rows: pd.DataFrame) -> None:
    from calibstat.plots.style import PALETTE

    for color, (kind, own) in zip(PALETTE, rows.groupby("measure", sort=False), strict=False):
        axes.stairs(own["value"], np.append(own["at"], 1.0), color=color, label=kind)
    axes.set(
        title="probability of class 0, least test log loss", yscale="log", xlabel="probability", ylabel="share of rows"
    )
    axes.legend(frameon=False, fontsize="small")


def draw_recipes(table: pd.DataFrame) -> Figure:
    """Draw errors on training and test rows of each recipe, and gaps over gaps, with 2 standard errors."""
    from calibstat.plots.style import PALETTE

    figure, ((left, right),) = panels(1, 2, 5.6, 4.6)
    rows = table[table["question"] == "recipe"]
    names = list(rows["recipe"].unique())
    mean = rows.pivot(index="recipe", columns="measure", values="value").loc[names]
    rows = rows.assign(se=rows["sd"] / np.sqrt(rows["networks"]))
    error = rows.pivot(index="recipe", columns="measure", values="se").loc[names]
    for color, marker, kind, beside in zip(
        PALETTE, "osD", ("train", "train as changed", "test"), (-0.2, 0, 0.2), strict=False
    ):
        left.errorbar(
            mean[kind], np.arange(len(names)) + beside, xerr=2 * error[kind], fmt=marker, color=color, label=kind
        )
    left.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5), xscale="log", xlabel="ECE")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize="small")
    for k, name in enumerate(names):
        look: dict[str, Any] = {"color": PALETTE[k] if k < len(PALETTE) else "black", "fmt": "osD^vP*X<>h1"[k]}
        ends = {"xerr": 2 * error["error gap"][name], "yerr": 2 * error["test"][name]}
        right.errorbar(mean["error gap"][name], mean["test"][name], label=name, **ends, **look)
    line = np.linspace(0.02, 0.08)
    right.plot(line, line, color="black", linewidth=1, zorder=1)
    right.set(xlabel="gap of the classification error", ylabel="ECE on test rows", yscale="log", xlim=(0.02, 0.08))
    right.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")
    figure.supxlabel("means over networks, ± 2 standard errors", fontsize="medium")
    return figure


study = Study(
    question="When is a network calibrated as it learns, and what do loss, decay and augmentation do?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_store=True,
    figures=figures,
)
