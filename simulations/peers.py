"""How often do intervals of an error hold the true value, and how often do tests reject what is right?

Every package is asked as its documentation says, and each interval is judged by what it is about itself: its own bins,
its own norm, the predicted class where the package takes that. The populations are public and their truth is known:
six laws of predictions of one event and three of three classes, calibrated, over-confident, under-confident or
shifted. Both sides are reported: how often an answer is wrong, and how much wider an interval is than the spread of the
estimates. Slow answers are asked of fewer data sets.

Packages that are not installed have a row that says so: `pip install "calibstat[peers]"` brings most of them; mcgrad
and R with rms are installed apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibstat.papers.parts.promises import MORE_MISSES, more_often
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts.peer_answers import ANSWERS, Answer, answer, versions
from .parts.peer_truths import Population, populations, truth

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20902
LEVEL = 0.05
ROWS = (300, 2000)
BUDGET = 2.0  # processor seconds of an answer about one population
FEWEST, MOST = 8, 300  # data sets
QUICK = (Population("uniform", "calibrated"), Population("ten values", "over-confident"))
CALIBRATED = ("calibrated", "calibrated, rare", "calibrated, tied", "three classes, calibrated")


@dataclass(frozen=True)
class Cell:
    """A question to a package about one population."""

    number: int  # of the answer
    population: Population
    n: int
    replicates: int

    @property
    def asked(self) -> Answer:
        """What is asked."""
        return ANSWERS[self.number]


def cells(quick: bool) -> list[Cell]:
    """Return all questions, with as many data sets as the budget allows."""
    found = []
    for population in QUICK if quick else populations():
        for n, place in zip(ROWS, (0, 1), strict=True):
            for number, asked in enumerate(ANSWERS):
                if population.classes and not asked.classes:
                    continue
                affordable = int(BUDGET / asked.seconds[place])
                replicates = 3 if quick else int(np.clip(affordable, FEWEST, MOST))
                found.append(Cell(number, population, n, replicates))
    return found[: 2 * len(ANSWERS)] if quick else found


def row_of(cell: Cell, version: str | None) -> Row:
    """Return a row of the table."""
    asked, population = cell.asked, cell.population
    row: Row = {"question": "interval" if asked.estimand else "p-value", "package": asked.package}
    row |= {"version": version or "not installed", "call": asked.call, "estimand": asked.estimand, "n": cell.n}
    row |= {"kind": population.kind, "law": population.law, "wrong": population.wrong, "replicates": cell.replicates}
    row |= {"answers": 0, "below": 0, "above": 0, "significant": 0, "truth": None, "width": None, "spread": None}
    row["refused"] = "not installed" if version is None else ""
    if version is None:
        return row
    said = []
    for r in range(cell.replicates):
        data = np.random.SeedSequence([SEED, *repr(population).encode(), cell.n, r])
        y, p = population.model.sample(cell.n, rng=data)
        said.append(answer(asked, y, p, int(data.generate_state(1)[0])))
    numbers = np.array([each for each in said if not isinstance(each, str)])
    row["answers"] = len(numbers)
    row["refused"] = next((each for each in said if isinstance(each, str)), "")
    if not len(numbers):
        return row
    if not asked.estimand:
        return row | {"significant": int((numbers[:, 0] <= LEVEL).sum())}
    true = truth(population, estimand_of(asked, population))
    estimate, low, high = numbers.T
    spread = float(np.subtract(*np.quantile(estimate, [0.975, 0.025])))
    counts = {"below": int((high < true).sum()), "above": int((low > true).sum())}
    return row | counts | {"truth": true, "width": float((high - np.maximum(low, 0)).mean()), "spread": spread}


def estimand_of(asked: Answer, population: Population) -> str:
    """Return what an interval is about: with three classes all packages take the predicted class."""
    named = asked.estimand
    return f"{named}, of the predicted class" if population.classes and "predicted class" not in named else named


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all cells; those of which the store has the outcome are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    known = versions()

    def one(cell: Cell) -> Row:
        version = known.get(cell.asked.package)
        return stored(store, (cell, version, SEED), lambda: [row_of(cell, version)])[0]

    return pd.DataFrame(Parallel(n_jobs=n_jobs)(delayed(one)(cell) for cell in cells(quick)))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each call and kind of population how often it is wrong, and how wide its intervals are.

    An interval is wrong that does not hold the truth; a p-value is wrong that is at most .05 for a calibrated model.
    Packages that gave no answer, as those that are not installed, are left out.
    """
    table = table[table["answers"] > 0]
    shown = table[(table["question"] == "interval") | table["kind"].isin(CALIBRATED) | of_groups(table)]
    wrong = shown["below"] + shown["above"] + shown["significant"]
    ratio = shown["width"].astype(float) / shown["spread"].astype(float)
    shown = shown.assign(wrong_answers=wrong, ratio=ratio)
    by = ["question", "package", "version", "call", "kind"]
    found = shown.groupby(by, sort=False).agg(
        replicates=("answers", "sum"),
        wrong=("wrong_answers", "sum"),
        below=("below", "sum"),
        above=("above", "sum"),
        ratio=("ratio", "median"),
    )
    found = found.reset_index()
    rates = [rate_of("cases", np.arange(n) < k) for n, k in zip(found["replicates"], found["wrong"], strict=True)]
    return found.assign(rate=[each["rate"] for each in rates])


