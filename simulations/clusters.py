"""How often does the test of rows in clusters reject a calibrated model?

Outcomes of a cluster depend on each other: in a share of the clusters all rows have one uniform number, and outcome 1
where it is below their prediction, which is as alike as calibrated outcomes can be. The test by signs of clusters is
approximate, and nothing is promised: these are the rates to know. Beside it is the exact test of independent rows,
which takes clusters for evidence. The power is that against predictions whose logits are .7 too high.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.generator import drawing
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20481
LEVEL = 0.05
MEASURES = ("ece", "ks")
METHODS = ("sign_flip", "independent rows")
SHIFT = 0.7


@dataclass(frozen=True)
class Clustered:
    """Rows in clusters of one size; a share of the clusters has outcomes that are as alike as they can be."""

    clusters: int
    size: int
    prevalence: float
    alike: float
    shift: float

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        return f"{self.clusters} clusters of {self.size}, prevalence {self.prevalence:g}, {self.alike:.0%} alike"

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw outcomes, with predictions and clusters; `n` is the number of rows."""
        _, random = drawing(n, rng)
        unit = np.repeat(np.arange(self.clusters), self.size)
        chance = random.beta(2, 2 / self.prevalence - 2, unit.size)
        together = (random.random(self.clusters) < self.alike)[unit]
        uniform = np.where(together, random.random(self.clusters)[unit], random.random(unit.size))
        odds = np.exp(self.shift) * chance / (1 - chance)
        return (uniform < chance).astype(np.int64), {"prediction": odds / (1 + odds), "cluster": unit}


@dataclass(frozen=True)
class Tests:
    """Asks each measure and method for its p-value."""

    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values."""
        y, columns = data
        p, found = columns["prediction"], []
        for measure, method in product(MEASURES, METHODS):
            given = {"cluster": columns["cluster"]} if method == "sign_flip" else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that there are few clusters, which is what is asked
                test = cs.calibration_test(y, p, measure=measure, n_resamples=self.n_resamples, rng=rng, **given)
            found.append(test.pvalue)
        return found


def cases(quick: bool) -> list[Clustered]:
    """Return what is asked: calibrated models, and for the power those with predictions that are too high."""
    number, size = ([15, 30], [5]) if quick else ([15, 30, 100, 300], [5, 20])
    grid = product(number, size, [0.5, 0.01], [0.0, 0.6, 1.0], [0.0, SHIFT])
    return [Clustered(*each) for each in grid if each[-1] == 0 or each[-2] == 0.6]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask all tests about all cases."""
    import pandas as pd

    asked, replicates = cases(quick), 10 if quick else 400
    named = {f"{case.label}, shift {case.shift:g}": case for case in asked}
    groups = [(label, case.clusters * case.size) for label, case in named.items()]
    columns = [f"{measure}, {method}" for measure, method in product(MEASURES, METHODS)]
    answers = compute(Cells(groups, named, replicates, SEED, Tests(199), columns), None, n_jobs, "clusters")
    rows = []
    for g, case in enumerate(asked):
        for k, (measure, method) in enumerate(product(MEASURES, METHODS)):
            row: dict[str, Any] = {
                "question": "power" if case.shift else "size",
                "generator": case.label,
                "n": groups[g][1],
            }
            row |= {"clusters": case.clusters, "prevalence": case.prevalence, "alike": case.alike}
            row |= {"measure": measure, "method": method, "level": LEVEL, "replicates": replicates}
            rows.append(row | rate_of("rejections", answers[:, g, k] <= LEVEL))
    return pd.DataFrame(rows)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each test rejects, against the number of clusters."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    parts = [("size", 0.5), ("size", 0.01), ("power", 0.5), ("power", 0.01)]
    looks = {("ece", "sign_flip"): ("blue", "o", "-"), ("ks", "sign_flip"): ("green", "s", "-")}
    looks |= {("ece", "independent rows"): ("orange", "^", ":"), ("ks", "independent rows"): ("red", "D", ":")}
    for ax, (question, prevalence) in zip(figure.subplots(2, 2, sharex=True).flat, parts, strict=True):
        part = table[(table["question"] == question) & (table["prevalence"] == prevalence) & (table["alike"] > 0)]
        for (measure, method), (color, marker, line) in looks.items():
            rows = part[(part["measure"] == measure) & (part["method"] == method)]
            most = rows.groupby("clusters")["rate"]
            shown = most.max() if question == "size" else most.min()
            label = f"{measure}, {method.replace('sign_flip', 'signs of clusters')}"
            ax.plot(shown.index, shown, ls=line, marker=marker, color=hue[color], ms=5, label=label)
        ax.axhline(LEVEL, color="black", ls="--", lw=1)
        which = "calibrated: the largest rate" if question == "size" else f"logits {SHIFT} too high: the smallest rate"
        ax.set_title(f"prevalence {prevalence:g}, {which}", fontsize="medium")
        ax.set_xscale("log")
        ax.set_xticks([15, 30, 100, 300], ["15", "30", "100", "300"])
        ax.minorticks_off()
        ax.set_ylim(-0.02, 1.02)
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=2, frameon=False)
    figure.supxlabel("clusters", fontsize="medium")
    figure.supylabel("share of data sets with p ≤ .05", fontsize="medium")
    return {"": figure}


study = Study(
    question="How often does the test of rows in clusters reject a calibrated model?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
)
