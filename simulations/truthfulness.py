"""Is a measure smallest, in the mean, for the model that predicts the true probabilities?

Haghtalab et al. (2024) call a measure truthful if it is: whoever is judged by another one has a reason to predict
something else than what they know. Here outcomes are drawn from known probabilities, and the same outcomes are judged
with five distorted predictions too. Two of these are calibrated as well (one number for all rows, and three), so that
at the truth a measure of calibration says nothing against them; what they show is noise. The averaged two-bin error
squared is truthful by a theorem of Hartline, Hu and Wu (arXiv:2508.13100), and so is a proper score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study
from calibstat.study.engine import Cells, compute

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20431
SQUARED = "two_bin_ce, squared"
ERRORS = ("ece", "ks", "kuiper", "smooth_ce", "smooth_ece", "kernel_ce", "kernel_ce_squared")
MEASURES = (*ERRORS, "mcb", "decision_loss", "two_bin_ce", SQUARED, "brier")
BY_THEOREM = (SQUARED, "brier")
GROUPS = 3  # of equal probability, with their mean probability
LIMIT = 4.5  # standard errors: 60 cells of the theorems are all above it but for 1 in 4000 studies
SURE = 3.0  # standard errors, from which one mean is said to be below another
Distortion = Callable[[np.ndarray], np.ndarray]


def laws() -> dict[str, Any]:
    """Return distributions of the true probabilities."""
    from scipy.stats import beta, uniform

    return {"uniform": uniform(), "mean .1": beta(1, 9), "near 0 and 1": beta(0.4, 0.4)}


def distortions(law: Any) -> dict[str, Distortion]:
    """Return what is predicted in place of the true probabilities."""
    edges = law.ppf(np.arange(1, GROUPS) / GROUPS)
    ends = pairwise([law.support()[0], *edges, law.support()[1]])
    means = np.array([GROUPS * law.expect(lambda v: v, lb=low, ub=high) for low, high in ends])
    mean = float(law.mean())
    return {
        "one number": lambda p: np.full(p.size, mean),
        "three groups": lambda p: means[np.searchsorted(edges, p)],
        "tenths": lambda p: np.round(p, 1),
        "half way to the mean": lambda p: (p + mean) / 2,
        "over-confident": lambda p: p**1.25 / (p**1.25 + (1 - p) ** 1.25),
    }


@dataclass(frozen=True)
class Asks:
    """Asks for every measure of the true probabilities and of each distorted prediction of the same outcomes."""

    law: Any

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers, of the true probabilities first."""
        value, count, positives = data.arrays
        predicted = [value, *(distort(value) for distort in distortions(self.law).values())]
        samples = [cs.Sample.from_counts(p, count, positives) for p in predicted]
        return [estimate(sample, measure) for sample in samples for measure in MEASURES]


def estimate(sample: cs.Sample, measure: str) -> float:
    """Return a measure, or a square of one."""
    if measure == SQUARED:
        return cs.estimate(sample, measure="two_bin_ce") ** 2
    return cs.estimate(sample, measure=measure)


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Return the means at the truth and at each distortion, with the mean difference of the same data sets."""
    import pandas as pd

    rows, replicates = [], 20 if quick else 500
    for label, law in laws().items():
        groups = [(label, n) for n in ((100,) if quick else (100, 1000))]
        names = ["truth", *distortions(law)]
        columns = [f"{name}: {measure}" for name in names for measure in MEASURES]
        model = {label: cs.generators.calibrated(law)}
        cells = Cells(groups, model, replicates, SEED, Asks(law), columns)
        found = compute(cells, None, n_jobs, "truthfulness")
        found = found.reshape(replicates, len(groups), len(names), len(MEASURES))
        for g, (_, n) in enumerate(groups):
            for m, measure in enumerate(MEASURES):
                true = found[:, g, 0, m]
                for d, name in enumerate(names[1:], 1):
                    more = found[:, g, d, m] - true
                    rows.append(
                        {
                            "question": "truthfulness",
                            "generator": label,
                            "n": n,
                            "measure": measure,
                            "method": name,
                            "replicates": replicates,
                            "mean": found[:, g, d, m].mean(),
                            "mean_of_truth": true.mean(),
                            "sd_of_truth": true.std(ddof=1),
                            "difference": more.mean(),
                            "difference_se": more.std(ddof=1) / np.sqrt(replicates),
                        }
                    )
    return pd.DataFrame(rows)


def untruthful(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which a distorted prediction has the smaller mean, by more than noise."""
    return table[table["difference"] < -SURE * table["difference_se"]]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that break a theorem."""
    proved = table[table["measure"].isin(BY_THEOREM)]
    return proved[proved["difference"] < -LIMIT * proved["difference_se"]]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how far each distorted prediction is judged to be better or worse than the truth."""
    import seaborn as sns

    columns, numbers = list(table["generator"].unique()), list(table["n"].unique())
    with sns.axes_style("white"):
        figure, grid = panels(len(numbers), len(columns), 3.4, 4.2, sharex=True, sharey=True)
    for i, n in enumerate(numbers):
        for j, label in enumerate(columns):
            axes, part = grid[i, j], table[(table["n"] == n) & (table["generator"] == label)]
            part = part.assign(shown=(part["difference"] / part["sd_of_truth"]).clip(-3, 3))
            wide = part.pivot_table(index="measure", columns="method", values="shown", sort=False)
            image = axes.pcolormesh(wide.to_numpy(), cmap="RdBu", vmin=-3, vmax=3, edgecolor="white", linewidth=0.5)
            for cell in untruthful(part).itertuples():
                x, y = list(wide.columns).index(cell.method), list(wide.index).index(cell.measure)
                axes.text(x + 0.5, y + 0.5, "−", ha="center", va="center", fontsize="small")
            axes.set_xticks(np.arange(wide.shape[1]) + 0.5, wide.columns, rotation=40, ha="right", fontsize="small")
            axes.set_yticks(np.arange(wide.shape[0]) + 0.5, wide.index, fontsize="small")
            axes.set_title(f"{label}, n = {n}", fontsize="medium")
    grid[0, 0].invert_yaxis()  # of all, which share it
    label = (
        "mean less the truth's mean, in standard deviations of the measure; −: the distorted prediction is preferred"
    )
    figure.colorbar(image, ax=grid, location="bottom", shrink=0.6, aspect=40).set_label(label, fontsize="small")
    return {"": figure}


study = Study(
    question="Is a measure smallest, in the mean, for the true probabilities?",
    seed=SEED,
    runtime_hours=0.03,
    table=table,
    figures=figures,
    violations=violations,
)
