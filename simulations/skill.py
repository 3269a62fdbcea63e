"""How often do intervals of skill scores miss, and how long are they beside a bootstrap?

Predictions spread evenly, over-confident, nearly certain, without skill, and of rare events; and rows in clusters whose
effects the model knows in part or not at all. Populations are finite, so that the skill is known exactly. Asked are the
Brier and the log loss skill over the base rate, which has to be estimated, and over a reference forecast. The bootstrap
of rows, or of whole clusters, with percentiles, is beside them.

Promised for rows are misses of at most 2.5 % on each side, up to the exact binomial limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.special import expit, logit, ndtri

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.measures.bregman import find_score
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20981
LEVEL = 0.95
POINTS, POINTS_OF_CLUSTERS = 2001, 41
ROWS, CLUSTERS, ROWS_OF_CLUSTER = (50, 200, 1000), (12, 30), 20
REPLICATES, REPLICATES_OF_CLUSTERS, BOOTSTRAPS, RESAMPLES = 1000, 300, 200, 499
BASE_RATE, FORECAST = "base rate", "forecast"
ASKED = (("brier", BASE_RATE), ("log_loss", BASE_RATE), ("brier", FORECAST))
Losses = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Law:
    """A finite population: predictions, the forecasts of a reference, and true chances, shape (kinds, rows)."""

    prediction: np.ndarray
    forecast: np.ndarray
    chance: np.ndarray

    def skill(self, score: str, reference: str) -> float:
        """Return the skill in the population."""
        rate = np.full(self.chance.shape, self.chance.mean())
        return 1 - self._mean(score, self.prediction) / self._mean(
            score, rate if reference == BASE_RATE else self.forecast
        )

    def _mean(self, score: str, forecast: np.ndarray) -> float:
        loss = find_score(score).loss
        one, zero = (loss(np.full(forecast.shape, outcome), forecast) for outcome in (1.0, 0.0))
        return float((self.chance * one + (1 - self.chance) * zero).mean())

    def draw(self, random: Random, kinds: int, rows: int) -> list[np.ndarray]:
        """Draw so many kinds and rows of each: outcomes, predictions, forecasts and numbers of kinds, shape (n,)."""
        of = np.repeat(random.integers(len(self.chance), size=kinds), rows)
        at = of, random.integers(self.chance.shape[1], size=of.size)
        y = (random.random(of.size) < self.chance[at]).astype(np.float64)
        return [y, self.prediction[at], self.forecast[at], np.repeat(np.arange(kinds), rows)]


def of_rows(a: float, b: float, slope: float = 1.0) -> Law:
    """Return predictions of a beta law, whose logits are to be multiplied by a slope."""
    p = stats.beta(a, b).ppf((np.arange(POINTS) + 0.5) / POINTS).clip(1e-9, 1 - 1e-9)
    chance = expit(slope * logit(p))
    middle = logit(chance.mean())
    return Law(*(each[None] for each in (p, expit((logit(p) + middle) / 2), chance)))


def of_clusters(intercept: float, known: float) -> Law:
    """Return clusters with effects of which a model knows a share, and a reference that knows nothing of them."""
    normal = ndtri((np.arange(POINTS_OF_CLUSTERS) + 0.5) / POINTS_OF_CLUSTERS)
    effect, feature = 0.5 * normal[:, None], normal[None]
    columns = known * effect + feature, feature / 2 + 0 * effect, effect + feature
    return Law(*(expit(intercept + each) for each in columns))


LAWS = {
    "even": of_rows(1, 1),
    "over-confident": of_rows(1, 1, 0.5),
    "nearly certain": of_rows(0.05, 0.05),
    "without skill": of_rows(20, 20),
    "rare": of_rows(0.5, 24.5),
    "rare, nearly certain": of_rows(0.02, 0.98),
}
IN_CLUSTERS = {
    "effects half known": of_clusters(-1.0, 0.5),
    "effects not known": of_clusters(-1.0, 0.0),
    "rare, effects not known": of_clusters(-3.5, 0.0),
}


def cells(quick: bool) -> list[tuple[str, str, int, str, str]]:
    """Return the cells: of rows or clusters, law, number, score and reference."""
    asked = [
        ("rows", law, n, *each)
        for n in (ROWS[:2] if quick else ROWS)
        for law in ([*LAWS][:2] if quick else LAWS)
        for each in ASKED
        if n > ROWS[0] or each[0] == "brier"  # a log loss of few events has no interval
    ]
    return asked + [
        ("clusters", law, n, *each)
        for n in (CLUSTERS[:1] if quick else CLUSTERS)
        for law in ([*IN_CLUSTERS][:1] if quick else IN_CLUSTERS)
        for each in ASKED
    ]


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all cells; those that the store has are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=n_jobs)(
        delayed(stored)(store, ("skill", *cell, quick, SEED), partial(rows_of, *cell, quick)) for cell in cells(quick)
    )
    return pd.DataFrame([row for rows in found for row in rows])


def rows_of(question: str, name: str, number: int, score: str, reference: str, quick: bool) -> list[Row]:
    """Count the misses of both methods in a cell."""
    clustered = question == "clusters"
    law = (IN_CLUSTERS if clustered else LAWS)[name]
    truth = law.skill(score, reference)
    _, random = drawing(
        1, np.random.SeedSequence([SEED, cells(False).index((question, name, number, score, reference))])
    )
    replicates = 20 if quick else REPLICATES_OF_CLUSTERS if clustered else REPLICATES
    found: dict[str, list[tuple[float, float]]] = {"interval": [], "bootstrap": []}
    refused = 0
    for k in range(replicates):
        y, p, q, unit = law.draw(random, number, ROWS_OF_CLUSTER if clustered else 1)
        try:
            answer = cs.skill_score(
                y, p, q if reference == FORECAST else None, score=score, cluster=unit if clustered else None
            )
        except ValueError:  # one outcome alone, or a log loss of few events
            refused += 1
            continue
        found["interval"].append((answer.low, answer.high))
        if k < BOOTSTRAPS:
            found["bootstrap"].append(bootstrap(random, score, y, p, q if reference == FORECAST else None, number))
    rows = []
    for method, each in found.items():
        ends = np.array(each).reshape(-1, 2)
        row: Row = {"question": question, "generator": name, "n": len(y), "clusters": number if clustered else np.nan}
        row |= {"measure": f"{score} skill over {reference}", "method": method, "level": LEVEL, "truth": truth}
        below, above = truth < ends[:, 0], truth > ends[:, 1]
        row |= {"refused": refused, "missed_below": int(below.sum()), "missed_above": int(above.sum())}
        row |= {"replicates": len(ends)} | rate_of("missed", below | above)
        rows.append(row | {"median_width": float(np.median(np.diff(ends, axis=1))) if len(ends) else np.nan})
    return rows


def bootstrap(
    random: Random, score: str, y: np.ndarray, p: np.ndarray, q: np.ndarray | None, units: int
) -> tuple[float, float]:
    """Return the percentile interval by resamples of units of equal size; resamples of one outcome are left out."""
    loss = find_score(score).loss
    sums = [each.reshape(units, -1).mean(axis=1) for each in (loss(y, p), y, y if q is None else loss(y, q))]
    which = random.integers(units, size=(RESAMPLES, units))
    given, rate, other = (each[which].mean(axis=1) for each in sums)
    if q is None:
        other = rate * loss(np.ones(rate.size), rate.clip(1e-300)) + (1 - rate) * loss(np.zeros(rate.size), rate)
    kept = other > 0
    low, high = np.quantile(1 - given[kept] / other[kept], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of rows whose interval misses more often on a side than is promised."""
    import pandas as pd

    rows = table[(table["question"] == "rows") & (table["method"] == "interval")]
    sides = [more_often(rows, rows[side], (1 - LEVEL) / 2) for side in ("missed_below", "missed_above")]
    return pd.concat(sides).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the worst side of both methods, of rows and of clusters."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    for ax, question in zip(figure.subplots(1, 2, sharey=True), ("rows", "clusters"), strict=True):
        for method, hue, marker in zip(("interval", "bootstrap"), colors().values(), "os", strict=False):
            rows = table[(table["question"] == question) & (table["method"] == method)]
            side = 100 * rows[["missed_below", "missed_above"]].max(axis=1) / rows["replicates"]
            at = rows["n"] if question == "rows" else rows["clusters"]
            ax.plot(
                at * (0.94 if method == "interval" else 1.06), side, marker, ms=4, alpha=0.6, color=hue, label=method
            )
        ax.axhline(100 * (1 - LEVEL) / 2, color="black", ls="--", lw=1, label="nominal")
        ax.set(xscale="log", xlabel=question, title=question)
    ax.legend(frameon=False)
    figure.supylabel("misses on the worse side, % of data sets", fontsize="medium")
    return {"": figure}


study = Study(
    question="How often do intervals of skill scores miss, and how long are they beside a bootstrap?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
