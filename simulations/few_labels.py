"""Do few labels and a judge of any quality keep what tests and intervals promise, and what is the judge worth?

Seven models times eleven judges (`parts/judges.py`): constant, an echo of the model, right in 90, 98 and 100 %, always
wrong, a coin or reversed below .5, with failures that few labels do not show, five confidences, one that moves the
prediction. Promised are misses of at most .035 on each side of 95 % intervals of `ks`, `kernel_ce` and `ece`, by the
exact binomial limit, in every cell and in the worst of a search among random models and judges, which are asked again.
A judge right in 90 % is promised to be worth 1.5 times the labels, and a useless one to cost at most 2.5 %, of mean
widths. The test guided by a judge is promised at 5 % (a theorem), the one of rectified residuals is studied; judges
that saw the labelled outcomes, and copies that nobody named, break a premise on purpose: there no level is promised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts.judges import JUDGES, MODELS, OTHERS, USELESS, Population, few_labels, population, random_population
from .parts.rectified_ends import Asked

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20751
ALPHA = 0.05
ON_ONE_SIDE = 0.035  # misses of an end, whose nominal probability is .025
STUDIED = 0.07  # of the test of rectified residuals at 5 %
MEASURES = "ks", "kernel_ce", "ece", "brier"
MARKERS = dict(zip(MEASURES, "osD^", strict=True))
COMPARED: Mapping[str, int] = {"brier": 3, "ks": 1}  # with the data sets of each, as multiples
ROWS, LABELS = 3000, 150
WORTH, COST = 1.5, 0.025
SURE = "temperature 1.5", "log-odds times 3"  # models whose widths are asked
PAIRS = ("calibrated", "shift .4", "log-odds times 3"), ("right 90 %", "perfect", "fails unseen", "echo")
JUDGES_OF_TESTS = "right 90 %", "perfect", "adversarial", "echo", "coin below .5"
GROUP = 5  # rows that are alike, one of them labelled


def random_of(*what: object) -> Random:
    """Return the generator of a cell."""
    digest = hashlib.blake2b(repr((SEED, *what)).encode(), digest_size=8).digest()
    return drawing(1, int.from_bytes(digest, "big"))[1]


def misses(cell: Population, measures: tuple[str, ...], sets: int, sizes: tuple[int, int], *what: object) -> list[Row]:
    """Return how often the truth is below and above the intervals of data sets of a population."""
    rows, labels = sizes
    random, truth = random_of("misses", rows, labels, *what), {name: cell.truth(name) for name in measures}
    below, above = (dict.fromkeys(measures, 0) for _ in range(2))
    for r in range(sets):
        y, p, f = cell.sample(rows, random)
        asked = Asked.of(few_labels(y, labels, random), p, f, r, 199)
        for name in measures:
            down, up = asked.missed(name, truth[name])
            below[name] += down
            above[name] += up
    return [
        {"measure": name, "truth": truth[name], "replicates": sets, "below": below[name], "above": above[name]}
        for name in measures
    ]


def grid(quick: bool) -> list[tuple[str, str]]:
    """Return the cells of models and judges."""
    every = list(product(MODELS, JUDGES))
    return every[::19] if quick else every


def of_cell(model: str, judge: str, sets: int) -> list[Row]:
    """Return the misses of a cell of the grid."""
    found = misses(population(model, judge), MEASURES, sets, (ROWS, LABELS), model, judge)
    return [
        {"question": "grid", "model": model, "judge": judge, "rows": ROWS, "labels": LABELS, **row} for row in found
    ]


def of_search(first: int, last: int, sets: int) -> list[Row]:
    """Return the misses of random populations and sizes."""
    found = []
    for k in range(first, last):
        random = random_of("population", k)
        cell, measure = random_population(random), MEASURES[k % len(MEASURES)]
        labels = int(np.exp(random.uniform(np.log(50), np.log(300))))
        rows = int(labels * np.exp(random.uniform(np.log(1.1), np.log(20))))
        (row,) = misses(cell, (measure,), sets, (rows, labels), k)
        found.append({"question": "search", "model": str(k), "judge": "", "rows": rows, "labels": labels, **row})
    return found


def again(rows: list[Row], worst: int, sets: int) -> list[Row]:
    """Ask the worst of a search again, with new data sets."""
    rows = sorted(rows, key=lambda row: -max(row["below"], row["above"]) / row["replicates"])[:worst]
    found = []
    for row in rows:
        cell, sizes = random_population(random_of("population", int(row["model"]))), (row["rows"], row["labels"])
        (new,) = misses(cell, (row["measure"],), sets, sizes, row["model"], "again")
        found.append({**row, **new, "question": "search, again"})
    return found


def widths(model: str, judge: str, sets: int) -> list[Row]:
    """Return mean widths with the judge and of the labels alone, of an over-confident model."""
    rows, labels = 5000, 200
    cell, random = population(model, judge), random_of("widths", model, judge)
    found = {name: np.zeros((sets, 2)) for name in MEASURES}
    for r in range(sets):
        y, p, f = cell.sample(rows, random)
        asked = Asked.of(few_labels(y, labels, random), p, f, r, 199)
        for name, width in found.items():
            alone = asked.ends_of_labels(name)
            width[r] = asked.width(name), alone.high(ALPHA) - max(alone.low(ALPHA), 0.0)
    return [
        {
            **{"question": "width", "model": model, "judge": judge, "measure": name},
            **{"rows": rows, "labels": labels, "replicates": sets},
            **{"width": float(width[:, 0].mean()), "width_of_labels": float(width[:, 1].mean())},
            "worth": float((width[:, 1].mean() / width[:, 0].mean()) ** 2),
            "worth_se": _error_of_worth(width),
        }
        for name, width in found.items()
    ]


def _error_of_worth(width: np.ndarray) -> float:
    """Return the standard error of the squared ratio of mean widths."""
    ratio = width[:, 1].mean() / width[:, 0].mean()
    noise = width[:, 1] - ratio * width[:, 0]
    return float(2 * ratio * noise.std(ddof=1) / width[:, 0].mean() / len(width) ** 0.5)


def comparisons(model: str, judge: str, sets: int) -> list[Row]:
    """Return how often the true difference of two models on the same rows is below and above its interval."""
    cell, random = population(model, judge), random_of("compare", model, judge)
    found = []
    for other, function in OTHERS.items():
        for name, times in COMPARED.items():
            truth = cell.truth(name) - cell.truth(name, function)
            ends, alone = np.zeros((2, times * sets, 2))
            for r in range(times * sets):
                y, p, f = cell.sample(ROWS, random)
                few, models = few_labels(y, LABELS, random), {"one": p, "other": function(p)}
                result: Any = cs.compare(few, models, judge=cs.Judge(f), measure=name, n_resamples=199, rng=r)
                ends[r], alone[r] = ((each.low[0], each.high[0]) for each in (result, result.rows.labels_only))
            wide = np.stack([ends[:, 1] - ends[:, 0], alone[:, 1] - alone[:, 0]], axis=1)
            row: Row = {"question": "compare", "model": f"{model}, {other}", "judge": judge, "measure": name}
            row |= {"rows": ROWS, "labels": LABELS, "truth": truth, "replicates": times * sets}
            row |= {"below": int((ends[:, 0] > truth).sum()), "above": int((ends[:, 1] < truth).sum())}
            row |= {"width": float(wide[:, 0].mean()), "width_of_labels": float(wide[:, 1].mean())}
            worth = float((wide[:, 1].mean() / wide[:, 0].mean()) ** 2)
            found.append({**row, "worth": worth, "worth_se": _error_of_worth(wide)})
    return found


def calibrated_rows(judge: str, kind: str, random: Random) -> dict[str, Any]:
    """Return the arguments of a test of a calibrated model: of repeated predictions, of others, of groups, or leaks."""
    n = 1500
    if kind.startswith("groups"):
        p = np.repeat(random.random(n // GROUP), GROUP)
        y = np.repeat((random.random(n // GROUP) < p[::GROUP]) * 1.0, GROUP)
        chosen = random.permutation(n // GROUP) < LABELS
        labelled = (np.arange(n) % GROUP == 0) & np.repeat(chosen, GROUP)
        f = np.where(random.random(n) < 0.9, y, 1 - y)
        cluster = np.repeat(np.arange(n // GROUP), GROUP)
        named = {"cluster": cluster} if kind == "groups" else {}
        return {"y_true": np.where(labelled, y, np.nan), "y_prob": p, "judge": cs.Judge(f, blind=True), **named}
    y, p, f = population("calibrated", judge).sample(n, random)
    if kind != "repeated":
        p = random.random(n)
        y = (random.random(n) < p) * 1.0
        f = np.where(random.random(n) < 0.9, y, 1 - y) if judge == "right 90 %" else 1 - y
    few = few_labels(y, LABELS, random)
    if kind == "saw the labels":
        known = np.flatnonzero(~np.isnan(few))
        known = known[np.argsort(p[known])]
        at = np.clip(np.searchsorted(p[known], p), 2, known.size - 3)
        f = np.mean([few[known][at + d] for d in range(-2, 3)], axis=0)
    return {"y_true": few, "y_prob": p, "judge": cs.Judge(f, blind=True)}


KINDS: Mapping[str, tuple[str, ...]] = {
    "repeated": JUDGES_OF_TESTS,
    "not repeated": ("right 90 %", "adversarial"),
    "groups": ("right 90 %",),
    "groups, not named": ("right 90 %",),
    "saw the labels": ("right 90 %",),
}
BROKEN = "groups, not named", "saw the labels"  # premises, on purpose


def tests(judge: str, kind: str, sets: int) -> list[Row]:
    """Return how often tests reject a calibrated model at 5 %."""
    random, found = random_of("tests", judge, kind), dict.fromkeys(("direction", "labels alone", "noise"), 0)
    for r in range(sets):
        asked: dict[str, Any] = {**calibrated_rows(judge, kind, random), "n_resamples": 199, "rng": r}
        guided = cs.calibration_test(**asked)
        found["direction"] += guided.pvalue <= ALPHA
        found["labels alone"] += guided.rows.pvalue_labels_only <= ALPHA
        found["noise"] += cs.calibration_test(**asked, method="noise").pvalue <= ALPHA
    row = {"question": "level", "model": kind, "judge": judge, "measure": "ks", "rows": 1500, "labels": LABELS}
    return [{**row, "test": name, "replicates": sets, "rejected": int(times)} for name, times in found.items()]


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all parts; those of which the store has the outcome are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    sets, searched, asked, worst, fresh, wide, tested, compared = (
        (4, 4, 4, 1, 8, 4, 6, 4) if quick else (1000, 520, 24, 6, 2000, 40, 150, 100)
    )
    some = [(k, min(k + 20, searched)) for k in range(0, searched, 20)]
    judges = ("constant", "right 90 %") if quick else tuple(JUDGES)
    parts: list[tuple[Callable[..., list[Row]], tuple[Any, ...]]] = [
        *((of_cell, (*cell, max(sets // 4, 4) if cell[0] == SURE[1] else sets)) for cell in grid(quick)),
        *((of_search, (*each, asked)) for each in some),
        *((widths, (model, judge, wide)) for model, judge in product(SURE[: 1 if quick else None], judges)),
        *((comparisons, (*cell, compared)) for cell in product(*(each[: 1 if quick else None] for each in PAIRS))),
        *((tests, (judge, kind, tested)) for kind, judges in KINDS.items() for judge in judges[: 1 if quick else None]),
    ]

    def ask(part: Callable[..., list[Row]], given: tuple[Any, ...]) -> list[Row]:
        return stored(store, (part.__name__, given, SEED), lambda: part(*given))

    found = [row for rows in Parallel(n_jobs=n_jobs)(delayed(ask)(*each) for each in parts) for row in rows]
    suspects = [row for row in found if row["question"] == "search"]
    return pd.DataFrame(
        [*found, *stored(store, ("again", searched, asked, worst, fresh, SEED), lambda: again(suspects, worst, fresh))]
    )


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which a promise is broken beyond the exact binomial limit, or beyond 3 standard errors."""
    import pandas as pd

    ends, tests = table[table["below"].notna()], table[table["question"] == "level"]
    kept_premises, total = tests[~tests["model"].isin(BROKEN)], 2 * len(ends) + len(tests)
    exact = kept_premises[kept_premises["test"] != "noise"]
    studied = kept_premises[kept_premises["test"] == "noise"]
    width = table[table["question"] == "width"]
    useless, useful = width[width["judge"].isin(USELESS)], width[width["judge"] == "right 90 %"]
    cost = (useless["worth"] + 3 * useless["worth_se"]) ** -0.5 - 1
    return pd.concat(
        [
            more_often(ends, ends["below"], ON_ONE_SIDE, total),
            more_often(ends, ends["above"], ON_ONE_SIDE, total),
            more_often(exact, exact["rejected"], ALPHA, total),
            more_often(studied, studied["rejected"], STUDIED, total),
            useless[cost > COST],
            useful[useful["worth"] + 3 * useful["worth_se"] < WORTH],
        ]
    ).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw misses on each side by judge, and what each judge is worth."""
    return {"": draw(table)}


def draw(table: pd.DataFrame) -> Figure:
    """Draw the shares of misses of all cells, and widths as equivalent labels."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    ends, width = table[table["question"] == "grid"], table[table["question"] == "width"]
    judges = list(dict.fromkeys([*ends["judge"], *width["judge"]]))
    with sns.axes_style("whitegrid"):
        figure, axes = plt.subplots(1, 3, sharey=True, figsize=(11, 1.6 + 0.32 * len(judges)), layout="constrained")
    place = judges.index
    for ax, side in zip(axes, ("below", "above"), strict=False):
        for name, marker in MARKERS.items():
            rows = ends[ends["measure"] == name]
            ax.plot(rows[side] / rows["replicates"], rows["judge"].map(place), marker, alpha=0.5, label=name)
        ax.axvline(ON_ONE_SIDE, color="black", linestyle="--", linewidth=1)
        ax.set_title(f"truth {side} the interval", fontsize="medium")
    for k, (name, marker) in enumerate(MARKERS.items()):
        for model, fill in zip(SURE, (f"C{k}", "none"), strict=True):
            rows = width[(width["measure"] == name) & (width["model"] == model)]
            look = {"fmt": marker, "color": f"C{k}", "markerfacecolor": fill, "alpha": 0.7}
            axes[2].errorbar(rows["worth"], rows["judge"].map(place), xerr=2 * rows["worth_se"], **look)
    axes[2].axvline(1, color="black", linewidth=1)
    axes[2].set_title(f"labels that one label is worth\n(hollow: {SURE[1]})", fontsize="medium")
    axes[0].set(yticks=range(len(judges)), yticklabels=judges, ylim=(len(judges) - 0.5, -0.5))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


study = Study(
    question="Do tests and intervals from few labels and a judge of any quality keep their guarantees?",
    seed=SEED,
    runtime_hours=0.2,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
