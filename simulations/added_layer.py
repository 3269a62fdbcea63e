"""Does a layer that is added to a trained network help? Nakkiran's slides (2023), on digits.

Slides of 28 February 2023: a predictor is calibrated if and only if no map of its predictions lowers a proper loss, and
maps can be layers; so if the human who trains a network had found that adding a layer, trained optimally, lowers the
loss, the layer would have been added, and trained networks are nearly calibrated. Here 24 networks with other rows and
starts are trained by log loss or squared error on 900 digits, and behind each, after 1 to 256 passes, a linear layer
(one temperature, a vector or a matrix, with softmax) is fitted by log loss, Brier score or spherical score, to the
training rows or to half of the test rows, and judged on the rows it was fitted to and on others. Of the confidence in
the most likely class the best rising map is taken, too, which is best for all Bregman scores at once. A gain is the
loss before the layer minus that behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibstat import Bregman, estimate
from calibstat.generators.simulator import drawing
from calibstat.plots.studies.estimates import panels
from calibstat.recalibration import IsotonicRegression
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts.digits import CLASSES, HELD_OUT, digits
from .parts.layers import LAYERS, SCORES, Layer
from .parts.small_network import Recipe, passes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20347
NETWORKS = 24
PASSES = (1, 4, 16, 64, 256)
RECIPES: Mapping[str, Recipe] = {"log loss": Recipe(), "squared error": Recipe(loss="mse")}
TRAINING, HELD, OTHERS = "training rows", "half of the test rows", "the other half"
PAIRS = ((TRAINING, TRAINING), (TRAINING, OTHERS), (HELD, OTHERS))  # what a layer is fitted to, and judged on
EVENT_SCORES = {  # of the confidence: convex functions and their derivatives
    "Brier score": Bregman("squares", lambda x: x**2, lambda x: 2 * x),
    "spherical score": Bregman(
        "spherical",
        lambda x: np.sqrt(x**2 + (1 - x) ** 2),
        lambda x: (2 * x - 1) / np.sqrt(x**2 + (1 - x) ** 2),
    ),
}
GAP, SMOOTH = "post-processing gap", "smooth error"

Rows = tuple[np.ndarray, np.ndarray]  # classes and predictions


def one_network(recipe: str, number: int, looks: tuple[int, ...]) -> list[Row]:
    """Return the gains of all layers behind one network, after these numbers of passes."""
    pixels, label = digits()
    _, random = drawing(label.size, np.random.SeedSequence([SEED, number]))
    order = random.permutation(label.size)
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    first, second = np.array_split(test, 2)
    places = {TRAINING: train, HELD: first, OTHERS: second}
    found: list[Row] = []
    training = passes(pixels[train], label[train], CLASSES, RECIPES[recipe], random)
    for done, network in zip(range(1, max(looks) + 1), training, strict=False):
        if done in looks:
            sets = {name: (label[rows], network.predict(pixels[rows])) for name, rows in places.items()}
            shared = {"network": recipe, "passes": done}
            found += [{**shared, **row} for row in [*gains(sets), *rising_gains(sets), *gap_of(sets[OTHERS])]]
    return found


def gains(sets: Mapping[str, Rows]) -> Iterator[Row]:
    """Return the loss before, and the gain, of each layer and score."""
    for (name, score), kind in product(SCORES.items(), LAYERS):
        fitted = {to: Layer(kind, CLASSES).fit(p, np.eye(CLASSES)[y], score)
                  for to, (y, p) in sets.items() if to != OTHERS}  # fmt: skip
        for to, on in PAIRS:
            y, p = sets[on]
            before, behind = (float(score(q, np.eye(CLASSES)[y])[0].mean()) for q in (p, fitted[to].predict(p)))
            yield {"question": "layer", "layer": kind, "score": name, "fitted": to, "judged": on, "before": before,
                   "value": before - behind}  # fmt: skip


def rising_gains(sets: Mapping[str, Rows]) -> Iterator[Row]:
    """Return the gains of the best rising map of the confidence, of one event: the most likely class is right."""
    events = {name: (p.argmax(axis=1) == y, p.max(axis=1)) for name, (y, p) in sets.items()}
    for to, on in PAIRS:
        hit, confidence = events[to]
        y, p = events[on]
        q = rising(hit, confidence, p)
        for name, score in EVENT_SCORES.items():
            before, behind = (float(score.loss(y.astype(float), each).mean()) for each in (p, q))
            yield {"question": "layer", "layer": "rising map", "score": name, "fitted": to, "judged": on,
                   "before": before, "value": before - behind}  # fmt: skip


def rising(hit: np.ndarray, confidence: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the best rising map of some confidences at others; a constant if all or none are right."""
    if hit.all() or not hit.any():
        return np.full(others.size, hit.mean())
    return IsotonicRegression().fit(confidence, hit.astype(np.int64)).predict_proba(others)


