"""How often do high ends miss where events are rare, over their level? Exact tables of one and of two kinds of rows.

Designs are drawn at random: one prediction or two, of rare events, of rare non-events or in between. The end of every
pair of counts is computed, and its miss has its binomial probability, for a grid of true chances of each kind. A row of
the table is the worst of these chances. Nothing is simulated, so that a rate has no Monte Carlo error. What is promised
is that rows of one kind are missed no more often than the level says; of two kinds more than 1.2 times is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.measures.kinds.registry import find_measure
from calibstat.papers.parts.promises import MORE_MISSES
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20721
DESIGNS = 240
TAILS = (0.05, 0.025, 0.0025, 0.00025)
MEASURES: dict[str, tuple[str, dict[str, Any]]] = {
    "ece": ("ece", {}),
    "ece, one bin": ("ece", {"n_bins": 1}),
    "ks": ("ks", {}),
    "two_bin_ce": ("two_bin_ce", {}),
    "kernel_ce": ("kernel_ce", {}),
    "kernel_ce, .2": ("kernel_ce", {"bandwidth": 0.2}),
}
MOST_EVENTS = 28.0  # expected of one kind; of two kinds less
FAR = 7.0  # standard deviations up to which counts are looked at
CHANCES = {1: 400, 2: 20}  # true chances of each kind, of one and of two


def design(random: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, in order, their rows, and the most expected rare outcomes of each."""
    kinds = random.integers(1, 3)
    rows = random.choice([40, 60, 100, 200, 300, 600, 1000], kinds).astype(float)
    rare = np.minimum(np.exp(random.uniform(np.log(0.3), np.log(12), kinds)) / rows, 0.45)
    value = np.where(random.random(kinds) < 0.5, rare, 1 - rare)
    if kinds == 2 and random.random() < 0.2:
        value[1] = random.uniform(0.1, 0.9)
    value, first = np.unique(value.round(6), return_index=True)
    rows = rows[first]
    return value, rows, np.minimum(MOST_EVENTS / value.size**0.5, 0.9 * rows)


def highs(measure: Any, value: np.ndarray, rows: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the ends at all levels for each vector of counts, shape (tables, levels)."""
    samples = (cs.Sample.from_counts(value, rows, each) for each in positives)
    return np.array([[interval.high(tail) for tail in TAILS] for interval in map(measure.interval, samples)])


def error(measure: Any, value: np.ndarray, rows: np.ndarray, chance: np.ndarray) -> float:
    """Return the error of rows with these true chances."""
    theta = rows * (chance - value) / rows.sum()
    if hasattr(measure, "cells"):
        return float(np.abs(np.bincount(measure.cells(value, rows), theta)).sum())
    return float(measure.norm(value, theta))


def worst(measure: Any, value: np.ndarray, rows: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest miss at each level for any true chances, and the expected rare outcomes where it is."""
    counts = [np.arange(k + 1) for k in np.minimum(rows, most + FAR * np.sqrt(most + 1) + 6).astype(int)]
    seen = grid(counts)
    ends = highs(measure, value, rows, np.where(value > 0.5, rows - seen, seen))
    means = grid([np.linspace(0.05, one, CHANCES[value.size]) for one in most])
    missed = np.empty((len(means), len(TAILS)))
    for k, mean in enumerate(means):
        chance = np.where(value > 0.5, 1 - mean / rows, mean / rows)
        weight = np.prod(binom.pmf(seen, rows, mean / rows), axis=1)
        missed[k] = weight @ (ends < error(measure, value, rows, chance) * (1 - 1e-12))
    return missed.max(axis=0), means[missed.argmax(axis=0)]


def grid(axes: list[np.ndarray]) -> np.ndarray:
    """Return all combinations, one in a row."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Compute the tables of all designs; those that the store has are not computed again."""
    import pandas as pd
    from joblib import Parallel, delayed

    numbers = (4, 5, 6) if quick else range(DESIGNS)
    found = Parallel(n_jobs=n_jobs)(
        delayed(stored)(store, ("design", number, SEED), partial(rows_of, number)) for number in numbers
    )
    return pd.DataFrame([row for rows in found for row in rows])


def rows_of(number: int) -> list[Row]:
    """Return the worst misses of a design, by one measure."""
    _, random = drawing(1, np.random.SeedSequence([SEED, number]))
    value, rows, most = design(random)
    name = list(MEASURES)[number % len(MEASURES)]
    measure, options = MEASURES[name]
    missed, where = worst(find_measure(measure, options), value, rows, most)
    told = {"question": "one kind" if value.size == 1 else "two kinds", "measure": name, "n": int(rows.sum())}
    told |= {"predictions": written(value), "rows": written(rows), "populations": CHANCES[value.size] ** value.size}
    return [
        told | {"level": 1 - tail, "rate": float(rate), "over_level": float(rate / tail), "expected": written(mean)}
        for tail, rate, mean in zip(TAILS, missed, where, strict=True)
    ]


def written(numbers: np.ndarray) -> str:
    """Write numbers into a cell."""
    return " and ".join(f"{number:g}" for number in numbers)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the designs of one kind that are missed more often than their level."""
    return table[(table["question"] == "one kind") & (table["over_level"] > 1)]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each design is missed, over the level."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    levels = sorted(table["level"].unique())
    for ax, level in zip(figure.subplots(1, len(levels), sharey=True), levels, strict=True):
        for kind, hue, beside in zip(("one kind", "two kinds"), colors().values(), (-0.15, 0.15), strict=False):
            rows = table[(table["level"] == level) & (table["question"] == kind)]
            place = rows["measure"].map(list(MEASURES).index) + beside
            ax.plot(rows["over_level"], place, "o", ms=4, alpha=0.5, color=hue, label=kind)
        ax.axvline(1, color="black", lw=1, label="nominal")
        ax.axvline(MORE_MISSES, color="black", ls="--", lw=1, label=f"{MORE_MISSES:g} times")
        ax.set_title(f"one-sided, {100 * (1 - level):g} %", fontsize="medium")
        ax.set_yticks(range(len(MEASURES)), MEASURES)
        ax.set_ylim(len(MEASURES) - 0.5, -0.5)
        ax.set_xlim(-0.03, None)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    figure.supxlabel("probability that the error is above the high end, over its level", fontsize="medium")
    return {"": figure}


study = Study(
    question="How often do high ends miss where events are rare, over their level?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
