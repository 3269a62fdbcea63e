"""Do tests, intervals and comparisons of several classes keep guarantees with weights and in clusters?

Vectors of three classes are uniform on the simplex, or one class is rare. Weights are noise, or depend on predictions
and classes too, so that the population in which rows count by their weights is another one. Clusters are of one size,
of geometric sizes, or one of them is a giant; in a share of them rows have the same predictions or one number that
decides their classes, as alike as calibrated rows can be. Tests of rows with weights are exact; with clusters they are
approximate, and so are intervals and comparisons.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.papers.parts.promises import MORE_MISSES, more_often
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts.rows_of_classes import Rows, tilted, truth
from .parts.whole_clusters import whole

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20728
LEVEL = 0.05
RESAMPLES = 99
ODDS = 1.5  # by which each of two models is wrong about another class
MEAN, MAX = ({"lens": f"class_wise_{each}"} for each in ("mean", "max"))
GRID = {"measure": "canonical_ce", "lens": "canonical", "strategy": "uniform", "n_bins": 4}
OF_CLUSTERS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "ks, mean": {"measure": "ks", **MEAN},
        "kernel_ce, max": {"measure": "kernel_ce", **MAX},
        "ece, max": {"measure": "ece", **MAX},
        "brier, mean": {"measure": "brier", **MEAN},
    }
)
OF_WEIGHTS = {**OF_CLUSTERS, "ece, mean": {"measure": "ece", **MEAN}, "canonical_ce": GRID}
RARE = (3.0, 3.0, 0.3)
BY_PREDICTION = cs.generators.Weights(cv=1.0, prediction=1.0)  # rows stay calibrated where they count by these
KINDS: Mapping[str, Rows] = MappingProxyType(
    {
        "weights": Rows(weights="independent"),
        "weights by prediction": Rows(weights=BY_PREDICTION),
        "weights by prediction, a rare class": Rows(RARE, weights=BY_PREDICTION),
        "weights by prediction and class": Rows(weights="related"),
        "60 clusters of 6, half alike": Rows(clusters=60, share=0.5),
        "60 clusters of 6, all alike, a rare class": Rows(RARE, clusters=60, share=1.0),
        "geometric clusters, half alike": Rows(clusters=60, size="geometric", share=0.5),
        "one giant cluster, half alike": Rows(clusters=60, size="one_giant", share=0.5),
        "geometric clusters, weights": Rows(clusters=60, size="geometric", share=0.5, weights=BY_PREDICTION),
    }
)
QUICK = ("weights by prediction", "geometric clusters, weights")


@dataclass(frozen=True)
class Cell:
    """A question about rows of a kind, which are calibrated or wrong by a temperature."""

    question: str
    kind: str
    temperature: float
    replicates: int

    @property
    def rows(self) -> Rows:
        """The population."""
        return replace(KINDS[self.kind], temperature=self.temperature)

    @property
    def measures(self) -> Mapping[str, dict[str, Any]]:
        """What is asked, by its label."""
        return OF_WEIGHTS if self.rows.clusters is None else OF_CLUSTERS

    def answer(self, r: int) -> list[tuple[float, ...]]:
        """Return what is said of data set r, for each measure: a p-value, or both ends."""
        data, draws = np.random.SeedSequence([SEED, *self.question.encode(), *self.kind.encode(), r]).spawn(2)
        y, p, known = self.rows.sample(data)
        of_rows = known | {"cluster": whole(known["cluster"])} if "cluster" in known else known
        given: dict[str, Any] = {**of_rows, "n_resamples": RESAMPLES, "rng": draws}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are few clusters, which is what is asked
            if self.question in ("size", "power"):
                return [(cs.calibration_test(y, p, **each, **given).pvalue,) for each in self.measures.values()]
            if self.question == "interval":
                found = [cs.confidence_interval(y, p, **each, **given) for each in self.measures.values()]
                return [(each.low, each.high) for each in found]
            models = {"first": tilted(p, 0, ODDS), "second": tilted(p, 1, ODDS)}
            return [(cs.compare(y, models, **each, **given).pvalue.item(),) for each in self.measures.values()]


def cells(quick: bool) -> list[Cell]:
    """Return what is asked: calibrated rows, and for intervals and power those with a temperature."""
    found = []
    for kind in QUICK if quick else KINDS:
        replicates = 10 if quick else 400
        found += [Cell("interval", kind, temperature, replicates) for temperature in (1.0, 3.0)]
        if KINDS[kind].weights == "related":  # where classes have weights, calibrated rows are no longer calibrated
            continue
        found += [Cell("size", kind, 1.0, replicates), Cell("power", kind, 2.0, replicates // 2)]
        found.append(Cell("comparison", kind, 1.0, replicates))  # the first two classes are alike
    return found


def rows_of(cell: Cell) -> list[Row]:
    """Return a row of the table for each measure."""
    answers = np.array([cell.answer(r) for r in range(cell.replicates)])
    rows = []
    for k, (label, asked) in enumerate(cell.measures.items()):
        row: Row = {"question": cell.question, "rows": cell.kind, "temperature": cell.temperature, "n": cell.rows.n}
        row |= {"measure": label, "replicates": cell.replicates}
        if cell.question != "interval":
            row |= {"said": "p-value at most 0.05", "truth": None, "width": None}
            rows.append(row | rate_of("cases", answers[:, k, 0] <= LEVEL))
            continue
        low, high = answers[:, k].T
        true = truth(cell.rows, tuple(sorted(asked.items())))
        width = float((high - low).mean())
        for said, missed in (("low end above the truth", low > true), ("high end below the truth", high < true)):
            rows.append(row | {"said": said, "truth": true, "width": width} | rate_of("cases", missed))
    return rows


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all cells; those of which the store has the outcome are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=n_jobs)(delayed(stored_rows)(cell, store) for cell in cells(quick))
    return pd.DataFrame([row for rows in found for row in rows])


def stored_rows(cell: Cell, store: Path | None) -> list[Row]:
    """Return the rows of a cell, kept in a file of the store."""
    return stored(store, (cell, SEED), lambda: rows_of(cell))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which something false is said more often than promised."""
    import pandas as pd

    exact = table[(table["question"] == "size") & table["rows"].str.startswith("weights")]
    ends, compared = table[table["question"] == "interval"], table[table["question"] == "comparison"]
    asked = len(exact) + len(ends) + len(compared)
    parts = ((exact, LEVEL), (ends, MORE_MISSES * LEVEL / 2), (compared, MORE_MISSES * LEVEL))
    return pd.concat([more_often(rows, rows["cases"], promise, asked) for rows, promise in parts])


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often something false is said, and the power of the tests."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    kinds = list(table["rows"].unique())
    figure = Figure(figsize=(11, 1.8 + 0.42 * len(kinds)), layout="constrained")
    panels = [
        ("Calibrated, p ≤ .05", "size", LEVEL),
        ("An end of a 95 % interval\non the wrong side", "interval", LEVEL / 2),
        ("Two models as wrong,\np ≤ .05", "comparison", LEVEL),
        ("Temperature 2,\np ≤ .05 (power)", "power", None),
    ]
    measures = list(table["measure"].unique())
    looks = dict(zip(measures, zip(hue.values(), "os^vD<", strict=False), strict=False))
    axes = figure.subplots(1, len(panels), sharey=True)
    for ax, (title, question, nominal) in zip(axes, panels, strict=True):
        part = table[table["question"] == question]
        for shift, measure in enumerate(measures):
            most = part[part["measure"] == measure].groupby("rows")["rate"].max()
            place = [kinds.index(kind) + 0.12 * (shift - 2.5) for kind in most.index]
            color, marker = looks[measure]
            ax.plot(most, place, marker, ls="", ms=5, color=color, label=measure)
        if nominal is not None:
            ax.axvline(nominal, color="black", ls="--", lw=1)
        ax.set_title(title, fontsize="medium")
        ax.set_xlim(-0.02 if nominal is None else -0.005, 1.02 if nominal is None else max(0.1, ax.get_xlim()[1]))
        ax.grid(axis="y", alpha=0.3)
    axes[0].set_yticks(range(len(kinds)), kinds)
    axes[0].set_ylim(len(kinds) - 0.5, -0.5)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(measures), frameon=False)
    figure.supxlabel("share of data sets (of intervals the larger of both ends and of both models)", fontsize="medium")
    return {"": figure}


study = Study(
    question="Do tests, intervals and comparisons of several classes keep guarantees with weights and in clusters?",
    seed=SEED,
    runtime_hours=0.4,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
