"""How far off is the worst cell of the simplex? Limits of the distances of all cells at once, and the test they make.

`reliability(..., lens="canonical", band="confidence")` has limits of the total variation distance of every cell, which
hold together with probability of at least .95 by a theorem (Clopper and Pearson, Hoeffding, Šidák, Bonferroni). Here
predictions are fixed, so the distance of every cell is known. How cautious are the limits, how wide is the interval of
the largest distance, and how often does its low end say that a model is not calibrated, beside the exact test by
`canonical_ce` over the same cells?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

from .parts.fixed_predictions import FixedVectors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20438
LEVEL = 0.95
CUTS: dict[str, dict[str, Any]] = {"grid of 3": {"n_bins": 3, "strategy": "uniform"}, "tree": {"strategy": "tree"}}
NAMES = ("missed", "low", "high", "worst", "rejected", "p")


@dataclass(frozen=True)
class Asks:
    """Asks for the limits over some cells, and for the p-value of `canonical_ce` over the same."""

    chance: np.ndarray
    options: Mapping[str, Any]
    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return if a limit misses, the limits of the largest distance, this distance, if 0 is excluded, and p."""
        found = cs.reliability(data, lens="canonical", band="confidence", confidence_level=LEVEL, **self.options)
        true = self.true_distances(data.prob, found.mean_prediction)
        low, high = found.worst or (np.nan, np.nan)
        missed = bool((np.abs(true - np.clip(true, found.low, found.high)) > 1e-9).any())
        few: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng}
        p = cs.calibration_test(data, measure="canonical_ce", **few, **self.options).pvalue
        return [float(missed), low, high, float(true.max()), float(low > 0), p]

    def true_distances(self, prob: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return the distance of each cell, in the order of its mean predictions."""
        measure = cs.measures.CanonicalCE(**self.options)
        cell = measure.cells(prob)
        count = np.bincount(cell)
        means, chances = (
            np.stack([np.bincount(cell, column) for column in of.T], axis=1) / count[:, None]
            for of in (prob, self.chance)
        )
        place = np.abs(means[None] - mean[:, None]).sum(axis=2).argmin(axis=1)
        return np.abs(chances - means).sum(axis=1)[place] / 2


def models(n: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Return predictions and the probabilities of their outcomes."""
    for k, alpha in {3: (0.9, 0.7, 0.5), 5: (0.6, 0.5, 0.5, 0.4, 0.3)}.items():
        prob = cs.generators.dirichlet(alpha).sample(n, rng=SEED)[1]
        tempered = prob**0.6
        yield f"{k} classes, calibrated", prob, prob
        yield f"{k} classes, temperature 1.7", prob, tempered / tempered.sum(axis=1, keepdims=True)
        sure = prob[:, :1] > 0.7  # one region alone is wrong: a third of its first class is the second one
        moved = 0.35 * prob[:, :1] * sure
        yield f"{k} classes, one corner", prob, prob + np.hstack((-moved, moved, np.zeros((n, k - 2))))


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count misses and rejections, with the mean limits."""
    import pandas as pd

    replicates, n_resamples = (20, 19) if quick else (2000, 99)
    rows: list[dict[str, Any]] = []
    for n in [300] if quick else [300, 3000]:
        for label, prob, chance in models(n):
            for cut, options in CUTS.items():
                name = f"{label}, {cut}"
                ask = Asks(chance, options, n_resamples)
                cells = Cells([(name, n)], {name: FixedVectors(prob, chance)}, replicates, SEED, ask, [*NAMES])
                found = dict(zip(NAMES, compute(cells, None, n_jobs, f"{name}, {n}")[:, 0].T, strict=True))
                what: dict[str, Any] = {"question": "worst cell", "generator": label, "n": n, "measure": cut}
                what |= {"method": "confidence", "level": LEVEL, "replicates": replicates}
                what |= {**rate_of("misses", found["missed"] == 1), "worst": found["worst"].mean()}
                what |= {f"mean_{end}": found[end].mean() for end in ("low", "high")}
                what |= {"excludes_0": found["rejected"].mean(), "canonical_ce": (found["p"] <= 1 - LEVEL).mean()}
                rows.append(what)
    return pd.DataFrame(rows)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which a limit misses, or a calibrated model is rejected, more often than the level allows."""
    import pandas as pd

    calibrated = table[table["generator"].str.endswith("calibrated")]
    rejected = more_often(calibrated, calibrated["excludes_0"] * calibrated["replicates"], 1 - LEVEL, 2 * len(table))
    return pd.concat([more_often(table, table["misses"], 1 - LEVEL, 2 * len(table)), rejected])


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the mean limits of the largest distance, and the largest distance itself."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    blue, orange = colors()["blue"], colors()["orange"]
    figure = Figure(figsize=(8.5, 0.32 * len(table) + 1), layout="constrained")
    ax = figure.subplots()
    place = np.arange(len(table))
    ax.hlines(place, table["mean_low"], table["mean_high"], color=blue, lw=4, alpha=0.6, label="mean 95% limits")
    ax.plot(table["worst"], place, "D", color=orange, ms=5, label="largest distance of a cell")
    names = table["generator"] + ", " + table["measure"] + ", n = " + table["n"].astype(str)
    ax.set_yticks(place, names)
    ax.invert_yaxis()
    ax.set(xlim=(0, None), xlabel="total variation distance")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return {"": figure}


study = Study(
    question="How far off is the worst cell of the simplex?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    figures=figures,
    violations=violations,
)