def gap_of(rows: Rows) -> Iterator[Row]:
    """Return what a 1-Lipschitz map of the confidence could gain by the Brier score, and the smooth error."""
    y, p = rows
    hit, confidence = (p.argmax(axis=1) == y).astype(float), p.max(axis=1)
    for name, measure in ((GAP, "post_processing_gap"), (SMOOTH, "smooth_ce")):
        yield {
            "question": "gap",
            "layer": name,
            "judged": OTHERS,
            "value": float(estimate(hit, confidence, measure=measure)),
        }


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Train all networks, and average over them."""
    import pandas as pd
    from joblib import Parallel, delayed

    numbers, looks = (range(2), PASSES[:2]) if quick else (range(NETWORKS), PASSES)
    tasks = [(recipe, number, looks) for recipe in RECIPES for number in numbers]
    parts = Parallel(n_jobs=n_jobs)(delayed(kept_network)(store, task) for task in tasks)
    rows = pd.DataFrame([row for part in parts for row in part])
    labels = ["question", "network", "passes", "layer", "score", "fitted", "judged"]
    groups = rows.groupby(labels, sort=False, dropna=False)
    return groups.agg(before=("before", "mean"), gain=("value", "mean"), sd=("value", "std"),
                      networks=("value", "size")).reset_index()  # fmt: skip


def kept_network(store: Path | None, task: tuple[str, int, tuple[int, ...]]) -> list[Row]:
    """Return the rows of one network, from the store if they are there."""
    return stored(store, task, lambda: one_network(*task))


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw gains over passes, a panel for each network and each pair of rows, by the score of the training."""
    figure, grid = panels(len(RECIPES), len(PAIRS), 3.6, 2.8)
    own_score = dict(zip(RECIPES, ("log loss", "Brier score"), strict=True))
    for (i, recipe), (j, (to, on)) in product(enumerate(RECIPES), enumerate(PAIRS)):
        score = own_score[recipe]
        rows = table[(table["network"] == recipe) & (table["fitted"] == to) & (table["judged"] == on)]
        _draw(grid[i, j], rows[(rows["score"] == score) & rows["layer"].isin(LAYERS)])
        grid[i, j].set_title(f"{score}: {to}\n→ {on}", fontsize="small")
    grid[0, 0].legend(frameon=False, fontsize="small")
    figure.supxlabel("passes over the training rows; bars: ± 2 standard errors over networks", fontsize="medium")
    figure.supylabel("loss before the layer − behind it", fontsize="medium")
    return {"": figure}


def _draw(axes: Axes, rows: pd.DataFrame) -> None:
    from calibstat.plots.style import PALETTE

    for color, marker, kind, beside in zip(PALETTE, "osD", LAYERS, (0.9, 1.0, 1.1), strict=False):
        own = rows[rows["layer"] == kind]
        error = 2 * own["sd"] / np.sqrt(own["networks"])
        axes.errorbar(own["passes"] * beside, own["gain"], error, fmt=marker, color=color, markersize=5, label=kind)
    before = rows.drop_duplicates("passes")
    axes.plot(before["passes"], before["before"], ":", color="black", label="loss before")
    axes.axhline(0, color="black", linewidth=1, zorder=1)
    axes.set(xscale="log")
    axes.set_yscale("symlog", linthresh=0.01)
    axes.set_xticks(PASSES, [str(each) for each in PASSES])
    axes.minorticks_off()


study = Study(
    question="Does a layer that is added to a trained network help?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_store=True,
    figures=figures,
)