def of_page(table: pd.DataFrame, question: str) -> str:
    """Return the table of the documentation: how often each call is wrong about calibrated models and about others."""
    found = summary(table)
    found = found[found["question"] == question]
    is_interval = question == "interval"
    lines = [["call", "calibrated models", "other models", *(["width / spread"] if is_interval else [])]]
    lines.append(["---"] * len(lines[0]))
    for (package, version, call), rows in found.groupby(["package", "version", "call"], sort=False):
        calibrated = rows["kind"].isin(CALIBRATED)
        shown = []
        for part in (rows[calibrated], rows[~calibrated]):
            wrong, of = part["wrong"].sum(), part["replicates"].sum()
            shown.append(f"{100 * wrong / of:.1f} ({wrong} of {of})" if of else "–")
        width = [f"{rows['ratio'].median():.1f}"] if is_interval else []
        lines.append([f"{package} {version}: {call}", *shown, *width])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def own_worst(table: pd.DataFrame) -> str:
    """Return the table of the page of calibstat's calls, each where it is wrong most often, the worst first."""
    shown = table[(table["question"] == "interval") | table["kind"].isin(CALIBRATED) | of_groups(table)]
    own = shown[(shown["package"] == "calibstat") & (shown["answers"] > 0)]
    wrong = own["below"] + own["above"] + own["significant"]
    own = own.assign(wrong_answers=wrong, rate=wrong / own["answers"]).sort_values(
        "rate", ascending=False, kind="stable"
    )
    lines = [["call", "predictions", "model", "rows", "failures", "limits"], ["---"] * 6]
    for row in own.drop_duplicates("call").to_dict("records"):
        limits = rate_of("cases", np.arange(row["answers"]) < row["wrong_answers"])
        failures = f"{100 * row['rate']:.1f} % ({row['wrong_answers']} of {row['answers']})"
        between = f"{100 * limits['low']:.1f} % to {100 * limits['high']:.1f} %"
        lines.append([f"{row['version']}: {row['call']}", row["law"], row["wrong"], f"{row['n']:,}", failures, between])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def of_groups(table: pd.DataFrame) -> pd.Series:
    """Return which rows ask for a difference of two groups of one population, which is not there."""
    return table["call"].str.endswith("of a group of a tenth")


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which calibstat is wrong more often than it promises."""
    import pandas as pd

    own = table[table["package"] == "calibstat"].assign(replicates=table["answers"])
    own = own[own["answers"] > 0]
    ends = own[own["question"] == "interval"]
    tests = own[(own["question"] == "p-value") & own["kind"].isin(CALIBRATED) & ~of_groups(own)]
    half, asked = MORE_MISSES * LEVEL / 2, 2 * len(ends) + len(tests)
    parts = ((ends, ends["below"], half), (ends, ends["above"], half), (tests, tests["significant"], LEVEL))
    return pd.concat([more_often(rows, seen, promise, asked) for rows, seen, promise in parts])


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each answer is wrong."""
    from matplotlib.figure import Figure

    found = summary(table)
    panels = [
        ("95 % intervals that do not hold the truth", found[found["question"] == "interval"]),
        ("p-values of at most .05 where nothing is wrong", found[found["question"] == "p-value"]),
    ]
    kinds = list(found["kind"].unique())
    heights = [part["call"].nunique() for _, part in panels]
    figure = Figure(figsize=(1.5 * len(kinds) + 5, 0.42 * sum(heights) + 3.6), layout="constrained")
    axes = figure.subplots(2, 1, height_ratios=[max(height, 1) for height in heights])
    for ax, (title, part) in zip(axes, panels, strict=True):
        names = part["package"] + ": " + part["call"]
        wide = part.assign(name=names).pivot_table(index="name", columns="kind", values="rate", sort=False)
        wide = wide.reindex(columns=kinds)
        image = ax.pcolormesh(wide.to_numpy(), cmap="viridis_r", vmin=0, vmax=1, edgecolor="white", linewidth=1)
        for (i, j), rate in np.ndenumerate(wide.to_numpy()):
            if np.isfinite(rate):
                color = "white" if rate > 0.5 else "black"
                ax.text(j + 0.5, i + 0.5, f"{100 * rate:.1f}", ha="center", va="center", fontsize=9, color=color)
        ax.set_yticks(np.arange(len(wide)) + 0.5, wide.index, fontsize=9)
        ax.set_xticks(np.arange(len(kinds)) + 0.5, kinds, rotation=25, ha="right", fontsize=9)
        ax.invert_yaxis()
        ax.set_title(f"{title} (% of data sets; 5 % are promised)", fontsize="medium")
    figure.colorbar(image, ax=axes, shrink=0.5, label="share of data sets")
    return {"": figure}


study = Study(
    question="How often do intervals of an error hold the true value, and how often do tests reject what is right?",
    seed=SEED,
    runtime_hours=1.0,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
