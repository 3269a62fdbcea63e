"""How much of what the best map gains does `recalibration.choose` lose?

The gain of a map is by how much it lowers the expected Brier score of the population, and the best map is the one with
the largest mean gain over the data sets. What a rule loses is the gain of the best map less the gain of what it
chooses, from the same rows. Rules: the smallest held-out Brier score or log loss, or the simplest map within one
standard error of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, ndtri
from scipy.stats import beta

from calibstat.generators.simulator import drawing
from calibstat.recalibration import RECALIBRATORS, choose
from calibstat.recalibration.choose_map import CHOICE_SCORES
from calibstat.study import Study
from calibstat.study.engine import Cells, Models, compute
from calibstat.study.stored_rows import Row, stored

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20703
POPULATION = 20_000  # quantiles of the predictions
MAPS = {kind.__name__: kind for kind in RECALIBRATORS.values() if kind.tried_from == 2}
RULES = tuple(f"{score}{rule}" for score in CHOICE_SCORES for rule in ("", ", one s.e."))
STEPS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
TASKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # the probability of the outcome, given a prediction
    "temperature 1.5": lambda p: expit(logit(p) / 1.5),
    "shift .5": lambda p: expit(logit(p) - 0.5),
    "S-shape": lambda p: p + 0.12 * np.sin(2 * np.pi * p),
    "five steps": lambda p: STEPS[np.minimum((p * 5).astype(int), 4)],
    "calibrated": lambda p: p,
    "prevalence .02": lambda p: p / 2,
}


@dataclass(frozen=True)
class Task:
    """Rows whose predictions are wrong in one way."""

    name: str

    def predictions(self, share: np.ndarray) -> np.ndarray:
        """Return quantiles: normal log-odds around 0, or of a rare outcome twice as large as they should be."""
        rare = self.name == "prevalence .02"
        return np.asarray(beta(1, 24).ppf(share) if rare else expit(1.5 * ndtri(share)))

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes and predictions."""
        _, random = drawing(n, rng)
        p = self.predictions(random.random(n))
        return (random.random(n) < TASKS[self.name](p)).astype(np.int64), {"prediction": p}


@cache
def population(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions of the population, and their true probabilities."""
    p = task.predictions((np.arange(POPULATION) + 0.5) / POPULATION)
    return p, TASKS[task.name](p)


@dataclass(frozen=True)
class Gains:
    """Asks for the gain of each map, and of what each rule chooses."""

    task: Task

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the gains."""
        y, p = data[0], data[1]["prediction"]
        fresh, truth = population(self.task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # fits without an optimum
            loss = {name: ((kind().fit(p, y).predict_proba(fresh) - truth) ** 2).mean() for name, kind in MAPS.items()}
            names = chosen(p, y, rng)
        before = ((fresh - truth) ** 2).mean()
        return [float(before - loss[name]) for name in [*MAPS, *(names[rule] for rule in RULES)]]


def chosen(p: np.ndarray, y: np.ndarray, rng: np.random.SeedSequence) -> dict[str, str]:
    """Return the map that each rule chooses."""
    names: dict[str, str] = {}
    for score in CHOICE_SCORES:
        found = choose(y, p, score=score, rng=rng)
        kinds = [name.partition("(")[0] for name in found.names]
        scores = zip(kinds, found.writes_certain, found.difference, found.standard_error, strict=True)
        near = {name for name, writes, d, se in scores if not writes and d <= se}
        best = type(found.recalibrator).__name__
        names |= {score: best, f"{score}, one s.e.": next(name for name in MAPS if name in near)}
    return names


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask for the gains in each task; those that the store has are not asked for again."""
    import pandas as pd

    sizes = {300: 3} if quick else {300: 100, 2000: 50}
    cases = [(Task(name), n, replicates) for n, replicates in sizes.items() for name in TASKS]
    found = [stored(store, (case, SEED), partial(averaged, *case, n_jobs)) for case in cases]
    return pd.DataFrame([row for rows in found for row in rows])


def averaged(task: Task, n: int, replicates: int, n_jobs: int | None) -> list[Row]:
    """Return the mean gain of each map and rule, and how much less than the gain of the best map it is."""
    names = [*MAPS, *RULES]
    cells = Cells([(task.name, n)], {task.name: task}, replicates, SEED, Gains(task), names)
    gain = compute(cells, None, n_jobs, f"{task.name}, {n}")[:, 0]
    lost = gain[:, [gain[:, : len(MAPS)].mean(axis=0).argmax()]] - gain
    case = {"question": "gain", "generator": task.name, "n": n, "measure": "brier", "replicates": replicates}
    return [
        case | {"method": name, **mean_of("gain", gain[:, k]), **mean_of("lost", lost[:, k])}
        for k, name in enumerate(names)
    ]


def mean_of(name: str, values: np.ndarray) -> dict[str, float]:
    """Return a mean and its standard error."""
    return {name: float(values.mean()), f"{name}_se": float(values.std(ddof=1) / values.size**0.5)}


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw what each rule loses of the gain of the best map."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    parts = list(table.groupby("n"))
    for ax, (n, rows) in zip(figure.subplots(1, len(parts), sharey=True, squeeze=False)[0], parts, strict=True):
        names = list(rows["generator"].unique())
        for k, (rule, hue, marker) in enumerate(zip(RULES, colors().values(), "os^D", strict=False)):
            own = rows[rows["method"] == rule]
            place = np.arange(len(names)) + 0.18 * (k - 1.5)
            given = {"fmt": marker, "ms": 4, "lw": 1, "color": hue, "label": rule}
            ax.errorbar(1e5 * own["lost"], place, xerr=2e5 * own["lost_se"], **given)
        best = rows[rows["method"].isin(MAPS)].groupby("generator")["gain"].max().loc[names]
        ax.plot(1e5 * best, range(len(names)), "|", color="black", ms=18, label="gain of the best map")
        ax.set_title(f"{n:,} rows", fontsize="medium")
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False)
    figure.supxlabel("lost of the Brier score, times 100,000 (bars: ± 2 standard errors)", fontsize="medium")
    return {"": figure}


study = Study(
    question="How much of what the best map gains does `recalibration.choose` lose?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_store=True,
    figures=figures,
)
